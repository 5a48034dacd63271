"""The position that the head reads: the first token, the last, the end token or the mask token.

It is never guessed: the rule must agree with where the gradient of the logits comes from, on a
trial batch of texts of different lengths.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from attnaudit.core.errors import InputError
from attnaudit.models.interception import last_position, mark_positions, position_by_rule

RULES = ("first", "last", "end", "mask", "start")
Rule = str | int


def positions_of(
    rule: Rule, ids: Tensor, mask: Tensor, special: Tensor, token_ids: dict[str, int | None]
) -> Tensor:
    """Return the query position of each text (B,).

    ids hold the padding id outside the mask; token_ids are those of the pad, eos and mask token.
    In a text that is too short for a numbered position, the nearest one is used.
    """
    if rule in ("first", "start"):
        return torch.zeros_like(ids[:, 0], dtype=torch.int64)
    if rule == "end":
        return _last(mask & (ids == token_ids["eos"]), "the end token that the head reads")
    if rule == "mask":
        return _last(
            mask & special & (ids == token_ids["mask"]), "the mask token that is to be predicted"
        )
    # Decoder classifiers look for the last token whose id is not the padding id.
    last = _last(mask & (ids != token_ids["pad"]), "any token")
    return position_by_rule(rule, last)


def _last(where: Tensor, what: str) -> Tensor:
    """Return the last True of each row (B,); reject texts that have none."""
    missing = ~where.any(-1)
    if missing.any():
        raise InputError(f"{int(missing.sum())} of {len(where)} texts do not hold {what}.")
    return last_position(where)


def find_rule(moving: Tensor, candidates: dict[str, Tensor], name: str) -> str:
    """Return the rule that names exactly the positions whose attention moves the logits.

    moving (B,T) bool; candidates: rule -> positions (B,).
    """
    if not moving.any():
        raise InputError(
            f"The logits of {name} do not depend on its last attention layer: there is nothing to "
            "audit."
        )
    for rule, positions in candidates.items():
        if torch.equal(moving, mark_positions(positions[:, None], moving)):
            return rule
    if (moving.sum(-1) == 1).all():
        raise InputError(
            f"The head of {name} reads one position, but neither the first token, the last, nor "
            "the end token: it may count padding on the left. Name the position to audit with "
            "query=NUMBER."
        )
    raise InputError(
        f"The head of {name} reads more than one position (it pools over the text), so no single "
        "row of attention determines the decision. Name the position to audit with query=NUMBER, "
        "or use a head that reads one token."
    )


def special_token_ids(config: Any, tokenizer: Any) -> dict[str, int | None]:
    """Return the ids of the pad, eos and mask token; None for one that does not exist."""
    eos = getattr(config, "eos_token_id", None)
    return {
        "pad": config.get_text_config().pad_token_id,
        "eos": eos[0] if isinstance(eos, list) else eos,
        "mask": getattr(tokenizer, "mask_token_id", None),
    }
