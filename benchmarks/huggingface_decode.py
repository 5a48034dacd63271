"""What do 100 shuffles of attention cost, against 100 forward passes? And leave-one-out?

The second is compared with Captum's FeatureAblation.

A BERT of MiniLM's size (6 layers of 384, 12 heads) with random weights, and words of a made-up
vocabulary: time does not depend on either. Both sides in one run, in seconds of the processor.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import torch
import transformers as hf
from captum.attr import FeatureAblation
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from attnaudit.audits.counterfactual import permuted
from attnaudit.core.contract import Record
from attnaudit.core.decoding import logits_under
from attnaudit.models.huggingface import from_huggingface

SHUFFLES = 100
TEXTS, WORDS = 16, 20
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def tokenizer() -> Any:
    """Two-letter words; longer ones come apart."""
    pairs = [a + b for a in "abcdefghij" for b in "abcdefghij"]
    vocabulary = {
        word: at for at, word in enumerate([*MARKS, *pairs, *(f"##{pair}" for pair in pairs)])
    }
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=ends
    )
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", mask_token="[MASK]")


def texts() -> list[str]:
    draw = random.Random(0)
    return [
        " ".join("".join(draw.choices("abcdefghij", k=draw.choice((2, 4)))) for _ in range(WORDS))
        for _ in range(TEXTS)
    ]


def seconds(step: Callable[[], object], repeats: int = 3) -> float:
    """Processor time of the fastest of some runs, after one to warm up.

    Other work on the machine does not change it much.
    """
    step()
    times = []
    for _ in range(repeats):
        started = time.process_time()
        step()
        times.append(time.process_time() - started)
    return min(times)


def by_captum(model: Any, record: Record, together: int) -> torch.Tensor:
    """(B,T) fall of the predicted probability when the word of each token is masked.

    Special tokens are left as they are.
    """
    ids, mask, predicted = record.batch.tokens, record.batch.mask, record.predicted
    counted = record.content.gather(1, record.item_of_token.clamp_min(0)) & mask
    # What is never masked goes with the first word, so that it costs no pass of its own.
    feature = record.item_of_token.where(
        counted, record.content.to(torch.int8).argmax(-1, keepdim=True)
    )
    blank = ids.masked_fill(counted, model.tokenizer.mask_token_id)

    def probability(tokens: torch.Tensor) -> torch.Tensor:
        copies = len(tokens) // len(ids)
        out = model.model(
            input_ids=tokens, attention_mask=mask.long().repeat(copies, 1)
        ).logits.softmax(-1)
        return out.gather(1, predicted.repeat(copies)[:, None])[:, 0]

    return FeatureAblation(probability).attribute(
        ids, baselines=blank, feature_mask=feature, perturbations_per_eval=together
    )


def main() -> None:
    torch.manual_seed(0)
    config = hf.BertConfig(
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        vocab_size=300,
    )
    user = hf.BertForSequenceClassification(config).eval()
    model = from_huggingface(user, tokenizer(), leave_out="mask")
    (batch,) = model.batches(texts())  # type: ignore[attr-defined]
    with torch.no_grad():
        record = model.read(batch)
        shuffled = permuted(record.alpha, record.mask, SHUFFLES, 0, batch.example_id)
        inputs = {"input_ids": batch.tokens, "attention_mask": batch.mask.long()}
        one = seconds(lambda: user(**inputs))
        ours = seconds(lambda: logits_under(model, record, shuffled))
        print(
            f"{TEXTS} texts of {batch.tokens.shape[1]} tokens, {SHUFFLES} shuffles: "
            f"{ours:.2f} s by decode ({record.state.path[0]}), {SHUFFLES * one:.1f} s by as many "
            f"forward passes: {SHUFFLES * one / ours:.0f} times as fast"
        )
        leaving = seconds(lambda: model.leave_out(record), 2)  # type: ignore[attr-defined]
        theirs = {
            together: seconds(lambda t=together: by_captum(model, record, t), 1)
            for together in (1, 4, 16)
        }
        best = min(theirs, key=lambda together: theirs[together])
        print(
            f"leave-one-out, mask token: {leaving:.2f} s; Captum's FeatureAblation "
            f"{theirs[best]:.2f} s at its best (perturbations_per_eval={best}): "
            f"{theirs[best] / leaving:.2f} times as long"
        )
        chosen = record.predicted[:, None, None].expand(-1, record.content.shape[1], 1)
        fall = (
            record.probs.gather(1, chosen[:, 0])
            - model.leave_out(record).softmax(-1).gather(2, chosen)[..., 0]
        )  # type: ignore[attr-defined]
        per_token = by_captum(model, record, best)
        counted = record.content.gather(1, record.item_of_token.clamp_min(0)) & batch.mask
        difference = (
            (fall.gather(1, record.item_of_token.clamp_min(0)) - per_token)[counted].abs().max()
        )
        print(f"largest difference between the scores: {difference:.1e}")


if __name__ == "__main__":
    main()
