"""Do the most attended words carry the decision, next to random words and the best words?

Comprehensiveness and sufficiency (DeYoung et al. 2020) between limits per text, as Edin et al.
(2024) ask for.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnaudit.audits.declaration import DIFFERENCE, Declaration, Metric, Values, declares
from attnaudit.audits.deletions import (
    chosen_texts,
    log_odds_without_each,
    random_ranks,
    ranks,
    rounding_of,
    share_of,
    whole_log_odds,
    words_of,
)
from attnaudit.audits.set_search import Goal, Search, all_sets, beam_search, run_searches
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.core.option_limits import COUNT, Number, limits

RANKINGS = "attention+leave_one_out"
RANDOM_SETS = 10
WORDS_READ = 20_000  # by one beam search in one text, about: fewer passes for long texts
KINDS = ("comprehensiveness", "sufficiency")
CONTRAST = "contrast"  # comprehensiveness minus sufficiency
PLACE = "place"  # of the contrast, between random words and the best
_MIN_ROOM = 0.1  # log-odds between them, for a text to have a place
SCALES = ("", "_p")  # log-odds, probability
# One value per ranking.
RANKED = (*(kind + suffix for kind in (*KINDS, CONTRAST) for suffix in SCALES), PLACE)
Found = dict[str, Tensor]  # kind -> log-odds of sets of words


def _metrics() -> dict[str, Metric]:
    what = {
        "comprehensiveness": "without the top words",
        "sufficiency": "with the top words only; lower is better",
        CONTRAST: "without the top words, minus the drop with them only",
    }
    metrics = {}
    for kind in (*KINDS, CONTRAST):
        for suffix in SCALES:
            drop = "drop of p(ŷ)" if suffix else "drop of the log-odds of ŷ"
            ends = (f"{kind}_worst{suffix}", f"{kind}_best{suffix}")
            scale = DIFFERENCE if suffix else None
            metrics[f"{kind}{suffix}"] = Metric(
                f"{drop} {what[kind]}", f"{kind}{suffix}@random", ends[1], scale
            )
            for end, which in zip(ends, ("worst", "best"), strict=True):
                metrics[end] = Metric(f"the same for the {which} words found", *ends, scale)
    metrics[PLACE] = Metric(
        "where the contrast lies between that of random words (0) and of the best words (1)",
        0.0,
        1.0,
        DIFFERENCE,
    )
    metrics["searched_exactly"] = Metric("best and worst are over all sets of words", 0.0, 1.0)
    return metrics


@limits(
    share=Number(above=0, below=100),
    texts=COUNT,
    width=COUNT,
    exhaustive=Number(least=1, whole=True),
    text_count=COUNT,
)
@declares(
    Declaration(
        question="Do the most attended words carry the decision, next to the best words there are?",
        shortens_texts=True,
        metrics=_metrics(),
        detects=("shifted",),
        blind={
            "inert": "the words are the right ones, although attention cannot change the prediction"
        },
    )
)
def top_words(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    rankings: str = RANKINGS,
    share: float = 20.0,
    texts: int = 100,
    width: int = 3,
    exhaustive: int = 250,
    text_count: int | None = None,
) -> Values:
    """Delete the top k words, or all others, and compare with random sets and the best sets.

    k is ⌈share·N⌉ of N words, less than N. If there are at most `exhaustive` sets of k words, all
    are read, deleted and kept: 2·C(N,k) passes per text. Otherwise best and worst are the best of
    four beam searches and of all other sets read: at most some 2·`exhaustive` passes per text, and
    from 40 words on fewer, some 80,000 / N, though never fewer than 4 k and N of one word.

    Parameters
    ----------
    rankings : str
        Measures whose top words are tested, joined by +; those not computed are skipped. Ties are
        broken at random.
    share : float, default 20
        Share of the words, in per cent.
    texts : int, default 100
        Number of texts that are read, about; drawn at random. The others are NaN throughout.
    width : int, default 3
        Of the beam.
    exhaustive : int, default 250
        Largest number of sets that are all read.
    text_count : int, optional
        Number of all texts; counted by `audit()` if omitted. All are read if unknown.

    Returns
    -------
    dict of Tensor (B,)
        `comprehensiveness`, the log-odds of ŷ minus those without the top words, and
        `sufficiency`, minus those with the top words only, per ranking; of `random` the mean over
        all sets, or over 10. `contrast` is the first minus the second: what the top words say on
        their own, minus what the rest of the text says; `place` is where it lies between that of
        random words and the best, text by text, at least -1, NaN where these are equal. `…_best`
        and `…_worst` over all sets read; `…_p` in p(ŷ). `searched_exactly`: all sets were read. NaN
        with fewer than two words, or if a score is unknown.
    """
    names = [name for name in str(rankings).split("+") if name in scores]
    if not names:
        raise NotApplicable(f"none of the rankings {rankings} was computed")
    words = words_of(record)
    count = words.sum(-1)
    size = torch.minimum(share_of(share, count), count - 1)
    read = chosen_texts(record, seed, texts, text_count) & (count > 1)
    places = {name: ranks(record, scores[name], seed) for name in names}
    drawn = random_ranks(record, seed, "top_words", RANDOM_SETS)
    singles, rounding = log_odds_without_each(model, record), rounding_of(record)
    searches: list[tuple[int, Search[Found]]] = []
    exact = {}
    for index in read.nonzero()[:, 0].tolist():
        own, total, k = words[index], int(count[index]), int(size[index])
        exact[index] = math.comb(total, k) <= exhaustive
        sets = torch.stack([rank[index, own] < k for rank, _ in places.values()]).cpu()
        others = all_sets(total, k) if exact[index] else (drawn[:, index, own] < k).cpu()
        searches.append((index, _read_all(torch.cat([sets, others]))))
        if not exact[index]:
            one, passes = singles[index, own].cpu(), min(exhaustive // 2, WORDS_READ // total)
            for goal in _goals(float(rounding[index])):
                known = None if goal.keep else one
                search = beam_search(goal, total, k, width=width, passes=passes, singles=known)
                searches.append((index, _read_best(search, goal)))
    odds: dict[int, Found] = {index: dict.fromkeys(KINDS, singles.new_zeros(0)) for index in exact}
    results = run_searches(model, record, words, searches)
    for (index, _), found in zip(searches, results, strict=True):
        for kind, part in found.items():
            odds[index][kind] = torch.cat([odds[index][kind].cpu(), part])
    values = _values(whole_log_odds(record), odds, names, exact, len(drawn))
    for name, (_, unknown) in places.items():
        for metric in RANKED:
            values[name, metric].masked_fill_(unknown, torch.nan)
    return values


def _goals(rounding: float) -> list[Goal]:
    """The best and the worst words to delete, and to keep."""
    return [Goal(keep, highest, rounding) for keep in (False, True) for highest in (False, True)]


def _read_all(sets: Tensor) -> Search[Found]:
    """The log-odds without, and with only, each set (K,W)."""
    odds = yield torch.cat([sets, ~sets])
    return dict(zip(KINDS, odds.split(len(sets)), strict=True))


def _read_best(search: Search[float], goal: Goal) -> Search[Found]:
    """The best log-odds that a beam search finds."""
    odds = yield from search
    return {KINDS[goal.keep]: torch.tensor([odds], dtype=torch.float64)}


def _values(
    whole: Tensor,
    odds_of_example: dict[int, Found],
    names: list[str],
    exact: dict[int, bool],
    draws: int,
) -> Values:
    """All metrics (B,): whole (B,) are the log-odds of the whole texts.

    odds_of_example: the log-odds of the sets of the rankings, then of all sets or of the random
    ones, then of those that the searches found.
    """
    nan = torch.full_like(whole, torch.nan)
    values: Values = {}
    for metric in _metrics():  # also if no text is read
        for measure in ["random", *names] if metric in RANKED else [""]:
            values[measure, metric] = nan.clone()
    for index, kinds in odds_of_example.items():
        values["", "searched_exactly"][index] = float(exact[index])
        of = whole[index].cpu()
        for kind, odds in kinds.items():
            at_random = odds[len(names) :] if exact[index] else odds[len(names) :][:draws]
            lower_is_better = kind == "sufficiency"
            for suffix in SCALES:
                drop = of.sigmoid() - odds.sigmoid() if suffix else of - odds
                chance = of.sigmoid() - at_random.sigmoid() if suffix else of - at_random
                for place, name in enumerate(names):
                    values[name, kind + suffix][index] = drop[place]
                values["random", kind + suffix][index] = chance.mean()
                best, worst = (
                    (drop.min(), drop.max()) if lower_is_better else (drop.max(), drop.min())
                )
                values["", f"{kind}_best{suffix}"][index] = best
                values["", f"{kind}_worst{suffix}"][index] = worst
    for measure, metric in list(values):
        if metric.startswith(CONTRAST):
            without, only = (values[measure, metric.replace(CONTRAST, kind)] for kind in KINDS)
            values[measure, metric] = without - only
    floor, ceiling = values["random", CONTRAST], values["", f"{CONTRAST}_best"]
    room = (ceiling - floor).where(ceiling - floor > _MIN_ROOM, torch.nan)
    for name in ("random", *names):
        values[name, PLACE] = ((values[name, CONTRAST] - floor) / room).clamp_min(-1)
    return values
