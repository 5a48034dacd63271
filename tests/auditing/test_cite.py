"""`cite`: the planted models get the card they deserve; parts, resuming and chosen heads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnaudit import cite
from attnaudit.auditing.head_choice import choose_heads, hold_out
from attnaudit.auditing.jobs import sharded_audit
from attnaudit.core.errors import InputError
from attnaudit.data.citations import CitationExample, simulate
from attnaudit.models.glass import Glass
from attnaudit.models.planted_citations import PlantedReader
from attnaudit.results.gate import check_conditions
from attnaudit.results.store import load_results
from tiny_generation import EXAMPLES, tiny_generator

# uses_sources, cites_used, follows_source, decision
DESERVED = {
    "copier": ("yes", "yes", "yes", "yes"),
    "first": ("yes", "no", "no", "no"),
    "knows": ("no", "cannot tell", "yes", "no"),
}


@pytest.mark.parametrize("kind", DESERVED)
def test_the_planted_models_get_the_card_they_deserve(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    results = cite(PlantedReader(kind), simulate(25), out=folder, show_progress=False)
    card = results.card()
    keys = ("uses_sources", "cites_used", "follows_source")
    assert (*(card[key].answer for key in keys), card.decision) == DESERVED[kind]
    again = load_results(folder)
    assert str(again.card()) == str(card)
    assert not (tmp_path / "run.parts").exists()
    assert "error" not in card.verdict
    for answer in card.answers:
        for finding in answer.findings:
            assert not np.isnan(finding.floor) or finding.name == "source_use/gain"
    kept = again.examples.iloc[0]
    example = next(each for each in simulate(25) if each.example_id == kept["example_id"])
    assert list(kept["tokens"]) == list(example.sources)
    assert (kept["query"], list(kept["answer"])) == (example.question, [example.answer])


def test_conditions_can_name_the_questions_of_citations() -> None:
    assert check_conditions("cites_used=no") == [("cites_used", "=", "no")]


def test_an_interrupted_audit_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions, folder = simulate(6), tmp_path / "run"
    whole = cite(PlantedReader("first"), questions, show_progress=False)
    done: list[int] = []
    do = sharded_audit.ShardedAudit.do

    def stops(self: Any, shard: int, advance: Any = None) -> None:
        if len(done) == 2:
            raise KeyboardInterrupt
        do(self, shard, advance)
        done.append(shard)

    options: dict[str, Any] = {"out": folder, "tokens_per_shard": 1, "show_progress": False}
    with monkeypatch.context() as patch:
        patch.setattr(sharded_audit.ShardedAudit, "do", stops)
        with pytest.raises(KeyboardInterrupt):
            cite(PlantedReader("first"), questions, **options)
    assert len(list((tmp_path / "run.parts" / "parts").iterdir())) == 2

    def counts(self: Any, shard: int, advance: Any = None) -> None:
        done.append(shard)
        do(self, shard, advance)

    monkeypatch.setattr(sharded_audit.ShardedAudit, "do", counts)
    results = cite(PlantedReader("first"), questions, **options)
    assert done == [0, 1, 2, 3, 4, 5]
    assert results.frame().equals(whole.frame())


def test_a_real_architecture_from_question_to_card() -> None:
    model = tiny_generator("t5")
    question = CitationExample("g", ("the film was good", "a dull one"), "was it good")
    results = cite(model, [*EXAMPLES, question], show_progress=False)
    assert len(results.examples) == 3
    assert results.about["not_applicable"] == {}
    assert results.about["card"] == "citation"
    assert results.card().decision == "cannot tell"  # three answers are too few
    first = results.examples.set_index("example_id").loc["a"]
    weights = np.asarray(first["answer_attention"]).reshape(len(first["answer"]), 3)
    rows = np.asarray(first["attention"]).reshape(-1, 3)
    np.testing.assert_allclose(weights.mean(0), rows.mean(0), atol=1e-6)


def test_heads_are_chosen_on_questions_that_are_not_audited() -> None:
    questions = simulate(20)
    held, rest = hold_out(questions, 0.25, 0)
    assert len(held) == 5
    assert not {each.example_id for each in held} & {each.example_id for each in rest}
    assert hold_out(questions[::-1], 0.25, 0)[0] == held[::-1]
    with pytest.raises(InputError, match="between 0 and 1"):
        hold_out(questions, 1.0, 0)
    with pytest.raises(InputError, match="two or more questions are needed"):
        hold_out(questions[:1], 0.5, 0)
    results = cite(PlantedReader("copier"), questions, choose=1, show_progress=False)
    assert len(results.columns) == 16
    assert "named_heads:heads=0.0" in results.about["measures"]


def test_the_best_heads_are_found_by_what_their_top_source_contributes() -> None:
    import torch

    from attnaudit.audits.citations.source_use import contributions

    model = tiny_generator("llama")
    chosen = choose_heads(model, EXAMPLES, count=3).split("+")
    shares = np.zeros(12)
    with torch.no_grad():
        for example in EXAMPLES:
            record = model.read(model.batches([example])[0])
            contributed = contributions(model, record)[0][3:].numpy()
            if contributed.max() <= 0:
                continue
            top = record.alpha[0, :, 3:].argmax(-1).numpy()
            shares += contributed[top] / contributed.max()
    limit = np.sort(shares)[-3]
    rows = [f"{row // 4}.{row % 4}" for row in range(12)]
    assert all(shares[rows.index(head)] >= limit - 1e-9 for head in chosen)
    assert len(chosen) == 3


def test_wrong_arguments_are_rejected_in_words() -> None:
    with pytest.raises(InputError, match="Glass has no keep_only"):
        cite(Glass("oracle"), simulate(2))
    with pytest.raises(InputError, match="Expected one or more CitationExample"):
        cite(PlantedReader("copier"), [])
    with pytest.raises(InputError, match="same example_id"):
        cite(PlantedReader("copier"), simulate(1) * 2)
    with pytest.raises(InputError, match="this model cannot generate one"):
        cite(PlantedReader("copier"), [CitationExample("a", ("one",), "why?")])
    with pytest.raises(InputError, match="no measure"):
        cite(PlantedReader("copier"), simulate(2), measures=["nonsense"])
