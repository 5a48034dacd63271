"""At which position does the head read? The first token, the last real one, the end mark, or the mask: a (B,) tensor, never a guess.

The rule is the one that agrees with where the gradient of the logits comes from, on a trial batch of texts of different lengths.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from attnaudit.core.errors import InputError

RULES = ("first", "last", "end", "mask", "start")
Rule = str | int


def positions_of(
    rule: Rule, ids: Tensor, mask: Tensor, special: Tensor, numbers: dict[str, int | None]
) -> Tensor:
    """(B,) of the query. ids hold the padding number outside the mask; numbers: of the pad, eos and mask token."""
    place = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
    if rule in ("first", "start"):
        return torch.zeros_like(place[:, 0])
    if rule == "end":
        return _last(place, mask & (ids == numbers["eos"]), "the end mark that the head reads")
    if rule == "mask":
        return _last(
            place,
            mask & special & (ids == numbers["mask"]),
            "the mask token that the decision is about",
        )
    # The last token that is not padding by number, as decoder classifiers count.
    last = _last(place, mask & (ids != numbers["pad"]), "any token")
    if rule == "last":
        return last
    assert isinstance(rule, int)  # the other rules are words
    # A text that is too short for the position named is read at its last token.
    return (
        torch.minimum(last, torch.full_like(last, rule))
        if rule >= 0
        else (last + 1 + rule).clamp_min(0)
    )


def _last(place: Tensor, where: Tensor, what: str) -> Tensor:
    missing = ~where.any(-1)
    if missing.any():
        raise InputError(f"{int(missing.sum())} of {len(where)} texts do not hold {what}.")
    return place.masked_fill(~where, -1).amax(-1)


def find_rule(moved: Tensor, candidates: dict[str, Tensor], name: str) -> str:
    """moved (B,T) bool: positions whose attended sum moves the logits. The rule that names just these."""
    if not moved.any():
        raise InputError(
            f"The logits of {name} do not hang on its last attention layer: there is nothing to audit."
        )
    for rule, positions in candidates.items():
        expected = torch.zeros_like(moved).scatter(1, positions[:, None], True)
        if torch.equal(moved, expected):
            return rule
    if (moved.sum(-1) == 1).all():
        raise InputError(
            f"The head of {name} reads one position, but neither the first token, the last, nor the end mark: it may count padding "
            "on the left. Name the position to audit with query=NUMBER."
        )
    raise InputError(
        f"The head of {name} reads more than one position (it pools over the text), so no single row of attention is behind "
        "the decision. Name the position to audit with query=NUMBER, or use a head that reads one token."
    )


def token_numbers(config: Any, tokenizer: Any) -> dict[str, int | None]:
    eos = getattr(config, "eos_token_id", None)
    return {
        "pad": config.get_text_config().pad_token_id,
        "eos": eos[0] if isinstance(eos, list) else eos,
        "mask": getattr(tokenizer, "mask_token_id", None),
    }
