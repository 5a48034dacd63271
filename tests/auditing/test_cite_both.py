"""`cite` of sources and their words in one run: the numbers of each level, the card, the store."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attnaudit import cite
from attnaudit.auditing.citation_choices import citation_choices
from attnaudit.auditing.jobs import sharded_audit
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.data.citations import simulate
from attnaudit.models.planted_citations import KINDS, PlantedReader
from attnaudit.results.gate import check_conditions
from attnaudit.results.results import Results
from attnaudit.results.store import load_results
from tiny_generation import EXAMPLES, tiny_generator

pytestmark = pytest.mark.filterwarnings("ignore")
# Audit of words -> the same with words as the only items.
SAME = {
    "word_use": "source_use",
    "top_word": "top_source",
    "word_lds": "lds",
    "word_evidence": "evidence",
}
KEY = ["example_id", "audit", "measure", "metric", "row"]


def by_key(frame: pd.DataFrame) -> pd.Series:
    return frame.astype({"audit": str, "measure": str, "metric": str}).set_index(KEY)["value"]


@cache
def cited(name: str, items: str) -> Results:
    """The results of a planted or a tiny model, for all tests of them."""
    if name in KINDS:
        return cite(PlantedReader(name, items), simulate(20), show_progress=False)
    return cite(tiny_generator(name, items=items), EXAMPLES, show_progress=False)


@pytest.mark.parametrize("name", [*KINDS, "llama", "t5"])
def test_both_levels_give_the_numbers_of_each_by_itself(name: str) -> None:
    made = {items: cited(name, items) for items in ("sources", "words", "both")}
    both = by_key(made["both"].frame())
    of_words = both.index.get_level_values("audit").isin(list(SAME))
    sources = by_key(made["sources"].frame())
    assert set(both.index[~of_words]) == set(sources.index)
    # To the last bit, but for the noise of a processor that adds in another order.
    np.testing.assert_allclose(both[~of_words], sources.reindex(both.index[~of_words]), atol=1e-5)
    found = both[of_words].reset_index()
    found["audit"] = found["audit"].map(SAME)
    alone = by_key(made["words"].frame())
    expected = alone.reindex(pd.MultiIndex.from_frame(found[KEY]))
    assert expected.notna().to_numpy().sum() == found["value"].notna().sum() > 0
    np.testing.assert_allclose(found["value"], expected, atol=1e-5)


@pytest.mark.parametrize("name", KINDS)
def test_the_verdict_is_that_of_the_sources(name: str) -> None:
    sources, both = (cited(name, items).card() for items in ("sources", "both"))
    assert (both.verdict, both.decision, both.next_step) == (
        sources.verdict,
        sources.decision,
        sources.next_step,
    )
    assert both.error_rates == sources.error_rates != ""
    assert repr(both.answers[:3]) == repr(sources.answers)
    assert len(sources.answers) == 3
    deserved = {"copier": "yes", "first": "no", "knows": "cannot tell"}
    assert both["cites_words"].answer == deserved[name]
    assert "about words" in " ".join(both.cautions)


class Blurred(PlantedReader):
    """A copier that shows the attention of each source on its first word."""

    @property
    def words(self) -> Any:
        return PlantedReader(self.kind, "words") if self.items == "both" else None

    def word_record(self, record: Any) -> Any:
        from dataclasses import replace

        of_words = super().word_record(record)
        alpha = of_words.alpha.clone()
        for index in range(len(alpha)):
            sources = of_words.batch.source_of_items(index)
            for number in set(sources) - {-1}:
                items = [item for item, source in enumerate(sources) if source == number]
                alpha[index, 0, items[1]] = alpha[index, 0, items].sum()
                alpha[index, 0, [items[0], *items[2:]]] = 0.0
        return replace(of_words, alpha=alpha)


def test_attention_on_a_wrong_word_of_the_right_source_is_seen_and_not_mixed_in() -> None:
    results = cite(Blurred("copier", "both"), simulate(20), show_progress=False)
    card = results.card()
    assert card.decision == "yes"
    assert card["cites_words"].answer == "no"
    assert results.mean("word_evidence", "hit", "attention") == 1.0
    assert results.mean("word_use", "cited_used", "attention") == 0.0


def test_both_levels_are_stored_and_read_back(tmp_path: Path) -> None:
    results = cite(
        tiny_generator("llama", items="both"), EXAMPLES, out=tmp_path / "run", show_progress=False
    )
    again = load_results(tmp_path / "run")
    assert str(again.card()) == str(results.card())
    assert again.about["model"]["items"] == "both"
    assert "attention_shuffled" not in again.about["word_measures"]
    line = again.examples.set_index("example_id").loc["b"]
    assert list(line["tokens"]) == list(EXAMPLES[1].sources)
    level = line["word_level"]
    assert list(level["words"]) == [w for source in EXAMPLES[1].sources for w in source.split()]
    assert list(level["source"]) == [0] * 7 + [1] * 3
    scores = {score["measure"]: np.asarray(score["values"]) for score in level["scores"]}
    rows = np.asarray(line["attention"]).reshape(-1, 2).mean(0)
    sums = [scores["attention"][:7].sum(), scores["attention"][7:].sum()]
    np.testing.assert_allclose(sums, rows, atol=1e-6)  # its tokenizer has no line ends
    per_token = np.asarray(level["answer_attention"]).reshape(len(line["answer"]), 10)
    np.testing.assert_allclose(per_token.mean(0), scores["attention"], atol=1e-6)


def test_witnesses_and_audits_of_words_can_be_chosen() -> None:
    results = cite(
        PlantedReader("first", "both"),
        simulate(4),
        audits=["lds", "top_word:k=2"],
        word_measures=["leave_one_out"],
        show_progress=False,
    )
    assert results.about["audits"] == ["lds", "top_word:k=2"]
    assert results.about["word_measures"] == ["attention", "leave_one_out"]
    assert "gradient" in results.about["measures"]
    of_words = results.frame().query("audit == 'top_word:k=2'")
    assert set(of_words["measure"]) == {"", "attention", "leave_one_out"}
    measures = ["attention_shuffled", "surrogate:samples=8"]
    chosen = citation_choices(None, measures, both_levels=True)
    assert list(chosen.word_measures) == ["attention", "surrogate:samples=8"]
    assert set(chosen.word_audits) == set(SAME)


def test_a_measure_that_does_not_apply_to_words_is_named_with_its_reason() -> None:
    def sources_only(model: Any, record: Any, seed: int) -> Any:
        if record.content.shape[1] > 8:
            raise NotApplicable("there are too many items")
        return record.alpha[:, 0]

    results = cite(
        PlantedReader("copier", "both"),
        simulate(3),
        measures=["attention", sources_only],
        show_progress=False,
    )
    reasons = results.about["measures_not_applicable"]
    assert reasons == {"sources_only (words)": "there are too many items"}
    assert not np.isnan(results.mean("source_use", "cited_used", "sources_only"))


def test_wrong_choices_are_rejected_before_any_work() -> None:
    with pytest.raises(InputError, match=r'top_word is an audit of the words.*items="both"'):
        cite(PlantedReader("copier"), simulate(2), audits=["top_word"])
    with pytest.raises(InputError, match=r'word_measures are of the words.*items="both"'):
        cite(PlantedReader("copier"), simulate(2), word_measures=["attention"])
    with pytest.raises(InputError, match="no measure"):
        cite(PlantedReader("copier", "both"), simulate(2), word_measures=["attention_shuffled"])
    assert check_conditions("cites_words=no") == [("cites_words", "=", "no")]


def test_an_interrupted_audit_of_both_levels_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions, done = simulate(4), []
    whole = cite(PlantedReader("first", "both"), questions, show_progress=False)
    do = sharded_audit.ShardedAudit.do

    def counts(self: Any, shard: int, advance: Any = None) -> None:
        if done == [0, 1]:
            done.append("stopped")
            raise KeyboardInterrupt
        do(self, shard, advance)
        done.append(shard)

    monkeypatch.setattr(sharded_audit.ShardedAudit, "do", counts)
    options: dict[str, Any] = {"out": tmp_path / "run", "tokens_per_shard": 1}
    options["show_progress"] = False
    with pytest.raises(KeyboardInterrupt):
        cite(PlantedReader("first", "both"), questions, **options)
    results = cite(PlantedReader("first", "both"), questions, **options)
    assert done == [0, 1, "stopped", 2, 3]
    assert results.frame().equals(whole.frame())


def test_other_word_measures_begin_the_audit_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stops(self: Any, *_: Any) -> None:
        if self.job in jobs:
            raise KeyboardInterrupt
        jobs.add(self.job)
        do(self, 0)

    do, jobs = sharded_audit.ShardedAudit.do, set()
    monkeypatch.setattr(sharded_audit.ShardedAudit, "do", stops)
    for word_measures in (["gradient"], ["random"]):
        with pytest.raises(KeyboardInterrupt):
            cite(
                PlantedReader("first", "both"),
                simulate(2),
                word_measures=word_measures,
                out=tmp_path / "run",
                tokens_per_shard=1,
                show_progress=False,
            )
    assert len(jobs) == 2
