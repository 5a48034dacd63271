"""Hugging Face models: the laws on every family, and each part against another computation."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from scipy.stats import kendalltau

import attnaudit
from attnaudit.audits import gradient_search
from attnaudit.core import onednn
from attnaudit.core.autograd import differentiating
from attnaudit.core.errors import InputError
from attnaudit.core.simplex import random_alpha
from attnaudit.core.tolerance import tolerance_of
from attnaudit.laws.checks import check_model
from attnaudit.measures.gradient import gradient
from attnaudit.measures.head_mean import head_mean
from attnaudit.measures.leave_one_out import leave_one_out
from attnaudit.measures.rollout import rollout
from attnaudit.models.huggingface import from_huggingface, text_batches
from attnaudit.models.huggingface.attention_tape import active_tape, attend
from attnaudit.models.huggingface.decode_paths import decode_by, possible_paths
from tiny_transformers import FAMILIES, TEXTS, drawn, texts_for, tiny, tiny_model, tiny_tokenizer

TAPPED = ("deberta", "deberta_v2")


def wrapped(name: str, **options: Any) -> Any:
    return from_huggingface(*tiny(name), **options)


def read(name: str, **options: Any) -> tuple[Any, Any]:
    model = wrapped(name, **options)
    (batch,) = model.batches(texts_for(name))
    with torch.no_grad():
        return model, model.read(batch)


@pytest.fixture
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the furthest attention, for tests that do not ask how far it is."""
    brief = replace(gradient_search.SETTINGS["corrected"], steps=20)
    monkeypatch.setitem(gradient_search.SETTINGS, "corrected", brief)


def own(model: Any, batch: Any, **options: Any) -> Any:
    """Run the user's model by itself, with eager attention.

    Without the cache, which changes the memory layout of keys and values.
    """
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    pad = model.config.pad_token_id
    ids = batch.tokens.masked_fill(~batch.mask, 0 if pad is None else pad)
    types = (
        {"token_type_ids": batch.types}
        if batch.types is not None and "Distil" not in type(model).__name__
        else {}
    )
    if "use_cache" in signature(model.forward).parameters:
        options["use_cache"] = False
    try:
        with torch.no_grad():
            return model(input_ids=ids, attention_mask=batch.mask.long(), **types, **options)
    finally:
        model.set_attn_implementation(before)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_keeps_every_law(name: str) -> None:
    model = wrapped(name)
    (batch,) = model.batches(texts_for(name))
    report = check_model(model, batch)
    assert [law.name for law in report.laws if law.verdict != "kept"] == []
    assert any(law.name.startswith("8") for law in report.laws)
    assert model.rule == FAMILIES[name][4]


