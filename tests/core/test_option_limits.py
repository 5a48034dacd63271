"""Option values outside their limits are rejected before any work, from Python and commands."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from attnaudit import data, models
from attnaudit.auditing.selection import find_audits, find_measures
from attnaudit.audits import AUDITS
from attnaudit.audits.corpus import CORPUS_AUDITS
from attnaudit.cli import app
from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import COUNT, Joined, Number, OneOf, limits, limits_of
from attnaudit.measures import MEASURES
from attnaudit.models import MODELS, Architecture
from attnaudit.models.architecture import PARTS
from attnaudit.models.encoders.bilstm import BiLSTM
from attnaudit.models.encoders.mlp import MLP
from attnaudit.training.experiment import ExperimentConfig, make_experiment
from attnaudit.training.interventions import INTERVENTIONS
from attnaudit.training.presets import PRESETS
from attnaudit.training.recipe import Recipe
from attnaudit.training.runner import run_experiment
from attnaudit.training.variants import VARIANTS

REGISTRIES: dict[str, Mapping[str, Callable[..., Any]]] = {
    **PARTS,
    "model": MODELS,
    "audit": AUDITS,
    "measure": MEASURES,
    "corpus audit": CORPUS_AUDITS,
    "intervention": INTERVENTIONS,
    "variant": VARIANTS,
    "preset": PRESETS,
}
# Numbers that are not bounded by the option itself: a word's number, and what audit() works out.
FREE = {("erasure", "token"), ("erasure_forms", "token"), ("top_k_agreement", "mean_length")}


@pytest.mark.parametrize(("kind", "registry"), REGISTRIES.items(), ids=REGISTRIES)
def test_every_number_that_can_be_chosen_has_a_limit(
    kind: str, registry: Mapping[str, Callable[..., Any]]
) -> None:
    for name, part in registry.items():
        for option in inspect.signature(part).parameters.values():
            numeric = any(each in str(option.annotation) for each in ("int", "float"))
            if (
                option.kind is option.KEYWORD_ONLY
                and option.default is not option.empty
                and numeric
            ):
                assert (
                    option.name in limits_of(part) or name == "cnn" or (name, option.name) in FREE
                ), (
                    name,
                    option.name,
                )


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (
            {"encoder": "bilstm:hidden=0"},
            "The option hidden of the encoder 'bilstm' must be 1 or more, got 0",
        ),
        ({"encoder": "bigru:hidden=-3"}, "must be 1 or more, got -3"),
        ({"encoder": "average:hidden=0"}, "must be 1 or more, got 0"),
        ({"encoder": "average:fidelity=x"}, "no fidelity 'x' of the average encoder"),
        ({"encoder": "mlp:layers=0"}, "layers of the encoder 'mlp' must be 1 or more"),
        ({"encoder": "mlp:activation=x"}, "must be relu or tanh, got 'x'"),
        ({"encoder": "cnn:filters=0"}, "filters of the encoder 'cnn' must be 1 or more"),
        ({"encoder": "cnn:kernels=0"}, "kernels must be odd numbers"),
        ({"encoder": "cnn:kernels=1-2"}, "kernels must be odd numbers"),
        (
            {"encoder": "transformer:heads=0"},
            "heads of the encoder 'transformer' must be 1 or more",
        ),
        ({"encoder": "transformer:heads=3"}, "hidden must be even and a multiple of heads"),
        ({"encoder": "transformer:hidden=7"}, "hidden must be even and a multiple of heads"),
        (
            {"encoder": "transformer:layers=0"},
            "layers of the encoder 'transformer' must be 1 or more",
        ),
        (
            {"encoder": "transformer:widening=0"},
            "widening of the encoder 'transformer' must be 1 or more",
        ),
        ({"scorer": "deep:layers=0"}, "layers of the scorer 'deep' must be 1 or more"),
        (
            {"projection": "sparsegen:lam=1"},
            "lam of the projection 'sparsegen' must be below 1, got 1",
        ),
        ({"projection": "sparsegen:lam=NaN"}, "must be below 1, got nan"),
        ({"projection": "entmax:alpha=0.5"}, "must be above 1 and at most 2, or learned, got 0.5"),
        (
            {"projection": "entmax:alpha=most"},
            "must be above 1 and at most 2, or learned, got 'most'",
        ),
        ({"projection": "gumbel_softmax:temperature=0"}, "temperature .* must be above 0, got 0"),
        (
            {"model": "hierarchical:site=page"},
            "site of the model 'hierarchical' must be sentence or word",
        ),
        ({"embedding": 0}, "embedding must be 1 or more, got 0"),
        ({"epochs": 0}, "epochs must be above 0, got 0"),
        ({"epochs": 1.5}, "epochs must be a whole number, got 1.5"),
        ({"batch_size": 0}, "batch_size must be above 0, got 0"),
        ({"learning_rate": -1e-3}, "learning_rate must be above 0, got -0.001"),
        ({"learning_rate": math.nan}, "learning_rate must be above 0, got nan"),
        ({"learning_rate": math.inf}, "learning_rate must be above 0, got inf"),
        ({"attention_learning_rate": 0.0}, "attention_learning_rate must be above 0"),
        ({"weight_decay": -1.0}, "weight_decay must be 0 or more, got -1"),
        ({"attention_weight_decay": math.nan}, "attention_weight_decay must be 0 or more, got nan"),
        ({"patience": -1}, "patience must be 1 or more, got -1"),
        ({"patience": 0}, "patience must be 1 or more, got 0"),
        ({"target_score": 95.0}, "target_score must be 0 or more and at most 1, got 95"),
        ({"sample": 0}, "sample must be 1 or more, got 0"),
        ({"keep_examples": -1}, "keep_examples must be 0 or more, got -1"),
        ({"other_seeds": -1}, "other_seeds must be 0 or more, got -1"),
        (
            {"audits": ("permutation:shuffles=0",)},
            "shuffles of the audit 'permutation' must be 1 or more",
        ),
        (
            {"audits": ("furthest:epsilon=2",)},
            "epsilon of the audit 'furthest' must be 0 or more and at most 1",
        ),
        ({"audits": ("furthest:fidelity=x",)}, "no fidelity 'x' of the audit furthest"),
        ({"audits": ("epsilon_curve:epsilons=0.1+2",)}, "epsilons are numbers from 0 to 1"),
        ({"audits": ("epsilon_curve:epsilons=a",)}, "epsilons are numbers from 0 to 1"),
        ({"audits": ("erasure:shares=0",)}, "shares are per cent above 0"),
        ({"audits": ("erasure:form=x",)}, "form is delete, or replace with token"),
        (
            {"audits": ("top_k_agreement:k=0",)},
            "k is average, all, non_zero, non_zero_of_attention or a number",
        ),
        ({"audits": ("top_k_agreement:k=2+3",)}, "one number for k at a time"),
        ({"measures": ("shap:kind=deep",)}, "no kind of shap 'deep'"),
        (
            {"measures": ("lime:kernel_width=0",)},
            "kernel_width of the measure 'lime' must be above 0",
        ),
        (
            {"measures": ("gradient_norm:norm=3",)},
            "norm of the measure 'gradient_norm' must be 1 or 2",
        ),
        (
            {"measures": ("deeplift:tolerance=-1",)},
            "tolerance of the measure 'deeplift' must be above 0",
        ),
    ],
)
def test_a_run_that_makes_no_sense_is_rejected_before_data_is_read(
    changed: dict[str, Any], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreached(*_: object, **__: object) -> None:
        raise AssertionError("data was read")

    monkeypatch.setattr(data, "load", unreached)
    with pytest.raises(InputError, match=text):
        run_experiment(make_experiment("keyword", **changed), tmp_path, show_progress=False)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--embedding", "0"], "embedding must be 1 or more, got 0"),
        (["--patience", "-1"], "patience must be 1 or more, got -1"),
        (["--batch-size", "0"], "batch_size must be above 0, got 0"),
        (["--learning-rate", "nan"], "learning_rate must be above 0, got nan"),
        (["--encoder", "bilstm:hidden=0"], "hidden of the encoder 'bilstm' must be 1 or more"),
        (
            ["--preset", "meister:encoder=cnn"],
            "encoder of the preset 'meister' must be bilstm or transformer",
        ),
        (
            ["--intervention", "seeds:count=1"],
            "count of the intervention 'seeds' must be 2 or more, got 1",
        ),
        (["--intervention", "adversarial:lams=-1"], "lams .*: every number must be 0 or more"),
        (
            ["--intervention", "adversarial:seeds=0"],
            "seeds of the intervention 'adversarial' must be 1 or more",
        ),
        (
            ["--intervention", "guided_mlp:hidden=0"],
            "hidden of the intervention 'guided_mlp' must be 1 or more",
        ),
        (
            ["--intervention", "deceptive:lam=-1"],
            "lam of the intervention 'deceptive' must be 0 or more",
        ),
        (["--intervention", "sparsity:lams=0+1"], "lams .*: every number must be below 1, got 1"),
        (["--intervention", "sparsity:alphas=x"], "alphas .* must be numbers joined by"),
    ],
)
def test_the_command_line_says_the_same(arguments: list[str], text: str, tmp_path: Path) -> None:
    given = ["run", "--dataset", "keyword", "--out", str(tmp_path / "runs"), *arguments]
    done = CliRunner().invoke(app, given)
    assert isinstance(done.exception, InputError)
    with pytest.raises(InputError, match=text):
        raise done.exception
    assert not (tmp_path / "runs").exists()


def test_corpus_audits_variants_and_parts_made_by_hand_have_the_same_limits() -> None:
    for known, choice, text in (
        (CORPUS_AUDITS, "mutual_information:clusters=1", "must be above 1, or auto, got 1"),
        (CORPUS_AUDITS, "mutual_information:most=1", "most .* must be 2 or more"),
        (VARIANTS, "twin:lam=-1", "must be 0 or more"),
        (VARIANTS, "twin:start=x", "must be scratch, base or all"),
    ):
        with pytest.raises(InputError, match=text):
            registry.find(known, choice, "part")
    with pytest.raises(InputError, match=r"^hidden must be 1 or more, got 0"):
        BiLSTM(4, hidden=0)
    with pytest.raises(InputError, match=r"^layers must be 1 or more, got 0"):
        MLP(4, layers=0)


def test_what_is_allowed_stays_allowed() -> None:
    find_audits(["epsilon_curve:epsilons=0+1", "top_k_agreement:k=5+all", "erasure:shares=0.5+100"])
    find_measures(["shap:n_samples=3,kind=gradient", "lime:penalty=0"])
    registry.find(INTERVENTIONS, "sparsity:lams=,alphas=1.5", "intervention")
    models.check(Architecture(encoder="transformer:heads=4", projection="entmax:alpha=learned"))
    Recipe(patience=1, weight_decay=0.0, target_score=1.0)
    ExperimentConfig(sample=1, keep_examples=0)


def test_a_limit_is_checked_on_calls_and_known_of_a_bound_part() -> None:
    @limits(
        count=COUNT, share=Number(above=0, most=1), kind=OneOf(("a", "b")), list=Joined(NOT_ZERO)
    )
    def part(
        value: int, *, count: int = 3, share: float = 0.5, kind: str = "a", list: str = "1"
    ) -> int:
        return value * count

    assert part(2) == 6
    assert part(2, count=4) == 8
    assert set(limits_of(registry.find({"part": part}, "part:count=2", "part"))) == {
        "count",
        "share",
        "kind",
        "list",
    }
    for wrong in (
        {"count": 0},
        {"count": True},
        {"count": "3"},
        {"share": 0},
        {"kind": "c"},
        {"list": "1+0"},
    ):
        with pytest.raises(InputError, match=next(iter(wrong))):
            part(2, **wrong)


NOT_ZERO = Number(above=0)
