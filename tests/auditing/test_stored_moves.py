"""Moves of attention that are stored for the playground: each prediction is the model's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from attnaudit.auditing.audit import audit
from attnaudit.auditing.stored_moves import (
    MOST_CARRIED,
    MOST_COUNTS,
    MOST_EXAMPLES,
    MOST_WORDS,
    SHUFFLES,
    examples_with_moves,
)
from attnaudit.core.id_order import id_hash
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.huggingface import from_huggingface
from attnaudit.results.store import load_results
from tiny_transformers import TEXTS, tiny


def moved(row: np.ndarray, move: dict[str, Any], order: list[int]) -> np.ndarray:
    """The weights of the words of one row, word by word."""
    kind, word, mass = move["kind"], move["word"], row.sum()
    if kind == "uniform":
        return np.full(len(row), mass / len(row))
    if kind == "only":
        return np.array([mass if place == word else 0.0 for place in range(len(row))])
    if kind == "carry":
        out = row.copy()
        out[move["to"]] += out[word]
        out[word] = 0.0
        return out
    gone = order[:word] if kind == "top" else [word]
    out = np.array([0.0 if place in gone else weight for place, weight in enumerate(row)])
    return out * mass / out.sum()


@pytest.mark.parametrize("family", ["bert", "gpt2", "t5"])
def test_every_move_is_what_decoding_it_gives(family: str) -> None:
    model = from_huggingface(*tiny(family))
    found = audit(
        model, TEXTS, audits=["furthest"], measures=["random"], seed=3, show_progress=False
    )
    examples = found.examples.set_index("example_id")
    seen = set()
    for batch in model.batches(TEXTS):
        record = model.read(batch)
        for index, name in enumerate(batch.example_id):
            line = examples.loc[name]
            content = record.content[index]
            rows = record.alpha[index].detach().double().numpy()
            words = rows[:, content.numpy()]
            order = np.argsort(-words.mean(0), kind="stable").tolist()
            for move in line["moves"]:
                seen.add(move["kind"])
                other = rows.copy()
                if move["kind"] == "furthest":
                    change = np.abs(np.asarray(move["probs"]) - np.asarray(line["probs"])).sum() / 2
                    assert change <= 0.01 + 1e-5  # as the audit promises
                    assert move["jsd"] == pytest.approx(line["furthest_jsd"], abs=1e-5)
                    continue
                if move["kind"] == "shuffle":
                    np.testing.assert_allclose(np.mean(move["weights"]), words.mean(), atol=1e-6)
                    assert move["jsd"] >= 0
                    continue  # each row has its own order; tested below
                other[:, content.numpy()] = [moved(row, move, order) for row in words]
                alpha = record.alpha.detach().clone()
                alpha[index] = torch.from_numpy(other)
                with torch.no_grad():
                    probs = model.decode(record, alpha)[index].double().softmax(-1)
                np.testing.assert_allclose(move["probs"], probs.numpy(), atol=2e-5)
                jsd = np.mean([jensenshannon(a, b) ** 2 for a, b in zip(rows, other, strict=True)])
                assert move["jsd"] == pytest.approx(jsd, abs=1e-5)
    assert seen == {"without", "top", "only", "carry", "uniform", "shuffle", "furthest"}


def test_shuffles_are_those_of_the_audit_permutation() -> None:
    """The mean of the stored changes is that of an audit of as many shuffles."""
    model = from_huggingface(*tiny("bert"))
    name = f"permutation:shuffles={SHUFFLES}"
    found = audit(model, TEXTS, audits=[name], measures=["random"], show_progress=False)
    values = found.frame()
    for line in found.examples.itertuples():
        of_example = values[(values["example_id"] == line.example_id)]
        tvd = float(of_example[of_example["metric"] == "tvd_mean"]["value"].iloc[0])
        changes = [
            np.abs(np.asarray(move["probs"]) - np.asarray(line.probs)).sum() / 2
            for move in line.moves
            if move["kind"] == "shuffle"
        ]
        assert np.mean(changes) == pytest.approx(tvd, abs=1e-5)


def test_the_number_of_moves_is_bounded_whatever_the_length() -> None:
    model = from_huggingface(*tiny("bert"))
    text = " ".join(["good", "bad", "film", "dull"] * 12)
    found = audit(model, [text], audits=["permutation"], measures=["random"], show_progress=False)
    (moves,) = found.examples["moves"]
    kinds = [move["kind"] for move in moves]
    assert kinds.count("without") == kinds.count("only") == MOST_WORDS
    assert kinds.count("top") == MOST_COUNTS
    assert kinds.count("carry") == MOST_CARRIED * (MOST_WORDS - 1)
    counts = [move["word"] for move in moves if move["kind"] == "top"]
    assert counts[0] == 1
    assert counts[-1] == 47
    assert counts == sorted(set(counts))


def test_a_text_of_one_word_has_no_move_that_empties_it() -> None:
    model = from_huggingface(*tiny("bert"))
    found = audit(model, ["good"], audits=["permutation"], measures=["random"], show_progress=False)
    (moves,) = found.examples["moves"]
    assert {move["kind"] for move in moves} == {"only", "uniform", "shuffle"}
    for move in moves:
        np.testing.assert_allclose(move["probs"], found.examples["probs"].iloc[0], atol=1e-6)


def test_moves_are_stored_for_the_examples_a_page_takes_first_and_survive_the_store(
    tmp_path: Path,
) -> None:
    model = from_huggingface(*tiny("bert"))
    texts = [f"{TEXTS[number % 3]} {'good ' * (number % 4)}" for number in range(MOST_EXAMPLES + 6)]
    found = audit(model, texts, audits=["permutation"], measures=["random"], show_progress=False)
    found.save(tmp_path / "run")
    for results in (found, load_results(tmp_path / "run")):
        has = {line.example_id for line in results.examples.itertuples() if line.moves is not None}
        expected = sorted(results.examples["example_id"], key=id_hash)[:MOST_EXAMPLES]
        assert has == set(expected) == examples_with_moves(frozenset(results.examples.example_id))
    stored = load_results(tmp_path / "run").examples.set_index("example_id")
    for line in found.examples.itertuples():
        if line.moves is not None:
            back = stored.loc[line.example_id, "moves"]
            assert [move["kind"] for move in back] == [move["kind"] for move in line.moves]
            np.testing.assert_array_equal(
                np.stack([move["probs"] for move in back]),
                np.stack([move["probs"] for move in line.moves]),
            )


def test_a_model_with_a_readout_needs_no_moves() -> None:
    found = audit(Glass("oracle"), glass_batch(5), audits=["permutation"], show_progress=False)
    assert all(moves is None for moves in found.examples["moves"])
