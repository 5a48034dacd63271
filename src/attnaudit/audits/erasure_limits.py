"""How good is the order of the words, between the best and the worst order? (Edin et al. 2024)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.audits.declaration import DIFFERENCE, SHARE, Declaration, Metric, Values, declares
from attnaudit.audits.deletions import (
    chosen_texts,
    log_odds_without_each,
    random_ranks,
    ranks,
    whole_log_odds,
    words_of,
)
from attnaudit.audits.order_search import all_deletions, beam_of_orders, extreme_orders
from attnaudit.audits.set_search import Search, run_searches
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.core.option_limits import COUNT, Number, limits
from attnaudit.core.tolerance import relative_tolerance

RANKINGS = "attention+leave_one_out"
RANDOM_ORDERS = 10
PER_RANKING = ("aopc", "aopc_ascending", "naopc", "naopc_ascending")


@limits(texts=COUNT, width=COUNT, exhaustive=Number(least=1, most=16, whole=True), text_count=COUNT)
@declares(
    Declaration(
        question="How good is the order of the words, between the best and the worst order?",
        shortens_texts=True,
        metrics={
            "aopc": Metric(
                "mean drop of p(ŷ) when the words go one by one, the top word first",
                "aopc@random",
                "aopc_best",
                DIFFERENCE,
            ),
            "aopc_ascending": Metric(
                "the same with the top word last; lower is better",
                "aopc_ascending@random",
                "aopc_worst",
                DIFFERENCE,
            ),
            "naopc": Metric(
                "aopc between the worst (0) and the best order (1)", "naopc@random", 1.0, SHARE
            ),
            "naopc_ascending": Metric(
                "aopc_ascending between the worst (0) and the best order (1); lower is better",
                "naopc_ascending@random",
                0.0,
                SHARE,
            ),
            "aopc_best": Metric(
                "aopc of the best order found", "aopc_worst", "aopc_best", DIFFERENCE
            ),
            "aopc_worst": Metric(
                "aopc of the worst order found", "aopc_worst", "aopc_best", DIFFERENCE
            ),
            "searched_exactly": Metric("best and worst are over all orders", 0.0, 1.0),
        },
        detects=("shifted",),
        blind={"inert": "the order is right, although attention cannot change the prediction"},
    )
)
def erasure_limits(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    rankings: str = RANKINGS,
    texts: int = 50,
    width: int = 5,
    exhaustive: int = 12,
    text_count: int | None = None,
) -> Values:
    """Delete the words one by one in the order of each ranking, and compare with all orders.

    Up to `exhaustive` words, all 2^N - 2 shorter texts are read and the limits are exact. Longer
    texts take two beam searches, at most `width`·N·(N-1) passes; each limit is the best of its beam
    and of all other orders read.

    Parameters
    ----------
    rankings : str
        Measures whose orders are tested, joined by +; those not computed are skipped. Ties are
        broken at random.
    texts : int, default 50
        Number of texts that are read, about; drawn at random. The others are NaN throughout.
    width : int, default 5
        Of the beams.
    exhaustive : int, default 12
        Largest number of words for which all shorter texts are read.
    text_count : int, optional
        Number of all texts; counted by `audit()` if omitted. All are read if unknown.

    Returns
    -------
    dict of Tensor (B,)
        `aopc`, the mean over steps 1 to N-1 of p(ŷ) minus p(ŷ) after the step, and
        `aopc_ascending`, in reverse order, per ranking; of `random` the mean over all orders, or
        over 10. `aopc_best` and `aopc_worst`; `naopc` = (aopc - worst) / (best - worst), NaN if all
        orders are equal; `searched_exactly`. NaN with fewer than two words, or if a score is
        unknown.
    """
    names = [name for name in str(rankings).split("+") if name in scores]
    if not names:
        raise NotApplicable(f"none of the rankings {rankings} was computed")
    words = words_of(record)
    count = words.sum(-1)
    read = chosen_texts(record, seed, texts, text_count) & (count > 1)
    places = {name: ranks(record, scores[name], seed) for name in names}
    drawn = random_ranks(record, seed, "erasure_limits", RANDOM_ORDERS)
    whole = whole_log_odds(record).sigmoid()
    singles, rounding = (
        log_odds_without_each(model, record),
        relative_tolerance(record.logits.dtype),
    )
    searches: list[tuple[int, Search]] = []
    for index in read.nonzero()[:, 0].tolist():
        own, total, p = words[index], int(count[index]), float(whole[index])
        orders = torch.stack([rank[index, own] for rank, _ in places.values()]).cpu()
        if total <= exhaustive:
            searches.append((index, _exactly(p, orders)))
        else:
            orders = torch.cat([orders, drawn[:, index, own].cpu()])
            searches.append((index, _sums_of_orders(p, orders)))
            for highest in (True, False):
                beam = beam_of_orders(
                    p,
                    total,
                    width=width,
                    highest=highest,
                    rounding=rounding,
                    singles=singles[index, own].cpu(),
                )
                searches.append((index, _as_tensor(beam)))
    values: Values = {
        key: torch.full_like(whole, torch.nan)
        for key in [
            *((name, metric) for name in [*names, "random"] for metric in PER_RANKING),
            *(("", metric) for metric in ("aopc_best", "aopc_worst", "searched_exactly")),
        ]
    }
    results_of_example: dict[int, list[Tensor]] = {}
    for (index, _), part in zip(
        searches, run_searches(model, record, words, searches), strict=True
    ):
        results_of_example.setdefault(index, []).append(part)
    for index, parts in results_of_example.items():
        exact, steps = len(parts) == 1, int(count[index]) - 1
        sums = torch.cat(parts) / steps
        _fill(values, index, names, sums, exact=exact, rounding=rounding)
    for name, (_, unknown) in places.items():
        for metric in PER_RANKING:
            values[name, metric].masked_fill_(unknown, torch.nan)
    return values


def _prefixes(orders: Tensor) -> Tensor:
    """What each order (K,W), given as places, has deleted after each step but the last."""
    steps = torch.arange(1, orders.shape[1])[:, None]
    return orders[:, None] < steps  # (K,W-1,W)


def _sums_of_orders(whole: float, orders: Tensor) -> Search[Tensor]:
    """The summed drops of each order, then of each order reversed: (2K,)."""
    reverse = orders.shape[1] - 1 - orders
    sets = _prefixes(torch.cat([orders, reverse]))
    odds = yield sets.flatten(0, 1)
    return (whole - odds.sigmoid()).view(sets.shape[:2]).sum(-1)


def _exactly(whole: float, orders: Tensor) -> Search[Tensor]:
    """As `_sums_of_orders`; then of a random order, and of the best and the worst order."""
    words = orders.shape[1]
    sets = all_deletions(words)
    odds = yield sets[1:-1]
    drops = torch.cat([odds.new_zeros(1), whole - odds.sigmoid(), odds.new_zeros(1)])
    number = (_prefixes(torch.cat([orders, words - 1 - orders])) * 2 ** torch.arange(words)).sum(-1)
    of_size = [drops[sets.sum(-1) == size].mean() for size in range(1, words)]
    extremes = torch.tensor(extreme_orders(drops, words), dtype=drops.dtype)
    return torch.cat([drops[number].sum(-1), torch.stack(of_size).sum()[None], extremes])


def _as_tensor(search: Search[float]) -> Search[Tensor]:
    value = yield from search
    return torch.tensor([value], dtype=torch.float64)


def _fill(
    values: Values, index: int, names: list[str], aopc: Tensor, *, exact: bool, rounding: float
) -> None:
    """Set the values of one example, from the aopc of all its orders."""
    count = len(names)
    best, worst = float(aopc.max()), float(aopc.min())
    values["", "aopc_best"][index], values["", "aopc_worst"][index] = best, worst
    values["", "searched_exactly"][index] = float(exact)
    if exact:
        down, up, at_random = aopc[:count], aopc[count : 2 * count], aopc[2 * count].repeat(2)
    else:
        down, up = aopc[: 2 * (count + RANDOM_ORDERS)].chunk(2)
        at_random = torch.stack([down[count:].mean(), up[count:].mean()])
    room = best - worst if best - worst > rounding else torch.nan
    pairs = {name: (down[place], up[place]) for place, name in enumerate(names)}
    for name, of_name in (pairs | {"random": (at_random[0], at_random[1])}).items():
        for suffix, value in zip(("", "_ascending"), of_name, strict=True):
            values[name, f"aopc{suffix}"][index] = value
            values[name, f"naopc{suffix}"][index] = (value - worst) / room