@pytest.mark.parametrize("name", FAMILIES)
def test_reading_gives_the_models_own_logits_and_weights(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, record = read(name)
    hugging, example = model.model, torch.arange(3)
    monkeypatch.setattr(hugging.config, "pad_token_id", record.state.inputs.pad)
    start = model.decision.decoder_start
    decoder = {} if start is None else {"decoder_input_ids": torch.full((3, 1), start)}
    out = own(hugging, record.batch, output_attentions=True, **decoder)
    logits = (
        out.logits
        if model.decision.task == "classification"
        else out.logits[example, record.state.positions]
    )
    assert torch.equal(logits, record.logits)
    # The weights of a word are those of its pieces together, from the model's own output.
    attentions = out.cross_attentions if hugging.config.is_encoder_decoder else out.attentions
    row = attentions[-1][example, :, record.state.positions]
    for at in range(3):
        for item in range(record.content.shape[1]):
            pieces = record.item_of_token[at] == item
            assert torch.allclose(row[at][:, pieces].sum(-1), record.alpha[at, :, item], atol=1e-7)


@pytest.mark.parametrize("name", FAMILIES)
def test_all_decode_paths_give_the_same_logits(name: str) -> None:
    model, record = read(name)
    assert model.paths == possible_paths(model)
    assert model.paths[0] == ("above" if name in TAPPED else "fast")
    assert record.state.path == []
    model.decode(record, record.alpha)
    assert record.state.path == [model.paths[0]]
    other = random_alpha(record.mask, 3, record.alpha.dtype, 4)
    with torch.no_grad():
        whole = decode_by("plain", model, record, other)
        for path in model.paths[:-1]:
            found = decode_by(path, model, record, other)
            assert (found - whole).abs().max() <= tolerance_of(whole)
    assert (whole[:, 0] - whole[:, 1]).abs().max() > 1e-3


def test_what_words_pass_on_is_kept_and_never_without_its_gradient() -> None:
    model, batch = read("bert")[0], read("bert")[1].batch
    with torch.no_grad():
        embeddings = model.read(batch).embeddings
    slopes = {}
    for path in ("fast", "plain"):
        given = embeddings.clone().requires_grad_()
        record = model.read(batch, given)
        record.state.path.append(path)
        other = random_alpha(record.mask, 3, record.alpha.dtype, 4)
        with torch.no_grad():
            model.decode(record, other)
        for _ in range(2):  # the gradient of what was computed without one, and once more
            logits = model.decode(record, other)
            (slope,) = torch.autograd.grad(logits.square().sum(), given, retain_graph=True)
            slopes.setdefault(path, slope)
            torch.testing.assert_close(slope, slopes["fast"])
        assert not record.state.word_values
    assert slopes["fast"].abs().max() > 0
    with torch.no_grad():
        record = model.read(batch)
        first = model.decode(record, other)
        assert set(record.state.word_values) == set(model.calls)
        assert torch.equal(model.decode(record, other), first)


def test_passes_multiply_as_the_model_does_unless_faster_products_are_wanted(
    monkeypatch: pytest.MonkeyPatch, onednn_is_faster: None
) -> None:
    fast = onednn.product_for(torch.zeros(1))
    if fast is None:
        pytest.skip("this PyTorch has no oneDNN")
    shapes = []
    monkeypatch.setattr(
        onednn, "_by_onednn", lambda: lambda *given: shapes.append(given[0].shape) or fast(*given)
    )
    model, record = read("modernbert")
    (batch, embeddings), found = (record.batch, record.embeddings), {}
    for context in (nullcontext, onednn.faster_products):
        with context(), torch.no_grad():
            values = [model.read(batch, embeddings).logits, model.read_logits(batch)]
            values += [model.leave_out(record), model.decode(record, record.alpha)]
        counted = len(shapes)
        with context(), differentiating():
            alpha = record.alpha.clone().requires_grad_()
            values += torch.autograd.grad(model.decode(record, alpha).square().sum(), alpha)
        found[context] = values
        assert (len(shapes) > counted > 0) == (context is onednn.faster_products)
    for own, faster in zip(*found.values(), strict=True):
        torch.testing.assert_close(faster, own, rtol=1e-4, atol=1e-4, equal_nan=True)


def test_attention_without_an_eager_function_is_rejected_with_what_to_do() -> None:
    from_elsewhere, weights = torch.nn.Linear(2, 2), torch.zeros(1, 1, 2, 2)
    with pytest.raises(InputError) as caught:
        attend(from_elsewhere, weights, weights, weights, None)
    assert str(caught.value) == (
        "The attention of Linear cannot be read: its module (torch.nn.modules.linear) was expected "
        "to define eager_attention_forward, as in transformers, and does not. Write a class with "
        "read and decode for the model, or point attnaudit.from_hooks at its attention weights."
    )


@pytest.mark.parametrize("name", ["t5", "bart", "t5_lm", "bart_lm"])
def test_decoding_cross_attention_does_not_run_the_encoder_again(name: str) -> None:
    model, record = read(name, layers="all")
    assert model.paths == ("above", "plain")
    other = random_alpha(record.mask, 3, record.alpha.dtype, 4)
    with torch.no_grad():
        whole = decode_by("plain", model, record, other)
        model.decode(record, record.alpha)  # settles the path
        calls = []
        for module in model.model.get_encoder().modules():
            module.register_forward_hook(lambda module, *_: calls.append(type(module).__name__))
        found = model.decode(record, other)
    assert (found - whole).abs().max() <= tolerance_of(whole)
    assert (whole[:, 0] - whole[:, 1]).abs().max() > 1e-3
    assert not [
        called for called in calls if "Attention" in called or "MLP" in called or "FF" in called
    ]
    assert calls  # the hooks work: the embedding is still called


def test_a_path_that_does_not_reproduce_the_logits_is_not_used() -> None:
    model, record = read("bert")
    wrong = attnaudit.Record(**{**vars(record), "logits": record.logits + 1e-3})
    model.decode(wrong, wrong.alpha)
    assert wrong.state.path == ["plain"]


@pytest.mark.parametrize("name", ["bert", "albert", "gpt2", "llama", "deberta", "t5"])
@pytest.mark.parametrize(
    "site", [{"layers": "all"}, {"layers": [0, -1], "heads": [1, 3]}, {"layers": 0, "heads": 2}]
)
def test_other_sites_keep_the_laws_too(name: str, site: dict[str, Any]) -> None:
    model = wrapped(name, **site)
    (batch,) = model.batches(TEXTS)
    layers, heads = len(model.calls), len(model.heads)
    assert model.read(batch).alpha.shape[1] == layers * heads
    report = check_model(model, batch)
    assert [law.name for law in report.laws if law.verdict == "broken"] == []


def test_rows_are_ordered_by_layer_and_then_by_head() -> None:
    model, every = read("bert", layers="all")
    _, some = read("bert", layers=[0, 2], heads=[3, 1])
    assert torch.equal(some.alpha, every.alpha[:, [1, 3, 9, 11]])
    assert not torch.equal(some.alpha, every.alpha[:, [0, 1, 8, 9]])
    assert model.about["layers"] == [0, 1, 2]


def test_decoding_in_bert_equals_its_layer_computed_by_hand() -> None:
    model, record = read("bert")
    bert = model.model
    other = random_alpha(record.mask, 5, record.alpha.dtype, 1)[:, 0]
    out = own(bert, record.batch, output_hidden_states=True)
    states, layer = out.hidden_states[2], bert.bert.encoder.layer[2]
    with torch.no_grad():
        values = layer.attention.self.value(states).view(3, -1, 4, 4).transpose(1, 2)
        own_row = own(bert, record.batch, output_attentions=True).attentions[2][:, :, 0]
        weights = torch.zeros_like(own_row)
        for at in range(3):
            for item in range(other.shape[2]):
                pieces = record.item_of_token[at] == item
                if pieces.any():
                    share = own_row[at][:, pieces] / own_row[at][:, pieces].sum(-1, keepdim=True)
                    weights[at][:, pieces] = other[at, :, item, None] * share
        attended = (weights[:, :, None] @ values)[:, :, 0].flatten(1)
        first = layer.attention.output(attended, states[:, 0])
        pooled = bert.bert.pooler(layer.feed_forward_chunk(first)[:, None])
        by_hand = bert.classifier(pooled)
    assert (model.decode(record, other) - by_hand).abs().max() < 1e-10
    assert (by_hand - record.logits).abs().max() > 1e-3


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma2"])
def test_causal_masks_are_kept(name: str) -> None:
    model, record = read(name, query=3)
    later = record.item_of_token[0, 4:].unique()
    later = later[later > record.item_of_token[0, 3]]
    assert len(later)
    assert not record.mask[0][:, later].any()
    assert not record.alpha[0][:, later].any()
    assert not record.content[0, later].any()
    _, both_ways = read("bert", query=3)
    assert both_ways.mask[0][:, later].all()
    batch = record.batch
    tokens = batch.tokens.clone()
    tokens[0, 5] = tokens[0, 0]
    again = model.read(attnaudit.models.huggingface.TextBatch(**{**vars(batch), "tokens": tokens}))
    assert torch.equal(again.alpha[0], record.alpha[0])
    assert not torch.equal(again.logits[0], record.logits[0])


def test_a_sliding_window_excludes_distant_words() -> None:
    model = from_huggingface(tiny_model("mistral", sliding_window=4), tiny_tokenizer("decoder"))
    (batch,) = model.batches(TEXTS)
    record = model.read(batch)
    reached = record.item_of_token[
        0, record.state.positions[0] - 3 : record.state.positions[0] + 1
    ].unique()
    assert record.mask[0, 0].nonzero()[:, 0].tolist() == reached.tolist()
    assert check_model(model, batch).kept


def fingerprint(model: Any) -> list[Any]:
    seen: list[Any] = [model.config._attn_implementation, model.config.pad_token_id]
    for module in model.modules():
        hooks = (
            len(module._forward_hooks)
            + len(module._forward_pre_hooks)
            + len(module._backward_hooks)
        )
        seen += [module.training, hooks, "forward" in module.__dict__]
        seen += [getattr(getattr(module, "config", None), "_attn_implementation", None)]
    return seen + [(p.grad is None, p._version) for p in model.parameters()]


@pytest.mark.parametrize("name", ["bert", "deberta", "llama", "t5"])
@pytest.mark.parametrize("fails", [False, True])
def test_the_model_is_unchanged_even_after_an_exception(name: str, fails: bool) -> None:
    hugging, tokenizer = tiny(name)
    hugging.train()
    before = fingerprint(hugging)
    model = from_huggingface(hugging, tokenizer)
    (batch,) = model.batches(TEXTS)
    record = model.read(batch)
    last = [module for module in hugging.modules() if isinstance(module, torch.nn.Linear)][-1]
    inside: list[Any] = []

    def broken(*_: Any) -> None:
        inside.append(fingerprint(hugging))
        raise RuntimeError("broken on the way")

    if fails:
        handle = last.register_forward_pre_hook(broken)
        for use in (
            lambda: model.read(batch),
            lambda: model.decode(record, record.alpha),
            lambda: model.leave_out(record),
        ):
            with pytest.raises(RuntimeError, match="on the way"):
                use()
        handle.remove()
        assert any(each != before for each in inside)
    else:
        gradient(model, record, 0)
        leave_one_out(model, record, 0)
        rollout(model, record, 0)
    assert fingerprint(hugging) == before
    assert active_tape() is None
    assert torch.overrides._len_torch_function_stack() == 0


def test_embeddings_are_those_of_the_embedding_module_and_can_be_replaced() -> None:
    for name in ("bert", "gpt2", "t5", "albert"):
        model, record = read(name)
        assert torch.equal(model.read(record.batch, record.embeddings).logits, record.logits)
        moved = model.read(record.batch, record.embeddings * 1.5)
        assert (moved.logits - record.logits).abs().max() > 1e-3
        plain = model.wiring.embedding(record.batch.tokens)
        assert torch.equal(plain[record.batch.mask], record.embeddings[record.batch.mask])


def test_an_embedding_module_shared_with_the_decoder_is_captured_once() -> None:
    hugging, tokenizer = tiny("t5")
    hugging.transformer.decoder.embed_tokens = hugging.transformer.encoder.embed_tokens
    model = from_huggingface(hugging, tokenizer)
    (batch,) = model.batches(TEXTS)
    assert torch.equal(model.read(batch).logits, own(hugging, batch).logits)


def test_gradients_equal_those_of_the_model_itself() -> None:
    model, record = read("bert", leave_out="mask")
    words = record.embeddings.detach().clone().requires_grad_()
    chosen = model.read(record.batch, words).logits[:, 0].sum()
    found = torch.autograd.grad(chosen, words)[0]
    again = record.embeddings.detach().clone().requires_grad_()
    batch = record.batch
    out = model.model(
        inputs_embeds=again, attention_mask=batch.mask.long(), token_type_ids=batch.types
    )
    expected = torch.autograd.grad(out.logits[:, 0].sum(), again)[0]
    assert (found - expected).abs().max() < 1e-10
    assert expected.abs().max() > 1e-3


def test_deleting_a_word_equals_reading_the_text_without_it() -> None:
    model = wrapped("bert")
    (batch,) = model.batches([("the film was good", "we liked it")])
    record = model.read(batch)
    without = model.leave_out(record)
    spelled = model.spell(record, 0)
    assert spelled == ["[CLS]", "the", "film", "was", "good", "[SEP]", "we", "liked", "it", "[SEP]"]
    for word, pair in (
        ("was", ("the film good", "we liked it")),
        ("liked", ("the film was good", "we it")),
    ):
        (shorter,) = model.batches([pair])
        expected = model.read(shorter).logits[0]
        assert (without[0, spelled.index(word)] - expected).abs().max() < 1e-10
        assert (expected - record.logits[0]).abs().max() > 1e-3
    assert without[0, 0].isnan().all()


@pytest.mark.parametrize(("form", "name"), [("mask", "bert"), ("pad", "bert"), ("pad", "gpt2")])
def test_leaving_out_by_mask_or_padding(form: str, name: str) -> None:
    model, record = read(name, leave_out=form)
    assert model.about["leave_out"] == form
    found = model.leave_out(record)
    item = int(record.item_of_token[0, 3])
    gone = record.item_of_token[0] == item
    tokens, mask = record.batch.tokens[:1].clone(), record.batch.mask[:1].clone()
    if form == "mask":
        tokens[:, gone] = 4
    else:
        mask[:, gone] = False
    types = {"token_type_ids": record.batch.types[:1]} if name == "bert" else {}
    with torch.no_grad():
        expected = model.model(input_ids=tokens, attention_mask=mask.long(), **types).logits[0]
    assert (found[0, item] - expected).abs().max() < 1e-10
    deleting, plain = read(name)
    assert (deleting.leave_out(plain)[0, item] - expected).abs().max() > 1e-4
    report = check_model(model, record.batch)
    assert [law.name for law in report.laws if law.verdict != "kept"] == []


def test_a_measure_can_be_audited_in_place_of_attention() -> None:
    model = wrapped("bert")
    (batch,) = model.batches(TEXTS)
    record = model.read(batch)
    mean = head_mean(model, record, 0)
    assert torch.allclose(mean, record.alpha.mean(1))
    audits = ["agreement:of=head_mean", "agreement:of=rollout", "top_k_agreement:of=head_mean"]
    results = attnaudit.audit(
        model,
        [batch],
        audits=audits,
        measures=["gradient", "head_mean", "random"],
        show_progress=False,
    )
    assert "rollout" in results.about["not_applicable"]["agreement:of=rollout"]
    frame = results.frame()
    taus = frame[
        (frame["audit"] == audits[0])
        & (frame["measure"] == "gradient")
        & (frame["metric"] == "tau")
    ]
    for at in range(3):
        real = record.content[at]
        expected = kendalltau(
            mean[at, real], gradient(model, record, 0)[at, real].detach()
        ).statistic
        found = taus[taus["example_id"] == batch.example_id[at]]["value"]
        assert len(found) == 4  # a line for each row, all the same: the mean has no rows
        assert np.allclose(found, expected)
    lists = frame[(frame["audit"] == audits[2]) & (frame["measure"] == "gradient")]
    assert lists["metric"].str.startswith("tau_").any()
    one = wrapped("bert", heads=0)
    with pytest.raises(attnaudit.core.errors.NotApplicable, match="its own mean"):
        head_mean(one, one.read(batch), 0)


def test_the_folder_of_a_saved_classifier(tmp_path: Path) -> None:
    hugging, tokenizer = tiny("bert")
    hugging.float().save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = from_huggingface(tmp_path)
    again = from_huggingface(str(tmp_path), dtype="bfloat16", device="cpu", heads=0)
    record = model.read(model.batches(TEXTS)[0])
    assert torch.equal(record.logits, own(hugging, record.batch).logits)
    halved = again.read(again.batches(TEXTS)[0])
    assert halved.alpha.dtype == torch.bfloat16
    assert not torch.equal(halved.logits.float(), record.logits)
    with pytest.raises(InputError, match="stays where it is"):
        from_huggingface(hugging, tokenizer, device="cpu")
    with pytest.raises(InputError, match="its own tokenizer"):
        from_huggingface(tmp_path, tokenizer)
    with pytest.raises(InputError, match="no dtype 'int8'"):
        from_huggingface(tmp_path, dtype="int8")


def test_a_language_model_chooses_among_words() -> None:
    for name in ("gpt2_lm", "bert_lm", "t5_lm"):
        hugging, tokenizer = tiny(name)
        model = from_huggingface(hugging, tokenizer, task="lm", verbalisers=["it", "we"])
        _, whole = read(name)
        (batch,) = model.batches(texts_for(name), ["we", "it", "it"])
        record = model.read(batch)
        numbers = tokenizer.convert_tokens_to_ids(["it", "we"])
        assert torch.equal(record.logits, whole.logits[:, numbers])
        assert batch.labels is not None
        assert batch.labels.tolist() == [1, 0, 0]
        assert model.class_names == ["it", "we"]
    with pytest.raises(InputError, match="not one token"):
        from_huggingface(hugging, tokenizer, verbalisers=["it", "liked"])
    with pytest.raises(InputError, match="two or more"):
        from_huggingface(hugging, tokenizer, verbalisers=["it"])
    with pytest.raises(InputError, match="mask token"):
        wrapped("bert_lm").read(wrapped("bert_lm").batches(["no mask here"])[0])


def test_a_pipeline_brings_model_and_tokenizer() -> None:
    hugging, tokenizer = tiny("bert")
    pipeline = hf.pipeline("text-classification", model=hugging, tokenizer=tokenizer)
    model = from_huggingface(pipeline)
    assert torch.equal(model.read(model.batches(TEXTS)[0]).logits, read("bert")[1].logits)


@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("name", ["bert", "llama"])
def test_a_whole_audit(name: str) -> None:
    model = wrapped(name)
    before = fingerprint(model.model)
    results = attnaudit.audit(model, TEXTS, ["LABEL_2", "label_0", "LABEL_1"], show_progress=False)
    assert fingerprint(model.model) == before
    assert results.about["classes"] == ["LABEL_0", "LABEL_1", "LABEL_2"]
    assert results.about["model"]["query"] == model.rule
    assert results.about["rows"] == 4
    assert list(results.examples["tokens"][0]) == TEXTS[0].split()
    assert results.examples["label"].tolist() == [2, 0, 1]
    frame = results.frame()
    moved = frame[(frame["audit"] == "permutation") & (frame["metric"] == "tvd_median")]["value"]
    assert len(moved) == 3
    assert (moved > 1e-4).all()
    assert len(results.card().answers) == 5
    assert json.loads(json.dumps(results.about)) == results.about


def test_texts_need_a_model_that_reads_texts() -> None:
    model = wrapped("bert")
    quick = {"audits": ["permutation"], "measures": ["attention"], "show_progress": False}
    results = attnaudit.audit(model, ["a dull film"], **quick)
    assert len(results.examples) == 1
    with pytest.raises(InputError, match="one text"):
        attnaudit.audit(model, "a dull film", **quick)
    with pytest.raises(InputError, match="labels go with texts"):
        attnaudit.audit(model, model.batches(TEXTS), [0, 1, 2], **quick)

    class Reader:
        read, decode = model.read, model.decode

    with pytest.raises(InputError, match="This model reads batches, not texts"):
        attnaudit.audit(Reader(), TEXTS, **quick)


def test_truncated_texts_are_counted_and_reported() -> None:
    model = wrapped("bert", max_length=7)
    results = attnaudit.audit(
        model, TEXTS, audits=["permutation"], measures=["attention"], show_progress=False
    )
    assert results.about["truncated"] == 2
    assert any("2 of 3 texts are longer" in caution for caution in results.card().cautions)
    (batch,) = model.batches(TEXTS)
    assert batch.tokens.shape[1] == 7
    assert batch.truncated.tolist() == [True, False, True]  # type: ignore[attr-defined]
    assert wrapped("roberta", max_length=None).max_length == 511
    assert wrapped("bert").max_length == 512


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (lambda: tiny_model("bert", problem_type="multi_label_classification"), {}, "multi-label"),
    (lambda: tiny_model("bert", num_labels=1), {}, "regression"),
    (
        lambda: hf.BertForTokenClassification(hf.BertConfig(**FAMILIES["bert"][2])),
        {},
        "every token",
    ),
    (lambda: hf.BertModel(hf.BertConfig(**FAMILIES["bert"][2])), {}, "no head"),
    (lambda: tiny_model("modernbert", classifier_pooling="mean"), {}, "more than one position"),
    (lambda: tiny_model("bert", vocab_size=20), {}, "do not belong together"),
    (lambda: tiny_model("bert"), {"layers": 3}, "from 0 to 2"),
    (lambda: tiny_model("bert"), {"heads": "last"}, "heads must be"),
    (lambda: tiny_model("bert"), {"query": "end"}, "query must be"),
    (lambda: tiny_model("bert"), {"task": "lm"}, "does not go with"),
    (lambda: tiny_model("bert"), {"task": "what"}, "no task"),
    (lambda: tiny_model("bert"), {"verbalisers": ["it", "we"]}, "classes of its own"),
    (lambda: tiny_model("bert"), {"leave_out": "blank"}, "Choose from: delete, mask, pad"),
    (lambda: torch.nn.Linear(2, 2), {}, "Expected a transformers model"),
]


