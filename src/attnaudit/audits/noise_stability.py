"""Does a little noise on the embeddings move the attention? (after Ghorbani et al. 2019)

One saved model is enough, unlike for `stability`, which needs other trainings.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.counterfactual import flipped
from attnaudit.audits.declaration import SHARE, Declaration, Metric, Values, declares
from attnaudit.audits.heatmap import Heatmap, heatmap
from attnaudit.audits.noisy_model import embedding_size
from attnaudit.core import masking, randomness
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.memory_budget import rows_at_once
from attnaudit.core.onednn import faster_products
from attnaudit.core.option_limits import COUNT, ParsedBy, limits
from attnaudit.exact.jsd import one_hot_jsd
from attnaudit.statistics.top_k import top_list

SIZES = "1+5+10"
SUMMARY = "5"  # the size whose values also have names without a size
TOP = 3
_NUMBERS_ON_CPU = 2**16  # drawn at once: they stay in the cache, which halves the time


def _fractions(sizes: str) -> dict[str, float]:
    """Size in per cent, as written -> fraction."""
    fractions = {}
    for size in str(sizes).split("+"):
        try:
            fractions[size] = float(size) / 100
        except ValueError:
            fractions[size] = -1.0
        if not 0 < fractions[size] <= 10:
            raise InputError(
                "noise_stability: sizes are per cent above 0 and at most 1000, joined by +; "
                f"got {size!r}."
            )
    return fractions


def _metrics(ending: str, noise: str) -> dict[str, Metric]:
    return {
        f"top_k_overlap{ending}": Metric(
            f"share of the top words in common, {noise} noise",
            f"top_k_overlap{ending}@random",
            1.0,
            SHARE,
        ),
        f"top_weight_kept{ending}": Metric(
            f"weight of the words that are the top ones under {noise} noise, as a share of the "
            "weight of the top words",
            f"top_weight_kept{ending}@random",
            1.0,
            SHARE,
        ),
        f"jsd_share{ending}": Metric(
            f"JSD to the attention under noise, as a share of the furthest any could be, {noise} "
            "noise; lower is better",
            0.0,
            1.0,
        ),
        f"same_decision{ending}": Metric(
            f"share of the draws that keep the decision, {noise} noise", 0.0, 1.0
        ),
    }


@limits(sizes=ParsedBy(_fractions), draws=COUNT)
@declares(
    Declaration(
        question="Does the attention stay under a little noise on the embeddings?",
        metrics={
            **_metrics("", f"{SUMMARY} %"),
            **{
                name: metric
                for size in SIZES.split("+")
                for name, metric in _metrics(f"_{size}", f"{size} %").items()
            },
        },
        blind={
            "inert": "attention that cannot change the prediction may be as stable as any",
            "shifted": "attention may be stably one word off",
        },
    )
)
def noise_stability(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    sizes: str = SIZES,
    draws: int = 3,
) -> Values:
    """Read the text again with Gaussian noise on the embeddings and compare what is shown.

    That is the mean over rows, scaled to sum to 1 over the words. Only draws that keep the decision
    are compared: other attention for another decision is no instability.

    Parameters
    ----------
    sizes : str
        Standard deviations of the noise, joined by +, in per cent of the root mean square of the
        text's own embeddings. All sizes share their draws.
    draws : int, default 3
        Draws per example and size.

    Returns
    -------
    dict of Tensor (B,)
        Per size S: `top_k_overlap_S` of the lists of the k most attended words, k = 3 or, in a text
        of fewer than four words, all but one (floor: the measure "random", lists of the same sizes
        drawn at random); `top_weight_kept_S`, the weight on the list under noise as a share of that
        on the list itself: where one word holds all weight, the order of the rest does not count;
        `jsd_share_S`; all NaN if no draw keeps the decision, or with a single
        word. `same_decision_S`, over all draws. Without a size: the values at 5 %.
    """
    own = heatmap(record)
    scale = _scale(record)
    of_size: dict[str, list[dict[tuple[str, str], Tensor]]] = {}
    for noise in _noise(record, seed, draws):
        for size, fraction in _fractions(sizes).items():
            fresh = _read(model, record, record.embeddings.detach() + fraction * scale * noise)
            of_size.setdefault(size, []).append(_compared(record, own, fresh))
    values: Values = {}
    unknown = scale[:, 0, 0] == 0  # noise in proportion to nothing
    for size, per_draw in of_size.items():
        for measure, name in per_draw[0]:
            drawn = torch.stack([draw[measure, name] for draw in per_draw])
            value = drawn.nanmean(0).masked_fill(unknown, torch.nan)
            for ending in (f"_{size}", "") if size == SUMMARY else (f"_{size}",):
                values[measure, f"{name}{ending}"] = value
    return values


def _scale(record: Record) -> Tensor:
    """`embedding_size` as (B,1,1)."""
    return embedding_size(record)[:, None, None].to(record.embeddings.dtype)


def _noise(record: Record, seed: int, draws: int) -> Iterator[Tensor]:
    """Standard normal noise (B,T,E) per draw, keyed by example; 0 on padding."""
    embeddings, mask = record.embeddings, record.batch.mask
    size = embeddings.shape[-1]
    token = (mask.cumsum(-1) - 1).clamp_min(0)  # padding does not shift the draws
    place = token[..., None] * size + torch.arange(size, device=mask.device)
    numbers = place[:1].numel()
    step = rows_at_once(numbers)
    if mask.device.type == "cpu":
        step = max(1, min(step, _NUMBERS_ON_CPU // max(numbers, 1)))
    for draw in range(draws):
        key = randomness.keys(seed, f"noise_stability/{draw}", record.batch.example_id)
        key = key.to(mask.device)[:, None, None]
        parts = [
            randomness.normal_at(of_keys, of_places).to(embeddings.dtype)
            for of_keys, of_places in zip(key.split(step), place.split(step), strict=True)
        ]
        yield torch.cat(parts) * mask[..., None]


def _read(model: AttentionModel, record: Record, embeddings: Tensor) -> Record:
    """Read from other embeddings; NotApplicable if the model cannot."""
    try:
        inspect.signature(model.read).bind(record.batch, embeddings)
    except TypeError as error:
        raise NotApplicable("the model does not read from embeddings it is given") from error
    with faster_products():
        fresh = model.read(record.batch, embeddings)
    used = fresh.embeddings
    if used.shape != embeddings.shape or not torch.equal(used, embeddings):
        raise NotApplicable("the model does not read from embeddings it is given")
    return fresh


def _compared(record: Record, own: Heatmap, fresh: Record) -> dict[tuple[str, str], Tensor]:
    """What one draw changes, by (measure, metric): (B,); NaN if the decision is another."""
    other = heatmap(fresh).weights
    same = ~flipped(fresh.logits[:, None], record)[:, 0]
    kept, by_chance = top_words_kept(own, other)
    count = own.words.sum(-1)
    k = (count - 1).clamp(1, TOP)
    lists = [top_list(weights, k, own.words) for weights in (own.weights, other)]
    lengths = torch.stack([top.sum(-1) for top in lists]).double()
    longest, shortest = lengths.amax(0), lengths.amin(0)
    overlap = (lists[0] & lists[1]).sum(-1) / longest
    furthest = masking.fill(one_hot_jsd(own.weights), own.words, 0.0).amax(-1)
    share = statistics.jsd(own.weights, other, own.words) / furthest
    several = (count > 1) & (shortest > 0)  # uniform attention has no list
    compared = {
        ("", "top_weight_kept"): kept.where(same, torch.nan),
        ("random", "top_weight_kept"): by_chance.where(same, torch.nan),
        ("", "top_k_overlap"): overlap.where(several & same, torch.nan),
        # Of a fixed list, a random one of the same length holds this share on average.
        ("random", "top_k_overlap"): (shortest / count).where(several & same, torch.nan),
        ("", "jsd_share"): share.clamp(0, 1).where((count > 1) & same, torch.nan),
    }
    return {**compared, ("", "same_decision"): same.double()}


def top_words_kept(own: Heatmap, other: Tensor) -> tuple[Tensor, Tensor]:
    """How much of the weight of its top words a heatmap has on the top words of another.

    Parameters
    ----------
    own : Heatmap
    other : Tensor, (B,N)
        The weights of the other heatmap.

    Returns
    -------
    kept : Tensor, (B,)
        The share. The k top words are three or, in a text of fewer than four words, all but one.
    by_chance : Tensor, (B,)
        What a list of the same length drawn at random would have. Both NaN with a single word, or
        if one of the two has no top words, as uniform weights.
    """
    count = own.words.sum(-1)
    k = (count - 1).clamp(1, TOP)
    lists = [top_list(weights, k, own.words) for weights in (own.weights, other)]
    lengths = torch.stack([top.sum(-1) for top in lists]).double()
    on_lists = [masking.total(own.weights, top) for top in lists]
    kept = (on_lists[1] / on_lists[0]).clamp_max(1)  # a tie makes a list longer
    by_chance = (lengths[1] / count / on_lists[0]).clamp_max(1)
    several = (count > 1) & (lengths.amin(0) > 0)
    return kept.where(several, torch.nan), by_chance.where(several, torch.nan)
