"""Every two parts together keep the laws, and every part learns; all combinations are slow.

The tests loop over the registries, so a new part is tested as soon as it is registered.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import combinations, product

import pytest
import torch
from torch import nn

from attnaudit.core.contract import Batch
from attnaudit.data import load, random_batch
from attnaudit.data.splits import Splits
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.laws.checks import check_model
from attnaudit.laws.report import LawReport
from attnaudit.models import Architecture, build
from attnaudit.models.encoders import ENCODERS
from attnaudit.models.imposed import Imposed, OfModel, at_random, uniform
from attnaudit.models.outputs import OUTPUTS
from attnaudit.models.projections import PROJECTIONS
from attnaudit.models.scorers import SCORERS
from attnaudit.statistics.classification import performance
from attnaudit.training.recipe import Recipe
from attnaudit.training.trainer import fit, predictions

SMALL = {
    "bilstm": "bilstm:hidden=3",
    "bigru": "bigru:hidden=3",
    "cnn": "cnn:kernels=1-3,filters=3",
    "mlp": "mlp:hidden=6",
    "average": "average:hidden=6",
    "transformer": "transformer:hidden=6,layers=2",
    "none": "none",
}
WORDS = 40


def loud(model: nn.Module, seed: int = 0) -> nn.Module:
    """Large parameters: small ones give near-uniform attention, on which nothing can fail."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "Norm" not in name and parameter.dim() > 0:
                parameter.copy_(
                    0.7 * torch.randn(parameter.shape, generator=draw, dtype=torch.float64)
                )
    return model.eval()


def made(with_query: bool = False, **parts: str) -> nn.Module:
    architecture = Architecture(embedding=6, **parts)
    return loud(build(architecture, words=WORDS, classes=3, with_query=with_query).double())


def cannot_tell(report: LawReport) -> list[str]:
    return [law.name for law in report.laws if law.verdict == "cannot tell"]


def test_every_encoder_has_a_small_version_in_this_file() -> None:
    assert set(SMALL) == set(ENCODERS)


def check_laws(
    encoder: str, scorer: str, with_query: bool, others: Iterable[tuple[str, str]]
) -> None:
    """others: pairs of projection and output."""
    batch = random_batch(words=WORDS, with_query=with_query, seed=1)
    for projection, output in others:
        model = made(
            with_query, encoder=SMALL[encoder], scorer=scorer, projection=projection, output=output
        )
        report = check_model(model, batch)
        assert report.kept, f"{encoder} {scorer} {projection} {output}\n{report}"
        assert cannot_tell(report) == [], f"{encoder} {scorer} {projection} {output}\n{report}"
        assert any(law.name.startswith("7") for law in report.laws) == model.output.is_linear


def one_output_each(start: int) -> list[tuple[str, str]]:
    """Every projection with one output: the outputs in turn, from number `start` on."""
    outputs = list(OUTPUTS)
    return [
        (projection, outputs[(start + number) % len(outputs)])
        for number, projection in enumerate(PROJECTIONS)
    ]


ENCODERS_AND_SCORERS = list(product(ENCODERS, SCORERS))


@pytest.mark.parametrize("with_query", [False, True])
@pytest.mark.parametrize(("encoder", "scorer"), ENCODERS_AND_SCORERS)
def test_laws_for_every_two_parts(encoder: str, scorer: str, with_query: bool) -> None:
    start = ENCODERS_AND_SCORERS.index((encoder, scorer)) + with_query
    check_laws(encoder, scorer, with_query, one_output_each(start))


def test_every_two_parts_are_combined() -> None:
    """The control of the test above, and every projection and output with and without a query."""
    combined = [
        (encoder, scorer, with_query, *others)
        for start, (encoder, scorer) in enumerate(ENCODERS_AND_SCORERS)
        for with_query in (False, True)
        for others in one_output_each(start + with_query)
    ]
    kinds = (ENCODERS, SCORERS, (False, True), PROJECTIONS, OUTPUTS)
    for first, second in combinations(range(len(kinds)), 2):
        pairs = {(parts[first], parts[second]) for parts in combined}
        assert pairs == set(product(kinds[first], kinds[second]))


@pytest.mark.slow
@pytest.mark.parametrize("with_query", [False, True])
@pytest.mark.parametrize(("encoder", "scorer"), ENCODERS_AND_SCORERS)
def test_laws_for_every_encoder_scorer_projection_and_output(
    encoder: str, scorer: str, with_query: bool
) -> None:
    check_laws(encoder, scorer, with_query, product(PROJECTIONS, OUTPUTS))


def sentences(batch: Batch) -> Batch:
    """Sentences of three tokens, one of them a single word."""
    place = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
    return Batch(
        batch.example_id,
        batch.tokens,
        batch.mask,
        batch.query,
        batch.query_mask,
        segments=place // 3 * batch.mask,
    )


