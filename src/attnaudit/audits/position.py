"""Is attention at places rather than on words? Sinks and marks (Xiao et al. 2024)"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnaudit.audits.declaration import DIFFERENCE, SHARE, Declaration, Metric, Values, declares
from attnaudit.audits.heatmap import Heatmap, heatmap, weight_on_marks
from attnaudit.audits.position_profile import PositionProfile
from attnaudit.audits.word_swap import can_swap, swapped
from attnaudit.core import masking, randomness
from attnaudit.core.contract import AttentionModel, Record


def _at(meaning: str, name: str) -> Metric:
    return Metric(f"{meaning}; floor: a random word", f"{name}@random", 1.0, SHARE)


@declares(
    Declaration(
        question="Is the attention at places of the text rather than on words?",
        metrics={
            "weight_on_marks": Metric(
                "weight on items that are no words, such as [CLS] and [SEP]", 0.0, 1.0
            ),
            "top_is_first": _at("the top word is the first of the text", "top_is_first"),
            "top_is_last": _at("the top word is the last of the text", "top_is_last"),
            "sink_weight": Metric(
                "weight of the first and the last word, above that of uniform attention",
                0.0,
                1.0,
                DIFFERENCE,
            ),
            "explained": Metric(
                "share of the variance of the weights that position alone explains; negative if "
                "uniform weights are closer",
                0.0,
                1.0,
                (-math.inf, 1.0),
            ),
            "weight_explained": Metric(
                "share of the weight that is where position alone puts it; floor: where uniform "
                "attention puts it",
                "weight_explained@uniform",
                1.0,
                SHARE,
            ),
            "stays_at_position": _at(
                "when the top word changes places with another, the top stays at its place",
                "stays_at_position",
            ),
            "follows_word": _at(
                "when the top word changes places with another, the top follows the word",
                "follows_word",
            ),
        },
        detects=("shifted",),
        blind={"inert": "attention follows the word, although it cannot change the prediction"},
    )
)
def position(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    position_profile: PositionProfile | None = None,
) -> Values:
    """How much of the attention its place explains, and whether the top follows its word.

    About what is shown: the mean over rows, scaled to sum to 1 over the words.

    Parameters
    ----------
    position_profile : PositionProfile, optional
        The mean attention by place, computed by `audit()` from all the texts; without it
        `explained` and `weight_explained` are NaN. Each text is compared with the profile of the
        others.

    Returns
    -------
    dict of Tensor (B,)
        `weight_on_marks`, mean over rows; `top_is_first`, `top_is_last` (NaN with fewer than two
        words, or all alike) and `sink_weight` (NaN with fewer than three);
        `explained` = 1 - Σ(alpha - profile)² / Σ(alpha - 1/N)², NaN for uniform attention, and
        `weight_explained` = Σ min(alpha, profile); `stays_at_position` and `follows_word`, after
        the top word has changed places with another word of the text, drawn at random: NaN if the
        text has no other word.
    """
    shown = heatmap(record)
    count = shown.words.sum(-1)
    first = shown.words & (shown.words.cumsum(-1) == 1)
    last = shown.words & (shown.words.cumsum(-1) == count[:, None])
    top = shown.top  # NaN if all words are alike
    attends = record.mask.any(-1)
    values: dict[str, Tensor] = {
        "weight_on_marks": masking.mean(weight_on_marks(record), attends),
        "top_is_first": masking.total(top, first).where(count > 1, torch.nan),
        "top_is_last": masking.total(top, last).where(count > 1, torch.nan),
        "sink_weight": (masking.total(shown.weights, first | last) - 2 / count.double()).where(
            count > 2, torch.nan
        ),
        **_swap(model, record, shown, seed),
    }
    chance = (1 / count.double()).where(count > 1, torch.nan)
    by_chance = {
        name: chance.where(~values[name].isnan(), torch.nan)
        for name in ("top_is_first", "top_is_last", "stays_at_position", "follows_word")
    }
    uniform = masking.uniform(shown.words, torch.float64)
    profile = torch.full_like(uniform, torch.nan)
    if position_profile is not None:
        profile = position_profile.without_each(shown)
    explained, weight, of_uniform = _explained(shown, profile, uniform)
    values |= {"explained": explained, "weight_explained": weight}
    return {
        **{("", name): value for name, value in values.items()},
        **{("random", name): value for name, value in by_chance.items()},
        ("uniform", "weight_explained"): of_uniform,
    }


def _explained(shown: Heatmap, profile: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of the variance, and of the weight by the profile and by uniform attention: (B,) each."""
    weights, words = shown
    spread = masking.total((weights - uniform).square(), words)
    missed = masking.total((weights - profile).square(), words)
    several = words.sum(-1) > 1
    variance = (1 - missed / spread).where(several & (spread > 0), torch.nan)
    weight, of_uniform = (
        masking.total(torch.minimum(weights, other), words).where(several, torch.nan)
        for other in (profile, uniform)
    )
    return variance, weight, of_uniform


def _swap(model: AttentionModel, record: Record, shown: Heatmap, seed: int) -> dict[str, Tensor]:
    """Where the top is after the top word and another word have changed places."""
    keys = randomness.keys(seed, "position", record.batch.example_id)
    items = shown.words.shape[1]
    draw = randomness.uniform(keys, 2 * items).to(shown.weights.device).view(-1, items, 2)
    chosen = masking.descending(shown.weights.nan_to_num(0.0), shown.words, draw[..., 0])[:, :1]
    others = can_swap(record, chosen) & shown.words
    other = masking.fill(draw[..., 1], others, -1.0).argmax(-1, keepdim=True)
    possible = others.any(-1) & ~shown.top.isnan().any(-1)
    other = other.where(possible[:, None], chosen)  # the text as it is
    fresh = heatmap(model.read(swapped(record, chosen, other)))
    if fresh.words.shape != shown.words.shape:
        possible = torch.zeros_like(possible)
        top = torch.zeros_like(shown.weights)
    else:
        possible = possible & (fresh.words == shown.words).all(-1)
        top = fresh.top
    places = {"stays_at_position": chosen, "follows_word": other}
    return {
        name: top.gather(1, place)[:, 0].where(possible, torch.nan)
        for name, place in places.items()
    }
