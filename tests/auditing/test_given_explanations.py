"""Scores from elsewhere are explanations: aligned with the model's words, or rejected."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from attnaudit import InputError, audit, audit_files
from attnaudit.auditing.given_explanation import GivenExplanation
from attnaudit.data.given_scores import read_given_scores
from attnaudit.measures import MEASURES
from attnaudit.models import Glass, from_huggingface, glass_batch
from tiny_transformers import TEXTS, tiny

SCORES = [np.arange(1.0, len(text.split()) + 1) for text in TEXTS]
EXPECTED = {str(number): scores.tolist() for number, scores in enumerate(SCORES)}


def measured(source: Any, texts: list[str] = TEXTS) -> dict[str, list[float]]:
    """The scores of the words of each text, as audits see them."""
    model = from_huggingface(*tiny("bert", num_labels=2))
    ids = [str(number) for number in range(len(texts))]
    batches = model.batches(texts, None, ids)
    explanation = GivenExplanation("mine", read_given_scores(source, "mine"), ids, texts)
    found = {}
    for batch in batches:
        record = model.read(batch)
        scores = explanation(model, record, 0)
        for index, name in enumerate(batch.example_id):
            found[name] = scores[index][record.content[index]].tolist()
    return found


def as_dicts() -> list[dict[str, Any]]:
    return [
        {"tokens": words, "scores": scores.tolist()}
        for words, scores in zip([text.split() for text in TEXTS], SCORES, strict=True)
    ]


def test_lists_dicts_files_and_shap_give_the_same_scores(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in as_dicts()), encoding="utf-8")
    shap = SimpleNamespace(
        data=[["", *(f"{word} " for word in text.split()), ""] for text in TEXTS],
        values=[np.array([9.0, *scores, 9.0]) for scores in SCORES],
    )
    inseq = tmp_path / "inseq.json"
    sequences = [
        {
            "source": [{"id": 0, "token": f"▁{word}"} for word in text.split()],
            "source_attributions": [[score / 2, score / 2] for score in scores],
            "target": [],
        }
        for text, scores in zip(TEXTS, SCORES, strict=True)
    ]
    inseq.write_text(json.dumps({"sequence_attributions": sequences}), encoding="utf-8")
    for source in ([scores.tolist() for scores in SCORES], as_dicts(), file, shap, inseq):
        found = measured(source)
        assert found.keys() == EXPECTED.keys()
        for name, expected in EXPECTED.items():
            assert found[name] == pytest.approx(expected)


def test_of_scores_per_class_those_of_the_predicted_class_count() -> None:
    model = from_huggingface(*tiny("bert", num_labels=2))
    (batch,) = model.batches(TEXTS[:1], None, ["0"])
    predicted = int(model.read(batch).predicted[0])
    columns = np.stack([SCORES[0], -SCORES[0]], 1)
    shap = SimpleNamespace(data=[TEXTS[0].split()], values=[columns])
    assert measured(shap, TEXTS[:1])["0"] == pytest.approx(columns[:, predicted].tolist())


def test_tensors_of_the_models_own_tokens_are_summed_over_words() -> None:
    model = from_huggingface(*tiny("bert", num_labels=2))
    (batch,) = model.batches(["a strange film"], None, ["0"])  # strange is cut into letters
    record = model.read(batch)
    tokens = batch.tokens.shape[1]
    per_token = torch.arange(float(tokens))[None]
    expected = record.to_items(per_token * batch.mask)[0][record.content[0]].tolist()
    assert tokens > 5
    assert measured(per_token, ["a strange film"])["0"] == expected
    embedded = per_token[..., None].expand(-1, -1, 4) / 4  # as Captum's attributions
    assert measured(embedded, ["a strange film"])["0"] == pytest.approx(expected)


def test_a_token_over_several_words_shares_its_score_by_characters() -> None:
    found = measured([{"tokens": ["good,", "bad"], "scores": [5.0, 1.0]}], ["good, bad"])
    assert found["0"] == pytest.approx([4.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([[1.0]] * 3, r"there are 1 scores, but the model reads 10 words \(\d+ tokens\)"),
        ([[1.0]], "has scores for 1 texts, but there are 3"),
        ([{"tokens": ["a"], "scores": [1, 2]}], "there are 1 tokens and 2 scores"),
        ([{"tokens": ["a"]}], "there are no scores. Expected tokens and scores, got: tokens"),
        ([{"tokens": ["that"], "scores": [1]}] * 3, "token 0 is 'that', where the text has 'the"),
        ([[float("inf")]], "score 0 is infinite"),
        ({1, 2}, "Cannot read the scores 'mine'"),
        ("nowhere.jsonl", "does not exist"),
    ],
)
def test_what_does_not_fit_is_rejected_with_the_first_difference(source: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        measured(source)


def test_given_scores_are_judged_as_the_measure_that_made_them() -> None:
    model, batch = Glass("shifted"), glass_batch(24)
    record = model.read(batch)
    score = MEASURES["leave_one_out"](model, record, 0)
    given = [score[index][record.content[index]].tolist() for index in range(len(batch))]
    results = audit(
        model,
        batch,
        audits=["top_words"],
        explanations={"mine": given, "leave_one_out": "leave_one_out"},
        show_progress=False,
    )
    frame = results.explanations().set_index("explanation")
    assert frame.loc["mine", "place"] == frame.loc["leave_one_out", "place"] > 0.5
    assert "mine" in frame.loc["leave_one_out", "tied_with"]
    assert frame.loc["mine", "tests"]["stability"] == "cannot tell"
    assert frame.loc["mine", "tested"] == 3


def test_files_and_columns_of_the_command(tmp_path: Path) -> None:
    model, tokenizer = tiny("bert", num_labels=2)
    model.config.id2label = {0: "neg", 1: "pos"}
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    lines = [
        {"text": text, "mine": scores.tolist()} for text, scores in zip(TEXTS, SCORES, strict=True)
    ]
    data, scores = tmp_path / "data.jsonl", tmp_path / "file.jsonl"
    data.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    scores.write_text("".join(json.dumps(line) + "\n" for line in as_dicts()), encoding="utf-8")
    results = audit_files(
        tmp_path / "model",
        data,
        sample=2,
        audits=["polarity"],
        scores={"file": scores},
        scores_columns=["mine"],
    )
    assert set(results.about["explanations"]) == {"attention", "file", "mine", "random"}
    for kept in results.examples["scores"]:
        by_name = {each["measure"]: each["values"] for each in kept}
        assert list(by_name["file"]) == list(by_name["mine"])
    scores.write_text("{}\n", encoding="utf-8")
    with pytest.raises(InputError, match="there are no scores"):
        audit_files(tmp_path / "model", data, audits=["polarity"], scores={"file": scores})
