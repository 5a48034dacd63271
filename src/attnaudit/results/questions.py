"""The questions of the cards: key, wording, deciding metrics, thresholds and blind spot.

docs/card.md states the same rules for readers; tests/results/test_questions.py compares the two.
The thresholds were chosen on one half of the models of known truth in benchmarks/calibration. To
change one, raise `RULES` and run `make calibrate`: the card states its error rates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

YES, PARTLY, NO, UNKNOWN = "yes", "partly", "no", "cannot tell"
ANSWERS = (YES, PARTLY, NO, UNKNOWN)
EXPLANATION, CITATION = "explanation", "citation"  # what attention is shown as: the two cards
RULES = 2  # the version of the rules, stored with every result as about["rules"]

# The numbers that decide, by name; rules refer to them by these names, never by their order.
ACCURACY_DROP = "uniform_attention/accuracy_drop"
UNIFORM_FLIPS = "uniform_attention/flipped"
PROBABILITY_CHANGE = "permutation/tvd_median"
LOG_ODDS_CHANGE = "permutation/log_odds_median"
SHUFFLE_FLIPS = "permutation/flipped"
TOP_WORDS_CONTRAST = "top_words/contrast@attention"
TOP_WORDS_PLACE = "top_words/place@attention"
TOP_WORD_SUPPORT = "polarity/support@attention"
TOP_WORD_AGAINST = "polarity/violation@attention"
STRICT_DISTANCE = "furthest/strict_share"
FURTHEST_DISTANCE = "furthest/jsd_share"
TOP_WEIGHT_KEPT = "noise_stability/top_weight_kept"
NOISE_DISTANCE = "noise_stability/jsd_share"
TRAINING_DISTANCE = "stability/jsd_share"
EVIDENCE_HIT = "evidence/hit@attention"
FROM_SOURCES = "source_use/from_sources"
CITED_USED = "source_use/cited_used@attention"
SAME_SOURCE = "source_order/same_source@attention"
CITED_WORD_USED = "word_use/cited_used@attention"


@dataclass(frozen=True)
class Thresholds:
    """From which value on a number is a yes or a no; lower is better if `yes` is below `no`.

    Parameters
    ----------
    yes, no : float
    relative : bool
        The thresholds are for the number's place between its floor (0) and its ceiling (1).
    """

    yes: float
    no: float
    relative: bool = False

    def judge(self, low: float, high: float) -> tuple[str, bool]:
        """The answer for an interval, and whether more examples might change a "partly".

        An interval that lies between the thresholds is "partly" for certain; one that crosses a
        threshold is not.

        Examples
        --------
        >>> Thresholds(yes=0.1, no=0.02).judge(0.15, 0.3)
        ('yes', False)
        >>> Thresholds(yes=0.1, no=0.02).judge(0.05, 0.3)
        ('partly', True)
        >>> Thresholds(yes=0.35, no=0.65).judge(0.7, 0.8)
        ('no', False)
        """
        if self.yes >= self.no:
            is_yes, is_no = low > self.yes, high < self.no
            is_between = low >= self.no and high <= self.yes
        else:
            is_yes, is_no = high < self.yes, low > self.no
            is_between = low >= self.yes and high <= self.no
        if is_yes or is_no:
            return YES if is_yes else NO, False
        return PARTLY, not is_between

    def rules_out_no(self, low: float, high: float) -> bool:
        """Whether the whole interval lies on the better side of the threshold for a no."""
        return low > self.no if self.yes >= self.no else high < self.no


class Question(Enum):
    """One question of the card, in the order of the card.

    Attributes
    ----------
    key : short name, as in `attnaudit gate --fail-if "matters=no"`.
    wording : the question as the card prints it and card.json stores it.
    thresholds : of each number that decides it, by "audit/metric" or "audit/metric@measure"; the
        rules in `rules/` say how they are combined.
    blind_spot : what the audits behind the answer cannot see.
    claim, denial : what a yes and a no contribute to the verdict; empty if the verdict does not
        depend on the question. A claim on explanations goes on "attention …"; one on citations is
        a clause of its own.
    earlier : the wording in cards of earlier versions, if it was another.
    card : EXPLANATION or CITATION, the card that asks it.
    """

    NEEDED = (
        "needed",
        "needed?",
        {
            ACCURACY_DROP: Thresholds(yes=0.02, no=0.02),
            UNIFORM_FLIPS: Thresholds(yes=0.02, no=0.02),
        },
        "whether a model trained with uniform attention would do as well: this model was not "
        "retrained",
    )
    MATTERS = (
        "matters",
        "does it matter?",
        {
            PROBABILITY_CHANGE: Thresholds(yes=0.1, no=0.02),
            LOG_ODDS_CHANGE: Thresholds(yes=0.5, no=0.1),
            SHUFFLE_FLIPS: Thresholds(yes=0.1, no=0.1),
        },
        "whether the weights are on the right words: a model whose attention is one word off "
        "would pass",
        "matters",
        "other weights would barely change the prediction",
    )
    POINTS = (
        "points",
        "does it point at what the model uses?",
        {
            TOP_WORDS_CONTRAST: Thresholds(0.5, 0.35, relative=True),
            TOP_WORDS_PLACE: Thresholds(yes=0.5, no=0.35),
            TOP_WORD_SUPPORT: Thresholds(0.3, 0.3, relative=True),
            TOP_WORD_AGAINST: Thresholds(yes=0.2, no=0.5),
        },
        "what texts with words left out do not show: they are not texts the model was trained on",
        "points at the words the model uses",
        "it does not point at the words the model uses",
        "does it point at what matters?",
    )
    ONLY_STORY = (
        "only_story",
        "is it the only story?",
        {
            STRICT_DISTANCE: Thresholds(yes=0.35, no=0.65),
            FURTHEST_DISTANCE: Thresholds(yes=0.35, no=0.65),
        },
        "whether the one story is about the right words: a model whose attention is one word off "
        "would pass",
        "is the only story",
        "very different attention gives the same prediction",
    )
    STABLE = (
        "stable",
        "is it stable?",
        {
            TOP_WEIGHT_KEPT: Thresholds(0.8, 0.5, relative=True),
            NOISE_DISTANCE: Thresholds(yes=0.2, no=0.35),
            TRAINING_DISTANCE: Thresholds(yes=0.35, no=0.65),
        },
        "whether the words that are attended whatever the noise or the training are the right "
        "ones, or needed",
        "is stable",
        "it changes with the least noise or with another training",
    )
    PLAUSIBLE = (
        "plausible",
        "is it plausible?",
        {EVIDENCE_HIT: Thresholds(0.75, 0.4, relative=True)},
        "whether the model uses these words: evidence says what people look at",
    )
    USES_SOURCES = (
        "uses_sources",
        "does the answer use the sources at all?",
        {FROM_SOURCES: Thresholds(yes=0.5, no=0.2)},
        "what the model would answer by itself: the answer is given to it word by word",
        "the answers use the sources",
        "the answers do not need the sources",
        "",
        CITATION,
    )
    CITES_USED = (
        "cites_used",
        "does attention point at the source it uses?",
        {CITED_USED: Thresholds(0.75, 0.4, relative=True)},
        "what prompts with sources left out do not show, such as two sources that only together "
        "say something",
        "attention points at the source that was used",
        "it does not point at the source that was used",
        "",
        CITATION,
    )
    FOLLOWS_SOURCE = (
        "follows_source",
        "is it the source or its position?",
        {SAME_SOURCE: Thresholds(0.75, 0.4, relative=True)},
        "whether the source that it follows is the one that was used",
        "attention follows the source when it is moved",
        "it does not follow the source when the order changes",
        "",
        CITATION,
    )
    CITES_WORDS = (
        "cites_words",
        "does attention point at the words it uses?",
        {CITED_WORD_USED: Thresholds(0.75, 0.4, relative=True)},
        "what sources with words left out do not show: they are not texts the model was trained on",
        "",
        "",
        "",
        CITATION,
    )

    def __init__(
        self,
        key: str,
        wording: str,
        thresholds: Mapping[str, Thresholds],
        blind_spot: str,
        claim: str = "",
        denial: str = "",
        earlier: str = "",
        card: str = EXPLANATION,
    ) -> None:
        self.key = key
        self.wording = wording
        self.thresholds = thresholds
        self.blind_spot = blind_spot
        self.claim = claim
        self.denial = denial
        self.earlier = earlier
        self.card = card

    @classmethod
    def find(cls, name: str) -> Question | None:
        """The question with this key or wording, or None.

        Examples
        --------
        >>> Question.find("matters") is Question.find("does it matter?") is Question.MATTERS
        True
        """
        for question in cls:
            if name and name in (question.key, question.wording, question.earlier):
                return question
        return None


def questions_of(card: str) -> tuple[Question, ...]:
    """The questions of one card, in its order.

    Examples
    --------
    >>> [question.key for question in questions_of(CITATION)]
    ['uses_sources', 'cites_used', 'follows_source', 'cites_words']
    """
    return tuple(question for question in Question if question.card == card)


# The questions that the verdict on an explanation depends on.
DECIDING = tuple(question for question in questions_of(EXPLANATION) if question.claim)
# Those that the verdict on a citation depends on: all about sources.
DECIDING_CITATION = tuple(question for question in questions_of(CITATION) if question.claim)
