"""Interventions: each model is what it says, each comparison what a plain computation gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch

from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.data.batching import batches_of
from attnaudit.report.figures import save_figure
from attnaudit.results.store import read_run
from attnaudit.training.checkpoint import load
from attnaudit.training.experiment import make_experiment
from attnaudit.training.interventions import INTERVENTIONS, InterventionContext, read_findings
from attnaudit.training.variants import VARIANTS

DATASET = "keyword:train=300,dev=60,test=50,length=10,jitter=2,distractors=1"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> InterventionContext:
    experiment = make_experiment(
        DATASET, encoder="bilstm:hidden=8", embedding=8, epochs=3, learning_rate=0.01
    )
    return InterventionContext(experiment, tmp_path_factory.mktemp("runs"), show_progress=False)


def test_every_intervention_gives_stored_findings_and_runs_nothing_twice(
    context: InterventionContext, tmp_path: Path
) -> None:
    options = {
        "seeds": ":count=2",
        "adversarial": ":lams=0.1,seeds=2",
        "sparsity": ":lams=0.5,alphas=1.5",
        "guided_mlp": ":lam=0.1,hidden=8",
    }
    for name in INTERVENTIONS:
        intervene = registry.find(INTERVENTIONS, name + options.get(name, ""), "intervention")
        findings = intervene(context)
        before = {run: (run / "run.json").stat().st_mtime_ns for run in findings.runs}
        again = intervene(context)
        assert {run: (run / "run.json").stat().st_mtime_ns for run in again.runs} == before
        pd.testing.assert_frame_equal(findings.summary, again.summary)
        back = read_findings(findings.save(tmp_path / name))
        pd.testing.assert_frame_equal(back.summary, findings.summary)
        assert back.answer == findings.answer
        assert findings.answer.endswith(".")
        assert "nan" not in findings.answer
        assert len(findings.summary) >= 1
        assert findings.name == name  # the grid knows the folder before it is written
        drawn = save_figure(
            findings.name, findings.summary, findings.detail, tmp_path / f"{name}.png"
        )
        assert drawn is None or drawn.stat().st_size > 5000


def test_a_variant_that_differs_in_nothing_is_the_base(context: InterventionContext) -> None:
    assert context.variant(projection=context.experiment.architecture.projection) == context.base()
    assert context.variant(seed=context.experiment.seed) == context.base()
    few = replace(
        context, experiment=replace(context.experiment, audits=("permutation",))
    )  # not audited enough for a comparison
    assert few.variant(seed=context.experiment.seed) != few.base()


def test_uniform_attention_is_uniform_and_random_is_not(context: InterventionContext) -> None:
    (batch, *_) = batches_of(context.splits.test, context.load(context.base()).vocabulary, 2)
    even = load(context.variant(projection="uniform")).model.read(batch)
    torch.testing.assert_close(even.alpha, even.mask / even.mask.sum(-1, keepdim=True))
    drawn = load(context.variant("imposed:source=random")).model.read(batch)
    assert (drawn.alpha - even.alpha).abs().max() > 0.05
    torch.testing.assert_close(drawn.alpha.sum(-1), torch.ones(len(batch), 1))


def test_a_twin_from_the_base_moves_its_scorer_and_nothing_else(
    context: InterventionContext,
) -> None:
    base = context.base()
    twin = load(context.variant("twin:lam=0.1,start=base", base=base)).model.state_dict()
    old = load(base).model.state_dict()
    moved = {name.split(".")[0] for name in old if not torch.equal(old[name], twin[name])}
    assert moved == {"scorer"}


def test_a_larger_lam_moves_the_attention_further_than_another_seed_does(
    context: InterventionContext,
) -> None:
    base = context.base()
    near = context.diverge(base, context.variant("twin:lam=0", base=base))["jsd"].mean()
    far = context.diverge(base, context.variant("twin:lam=0.3", base=base))["jsd"].mean()
    assert far > near + 0.1


def test_fix_representation_keeps_the_encoder_and_learns_the_rest(
    context: InterventionContext,
) -> None:
    base = context.base()
    fixed = load(context.variant("fix_representation", base=base, seed=1)).model.state_dict()
    old = load(base).model.state_dict()
    same = {name.split(".")[0] for name in old if torch.equal(old[name], fixed[name])}
    assert {"embedding", "encoder"} <= same
    assert not {"scorer", "output"} & same


def test_fix_attention_attends_as_the_base_does_also_when_loaded(
    context: InterventionContext,
) -> None:
    base = context.base()
    held = context.variant("imposed:source=base", base=base, seed=1)
    assert context.diverge(base, held)["jsd"].max() < 1e-6


def test_a_twin_can_start_at_the_base_itself_and_keep_its_best_epoch(
    context: InterventionContext,
) -> None:
    base = context.base()
    near = context.variant("twin:lam=0,start=all", base=base)
    old, new = load(base).model.state_dict(), load(near).model.state_dict()
    assert {name.split(".")[0] for name in old if not torch.equal(old[name], new[name])} == {
        "scorer"
    }
    fresh = context.variant("twin:lam=0,start=base", base=base)
    at_base, from_scratch = (context.diverge(base, run)["jsd"].mean() for run in (near, fresh))
    assert 0 < at_base < from_scratch  # it started where the base is, and nothing drove it away
    kept = context.variant("twin:lam=0.3,keep=best_f1", base=base)
    training = read_run(kept)["training"]
    assert training["dev"][training["kept_epoch"]] == max(training["dev"])
    last = read_run(context.variant("twin:lam=0.3", base=base))["training"]
    assert last["kept_epoch"] == len(last["dev"]) - 1
    with pytest.raises(InputError, match="start"):
        registry.find(VARIANTS, "twin:start=nowhere", "variant")


def test_fix_attention_with_a_constant_imposes_uniform_attention(
    context: InterventionContext,
) -> None:
    fix = registry.find(INTERVENTIONS, "fix_attention:constant=uniform", "intervention")
    findings = fix(context)
    assert findings.name == "fix_attention"
    held = load(findings.runs[1])
    (batch, *_) = batches_of(context.splits.test, held.vocabulary, 2)
    record = held.model.read(batch)
    torch.testing.assert_close(record.alpha, record.mask / record.mask.sum(-1, keepdim=True))


def test_sparsity_reports_tau_with_the_measures_of_the_base(context: InterventionContext) -> None:
    sweep = registry.find(INTERVENTIONS, "sparsity:lams=0.5,alphas=", "intervention")
    columns = set(sweep(context).summary.columns)
    assert {"tau_gradient_norm", "tau_leave_one_out", "tau_random"} <= columns
    assert "tau_gradient" not in columns
    measured = replace(context, experiment=replace(context.experiment, measures=("gradient",)))
    findings = sweep(measured)
    assert {"tau_gradient", "tau_random"} <= set(findings.summary.columns)
    assert "tau_leave_one_out" not in findings.summary.columns
    run = load(findings.runs[1])
    assert findings.summary["tau_gradient"][1] == run.results.mean("agreement", "tau", "gradient")
    assert "tau with gradient goes from" in findings.answer or "Cannot tell" in findings.answer


def test_deception_takes_the_attention_off_the_evidence(context: InterventionContext) -> None:
    summary = INTERVENTIONS["deceptive"](context).summary.set_index("model")
    before, after = summary["attention on hidden words"]
    assert after < 0.1 < before
