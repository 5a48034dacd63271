"""`audit()`: batching, what it rejects, user functions, and that models are left unchanged."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import kendalltau
from torch import Tensor, nn

import attnaudit
from attnaudit import audit
from attnaudit.audits import AUDITS, DEFAULT_AUDITS
from attnaudit.audits.declaration import Declaration, Metric, declares
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError
from attnaudit.models import Architecture, build
from attnaudit.models.glass import Glass, glass_batch
from audit_cases import (
    END,
    EXAMPLES,
    START,
    audit_model,
    batching_models,
    random_batch,
    split_batch,
)
from small_models import Wrong
from tiny_transformers import tiny

SEARCH = 1e-4  # how far the furthest attention that a search finds may move by rounding


def lines(frame: pd.DataFrame) -> pd.Series:
    keys = ["example_id", "label", "predicted", "length", "audit", "measure", "metric", "row"]
    return (
        frame.astype({"audit": str, "measure": str, "metric": str})
        .set_index(keys)["value"]
        .sort_index()
    )


def _without_search() -> dict[str, Any]:
    return {"audits": [each for each in AUDITS if each != "furthest"], "keep_examples": 0}


@cache
def audited_whole(name: str, slow: bool) -> Any:
    """All examples of a model in one batch, in order; slow: without the search."""
    return audit_model(name, [batching_models()[name][1]], **(_without_search() if slow else {}))


@pytest.mark.parametrize("size", [1, 7, EXAMPLES])
@pytest.mark.parametrize("name", ["float32", "float64", "two rows"])
def test_values_do_not_depend_on_the_size_or_order_of_batches(name: str, size: int) -> None:
    """To the rounding of the model; a number that depends on draws alone, exactly."""
    _, batch = batching_models()[name]
    # The search without a readout is tested on its own; that for many classes is slow.
    slow = name == "two rows" or (name == "float64" and size != 7)
    chosen = _without_search() if slow else {}
    whole = audited_whole(name, slow)
    shuffled = np.random.default_rng(0).permutation(EXAMPLES).tolist()
    results = audit_model(name, split_batch(batch, shuffled, size), **chosen)
    reference, again = (lines(each.frame()) for each in (whole, results))
    tolerance = 1e-5 if name == "float32" else 1e-9
    assert reference.index.equals(again.index)
    # With many classes the search ends at the edge of the tolerance, up to its last step.
    searched = reference.index.get_level_values("audit") == "furthest"
    np.testing.assert_allclose(reference[~searched], again[~searched], atol=tolerance, rtol=0)
    np.testing.assert_allclose(reference[searched], again[searched], atol=SEARCH, rtol=0)
    drawn = reference.index.get_level_values("measure") == "random"
    drawn &= reference.index.get_level_values("audit") == "evidence"
    assert drawn.any()
    pd.testing.assert_series_equal(reference[drawn], again[drawn], check_exact=True)
    assert results.frame()["example_id"].tolist() == whole.frame()["example_id"].tolist()
    assert len(results.examples) == len(whole.examples) == (0 if slow else EXAMPLES)
    if not slow:
        assert results.examples["example_id"].tolist() == whole.examples["example_id"].tolist()
    for search, allowed in ((False, tolerance), (True, SEARCH)):
        first, second = (
            each.summaries[(each.summaries["audit"] == "furthest") == search]
            for each in (results, whole)
        )
        pd.testing.assert_frame_equal(first, second, rtol=0, atol=allowed)


def test_another_seed_changes_random_draws_only() -> None:
    model, batch = batching_models()["float64"]
    one, two = (
        audit(
            model, batch, audits=["permutation", "top_item"], seed=seed, show_progress=False
        ).frame()
        for seed in (0, 1)
    )
    changed = ~np.isclose(one["value"], two["value"], equal_nan=True)
    assert set(one.loc[changed, "metric"].astype(str)) >= {"tvd_median", "delta_js", "delta_alpha"}
    assert "max_attention" not in set(one.loc[changed, "metric"].astype(str))


@pytest.mark.parametrize("last_first", [False, True])
def test_an_audit_runs_on_the_batches_it_applies_to(last_first: bool) -> None:
    _, batch = batching_models()["float64"]
    with_, without = split_batch(batch, list(range(EXAMPLES)), 6)
    data = [with_, replace(without, evidence=None)]
    results = audit_model("float64", data[::-1] if last_first else data, audits=["evidence"])
    known = results.frame().dropna()["example_id"]
    assert not known.empty
    assert set(known) <= set(with_.example_id)
    assert results.about["not_applicable"] == {}


def with_alpha(change: Callable[[Tensor], None]) -> Wrong:
    def changed(record: Record) -> Record:
        alpha = record.alpha.clone()
        change(alpha)
        return replace(record, alpha=alpha)

    return Wrong(changed)


def quick(model: Any, **more: Any) -> Any:
    return audit(
        model, glass_batch(8), audits=["permutation"], measures=[], show_progress=False, **more
    )


def test_nan_attention_is_rejected_naming_the_examples() -> None:
    def spoil(alpha: Tensor) -> None:
        alpha[2, 0, 3] = math.nan
        alpha[5, 0, 0] = math.inf

    with pytest.raises(
        InputError,
        match=r"NaN or infinite attention for 2 of 8 examples, such as glass/2, glass/5. "
        "They cannot be audited",
    ):
        quick(with_alpha(spoil))


def test_nan_logits_are_rejected_naming_the_examples() -> None:
    def spoil(record: Record) -> Record:
        logits = record.logits.clone()
        logits[1, 1] = math.nan
        return replace(record, logits=logits)

    with pytest.raises(
        InputError, match="NaN or infinite logits for 1 of 8 examples, such as glass/1"
    ):
        quick(Wrong(spoil))


def test_attention_that_does_not_sum_to_1_is_rejected() -> None:
    def spoil(alpha: Tensor) -> None:
        alpha[4] *= 1.1

    with pytest.raises(InputError, match="does not sum to 1 for 1 of 8 examples, such as glass/4"):
        quick(with_alpha(spoil))


def test_negative_weights_are_rejected() -> None:
    def spoil(alpha: Tensor) -> None:
        alpha[4, 0, 0] += 0.5
        alpha[4, 0, 1] -= 0.5

    with pytest.raises(InputError, match="negative attention for 1 of 8 examples, such as glass/4"):
        quick(with_alpha(spoil))


def test_weight_outside_the_mask_is_rejected() -> None:
    short = int(glass_batch(8).mask.sum(-1).argmin())

    def spoil(alpha: Tensor) -> None:
        alpha[short] *= 0.5
        alpha[short, 0, -1] = 0.5

    with pytest.raises(InputError, match=f"for 1 of 8 examples, such as glass/{short}"):
        quick(with_alpha(spoil))


def test_weights_that_sum_to_1_up_to_rounding_are_accepted() -> None:
    def spoil(alpha: Tensor) -> None:
        alpha *= 1.001

    quick(with_alpha(spoil))


@pytest.mark.parametrize("data", [[], [glass_batch(4).rows(torch.tensor([], dtype=torch.int64))]])
def test_no_data_is_rejected(data: list[Batch]) -> None:
    with pytest.raises(InputError, match="There is nothing to audit: the data holds no example"):
        audit(Glass("oracle"), data, show_progress=False)


def test_an_empty_batch_among_others_changes_nothing() -> None:
    batch = glass_batch(8)
    nothing = batch.rows(torch.tensor([], dtype=torch.int64))
    alone, with_empty = (
        audit(
            Glass("oracle"), data, audits=["permutation", "agreement"], show_progress=False
        ).frame()
        for data in ([batch], [nothing, batch, nothing])
    )
    pd.testing.assert_frame_equal(alone, with_empty)


def test_there_must_be_one_class_name_per_class() -> None:
    """Or the examples of the classes left out would be missing from every summary."""
    with pytest.raises(InputError, match="class_names"):
        quick(Glass("oracle"), class_names=["only one"])


def test_a_measure_of_the_wrong_shape_is_rejected() -> None:
    def mine(model: AttentionModel, record: Record, seed: int) -> Tensor:
        return record.alpha.mean(-1)

    with pytest.raises(
        InputError,
        match=r"The measure 'mine' must return scores of shape \(B,N\) = \(8, 14\) or "
        r"\(B,R,N\) = \(8, 1, 14\), got \(8, 1\)",
    ):
        audit(Glass("oracle"), glass_batch(8), measures=[mine], show_progress=False)


@pytest.mark.parametrize("shape", [(), (7,), (8, 1, 14)])
def test_an_audit_of_the_wrong_shape_is_rejected(shape: tuple[int, ...]) -> None:
    def mine(model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int) -> Any:
        return {"number": torch.zeros(shape)}

    with pytest.raises(InputError) as error:
        audit(Glass("oracle"), glass_batch(8), audits=[mine], show_progress=False)
    assert str(error.value) == (
        "The audit 'mine' must return values of shape (B,) or (B,R) with B = 8; "
        f"'number' has shape {shape}."
    )


def test_user_measures_and_audits_run_like_any_other() -> None:
    def position(model: AttentionModel, record: Record, seed: int) -> Tensor:
        return torch.arange(record.content.shape[1]).double().expand(record.content.shape)

    @declares(
        Declaration(
            question="Is the text long?",
            metrics={
                "long": Metric("more than ten words", "short@", 1.0),
                "short": Metric("not so", 0.0, 1.0),
            },
        )
    )
    def long(model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int) -> Any:
        assert "position" in scores
        return {"long": record.length > 10, ("", "short"): record.length <= 10}

    batch = glass_batch(9)
    results = audit(
        Glass("oracle"),
        batch,
        audits=[long, "agreement"],
        measures=[position, "random"],
        show_progress=False,
    )
    values = results.frame()
    found = values[values["metric"] == "long"].set_index("example_id")["value"]
    for index, name in enumerate(batch.example_id):
        assert found[name] == float(int(batch.mask[index].sum()) > 10)
    tau = values[(values["measure"] == "position") & (values["metric"] == "tau")].set_index(
        "example_id"
    )
    alpha = Glass("oracle").read(batch).alpha.numpy()
    for index, name in enumerate(batch.example_id):
        n = int(batch.mask[index].sum())
        assert tau["value"][name] == pytest.approx(
            kendalltau(alpha[index, 0, :n], np.arange(n)).statistic
        )
    line = results.summary().set_index("metric").loc["long"]
    assert line["floor"] == pytest.approx(1 - line["mean"])
    assert results.about["audits"] == ["long", "agreement"]
    assert results.about["measures"] == ["attention", "position", "random"]


def test_an_audit_that_does_not_apply_is_recorded_with_its_reason() -> None:
    batch = replace(glass_batch(8), evidence=None)
    results = audit(Glass("oracle"), batch, measures=[], show_progress=False)
    assert results.about["not_applicable"] == {
        "agreement": "no measure was computed besides attention",
        "top_k_agreement": "no measure was computed besides attention",
        "evidence": "the data does not say which words are evidence",
    }
    assert set(results.frame()["audit"].astype(str)) == set(DEFAULT_AUDITS) - {
        "agreement",
        "top_k_agreement",
        "evidence",
    }


@pytest.mark.parametrize("audits", [["evidence"], []])
def test_results_have_no_values_if_no_audit_applies(audits: list[str]) -> None:
    batch = replace(glass_batch(8), evidence=None)
    results = audit(Glass("oracle"), batch, audits=audits, show_progress=False)
    assert len(results.frame()) == 0
    assert list(results.about["not_applicable"]) == audits
    assert {answer.answer for answer in results.card().answers} == {"cannot tell"}


def test_a_single_text_without_a_label_can_be_audited() -> None:
    batch = replace(glass_batch(1), labels=None, evidence=None)
    results = audit(Glass("oracle"), batch, show_progress=False)
    assert results.frame()["label"].unique().tolist() == [-1]
    reason = results.card()["needed?"].because
    assert reason == (
        "the audit uniform_attention has too few values for an interval: at least 10 are needed"
    )
    json.dumps(results.card().as_dict())
    assert "Results of 1 examples" in repr(results)


def test_texts_of_one_word_have_values_and_a_card() -> None:
    """Nothing can be shuffled, moved or ranked: defined results, never a failure."""
    batch = glass_batch(4)
    word = batch.tokens[:, :1].clone()
    word[:2] = torch.tensor([[1], [2]])
    one = Batch(batch.example_id, word, word > 0, labels=batch.labels, evidence=word < 3)
    results = audit(Glass("oracle"), one, show_progress=False)
    values = results.frame().set_index(["audit", "metric"])["value"].sort_index()
    assert (values["permutation", "tvd_median"] == 0).all()
    assert (values["furthest", "jsd"] == 0).all()
    assert values["agreement", "tau"].isna().all()
    assert len(str(results.card()).splitlines()) >= 10


def test_an_example_without_items_is_nan_in_every_audit() -> None:
    """Two marks and no word: its numbers about attention are NaN, other examples unchanged."""
    model = batching_models()["float64"][0]
    batch = random_batch(classes=4, query=True, candidates=True)
    tokens = batch.tokens.clone()
    tokens[3] = 0
    tokens[3, :2] = torch.tensor([START, END])
    empty = replace(batch, tokens=tokens, mask=tokens > 0, evidence=batch.evidence & (tokens > END))  # type: ignore[operator]
    values, without = (
        audit(model, each, show_progress=False, keep_examples=0).frame() for each in (empty, batch)
    )
    there = values["example_id"] == "example/3"
    about_attention = values["metric"] != "correct"
    wrong = values[there & about_attention].dropna()
    # k=average depends on the lengths of all texts; the family of p-values and what position
    # explains depend on all texts.
    of_all = "(?:_average|_family|explained)$"
    others = [
        lines(
            frame[
                (frame["example_id"] != "example/3")
                & ~frame["metric"].astype(str).str.contains(of_all)
            ]
        )
        for frame in (values, without)
    ]
    np.testing.assert_allclose(*others, atol=1e-9)
    assert wrong.empty, wrong[["audit", "measure", "metric", "value"]].to_string()


def trained_model() -> Any:
    model = build(
        Architecture(encoder="bilstm:hidden=4", embedding=4), words=30, classes=2, with_query=False
    )
    model.train()
    model.encoder.eval()
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 0.5)
    model.output.context.bias.requires_grad_(False)
    return model


def state(model: nn.Module) -> dict[str, Any]:
    return {
        "modes": [module.training for module in model.modules()],
        "needs": [parameter.requires_grad for parameter in model.parameters()],
        "grads": [
            parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None
        ],
        "values": [parameter.detach().clone() for parameter in model.parameters()],
        "hooks": [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()],
    }


def unchanged(before: dict[str, Any], after: dict[str, Any]) -> bool:
    return all(
        len(before[key]) == len(after[key])
        and all(
            torch.equal(a, b) if isinstance(a, Tensor) else a == b
            for a, b in zip(before[key], after[key], strict=True)
        )
        for key in before
    )


def test_the_model_is_left_unchanged() -> None:
    model = trained_model()
    before, random_state = state(model), torch.get_rng_state()
    audit(model, random_batch(classes=2), show_progress=False)
    assert unchanged(before, state(model))
    assert torch.equal(torch.get_rng_state(), random_state)
    assert torch.is_grad_enabled()


def test_the_model_is_read_in_evaluation_mode_and_left_unchanged_if_a_measure_fails() -> None:
    model = trained_model()
    before = state(model)
    seen = []

    def failing(model: Any, record: Record, seed: int) -> Tensor:
        seen.extend(module.training for module in model.modules())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        audit(model, random_batch(classes=2), measures=["gradient", failing], show_progress=False)
    assert seen
    assert not any(seen)
    assert unchanged(before, state(model))
    assert torch.is_grad_enabled()


def test_the_model_is_left_unchanged_if_an_audit_fails() -> None:
    model = trained_model()
    before = state(model)

    def failing(model: Any, record: Record, scores: dict[str, Tensor], seed: int) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        audit(model, random_batch(classes=2), audits=[failing], show_progress=False)
    assert unchanged(before, state(model))
    assert torch.is_grad_enabled()


def test_class_names_must_differ_and_none_may_be_all() -> None:
    for wrong in (["a", "a"], ["all", "b"]):
        with pytest.raises(InputError, match="class_names must differ"):
            audit(Glass("oracle"), glass_batch(8), class_names=wrong, show_progress=False)


def test_example_ids_must_differ() -> None:
    batch = glass_batch(8)
    with pytest.raises(InputError, match="its own example_id"):
        audit(Glass("oracle"), [batch, batch], show_progress=False)


def test_something_that_is_no_model_is_rejected() -> None:
    with pytest.raises(InputError, match=r"got Linear. The order is audit\(model, data\)"):
        audit(torch.nn.Linear(2, 2), glass_batch(8))

    def mine(model, record, seed):
        return record.alpha

    with pytest.raises(InputError, match="There are two of the measure 'mine'"):
        audit(Glass("oracle"), glass_batch(8), measures=[mine, mine])


def test_a_transformer_can_be_audited_on_a_text_of_one_word() -> None:
    for form in ("delete", "mask", "pad"):
        model = attnaudit.from_huggingface(*tiny("bert"), leave_out=form)
        results = audit(model, ["good"], show_progress=False)
        assert {answer.answer for answer in results.card().answers} == {"cannot tell"}
