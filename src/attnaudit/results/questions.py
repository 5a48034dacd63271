"""The five questions of the card: key, wording, deciding metrics, thresholds and blind spot.

docs/card.md states the same rules for readers; tests/results/test_questions.py compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

YES, PARTLY, NO, UNKNOWN = "yes", "partly", "no", "cannot tell"
ANSWERS = (YES, PARTLY, NO, UNKNOWN)


@dataclass(frozen=True)
class Thresholds:
    """From which value on a number is a yes or a no; lower is better if `yes` is below `no`."""

    yes: float
    no: float

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


class Question(Enum):
    """One question of the card, in the order of the card.

    Attributes
    ----------
    key : short name, as in `attnaudit gate --fail-if "matters=no"`.
    wording : the question as the card prints it and card.json stores it.
    metrics : "audit/metric" or "audit/metric@measure" of the numbers that may decide it; the first
        one that was computed does, unless card_rules.py says otherwise.
    thresholds : for the deciding number (for `POINTS`, for its place between floor and ceiling).
    blind_spot : what the audits behind the answer cannot see.
    claim, denial : what a yes and a no contribute to the verdict; empty if the verdict does not
        depend on the question.
    """

    NEEDED = (
        "needed",
        "needed?",
        ("uniform_attention/accuracy_drop", "uniform_attention/flipped"),
        Thresholds(yes=0.02, no=0.02),
        "whether a model trained with uniform attention would do as well: this model was not "
        "retrained",
    )
    MATTERS = (
        "matters",
        "does it matter?",
        ("permutation/tvd_median",),
        Thresholds(yes=0.1, no=0.02),
        "whether the weights are on the right words: a model whose attention is one word off "
        "would pass",
        "matters",
        "other weights would barely change the prediction",
    )
    POINTS = (
        "points",
        "does it point at what matters?",
        ("evidence/hit@attention", "agreement/tau@leave_one_out", "agreement/tau@gradient"),
        Thresholds(yes=0.75, no=0.4),
        "whether the weights change anything: a model that ignores its attention would pass",
        "points at what matters",
        "it does not point at what matters",
    )
    ONLY_STORY = (
        "only_story",
        "is it the only story?",
        ("furthest/jsd_share", "furthest/upper_share"),
        Thresholds(yes=0.35, no=0.65),
        "whether the one story is about the right words: a model whose attention is one word off "
        "would pass",
        "is the only story",
        "very different attention gives the same prediction",
    )
    STABLE = (
        "stable",
        "is it stable?",
        ("stability/jsd_share",),
        Thresholds(yes=0.35, no=0.65),
        "whether the words that all trainings attend to are the right ones, or needed",
    )

    def __init__(
        self,
        key: str,
        wording: str,
        metrics: tuple[str, ...],
        thresholds: Thresholds,
        blind_spot: str,
        claim: str = "",
        denial: str = "",
    ) -> None:
        self.key = key
        self.wording = wording
        self.metrics = metrics
        self.thresholds = thresholds
        self.blind_spot = blind_spot
        self.claim = claim
        self.denial = denial

    @classmethod
    def find(cls, name: str) -> Question | None:
        """The question with this key or wording, or None.

        Examples
        --------
        >>> Question.find("matters") is Question.find("does it matter?") is Question.MATTERS
        True
        """
        return next((each for each in cls if name in (each.key, each.wording)), None)


# The questions that the verdict depends on.
DECIDING = tuple(question for question in Question if question.claim)
