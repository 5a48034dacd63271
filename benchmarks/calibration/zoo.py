"""All models that thresholds are fitted on and error rates measured with; see also unseen.py."""

from __future__ import annotations

from benchmarks.calibration import zoo_paths, zoo_random, zoo_trained, zoo_words
from benchmarks.calibration.entry import Entry


def zoo() -> list[Entry]:
    """Return all models, in a fixed order.

    Examples
    --------
    >>> names = [entry.name for entry in zoo()]
    >>> len(names) == len(set(names)) >= 60
    True
    """
    parts = (zoo_words, zoo_paths, zoo_random, zoo_trained)
    return [entry for part in parts for entry in part.entries()]
