"""How often the intervals contain the truth, by simulation; written into docs/statistics.md.

Each cell draws thousands of samples from a known distribution, makes the interval of each, and
counts. Usage: python benchmarks/coverage.py [--write] [--only large_means …]
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from scipy import stats

from attnaudit.statistics import Interval, bootstrap
from attnaudit.statistics.rates import signed_rate_interval
from attnaudit.statistics.ratios import bootstrap_ratio
from attnaudit.statistics.score_differences import auc_difference, f1_difference_of_counts
from attnaudit.statistics.seeds import over_seeds_of_columns

SIMULATIONS = 4000
FEWER_SIMULATIONS = 2000  # where each takes more memory or time
RESAMPLES = 1000
MOST = 0.97  # an interval that covers more is conservative, and says so
SIZES = (10, 20, 30, 50, 100, 200, 500)
LARGE_SIZE = 25_000
PAGE = Path(__file__).parents[1] / "docs/statistics.md"
TABLE = PAGE.with_name("coverage.csv")
BEGIN, END = "<!-- coverage: begin -->", "<!-- coverage: end -->"
Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
SHARE, CORRELATION = (0.0, 1.0), (-1.0, 1.0)


def _two_kinds(share: float) -> Draw:
    """Most values near 0, and this share of them large."""
    return lambda draw, shape: np.where(
        draw.random(shape) < share, draw.uniform(0.2, 1, shape), draw.beta(1, 60, shape)
    )


def _drawn_median(draw: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """An effect of each text, known only as the mean of 100 noisy draws."""
    return draw.beta(2, 4, shape) + draw.normal(0, 0.5, shape) / math.sqrt(100)


# Name -> draw, true mean, limits.
MEANS: dict[str, tuple[Draw, float, tuple[float, float] | None]] = {
    "normal": (lambda draw, shape: draw.normal(0.3, 0.2, shape), 0.3, None),
    "skewed tau": (lambda draw, shape: 1 - 2 * draw.beta(0.5, 4, shape), 1 - 1 / 4.5, CORRELATION),
    "exponential": (lambda draw, shape: draw.exponential(1, shape), 1.0, None),
    "heavy-tailed TVD": (lambda draw, shape: draw.beta(0.1, 3, shape), 0.1 / 3.1, SHARE),
    "TVD, 1 text in 10 large": (_two_kinds(0.1), 0.06 + 0.9 / 61, SHARE),
    "TVD, 1 text in 20 large": (_two_kinds(0.05), 0.03 + 0.95 / 61, SHARE),
    "normal, half undefined": (
        lambda draw, shape: np.where(
            draw.random(shape) < 0.5, np.nan, draw.normal(0.3, 0.2, shape)
        ),
        0.3,
        None,
    ),
    "estimated by 100 draws per text": (_drawn_median, 1 / 3, None),
}
RATES = (0.03, 0.1, 0.5, 0.9, 0.97)


def _tau_between(draw: np.random.Generator, shape: tuple[int, ...], room: float) -> list:
    """Value, floor and ceiling of texts that are easy or hard for value and ceiling alike."""
    easy = draw.normal(0, 0.15, shape)
    value = room / 2 + easy + draw.normal(0, 0.25, shape)
    ceiling = room + easy + draw.normal(0, 0.15, shape)
    return [value, draw.normal(0, 0.3, shape), ceiling]


def _share_of_reach(draw: np.random.Generator, shape: tuple[int, ...]) -> list:
    reach = draw.beta(0.3, 2, shape)
    return [reach * draw.beta(2, 2, shape), np.zeros(shape), reach]


RATIOS = {
    "tau, ceiling 0.8": (lambda draw, shape: _tau_between(draw, shape, 0.8), 0.5),
    "tau, ceiling 0.4": (lambda draw, shape: _tau_between(draw, shape, 0.4), 0.5),
    "share of a skewed reach": (_share_of_reach, 0.5),
}

# Name -> share of class 1, accuracies, and how far errors are shared.
MODELS = {
    "similar models": (0.5, 0.85, 0.8, 0.5),
    "rare class": (0.2, 0.9, 0.8, 0.3),
    "unequal models": (0.5, 0.8, 0.6, 0.0),
    "nearly equal models": (0.5, 0.9, 0.9, 0.8),
}
# Seed noise over text noise, in variance of the mean.
SEED_NOISE = {"seed noise dominates": 9.0, "equal": 1.0, "negligible": 0.0}


def means(draw: np.random.Generator) -> Iterator[dict]:
    for name, (sample, truth, limits) in MEANS.items():
        for size in SIZES:
            values = torch.from_numpy(sample(draw, (size, SIMULATIONS)))
            made = bootstrap(values, limits=limits, resamples=RESAMPLES)
            yield _line(f"mean, {name}", size, made, truth)


def large_means(draw: np.random.Generator) -> Iterator[dict]:
    """Beyond `resampling.LARGE` texts the quantiles of the resamples have a closed form."""
    for name, (sample, truth, limits) in MEANS.items():
        ends = []
        for _ in range(10):  # to bound the memory
            values = torch.from_numpy(sample(draw, (LARGE_SIZE, FEWER_SIMULATIONS // 10)))
            made = bootstrap(values, limits=limits, resamples=RESAMPLES)
            ends.append(torch.stack([made.low, made.high]))
        low, high = torch.cat(ends, 1)
        yield _line(f"mean, {name}", LARGE_SIZE, (low, high), truth)


def rates(_: np.random.Generator) -> Iterator[dict]:
    """Exactly: by all numbers of hits and their probabilities."""
    for rate in RATES:
        for size in SIZES:
            hits = np.arange(size + 1)
            values = torch.from_numpy((np.arange(size)[:, None] < hits).astype(float))
            made = bootstrap(values, limits=SHARE)
            chances = stats.binom.pmf(hits, size, rate)
            yield _line(f"rate {rate}", size, made, rate, chances=torch.from_numpy(chances))


def ratios(draw: np.random.Generator) -> Iterator[dict]:
    for name, (sample, truth) in RATIOS.items():
        for size in SIZES:
            value, floor, ceiling = (
                torch.from_numpy(part) for part in sample(draw, (size, SIMULATIONS))
            )
            made = bootstrap_ratio(value - floor, ceiling - floor, resamples=RESAMPLES)
            yield _line(f"relative, {name}", size, made, truth)


def scores(draw: np.random.Generator) -> Iterator[dict]:
    cells = np.array(list(itertools.product((0, 1), repeat=3))).T  # label, first, second
    right = [cells[0] == cells[1], cells[0] == cells[2]]
    for name, model in MODELS.items():
        chances = _chances(*right, cells[0], *model)
        f1 = float(np.subtract(*(_f1(cells[0], each, chances) for each in cells[1:])))
        for size in SIZES:
            times = draw.multinomial(size, chances, size=SIMULATIONS)
            gained, lost = (
                torch.from_numpy(times[:, which].sum(1))
                for which in (right[0] & ~right[1], right[1] & ~right[0])
            )
            made = signed_rate_interval(gained, lost, torch.tensor(size))
            yield _line(f"accuracy difference, {name}", size, made, model[1] - model[2])
            ends = f1_difference_of_counts(cells, times, np.array([1]))
            made = torch.from_numpy(ends[0]), torch.from_numpy(ends[1])
            yield _line(f"F1 difference, {name}", size, made, f1)


def _chances(
    first_right: np.ndarray,
    second_right: np.ndarray,
    labels: np.ndarray,
    positive: float,
    first: float,
    second: float,
    same: float,
) -> np.ndarray:
    """The chance of each cell, if the models share this part of their luck."""
    both = same * min(first, second) + (1 - same) * first * second
    one = np.where(first_right, first - both, second - both)
    neither = 1 - first - second + both
    chance = np.where(first_right == second_right, np.where(first_right, both, neither), one)
    return chance * np.where(labels == 1, positive, 1 - positive)


def _f1(labels: np.ndarray, predicted: np.ndarray, chances: np.ndarray) -> float:
    return 2 * chances @ (labels & predicted) / (chances @ labels + chances @ predicted)


def aucs(draw: np.random.Generator) -> Iterator[dict]:
    """Two scores of class 1 with correlated noise; AUC of a normal shift d is Φ(d/√2)."""
    phi = torch.distributions.Normal(0.0, 1.0).cdf
    truth = float(phi(torch.tensor(1.5 / 2**0.5)) - phi(torch.tensor(1.0 / 2**0.5)))
    for size in SIZES:
        made = []
        for _ in range(FEWER_SIMULATIONS):
            labels = (draw.random(size) < 0.5).astype(int)
            noise = draw.normal(size=(3, size))
            pair = [
                shift * labels + 0.6 * noise[0] + 0.8 * own
                for shift, own in zip((1.5, 1.0), noise[1:], strict=True)
            ]
            made.append(auc_difference(labels, *pair))
        yield _line("ROC-AUC difference", size, _stack(made), truth)


def seeds(draw: np.random.Generator) -> Iterator[dict]:
    for count, (name, noise), size in itertools.product((2, 3, 5, 10), SEED_NOISE.items(), SIZES):
        between = math.sqrt(noise * count / size)
        ends = []
        for _ in range(4):  # to bound the memory
            shape = (count, size, FEWER_SIMULATIONS // 4)
            values = draw.normal(0, 0.7, shape) + draw.normal(size=shape[1:])
            values += draw.normal(0, between, (count, 1, shape[2]))
            ends.append(np.stack(over_seeds_of_columns(values, resamples=RESAMPLES)[1:]))
        low, high = torch.from_numpy(np.concatenate(ends, 1))
        yield _line(f"{count} seeds, {name}", size, (low, high), 0.0)


def _stack(made: list) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([each.low for each in made]), torch.tensor([each.high for each in made])


def _line(
    name: str,
    size: int,
    made: Interval | tuple[torch.Tensor, torch.Tensor],
    truth: float,
    *,
    chances: torch.Tensor | None = None,
) -> dict:
    """The shares of intervals that are shown, and of these that cover; chances: exact weights."""
    low, high = (made.low, made.high) if isinstance(made, Interval) else made
    weight = torch.full_like(low, 1 / len(low)) if chances is None else chances
    shown = (~low.isnan()).double() * weight
    share = {
        column: float((where.double() * shown).sum() / shown.sum())
        for column, where in (
            ("coverage", (low <= truth + 1e-12) & (high >= truth - 1e-12)),
            ("too_high", low > truth + 1e-12),
            ("too_low", high < truth - 1e-12),
        )
    }
    simulations = len(low) if chances is None else "exact"
    return {
        "interval": name,
        "n": size,
        "simulations": simulations,
        "shown": float(shown.sum()),
        **share,
    }


def markdown(table: pd.DataFrame) -> str:
    """One line per kind of interval, one column per number of texts."""

    def cell(line: pd.Series) -> str:
        if line["shown"] < 0.5:
            return "withheld"
        share = "" if line["shown"] > 0.995 else f" ({line['shown']:.0%} shown)"
        mark = "⁺" if line["coverage"] > MOST else ""
        return f"{line['coverage']:.3f}{mark}{share}".lstrip("0")

    wide = table.assign(cell=table.apply(cell, axis=1)).pivot(
        index="interval", columns="n", values="cell"
    )
    wide = wide.loc[table["interval"].unique()].fillna("")
    head = "| interval | " + " | ".join(f"n = {size}" for size in wide.columns) + " |"
    lines = [head, "|---" * (1 + len(wide.columns)) + "|"]
    lines += [f"| {name} | " + " | ".join(cells) + " |" for name, cells in wide.iterrows()]
    return "\n".join(lines)


def main() -> None:
    torch.set_num_threads(1)
    start = time.time()
    lines: list[dict] = []
    parts = (means, large_means, rates, ratios, scores, aucs, seeds)
    chosen = sys.argv[sys.argv.index("--only") + 1 :] if "--only" in sys.argv else None
    for part in parts:
        if chosen is not None and part.__name__ not in chosen:
            continue
        draw = np.random.default_rng([2024, len(part.__name__), ord(part.__name__[0])])
        lines += list(part(draw))
        print(f"{part.__name__}: {time.time() - start:.0f} s", flush=True)
    table = pd.DataFrame(lines).round(4)
    if chosen is not None:  # the rest as it was measured before
        table = pd.concat([pd.read_csv(TABLE), table])
        table = table.drop_duplicates(["interval", "n"], keep="last")
    print(markdown(table), flush=True)
    if "--write" in sys.argv:
        table.to_csv(TABLE, index=False)
        text = PAGE.read_text()
        before, after = text.split(BEGIN)[0], text.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{markdown(table)}\n{END}{after}")


if __name__ == "__main__":
    main()
