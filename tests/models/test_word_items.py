"""Words of the sources as items: against whole sources and plain forward passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from attnaudit import cite
from attnaudit.core.errors import InputError
from attnaudit.data.citations import FIRST_SOURCE, REST
from attnaudit.laws.checks import check_model
from attnaudit.measures.citations.leave_one_out import leave_one_out
from attnaudit.models.huggingface.generation.word_items import words_of_tokens
from tiny_generation import EXAMPLES, tiny_generator

pytestmark = pytest.mark.filterwarnings("ignore")
PAIR = ("llama", "t5")  # a decoder and an encoder–decoder model


@pytest.fixture(scope="module", params=PAIR)
def models(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """The same model with words and with sources as items."""
    return (tiny_generator(request.param, items="words"), tiny_generator(request.param))


def test_a_model_of_words_keeps_the_laws(models: tuple[Any, Any]) -> None:
    (batch,) = models[0].batches(EXAMPLES)
    report = check_model(models[0], batch)
    assert report.kept, str(report)


def test_words_of_a_source_sum_to_the_source(models: tuple[Any, Any]) -> None:
    words, sources = ((m.read(m.batches(EXAMPLES)[0]), m) for m in models)
    assert words[0].batch.tokens.equal(sources[0].batch.tokens)
    torch.testing.assert_close(words[0].logits, sources[0].logits)
    for index, example in enumerate(EXAMPLES):
        of_item = words[0].batch.source_of_items(index)
        spelled = words[1].spell(words[0], index)
        for number, text in enumerate(example.sources):
            items = [item for item, source in enumerate(of_item) if source == number]
            assert [spelled[item] for item in items] == text.split()
            for found, expected in (
                (words[0].alpha[index], sources[0].alpha[index]),
                (words[1].rollout(words[0])[index], sources[1].rollout(sources[0])[index]),
                tuple(model.input_gradient(record)[index] for record, model in (words, sources)),
            ):
                together = found[..., items].sum(-1)
                torch.testing.assert_close(
                    together, expected[..., FIRST_SOURCE + number], rtol=1e-4, atol=1e-5
                )


def test_leaving_out_a_word_is_a_plain_pass_without_its_tokens(models: tuple[Any, Any]) -> None:
    model, _ = models
    example = EXAMPLES[1]
    (batch,) = model.batches([example])
    record = model.read(batch)
    found = leave_one_out(model, record, 0)[0]
    encoded = model.prompt.encode(example)
    answer = torch.tensor(encoded.answer)

    def plain(without: int) -> float:
        ids = [
            t for t, item in zip(encoded.ids, encoded.items, strict=True) if item != without
        ]  # fmt: skip
        with torch.no_grad():
            if model.decoder_start is None:
                logits = model.model(torch.tensor([ids + encoded.answer])).logits[0]
                rows = logits[len(ids) - 1 : -1]
            else:
                start = torch.tensor([[model.decoder_start, *encoded.answer[:-1]]])
                rows = model.model(torch.tensor([ids]), decoder_input_ids=start).logits[0]
        return float(rows.log_softmax(-1).gather(1, answer[:, None]).mean())

    count = sum(len(source.split()) for source in example.sources)
    assert int(record.content.sum()) == count == 10
    expected = [plain(-1) - plain(FIRST_SOURCE + word) for word in range(count)]
    assert found[FIRST_SOURCE:].tolist() == pytest.approx(expected, abs=1e-5)
    assert max(map(abs, expected)) > 1e-2


def test_tokens_are_of_the_word_that_they_begin_in() -> None:
    # "Mia  lives in Rome.\n" with a blank of its own, a blank inside a token, and the line's end
    text = "Mia  lives in Rome.\n"
    offsets = [(0, 3), (3, 4), (4, 10), (10, 13), (13, 18), (18, 20)]
    assert words_of_tokens(text, offsets) == [0, 1, 1, 2, 3, 3]
    assert words_of_tokens("a\n", [(0, 1), (1, 2)]) == [0, -1]
    assert words_of_tokens("é b", [(0, 1), (0, 1), (1, 3)]) == [0, 0, 1]


def test_answers_are_audited_by_words_and_grouped_by_source() -> None:
    results = cite(tiny_generator("llama", items="words"), EXAMPLES, show_progress=False)
    assert "only where sources are items" in results.about["not_applicable"]["source_order"]
    assert np.isnan(results.mean("lds", "lds", "attention_shuffled"))
    line = results.examples.set_index("example_id").loc["b"]
    assert list(line["tokens"]) == [w for source in EXAMPLES[1].sources for w in source.split()]
    assert list(line["source_of_word"]) == [0] * 7 + [1] * 3
    assert list(line["evidence"]) == [False] * 7 + [True] * 3
    assert "words of the sources were" in " ".join(results.card().cautions)
    of_sources = cite(tiny_generator("llama"), EXAMPLES, show_progress=False).examples
    assert "source_of_word" not in of_sources or of_sources["source_of_word"].isna().all()


def test_what_cannot_be_audited_by_words_is_rejected() -> None:
    with pytest.raises(
        InputError, match='items must be "sources", "words" or "both", got \'letters\''
    ):
        tiny_generator("llama", items="letters")
    long = replace(EXAMPLES[0], sources=("good " * 250, "dull " * 200), gold=None)
    with pytest.raises(InputError, match=r"450 words.*at most 400"):
        tiny_generator("llama", items="words").batches([long])


def test_the_end_of_a_line_is_no_word() -> None:
    encoded = tiny_generator("llama", items="words").prompt.encode(EXAMPLES[0])
    words = [item for item in encoded.items if item >= FIRST_SOURCE]
    assert sorted(set(words)) == list(range(FIRST_SOURCE, FIRST_SOURCE + 11))
    assert REST in encoded.items
