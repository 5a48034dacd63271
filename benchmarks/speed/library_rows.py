"""What users would take instead: Captum and entmax, at their best settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
import transformers
from benchmarks.reference.measures import without_cudnn
from benchmarks.speed import limits
from benchmarks.speed.row import Numbers, Row
from benchmarks.speed.setting import Corpus, records, trained
from captum.attr import FeatureAblation, IntegratedGradients
from entmax import sparsemax

from attnaudit import from_huggingface
from attnaudit.core.item_deletion import leave_out
from attnaudit.measures import MEASURES
from attnaudit.models.projections.sparsemax import Sparsemax

_PER_EVALUATION = (1, 4, 16, 64)


def ablation_row(data: Corpus, device: torch.device, texts: int) -> Row:
    """Leave-one-out of a transformer, each word replaced by the mask token."""
    tokenizer, network = tiny_bert(data)
    network = network.to(device)
    model = from_huggingface(network, tokenizer, leave_out="mask")
    spoken = [" ".join(example.tokens) for example in data.splits.test[:texts]]
    batches = model.batches(spoken)
    mask_token = tokenizer.mask_token_id

    def ours() -> Numbers:
        numbers: list[torch.Tensor] = []
        for record in records(model, batches):
            without = leave_out(model, record)
            drops = record.logits[:, None] - without
            numbers += [row[words, 1] for row, words in zip(drops, record.content, strict=True)]
        return numbers

    def by_captum(size: int) -> Numbers:
        def logit(tokens: torch.Tensor) -> torch.Tensor:
            return network(input_ids=tokens).logits[:, 1]

        numbers = []
        ablation = FeatureAblation(logit)
        for batch in batches:
            for index in range(len(batch)):
                tokens = batch.tokens[index : index + 1, batch.mask[index]]
                word = batch.word[index, batch.mask[index]]  # type: ignore[attr-defined]
                special = batch.special[index, batch.mask[index]]  # type: ignore[attr-defined]
                numbered = (~special).cumsum(0).where(~special, 0)[None]
                base = torch.where(special, tokens[0], mask_token)[None]
                with torch.no_grad():
                    found = ablation.attribute(
                        tokens, baselines=base, feature_mask=numbered, perturbations_per_eval=size
                    )
                first = torch.cat([word.new_ones(1).bool(), word[1:] != word[:-1]])
                numbers.append(found[0, first & ~special])
        return numbers

    best = fastest(by_captum, _PER_EVALUATION, device)
    tokens = [int(row.sum()) for batch in batches for row in batch.mask]
    readings = [length for length in tokens for _ in range(length - 1)]  # whole, without each word
    return Row(
        f"leave-one-out by mask token, transformer, {data.name}",
        f"Captum FeatureAblation, {best} at once",
        ours,
        lambda: by_captum(best),
        tolerance=1e-4,
        needed=limits.transformer(network.config, readings),
    )


def tiny_bert(data: Corpus) -> tuple[Any, Any]:
    """A random BERT of 6 layers and 384 units that knows the words of the corpus."""
    torch.manual_seed(0)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = sorted({word for example in data.splits.test for word in example.tokens})
    vocabulary = {word: index for index, word in enumerate([*special, *words])}
    tokenizer = transformers.BertTokenizer(vocab=vocabulary)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        num_labels=2,
    )
    return tokenizer, transformers.BertForSequenceClassification(config).eval()


def fastest(work: Any, sizes: tuple[int, ...], device: torch.device) -> int:
    """The size with which the work takes the least time."""
    from benchmarks.speed.timing import processor_seconds

    seconds = {
        size: processor_seconds(lambda size=size: work(size), 1, device)[1].least for size in sizes
    }
    return min(seconds, key=seconds.__getitem__)


def integrated_gradients_row(data: Corpus, device: torch.device) -> Row:
    """Our measure calls Captum; all texts together, and checks that scores add up.

    Every eighth text: a text takes 50 passes in both directions.
    """
    model = trained(data, "bilstm").to(device)
    fewer = replace(data, splits=replace(data.splits, test=data.splits.test[::8]))
    batches = fewer.batches(device)

    def ours() -> Numbers:
        return [
            row
            for record in records(model, batches)
            for row in MEASURES["integrated_gradients"](model, record, 0, tolerance=1e9)
        ]

    @without_cudnn
    def by_captum(size: int) -> Numbers:
        numbers: list[torch.Tensor] = []
        for record in records(model, batches):
            predicted = record.predicted

            def explained(embeddings: torch.Tensor, index: torch.Tensor, of: Any = record) -> Any:
                fresh = model.read(of.batch.rows(index), embeddings)
                return fresh.probs.gather(1, of.predicted[index, None])[:, 0]

            words = record.embeddings.detach()
            found = IntegratedGradients(explained).attribute(
                words,
                baselines=words * ~record.content[..., None],
                additional_forward_args=(torch.arange(len(predicted), device=device),),
                internal_batch_size=size * len(words),
            )
            scores = found.sum(-1).abs().masked_fill(~record.content, torch.nan)
            numbers += list(scores.detach())
        return numbers

    best = fastest(by_captum, (1, 4, 16), device)
    return Row(
        f"integrated gradients, {data.name}",
        f"Captum alone, {best} steps at once",
        ours,
        lambda: by_captum(best),
        needed=limits.integrated_gradients(model, fewer.lengths),
    )


def sparsemax_row(device: torch.device) -> Row:
    """Our projection masks and calls entmax: what the mask costs, and that it changes nothing."""
    draw = torch.Generator().manual_seed(0)
    scores = torch.randn(4096, 64, generator=draw).to(device)
    mask = torch.ones_like(scores, dtype=torch.bool)

    def ours() -> Numbers:
        return [Sparsemax()(scores, mask)]

    return Row(
        "sparsemax with a mask",
        "entmax alone",
        ours,
        lambda: [sparsemax(scores, dim=-1)],
        needed=limits.sparsemax(*scores.shape),
    )


def library_rows(data: Corpus, device: torch.device, texts: int) -> Iterator[Row]:
    """All of them."""
    yield ablation_row(data, device, texts)
    yield integrated_gradients_row(data, device)
    yield sparsemax_row(device)
