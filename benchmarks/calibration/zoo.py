"""All models that thresholds are fitted on and error rates measured with; see also unseen.py."""

from __future__ import annotations

from benchmarks.calibration import zoo_paths, zoo_random, zoo_words
from benchmarks.calibration.entry import Entry


def zoo() -> list[Entry]:
    """Return all models, in a fixed order.

    Examples
    --------
    >>> names = [entry.name for entry in zoo()]
    >>> len(names) == len(set(names)) >= 60
    True
    """
    return [*zoo_words.entries(), *zoo_paths.entries(), *zoo_random.entries()]