@pytest.mark.parametrize("with_query", [False, True])
@pytest.mark.parametrize("site", ["sentence", "word"])
@pytest.mark.parametrize("encoder", ["bigru", "cnn", "none"])
@pytest.mark.parametrize("projection", ["softmax", "sparsemax"])
def test_laws_for_both_sites_of_the_hierarchical_model(
    encoder: str, site: str, projection: str, with_query: bool
) -> None:
    model = made(
        with_query, model=f"hierarchical:site={site}", encoder=SMALL[encoder], projection=projection
    )
    batch = sentences(random_batch(words=WORDS, with_query=with_query, seed=2))
    report = check_model(model, batch)
    assert report.kept, report
    assert cannot_tell(report) == [], report
    assert any(law.name.startswith("7") for law in report.laws) == (site == "sentence")


def test_a_deleted_sentence_leaves_no_gap() -> None:
    model = made(model="hierarchical:site=sentence", encoder=SMALL["bigru"])
    batch = sentences(random_batch(words=WORDS, with_query=False, seed=2))
    without_second = batch.without(batch.segments == 1)
    renumbered = Batch(
        without_second.example_id,
        without_second.tokens,
        without_second.mask,
        segments=(without_second.segments - (without_second.segments > 1).long()),
    )
    torch.testing.assert_close(
        model.read(without_second).logits, model.read(renumbered).logits, atol=1e-12, rtol=0
    )
    assert (model.read(without_second).logits - model.read(batch).logits).abs().max() > 1e-6


def test_word_attention_stays_within_its_sentence() -> None:
    """Changing the last sentence does not change the weights of the first."""
    model = made(model="hierarchical:site=word", encoder=SMALL["bigru"])
    batch = sentences(random_batch(words=WORDS, with_query=False, seed=2))
    other = batch.tokens.where(batch.segments == 0, torch.where(batch.tokens > 3, 7, batch.tokens))
    changed = Batch(batch.example_id, other, batch.mask, segments=batch.segments)
    first, second = model.read(batch).alpha, model.read(changed).alpha
    torch.testing.assert_close(first[:, 0], second[:, 0], atol=1e-12, rtol=0)
    assert (first[:, 1] - second[:, 1]).abs().max() > 1e-3


@pytest.mark.parametrize("source", ["uniform", "random", "model"])
def test_laws_for_imposed_attention(source: str) -> None:
    other = made(encoder=SMALL["cnn"])
    given = {"uniform": uniform, "random": at_random(3), "model": OfModel(other)}[source]
    model = Imposed(made(encoder=SMALL["mlp"]), given).eval()
    batch = random_batch(words=WORDS, with_query=False, seed=1)
    report = check_model(model, batch)
    assert report.kept, report
    record = model.read(batch)
    if source == "model":
        torch.testing.assert_close(record.alpha, other.read(batch).alpha, atol=1e-12, rtol=0)
        assert not any("other" in name for name, _ in model.named_parameters())


LEARNING_SCORERS = [name for name in SCORERS if name != "last"]  # which attends to one word
TAUGHT = [
    *({"encoder": encoder} for encoder in ENCODERS),
    *({"scorer": scorer} for scorer in LEARNING_SCORERS if scorer != "additive"),
    *({"projection": projection} for projection in PROJECTIONS if projection != "softmax"),
    {"projection": "sparsegen:lam=0.5"},
    {"projection": "entmax:alpha=learned"},
    {"scorer": "dot:scaled=false"},
    {"output": "tanh"},
]
LEARNERS = {
    **SMALL,
    "bilstm": "bilstm:hidden=16",
    "bigru": "bigru:hidden=16",
    "cnn": "cnn:kernels=1-3,filters=16",
    "mlp": "mlp:hidden=32",
    "average": "average:hidden=32",
    "transformer": "transformer:hidden=32,layers=1",
}


@cache
def keyword_task() -> tuple[Splits, Vocabulary]:
    splits = load("keyword:length=20,jitter=0,evidence=2,distractors=3,train=4000,dev=200,test=200")
    return splits, Vocabulary.build(splits.train)


def learnt(**parts: str) -> float:
    """Test accuracy on `keyword` with 20 tokens, 2 evidence words and 3 distractors."""
    splits, vocabulary = keyword_task()
    parts = {"encoder": "bilstm", **parts}
    architecture = Architecture(embedding=32, **{**parts, "encoder": LEARNERS[parts["encoder"]]})
    model = build(architecture, words=len(vocabulary), classes=2, with_query=False)
    # Without weight decay, context-free models memorise the fillers.
    recipe = Recipe(
        epochs=30, learning_rate=2e-3, weight_decay=1e-3, select="accuracy", target_score=0.99
    )
    fit(model, splits, vocabulary, recipe, show_progress=False)
    return performance(*predictions(model, splits.test, vocabulary, 2))["accuracy"]


@pytest.mark.parametrize("parts", TAUGHT, ids=lambda parts: "-".join(parts.values()))
def test_every_part_learns_the_keyword_task(parts: dict[str, str]) -> None:
    assert learnt(**parts) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoder", "scorer", "projection"), list(product(ENCODERS, LEARNING_SCORERS, PROJECTIONS))
)
def test_every_combination_learns_the_keyword_task(
    encoder: str, scorer: str, projection: str
) -> None:
    assert learnt(encoder=encoder, scorer=scorer, projection=projection) > 0.95
