"""The four tests that every explanation takes: number, thresholds and what passing means.

The thresholds are those of the card for attention; docs/explanations.md states them for readers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from attnaudit.results.questions import (
    TOP_WEIGHT_KEPT,
    TOP_WORD_AGAINST,
    TOP_WORDS_CONTRAST,
    UNKNOWN,
    Question,
    Thresholds,
)

# The version of the tests and of what is recommended by them; the rates in
# explanation_error_rates.json are of one version.
TEST_RULES = 2


@dataclass(frozen=True)
class ExplanationTest:
    """One test of an explanation.

    Attributes
    ----------
    key : of the column.
    meaning : of the number, in words.
    audit, metric : where the number comes from.
    thresholds : from where on an interval is a yes or a no.
    """

    key: str
    meaning: str
    audit: str
    metric: str
    thresholds: Thresholds

    def judge(self, low: float | None, high: float | None) -> str:
        """ "yes", "partly" or "no" for an interval; "cannot tell" without one.

        Examples
        --------
        >>> TESTS[0].judge(0.55, 0.7), TESTS[0].judge(None, None)
        ('yes', 'cannot tell')
        """
        if low is None or high is None or math.isnan(low) or math.isnan(high):
            return UNKNOWN
        return self.thresholds.judge(low, high)[0]


_POINTS = Question.POINTS.thresholds
PLACE_THRESHOLDS = _POINTS[TOP_WORDS_CONTRAST]
_KEPT = Question.STABLE.thresholds[TOP_WEIGHT_KEPT]

TESTS = (
    ExplanationTest(
        "comprehensiveness",
        "how much the decision loses without its top words, between random words (0) and the best "
        "words found (1)",
        "top_words",
        "comprehensiveness",
        PLACE_THRESHOLDS,
    ),
    ExplanationTest(
        "sufficiency",
        "how much of the decision its top words keep on their own, between random words (0) and "
        "the best words found (1)",
        "top_words",
        "sufficiency",
        PLACE_THRESHOLDS,
    ),
    ExplanationTest(
        "polarity",
        "share of the texts whose top word speaks against the decision; lower is better",
        "polarity",
        "violation",
        _POINTS[TOP_WORD_AGAINST],
    ),
    ExplanationTest(
        "stability",
        "how far the top words stay under a little noise, between random words (0) and the same "
        "words (1)",
        "explanation_stability",
        "kept",
        # On the same scale, which for attention is the relative value of a metric.
        Thresholds(_KEPT.yes, _KEPT.no),
    ),
)

# The tests of whether the words are those the model uses. The others alone say nothing of it: most
# words of a text are not against the decision, and scores that never change are stable.
POINTING = ("comprehensiveness", "sufficiency")
