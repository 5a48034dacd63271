"""Do the top words of an explanation stay under a little noise on the embeddings?

`noise_stability` asks it of attention; this audit asks it of every explanation alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from attnaudit.audits.counterfactual import flipped
from attnaudit.audits.declaration import SHARE, Declaration, Metric, Values, declares
from attnaudit.audits.deletions import chosen_texts
from attnaudit.audits.heatmap import score_heatmap
from attnaudit.audits.noise_stability import top_words_kept
from attnaudit.audits.noisy_model import NoisyModel, embedding_size, reads_embeddings
from attnaudit.core import registry
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.core.option_limits import COUNT, Number, limits
from attnaudit.measures import MEASURES
from attnaudit.measures.rounding import tie_equal_scores

RANKINGS = "attention+gradient+leave_one_out+random"
_MIN_ROOM = 0.05  # between random words and the same words, for a text to have a place


@limits(size=Number(above=0, most=1000), draws=COUNT, texts=COUNT, text_count=COUNT)
@declares(
    Declaration(
        question="Do the top words of an explanation stay under a little noise?",
        metrics={
            "kept": Metric(
                "weight of the words that are the top ones under noise, between random words (0) "
                "and the same words (1)",
                0.0,
                1.0,
                (-1.0, 1.0),
            ),
            "same_decision": Metric("share of the draws that keep the decision", 0.0, 1.0, SHARE),
        },
        blind={
            "inert": "an explanation without an effect may be as stable as any",
            "shifted": "an explanation may be stably one word off",
        },
    )
)
def explanation_stability(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    rankings: str = RANKINGS,
    size: float = 5.0,
    draws: int = 1,
    texts: int = 60,
    text_count: int | None = None,
    functions: Mapping[str, Callable[..., Any] | None] | None = None,
) -> Values:
    """Compute each explanation again with noise on the embeddings and compare its top words.

    Only draws that keep the decision are compared.

    Parameters
    ----------
    rankings : str
        Measures, joined by +; those not computed are skipped.
    size : float, default 5
        Standard deviation of the noise, in per cent of the root mean square of the text's own
        embeddings. A token has the same noise wherever it stands in the text.
    draws : int, default 1
    texts : int, default 60
        Number of texts that are read, about; drawn at random. The others are NaN throughout.
    text_count : int, optional
        Number of all texts; counted by `audit()` if omitted. All are read if unknown.
    functions : mapping, optional
        The measure of each ranking, if it is not in `MEASURES`; None for scores that cannot be
        computed again, which are NaN.

    Returns
    -------
    dict of Tensor (B,)
        `kept` per ranking: the weight on the k words that are the top ones under noise as a share
        of that on its own k top words, (share − chance) / (1 − chance) with chance that of k words
        drawn at random; at least -1. k is 3, or all words but one. `same_decision`, over draws.
    """
    known = {} if functions is None else functions
    names = [name for name in str(rankings).split("+") if name in scores]
    if not names:
        raise NotApplicable(f"none of the rankings {rankings} was computed")
    reads_embeddings(model, record)
    index = chosen_texts(record, seed, texts, text_count).nonzero()[:, 0]
    nan = torch.full((len(record.batch),), torch.nan, dtype=torch.float64, device=index.device)
    values: Values = {(name, "kept"): nan.clone() for name in names}
    values["", "same_decision"] = nan.clone()
    if not len(index):
        return values
    part = model.read(record.batch.rows(index))
    width = part.content.shape[1]
    spread = embedding_size(part)
    sizes = dict(zip(part.batch.example_id, (size / 100 * spread).tolist(), strict=True))
    own = {name: score_heatmap(scores[name][index][..., :width], part) for name in names}
    kept: dict[str, list[Tensor]] = {name: [] for name in names}
    same_decision = []
    for draw in range(draws):
        noisy = NoisyModel(model, sizes, seed, f"explanation_stability/{draw}")
        fresh = noisy.read(part.batch)
        same = ~flipped(fresh.logits[:, None], part)[:, 0] & (spread > 0)
        same_decision.append(same.double().where(spread > 0, torch.nan))
        for name in names:
            function = known[name] if name in known else registry.find(MEASURES, name, "measure")
            if function is None:
                continue
            # Another draw, for measures that draw.
            score = function(noisy, fresh, seed + 1 + draw)
            score = tie_equal_scores(function, score.detach(), fresh)
            of_draw, chance = top_words_kept(own[name], score_heatmap(score, fresh).weights)
            room = (1 - chance).where(1 - chance > _MIN_ROOM, torch.nan)
            place = ((of_draw - chance) / room).clamp_min(-1)
            kept[name].append(place.where(same, torch.nan))
    values["", "same_decision"][index] = torch.stack(same_decision).nanmean(0)
    for name, per_draw in kept.items():
        if per_draw:
            values[name, "kept"][index] = torch.stack(per_draw).nanmean(0)
    return values
