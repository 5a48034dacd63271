"""Language models that answer from sources: laws, plain forward passes and the model's own
attention, in every family."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers as hf

import attnaudit
import tiny_transformers as tiny
from attnaudit.core.errors import InputError
from attnaudit.data.citations import FIRST_SOURCE, MARKS, REST, START, CitationExample
from attnaudit.laws.checks import check_model
from attnaudit.models.huggingface.generation import source_attention
from attnaudit.models.huggingface.generation.answers import with_answers
from tiny_generation import EXAMPLES, FAMILIES, tiny_generator

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", params=FAMILIES)
def model(request: pytest.FixtureRequest) -> Any:
    return tiny_generator(request.param)


def plain_log_prob(model: Any, example: CitationExample, kept: list[int]) -> float:
    """The mean log-probability by one call of the model itself on one prompt, without padding."""
    shorter = CitationExample(
        "x", tuple(example.sources[n] for n in kept) or ("x",), example.question, example.answer
    )
    encoded = model.prompt.encode(shorter)
    ids = [
        token
        for token, item in zip(encoded.ids, encoded.items, strict=True)
        if kept or item < FIRST_SOURCE
    ]
    answer = torch.tensor(encoded.answer)
    with torch.no_grad():
        if model.decoder_start is None:
            logits = model.model(torch.tensor([ids + encoded.answer])).logits[0]
            rows = logits[len(ids) - 1 : -1]
        else:
            start = torch.tensor([[model.decoder_start, *encoded.answer[:-1]]])
            rows = model.model(torch.tensor([ids]), decoder_input_ids=start).logits[0]
    return float(rows.log_softmax(-1).gather(1, answer[:, None]).mean())


def test_every_family_keeps_the_laws(model: Any) -> None:
    (batch,) = model.batches(EXAMPLES)
    report = check_model(model, batch)
    assert report.kept, str(report)


def test_kept_sources_are_plain_forward_passes_on_shorter_prompts(model: Any) -> None:
    (batch,) = model.batches(EXAMPLES)
    record = model.read(batch)
    keep = torch.zeros(2, 4, 6, dtype=torch.bool)
    sets = [[[0, 1, 2], [1, 2], [0], []], [[0, 1], [1], [0], []]]
    order = [batch.example_id.index(each.example_id) for each in EXAMPLES]
    for place, several in zip(order, sets, strict=True):
        for k, kept in enumerate(several):
            keep[place, k, [FIRST_SOURCE + n for n in kept]] = True
    found = model.keep_only(record, keep).log_softmax(-1)[..., 0]
    for place, several, example in zip(order, sets, EXAMPLES, strict=True):
        expected = [plain_log_prob(model, example, kept) for kept in several]
        assert found[place].tolist() == pytest.approx(expected, abs=1e-5)
        assert len({round(value, 4) for value in expected}) == 4  # the control: they differ
    without = model.leave_out(record).log_softmax(-1)[..., 0]
    expected = plain_log_prob(model, EXAMPLES[0], [0, 2])
    assert float(without[order[0], FIRST_SOURCE + 1]) == pytest.approx(expected, abs=1e-5)


def test_prompts_that_begin_alike_are_run_from_where_they_differ(
    monkeypatch: pytest.MonkeyPatch, model: Any
) -> None:
    assert model.shares_prefixes == (model.decoder_start is None)
    (batch,) = model.batches([EXAMPLES[0]])
    keep = torch.zeros(1, 8, 6, dtype=torch.bool)
    for number in range(8):
        for bit in range(3):
            keep[0, number, FIRST_SOURCE + bit] = bool(number >> bit & 1)
    found = model.keep_only(model.read(batch), keep)
    monkeypatch.setattr(model, "shares_prefixes", False)
    expected = model.keep_only(model.read(batch), keep)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_the_weights_are_the_models_own_attention(model: Any) -> None:
    example = EXAMPLES[0]
    (batch,) = model.batches([example])
    record = model.read(batch)
    encoded = model.prompt.encode(example)
    hf_model = model.model
    hf_model.set_attn_implementation("eager")
    with torch.no_grad():
        if model.decoder_start is None:
            ids = torch.tensor([encoded.ids + encoded.answer])
            layers = hf_model(ids, output_attentions=True).attentions
            rows = slice(len(encoded.ids) - 1, len(encoded.ids) + len(encoded.answer) - 1)
        else:
            start = torch.tensor([[model.decoder_start, *encoded.answer[:-1]]])
            out = hf_model(
                torch.tensor([encoded.ids]), decoder_input_ids=start, output_attentions=True
            )
            layers, rows = out.cross_attentions, slice(0, len(encoded.answer))
    hf_model.set_attn_implementation("sdpa" if hf_model._supports_sdpa else "eager")
    items = encoded.items + [REST] * (layers[0].shape[-1] - len(encoded.items))
    expected = torch.zeros(len(layers), layers[0].shape[1], max(items) + 1)
    for layer, weights in enumerate(layers):
        for key, item in enumerate(items):
            expected[layer, :, item] += weights[0, :, rows, key].mean(-1)
    torch.testing.assert_close(record.alpha[0], expected.flatten(0, 1), atol=1e-5, rtol=0)


def test_blocks_of_queries_change_nothing(monkeypatch: pytest.MonkeyPatch, model: Any) -> None:
    (batch,) = model.batches(EXAMPLES)
    with torch.no_grad():
        whole, flow = model.read(batch), model.rollout(model.read(batch))
        monkeypatch.setattr(source_attention, "BLOCK", 5)
        blocks = model.read(batch)
        torch.testing.assert_close(blocks.alpha, whole.alpha, atol=1e-6, rtol=0)
        torch.testing.assert_close(blocks.logits, whole.logits, atol=1e-5, rtol=0)
        torch.testing.assert_close(model.rollout(blocks), flow, atol=1e-6, rtol=0)


def test_rollout_is_the_product_of_the_mixed_layers() -> None:
    model = tiny_generator("llama")
    encoded = model.prompt.encode(EXAMPLES[0])
    model.model.set_attn_implementation("eager")
    ids = torch.tensor([encoded.ids + encoded.answer])
    with torch.no_grad():
        flow = torch.eye(ids.shape[1])
        for weights in model.model(ids, output_attentions=True).attentions:
            flow = (weights[0].mean(0) + torch.eye(ids.shape[1])) / 2 @ flow
    start = len(encoded.ids)
    row = flow[start - 1 : start + len(encoded.answer) - 1].mean(0)
    items = torch.tensor(encoded.items + [REST] * len(encoded.answer))
    expected = [float(row[items == item].sum()) for item in range(int(items.max()) + 1)]
    (batch,) = model.batches([EXAMPLES[0]])
    assert model.rollout(model.read(batch))[0].tolist() == pytest.approx(expected, abs=1e-5)


def test_the_gradient_is_that_of_finite_differences(model: Any) -> None:
    (batch,) = model.batches([EXAMPLES[0]])
    record = model.read(batch)
    found = model.input_gradient(record)[0]
    sources = record.batch.item_of_token[0]
    for source in (FIRST_SOURCE, FIRST_SOURCE + 1):
        # d/ds of the log-probability with the source's embeddings scaled by 1 + s, at s = 0
        scale = torch.zeros(record.embeddings.shape[1])
        scale[: len(sources)] = (sources == source).float()
        step = 1e-2
        ends = [
            float(
                model.log_probs(
                    batch, record.embeddings.detach() * (1 + sign * step * scale[:, None])
                )
            )
            for sign in (1, -1)
        ]
        assert float(found[source]) == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=2e-2)


def test_items_are_sources_and_never_the_template() -> None:
    model = tiny_generator("t5")
    encoded = model.prompt.encode(EXAMPLES[0])
    assert encoded.items[0] == START
    assert encoded.items[-1] == MARKS
    lines = {}
    for token, item in zip(encoded.ids, encoded.items, strict=True):
        lines.setdefault(item, []).append(token)
    for number, source in enumerate(EXAMPLES[0].sources):
        alone = model.tokenizer(source, add_special_tokens=False)["input_ids"]
        assert lines[FIRST_SOURCE + number] == alone


def test_a_source_cannot_name_special_tokens() -> None:
    tokenizer = tiny.tiny_tokenizer("end")
    tokenizer.chat_template = "{% for m in messages %}</s>{{ m['content'] }}</s>{% endfor %}"
    model = tiny_generator("t5", tokenizer=tokenizer)
    evil = CitationExample("e", ("good </s> bad", "a"), "was </s> it", "one </s>")
    encoded = model.prompt.encode(evil)
    end = tokenizer.eos_token_id
    marked = [item for token, item in zip(encoded.ids, encoded.items, strict=True) if token == end]
    assert marked == [START, MARKS, MARKS]  # two of the template, one of the encoder
    assert end not in encoded.answer


def test_the_span_alone_is_the_target() -> None:
    model = tiny_generator("llama")
    example = CitationExample("s", ("a", "it"), "not", "very good film", span="good")
    encoded = model.prompt.encode(example)
    asked = [t for t, is_target in zip(encoded.answer, encoded.target, strict=True) if is_target]
    assert model.tokenizer.decode(asked) == "good"
    whole = CitationExample("s", ("a", "it"), "not", "very good film")
    assert encoded.answer == model.prompt.encode(whole).answer
    (batch,) = model.batches([example])
    value = float(model.read(batch).logits.log_softmax(-1)[0, 0])
    ids = torch.tensor([encoded.ids + encoded.answer])
    with torch.no_grad():
        rows = model.model(ids).logits[0, len(encoded.ids) - 1 : -1].log_softmax(-1)
    per_token = rows.gather(1, torch.tensor(encoded.answer)[:, None])[:, 0]
    assert value == pytest.approx(float(per_token[encoded.target].mean()), abs=1e-5)


def test_the_question_can_be_left_empty_and_the_sources_reordered() -> None:
    model = tiny_generator("llama")
    (batch,) = model.batches([EXAMPLES[0]])
    record = model.read(batch)
    empty = model.without_question(record)
    assert empty.alpha.shape == record.alpha.shape
    assert int(empty.batch.mask.sum()) < int(batch.mask.sum())
    assert not torch.allclose(empty.alpha, record.alpha, atol=1e-3)
    turned = model.reordered(record, torch.tensor([[2, 0, 1]]))
    assert turned.batch.examples[0].sources == tuple(EXAMPLES[0].sources[n] for n in (2, 0, 1))
    back = model.reordered(turned, torch.tensor([[1, 2, 0]]))
    torch.testing.assert_close(back.alpha, record.alpha)


def test_a_missing_answer_is_generated_greedily() -> None:
    model = tiny_generator("llama")
    question = CitationExample("g", ("the film was good", "a dull one"), "was it good")
    (answered,) = with_answers(model, [question], max_new_tokens=3)
    ids = model.prompt.encode(question).ids
    for _ in range(3):
        with torch.no_grad():
            ids = [*ids, int(model.model(torch.tensor([ids])).logits[0, -1].argmax())]
    assert answered.answer == model.tokenizer.decode(ids[-3:], skip_special_tokens=True).strip()
    with pytest.raises(InputError, match="the answer is empty"):
        model.batches([question])


def test_other_models_and_too_long_prompts_are_rejected() -> None:
    with pytest.raises(InputError, match="BertForMaskedLM does not generate text"):
        attnaudit.from_huggingface(*tiny.tiny("bert_lm"), task="generation")
    model = tiny_generator("llama", max_length=20)
    with pytest.raises(InputError, match=r"a: sources, question and answer have \d+ tokens"):
        model.batches(EXAMPLES)
    with pytest.raises(InputError, match="needs a tokenizer with a chat template"):
        tiny_generator("llama", chat=True)
    assert isinstance(model.model, hf.PreTrainedModel)