@pytest.mark.parametrize(("make", "options", "said"), REFUSED)
def test_wrong_models_and_options_are_rejected_with_a_reason(
    make: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        from_huggingface(make(), tiny_tokenizer("bert"), **options)


def test_models_without_attention_or_with_an_unknown_head_are_rejected() -> None:
    fnet = hf.FNetForSequenceClassification(
        hf.FNetConfig(
            hidden_size=16, num_hidden_layers=1, intermediate_size=16, vocab_size=90, num_labels=2
        )
    )
    with pytest.raises(InputError, match="shows no attention weights"):
        from_huggingface(drawn(fnet, double=False), tiny_tokenizer("bert"))
    xlnet = hf.XLNetForSequenceClassification(
        hf.XLNetConfig(d_model=16, n_layer=1, n_head=4, d_inner=16, vocab_size=90, num_labels=2)
    )
    with pytest.raises(InputError, match="neither the first token, the last, nor the end token"):
        from_huggingface(drawn(xlnet, double=False), tiny_tokenizer("bert"))


def test_a_softmax_that_is_not_the_attention_is_not_taken_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hugging, tokenizer = tiny("deberta")
    assert from_huggingface(hugging, tokenizer).wiring.uses_softmax_tap
    first = hugging.deberta.embeddings.forward

    def with_another(*args: Any, **options: Any) -> Any:
        torch.nn.functional.softmax(torch.zeros(2, 4, 3, 3), dim=-1)
        return first(*args, **options)

    monkeypatch.setattr(hugging.deberta.embeddings, "forward", with_another)
    with pytest.raises(InputError, match="cannot be read safely"):
        from_huggingface(hugging, tokenizer)


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_half_precision_keeps_the_laws(name: str) -> None:
    hugging, tokenizer = tiny(name)
    model = from_huggingface(hugging.bfloat16(), tokenizer)
    (batch,) = model.batches(TEXTS)
    assert model.read(batch).alpha.dtype == torch.bfloat16
    report = check_model(model, batch)
    assert [law.name for law in report.laws if law.verdict == "broken"] == []


def test_a_pooled_head_can_be_audited_at_a_named_position() -> None:
    hugging = tiny_model("modernbert", classifier_pooling="mean")
    model = from_huggingface(hugging, tiny_tokenizer("bert"), query=1)
    (batch,) = model.batches(TEXTS)
    assert model.paths == ("above", "plain")
    assert [law.name for law in check_model(model, batch).laws if law.verdict != "kept"] == []


def test_wrong_texts_and_labels_are_rejected() -> None:
    model = wrapped("bert")
    for texts, labels, said in (
        (["good", " "], None, "Text 1: the text is empty"),
        ([], None, "empty"),
        ([3], None, "neither a text nor a pair"),
        (TEXTS, [0, 1], "3 texts but 2 labels"),
        (TEXTS, [0, 1, 3], "not a class of the model"),
        (TEXTS, [0, 1, "funny"], "LABEL_0, LABEL_1, LABEL_2"),
    ):
        with pytest.raises(InputError, match=said):
            model.batches(texts, labels)
    with pytest.raises(InputError, match="no mask token"):
        text_batches(TEXTS, tiny_tokenizer("decoder"), leave_out="mask")
    with pytest.raises(InputError, match="text_batches"):
        model.read(
            attnaudit.Batch(
                ("0",), torch.zeros(1, 2, dtype=torch.long), torch.ones(1, 2, dtype=torch.bool)
            )
        )


@pytest.mark.usefixtures("short_search")
def test_a_text_of_one_word_can_be_audited() -> None:
    for form in ("delete", "mask", "pad"):
        model = from_huggingface(*tiny("bert"), leave_out=form)
        results = attnaudit.audit(model, ["good"], show_progress=False)
        assert {answer.answer for answer in results.card().answers} == {"cannot tell"}


def test_a_max_length_beyond_the_model_is_rejected() -> None:
    with pytest.raises(InputError, match="max_length is 6400, but the model reads at most"):
        wrapped("bert", max_length=6400)
