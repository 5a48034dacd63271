"""The groups of examples that a summary has lines for: a name and a mask each.

All examples, those of each predicted class and, where labels are known, those decided rightly and
wrongly. The group of a class has the name of the class; a class that is called like another group
gets a prefix, so that no two groups share a name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ALL = "all"
RIGHT, WRONG = "right decisions", "wrong decisions"
_RESERVED = (ALL, RIGHT, WRONG)
_PREFIX = "predicted "


def make_groups(
    predicted: np.ndarray, labels: np.ndarray | None, classes: Sequence[str]
) -> dict[str, np.ndarray]:
    """The groups of some examples, by name; a group without any example is left out.

    Parameters
    ----------
    predicted : (examples,) the number of the predicted class.
    labels : (examples,) the number of the true class, negative where it is unknown; None if all
        are.
    classes : the name of each class.

    Returns
    -------
    dict of str to ndarray (examples,) bool

    Examples
    --------
    >>> groups = make_groups(np.array([0, 1, 1]), np.array([0, 0, -1]), ["no", "yes"])
    >>> {name: mask.astype(int).tolist() for name, mask in groups.items()}
    {'all': [1, 1, 1], 'no': [1, 0, 0], 'yes': [0, 1, 1], \
'right decisions': [1, 0, 0], 'wrong decisions': [0, 1, 0]}
    """
    groups = {ALL: np.ones(len(predicted), dtype=bool)}
    groups |= {group_of_class(name): predicted == number for number, name in enumerate(classes)}
    if labels is not None:
        known = labels >= 0
        groups[RIGHT] = known & (predicted == labels)
        groups[WRONG] = known & (predicted != labels)
    return {name: mask for name, mask in groups.items() if mask.any()}


def group_of_class(name: str) -> str:
    """The name of the group of a predicted class.

    Examples
    --------
    >>> group_of_class("positive"), group_of_class("right"), group_of_class("right decisions")
    ('positive', 'right', 'predicted right decisions')
    """
    return _PREFIX + name if _bare(name) in _RESERVED else name


def class_of_group(group: str) -> str | None:
    """The name of the predicted class whose group this is; None for the other groups.

    Examples
    --------
    >>> class_of_group("positive"), class_of_group("predicted all"), class_of_group("all")
    ('positive', 'all', None)
    """
    if group in _RESERVED:
        return None
    return group.removeprefix(_PREFIX) if _bare(group) in _RESERVED else group


def describe_group(group: str) -> str:
    """What a group holds, in words that follow "for".

    Examples
    --------
    >>> describe_group("positive"), describe_group("wrong decisions"), describe_group("all")
    ("texts predicted 'positive'", 'wrong decisions', 'all texts')
    """
    name = class_of_group(group)
    if name is not None:
        return f"texts predicted {name!r}"
    return "all texts" if group == ALL else group


def _bare(name: str) -> str:
    """A name without any prefixes."""
    while name.startswith(_PREFIX):
        name = name.removeprefix(_PREFIX)
    return name
