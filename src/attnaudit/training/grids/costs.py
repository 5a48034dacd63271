"""How long cells take: from the times of finished runs, else from stated defaults.

Training costs seconds per example and epoch, an audit seconds per audited example. Both are
measured on finished runs: of the same dataset and encoder if there are any, else of the same
encoder. Everything else about a cell (lengths, batch sizes, other parts) is taken to be alike.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.data.datasets import default_sizes, parse_choice
from attnaudit.results import store

# Measured on one core with texts of 20 words and the usual audits; longer texts take longer, at
# worst with the square of their length. Rough: wrong by a factor of ten for some models.
TRAINING_SECONDS = {"average": 2e-4, "none": 2e-4, "mlp": 2e-4, "cnn": 6e-4, "bilstm": 6e-4}
OTHER_TRAINING_SECONDS = 1e-3  # per example and epoch, of the other encoders
AUDIT_SECONDS = 0.05  # per audited example
START_SECONDS = 5.0  # of a process that imports torch
UNKNOWN_SIZES = {"train": 20_000, "test": 2_000}
# Models that an intervention trains besides the base, with its default options.
TRAININGS = {
    "uniform": 1,
    "random": 1,
    "seeds": 2,
    "adversarial": 4,
    "guided_mlp": 5,
    "fix_representation": 2,
    "fix_attention": 2,
    "deceptive": 3,
    "sparsity": 9,
}

# What an estimate is worth, by what it rests on.
ROUGH = {
    "measured": "Estimated from finished runs in this folder, of the same dataset and encoder or "
    "of the same encoder. Other choices are taken to cost the same, and no early stop.",
    "defaults": "Some cells are unlike every finished run in this folder. Their times are rough "
    "guesses from texts of 20 words on one core and may be wrong by a factor of ten: run one "
    "cell of each kind first.",
}


class Estimate(NamedTuple):
    """Seconds, and what they rest on: "measured" runs or built-in "defaults"."""

    seconds: float
    source: str


class Costs:
    """What finished runs took, and from it what others will take.

    Examples
    --------
    >>> choices = {"dataset": "keyword:train=1000,test=100", "encoder": "average",
    ...            "recipe": {"epochs": 2}}
    >>> Costs().of_run(choices).source
    'defaults'
    """

    def __init__(self) -> None:
        self._rates: dict[Hashable, list[float]] = defaultdict(list)
        self._sizes: dict[str, Mapping[str, int]] = {}

    @classmethod
    def measured(cls, folders: Iterable[Path]) -> Costs:
        """From finished runs; those that cannot be read are left out."""
        costs = cls()
        for folder in folders:
            try:
                costs.learn(store.read_run(folder))
            except (InputError, KeyError):
                continue
        return costs

    def learn(self, run: Mapping[str, Any]) -> None:
        """Add a finished run, by its run.json."""
        choices, sizes, seconds = run["choices"], run["data"]["sizes"], run["seconds"]
        self._sizes[choices["dataset"]] = sizes
        if run["training"].get("trained_in") is None:
            steps = max(1, sizes["train"] * len(run["training"]["dev"]))
            for key in _training_keys(choices):
                self._rates[key].append(seconds["training"] / steps)
        if not choices.get("other_seeds"):  # their trainings are counted as audit
            for key in _audit_keys(choices):
                self._rates[key].append(seconds["audit"] / _audited(choices, sizes))

    def learn_intervention(
        self, intervention: str, choices: Mapping[str, Any], seconds: float
    ) -> None:
        """Add the time that an intervention took on top of its base."""
        self._rates["intervention", intervention, choices["dataset"], _encoder(choices)].append(
            seconds
        )

    def of_run(self, choices: Mapping[str, Any]) -> Estimate:
        """The time of a run with these choices, as run.json stores them."""
        sizes = self._sizes.get(choices["dataset"]) or {
            **UNKNOWN_SIZES,
            **default_sizes(choices["dataset"]),
        }
        training = self._rate(_training_keys(choices))
        audit = self._rate(_audit_keys(choices))
        default = TRAINING_SECONDS.get(_encoder(choices), OTHER_TRAINING_SECONDS)
        one = (
            sizes["train"]
            * choices["recipe"]["epochs"]
            * (default if training is None else training)
        )
        trainings = one * (1 + (choices.get("other_seeds") or 0))
        audits = _audited(choices, sizes) * (AUDIT_SECONDS if audit is None else audit)
        known = training is not None and audit is not None
        return Estimate(
            trainings + audits + (0.0 if known else START_SECONDS),
            "measured" if known else "defaults",
        )

    def of_intervention(self, intervention: str, choices: Mapping[str, Any]) -> Estimate:
        """The time of an intervention whose base is finished."""
        measured = self._rate(
            [("intervention", intervention, choices["dataset"], _encoder(choices))]
        )
        if measured is not None:
            return Estimate(measured, "measured")
        name = registry.parse(intervention)[0]
        return Estimate(TRAININGS.get(name, 3) * self.of_run(choices).seconds, "defaults")

    def _rate(self, keys: list[Hashable]) -> float | None:
        """The median of the first key that was measured."""
        for key in keys:
            if self._rates.get(key):
                return statistics.median(self._rates[key])
        return None


def _training_keys(choices: Mapping[str, Any]) -> list[Hashable]:
    """From the most like it to the least."""
    dataset = parse_choice(choices["dataset"])[0]
    return [("training", dataset, choices["encoder"]), ("training", _encoder(choices))]


def _audit_keys(choices: Mapping[str, Any]) -> list[Hashable]:
    asked = tuple(tuple(choices.get(key) or ()) for key in ("audits", "measures"))
    dataset = parse_choice(choices["dataset"])[0]
    return [("audit", dataset, choices["encoder"], asked), ("audit", _encoder(choices), asked)]


def _encoder(choices: Mapping[str, Any]) -> str:
    return registry.parse(choices["encoder"])[0]


def _audited(choices: Mapping[str, Any], sizes: Mapping[str, int]) -> int:
    return max(1, min(choices.get("sample") or sizes["test"], sizes["test"]))
