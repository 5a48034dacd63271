"""Interventions in training: each model is what it says, each comparison is what a plain computation gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import entropy

from attnaudit.cli.check_target import random_batch
from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.data.batching import batches_of
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.models import Architecture, build
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.report.figures import save_figure
from attnaudit.training.checkpoint import load
from attnaudit.training.comparisons import compare_performance, divergence
from attnaudit.training.experiment import make_experiment
from attnaudit.training.interventions import INTERVENTIONS, InterventionContext, read_findings
from attnaudit.training.objectives.adversarial import adversarial, kl
from attnaudit.training.objectives.deceptive import deceptive, evidence, mass_on
from attnaudit.training.presets import PRESETS
from attnaudit.training.variants import VariantContext, make_training

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
    options = {"seeds": ":count=2", "adversarial": ":lams=0.1,seeds=2", "sparsity": ":lams=0.5,alphas=1.5",
               "guided_mlp": ":lam=0.1,hidden=8"}  # fmt: skip
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
        assert name in str(tmp_path / name)
        drawn = save_figure(
            findings.name, findings.summary, findings.examples, tmp_path / f"{name}.png"
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


def test_a_twin_from_the_base_moves_its_scorer_and_nothing_else(context: InterventionContext) -> None:
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


def test_fix_attention_attends_as_the_base_does_also_when_loaded(context: InterventionContext) -> None:
    base = context.base()
    held = context.variant("imposed:source=base", base=base, seed=1)
    assert context.diverge(base, held)["jsd"].max() < 1e-6


def test_deception_takes_the_attention_off_the_evidence(context: InterventionContext) -> None:
    summary = INTERVENTIONS["deceptive"](context).summary.set_index("model")
    before, after = summary["attention on hidden words"]
    assert after < 0.1 < before


def test_divergence_is_scipys(context: InterventionContext) -> None:
    first, second = (Glass(kind).read(glass_batch(20)) for kind in ("oracle", "shifted"))
    found = divergence(first, second)
    for at in range(20):
        real = first.mask[at, 0]
        p, q = (record.alpha[at, 0, real].double().numpy() for record in (first, second))
        expected = (entropy(p, (p + q) / 2) + entropy(q, (p + q) / 2)) / 2
        assert found["jsd"][at].item() == pytest.approx(expected, abs=1e-6)
        expected = np.abs((first.probs - second.probs)[at].numpy()).sum() / 2
        assert found["tvd"][at].item() == pytest.approx(expected, abs=1e-6)


def test_performance_differences_are_paired(context: InterventionContext) -> None:
    draw = np.random.default_rng(0)
    labels = torch.tensor(draw.integers(0, 2, 400))
    good = torch.nn.functional.one_hot(
        torch.where(torch.tensor(draw.random(400)) < 0.9, labels, 1 - labels), 2
    ).double()
    better = good.clone()
    wrong = (good.argmax(-1) != labels).nonzero()[:12, 0]
    better[wrong] = better[wrong].flip(-1)  # right where the other is, and on twelve more
    line = compare_performance(labels, better, good).set_index("metric").loc["accuracy"]
    assert line["difference"] == pytest.approx(12 / 400)
    # Paired: the standard error is that of twelve ones among 400, far below that of two accuracies apart.
    error = np.sqrt(0.03 * 0.97 / 400)
    assert line["low"] == pytest.approx(0.03 - 1.96 * error, abs=0.006)
    assert line["high"] == pytest.approx(0.03 + 1.96 * error, abs=0.006)
    same = compare_performance(labels, good, good)
    assert (same[["difference", "low", "high"]] == 0).all().all()


def test_kl_is_scipys_and_finite_for_sparse_attention_and_padding() -> None:
    alpha = torch.tensor([[[0.5, 0.5, 0.0, 0.0]], [[0.0, 1.0, 0.0, 0.0]]], dtype=torch.float64)
    other = torch.tensor([[[0.25, 0.25, 0.5, 0.0]], [[1.0, 0.0, 0.0, 0.0]]], dtype=torch.float64)
    mask = torch.tensor([[[True, True, True, False]], [[True, True, False, False]]])
    found = kl(alpha.requires_grad_(), other, mask)
    assert found[0, 0].item() == pytest.approx(entropy([0.5, 0.5, 0], [0.25, 0.25, 0.5]), abs=1e-9)
    assert 10 < found[1, 0].item() < 30  # infinite in truth, large and finite here
    found.sum().backward()
    assert torch.isfinite(alpha.grad).all()


def test_the_adversarial_objective_is_its_formula() -> None:
    batch = glass_batch(12)
    base, model = Glass("oracle"), Glass("shifted", focus=2.0)
    first, second = model.read(batch), base.read(batch)
    tvd = (first.probs - second.probs).abs().sum(-1) / 2
    apart = [
        entropy(
            first.alpha[at, 0, first.mask[at, 0]].double(),
            second.alpha[at, 0, first.mask[at, 0]].double(),
        )
        for at in range(12)
    ]
    expected = (tvd.double() - 0.3 * torch.tensor(apart)).mean()
    assert adversarial(base, lam=0.3)(model, batch).item() == pytest.approx(
        expected.item(), abs=1e-6
    )


def test_the_deceptive_objective_is_its_formula() -> None:
    batch, model = glass_batch(12), Glass("oracle")
    record = model.read(batch)
    mass = mass_on(record, batch.evidence)
    torch.testing.assert_close(mass[:, 0], (record.alpha[:, 0] * batch.evidence).sum(-1))
    plain = torch.nn.functional.cross_entropy(record.logits, batch.labels)
    expected = plain - 2.0 * (1 - mass).log().mean()
    assert deceptive(evidence, lam=2.0)(model, batch).item() == pytest.approx(
        expected.item(), abs=1e-5
    )


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("dataset", ["babi:task=1", "sst"])
def test_every_preset_makes_a_cell_whose_model_can_be_built(preset: str, dataset: str) -> None:
    experiment = make_experiment(dataset, preset=preset)
    experiment.architecture.check()
    model = build(experiment.architecture, words=20, classes=2, with_query=dataset.startswith("babi"))
    batch = random_batch(words=20, with_query=dataset.startswith("babi"), seed=0)
    batch = type(batch)(**{**vars(batch), "segments": torch.zeros_like(batch.tokens)})
    assert model.eval().read(batch).logits.shape == (6, 2)
    own = make_experiment(dataset, preset=preset, embedding=7, epochs=3)
    assert (own.architecture.embedding, own.recipe.epochs) == (7, 3)


def test_presets_differ_where_paper_and_code_differ() -> None:
    paper, code = (
        make_experiment("sst", preset=f"jain_wallace:fidelity={each}").recipe
        for each in ("paper", "code")
    )
    assert (paper.optimiser, paper.attention_weight_decay) == ("adam", 1e-5)
    assert (code.optimiser, code.attention_weight_decay) == ("amsgrad", 0.0)
    flan = make_experiment("babi", preset="serrano_smith:flat=true,encoder=conv").architecture
    assert (flan.model, flan.encoder) == ("attentive", "cnn:kernels=3,filters=100")
    assert make_experiment("sst", preset="meister:encoder=transformer").recipe.learning_rate == 1e-5
    assert make_experiment(
        "sst", preset="meister:faster_attention=true"
    ).recipe.attention_learning_rate == pytest.approx(1e-3)


def test_a_part_named_without_options_has_those_that_suit_the_dataset_or_the_preset() -> None:
    def encoder(dataset: str, **given: str) -> str:
        return make_experiment(dataset, **given).architecture.encoder

    assert encoder("babi:task=2", encoder="bilstm") == "bilstm:hidden=30"
    assert encoder("babi_files", encoder="bilstm") == "bilstm:hidden=30"
    assert make_experiment("babi", encoder="bilstm") == make_experiment("babi")
    assert encoder("babi", encoder="bilstm:hidden=7") == "bilstm:hidden=7"
    assert encoder("babi", encoder="bigru") == "bigru"
    assert encoder("sst", encoder="bilstm") == "bilstm"
    transformer = {"preset": "meister:encoder=transformer"}
    assert (
        encoder("sst", encoder="transformer", **transformer)
        == "transformer:hidden=128,layers=2,heads=1"
    )
    assert encoder("sst", encoder="transformer:heads=4", **transformer) == (
        "transformer:hidden=128,layers=2,heads=4"
    )
    han = make_experiment(
        "imdb", preset="serrano_smith:site=word", model="hierarchical"
    ).architecture
    assert han.model == "hierarchical:site=word"


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        ("twin", "needs a base"),
        ("imposed:source=mine", "no source 'mine'"),
        ("fix_representation", "needs a base"),
        ("deceptive:words=nosuchword", "not in the vocabulary: nosuchword"),
        ("twins", "There is no variant 'twins'. Did you mean 'twin'"),
    ],
)
def test_variants_that_cannot_be_are_refused_in_words(variant: str, text: str) -> None:
    fresh = build(Architecture(embedding=4), words=9, classes=2, with_query=False)
    with pytest.raises(InputError, match=text):
        make_training(variant, VariantContext(fresh, None, Vocabulary(("a",)), 0))
