"""Sources and their words read in one pass: against each level by itself, and two laws."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from tokenizers import Regex, pre_tokenizers

import tiny_transformers as tiny
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.data.citations import FIRST_SOURCE, REST, simulate
from attnaudit.laws.checks import check_model
from attnaudit.measures.citations.answer_values import kept_log_prob
from attnaudit.models.huggingface.generation.prompt_batches import kept_tokens
from attnaudit.models.planted_citations import KINDS, PlantedReader
from tiny_generation import EXAMPLES, tiny_generator

pytestmark = pytest.mark.filterwarnings("ignore")
FAMILIES = ("llama", "gpt2", "t5")


def with_line_ends() -> Any:
    """A tokenizer for which the end of a line is a token, as for most real ones."""
    tokenizer = tiny.tiny_tokenizer("decoder")
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split("\n", "isolated"),
            pre_tokenizers.Split(Regex(" +"), "removed"),
        ]
    )
    return tokenizer


@pytest.mark.parametrize("family", FAMILIES)
def test_one_pass_gives_what_each_level_gives_by_itself(family: str) -> None:
    both = tiny_generator(family, items="both")
    passes: list[Any] = []
    hook = both.model.register_forward_hook(lambda *_: passes.append(1))
    record = both.read(both.batches(EXAMPLES)[0])
    of_words = both.word_record(record)
    assert len(passes) == 1
    # Of the sources first, as in an audit: the words then use the same passes.
    at_sources = [both.rollout(record), both.input_gradient(record)]
    at_sources.append(both.without_question(record).alpha)
    passes.clear()
    words = both.words
    at_words = [words.rollout(of_words), words.input_gradient(of_words)]
    at_words.append(words.without_question(of_words).alpha)
    assert not passes
    hook.remove()
    for items, found, others in (
        ("sources", record, at_sources),
        ("words", of_words, at_words),
    ):
        alone = tiny_generator(family, items=items)
        expected = alone.read(alone.batches(EXAMPLES)[0])
        assert found.alpha.equal(expected.alpha)
        assert found.content.equal(expected.content)
        assert found.logits.equal(expected.logits)
        by_itself = [alone.rollout(expected), alone.input_gradient(expected)]
        by_itself.append(alone.without_question(expected).alpha)
        for one, other in zip(others, by_itself, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-6)


def test_the_words_and_the_line_end_of_a_source_have_its_attention() -> None:
    model = tiny_generator("llama", tokenizer=with_line_ends(), items="both")
    (batch,) = model.batches(EXAMPLES[:1])
    record = model.read(batch)
    words = model.word_record(record)
    ends = (batch.source[0] >= 0) & (words.batch.items[0] == REST)
    assert int(ends.sum()) == len(EXAMPLES[0].sources)
    # Every line end as an item of its own, after the words.
    count = words.content.shape[1]
    split = words.batch.items.clone()
    split[0, ends] = count + torch.arange(int(ends.sum()))
    alone = tiny_generator("llama", tokenizer=with_line_ends(), items="words")
    apart = alone.read(replace(words.batch, items=split)).alpha
    of_item = words.batch.source_of_items(0)
    for number in range(len(EXAMPLES[0].sources)):
        items = [item for item, source in enumerate(of_item) if source == number]
        together = words.alpha[..., items].sum(-1)
        line_end = apart[..., count + number]
        assert float(line_end.max()) > 1e-3
        torch.testing.assert_close(
            together + line_end, record.alpha[..., FIRST_SOURCE + number], rtol=1e-4, atol=1e-6
        )


@pytest.mark.parametrize("tokenizer", [None, with_line_ends])
def test_leaving_out_all_words_of_sources_is_leaving_out_the_sources(tokenizer: Any) -> None:
    given = {} if tokenizer is None else {"tokenizer": tokenizer()}
    sources, words = (tiny_generator("llama", items=i, **given) for i in ("sources", "words"))
    (of_sources,), (of_words,) = (m.batches(EXAMPLES[:1]) for m in (sources, words))
    source_of_item = of_words.source_of_items(0)
    record, word_record = sources.read(of_sources), words.read(of_words)
    for kept in product((False, True), repeat=3):  # every set of sources
        by_word = [kept[source] for source in source_of_item[FIRST_SOURCE:]]
        assert kept_tokens(of_words, 0, by_word).equal(kept_tokens(of_sources, 0, list(kept)))
        frame = [False] * FIRST_SOURCE
        values = [
            kept_log_prob(model, each, torch.tensor([[[*frame, *chosen]]]))
            for model, each, chosen in (
                (sources, record, kept),
                (words, word_record, by_word),
            )
        ]
        torch.testing.assert_close(*values, rtol=0, atol=1e-5)


def test_a_line_end_stays_while_a_word_of_its_source_does() -> None:
    model = tiny_generator("llama", tokenizer=with_line_ends(), items="words")
    (batch,) = model.batches(EXAMPLES[:1])
    sources = batch.source_of_items(0)[FIRST_SOURCE:]
    last_of_first = sources.count(0) - 1
    kept = [index == last_of_first for index in range(len(sources))]
    stays = kept_tokens(batch, 0, kept)
    left = batch.source[0][stays & (batch.source[0] >= 0)].tolist()
    assert set(left) == {0}
    assert int((stays & (batch.source[0] == 0) & (batch.items[0] == REST)).sum()) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_planted_words_sum_to_their_source_and_keep_the_laws(kind: str) -> None:
    model = PlantedReader(kind, "both")
    (batch,) = model.batches(simulate(6))
    record = model.read(batch)
    words = model.word_record(record)
    assert words.logits.equal(record.logits)
    for index in range(6):
        of_item = words.batch.source_of_items(index)
        for number in range(5):
            items = [item for item, source in enumerate(of_item) if source == number]
            together = words.alpha[index, 0, items].sum()
            torch.testing.assert_close(together, record.alpha[index, 0, FIRST_SOURCE + number])
    assert model.words is not None
    report = check_model(model.words, words.batch)
    assert report.kept, str(report)
    with pytest.raises(NotApplicable, match="only where sources are items"):
        model.words.reordered(words, torch.zeros(6, 5))


def test_the_copied_word_has_the_attention_of_the_copier() -> None:
    model = PlantedReader("copier", "both")
    examples = simulate(5)
    words = model.word_record(model.read(model.batches(examples)[0]))
    assert model.words is not None
    for index, example in enumerate(examples):
        top = int(words.alpha[index, 0].argmax())
        assert model.words.spell(words, index)[top].strip(".") == example.answer


def test_what_cannot_be_read_at_both_levels_is_rejected() -> None:
    with pytest.raises(InputError, match='"sources", "words" or "both", got \'letters\''):
        PlantedReader("copier", "letters")
    long = replace(EXAMPLES[0], sources=("good " * 250, "dull " * 200), gold=None)
    model = tiny_generator("llama", items="both")
    with pytest.raises(InputError, match=r"450 words.*at most 400"):
        model.batches([long])
    assert tiny_generator("llama").words is None
    slow = tiny.tiny_tokenizer("decoder")

    class Slow(type(slow)):  # type: ignore[misc]
        is_fast = False

    slow.__class__ = Slow
    with pytest.raises(InputError, match='items="both" needs a fast tokenizer'):
        tiny_generator("llama", tokenizer=slow, items="both")
