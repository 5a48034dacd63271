"""The numbers that define a handmade model; see handmade.py for what they do."""

from __future__ import annotations

from dataclasses import dataclass, field

Numbers = dict[str, float]  # by role; see corpus.role_table


@dataclass(frozen=True)
class Design:
    """The numbers of a handmade model.

    Attributes
    ----------
    scores : attention scores by role, one dict per row; words not named score 0.
    values : logit for the word's own class, by role, one dict per row.
    bypass : logit for the word's own class that does not pass through attention, by role.
    gate : how the bypass adds up: "sum"; "tanh" (saturated: no gradient); "any" (at most one word).
    right : share of the words of each class role that have the scores above; the others score 0.
    through : share of the words of each class role whose value passes through attention; that of
        the others is added to the bypass.
    shifted : share of the key words whose value and score are at the next position.
    mix : share of each value that is the sum over the text, so that attention has no effect; a
        number, or one per class.
    gather : "", "mark" or "last": this item also holds the sum over the text, times `gathered`.
    first, last : added to the score of the first and the last word, whatever it is.
    focus_on_value : added to the score per unit of the word's largest |value|.
    score_noise, value_noise : spread of the scores and values of fillers.
    frequency : if given, scores are periodic in the embedding with it, so that noise turns them.
    negation : whether "not" turns the class of the word after it (two classes only).
    """

    scores: tuple[Numbers, ...] = ({"key": 4.0},)
    values: tuple[Numbers, ...] = ({"key": 6.0},)
    bypass: Numbers = field(default_factory=dict)
    gate: str = "sum"
    right: float = 1.0
    through: float = 1.0
    shifted: float = 0.0
    mix: float | tuple[float, ...] = 0.0
    gather: str = ""
    gathered: float = 1.0
    first: float = 0.0
    last: float = 0.0
    focus_on_value: float = 0.0
    score_noise: float = 0.3
    value_noise: float = 0.3
    frequency: float | None = None
    negation: bool = False
    scale: float = 1.0
    bias: tuple[float, ...] = ()
    projection: str = "softmax"
    classes: int = 2
