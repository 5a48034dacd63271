"""A Hugging Face model with `read` and `decode`.

Rows are layers × heads at the position that the head reads; items are words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError
from attnaudit.models.huggingface import passes
from attnaudit.models.huggingface.attended_norms import attended_norms
from attnaudit.models.huggingface.attention_tape import CapturedCall, Tape
from attnaudit.models.huggingface.decision import Decision
from attnaudit.models.huggingface.decode_paths import choose_path, decode_by
from attnaudit.models.huggingface.encoded_texts import Text
from attnaudit.models.huggingface.labels import class_numbers
from attnaudit.models.huggingface.layers import LayerTape
from attnaudit.models.huggingface.passes import Inputs, Wiring
from attnaudit.models.huggingface.plain_logits import leave_out, read_logits
from attnaudit.models.huggingface.position import Rule, positions_of
from attnaudit.models.huggingface.rollout import attention_rollout
from attnaudit.models.huggingface.subwords import Subwords
from attnaudit.models.huggingface.text_batch import text_batches
from attnaudit.models.huggingface.value_zeroing import value_zeroing
from attnaudit.models.huggingface.words import spell_items

_TOKENS_AT_ONCE = 2**11  # more is not faster and takes memory


@dataclass(frozen=True, eq=False)
class State:
    """What `decode` starts from."""

    inputs: Inputs
    positions: Tensor  # (B,)
    subwords: Subwords
    captured: dict[int, CapturedCall]
    layers: LayerTape
    # The decode path confirmed on this batch; empty until `decode` is first called.
    path: list[str] = field(default_factory=list)
    # What each word passes on to the audited heads of a call, computed by `decode`.
    word_values: dict[int, Tensor] = field(default_factory=dict)


class HuggingFaceModel:
    """A model wrapped by `from_huggingface`: not copied, and unchanged after every call."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        wiring: Wiring,
        decision: Decision,
        calls: Sequence[int],
        heads: Sequence[int],
        rule: Rule,
        token_ids: dict[str, int | None],
        max_length: int | None,
        leave_out: str,
    ) -> None:
        self.model, self.tokenizer, self.wiring, self.decision = model, tokenizer, wiring, decision
        self.calls, self.rule, self.token_ids = tuple(calls), rule, token_ids
        self.head_numbers = list(heads)
        self.max_length, self.leave_out_form = max_length, leave_out
        self.paths: tuple[str, ...] = ("plain",)
        self.top_layer_is_short = False  # in passes for logits alone, see `top_layer`
        self.class_names = None if decision.names is None else list(decision.names)

    @property
    def heads(self) -> Tensor:
        """The audited heads (h,), on the model's device, which an audit may change."""
        return torch.tensor(self.head_numbers, device=self.model.device)

    @property
    def replacement_token(self) -> int | None:
        """The mask token; None if the tokenizer has none."""
        return self.token_ids["mask"]

    @property
    def about(self) -> dict[str, Any]:
        """The choices made and found, stored with the results."""
        return {
            "model": type(self.model).__name__,
            "task": self.decision.task,
            "layers": [self.wiring.calls.index(call) for call in self.calls],
            "heads": self.head_numbers,
            "query": self.rule,
            "words": "offsets"
            if getattr(self.tokenizer, "is_fast", False)
            else "marks of the pieces",
            "leave_out": self.leave_out_form,
            "max_length": self.max_length,
        }

    def row_names(self, record: Record) -> list[str]:
        """Name each row by layer and head, counted from 0 as in `layers=` and `heads=`."""
        kind = "cross-attention layer" if self.model.config.is_encoder_decoder else "layer"
        return [
            f"{kind} {self.wiring.calls.index(call)} head {head}"
            for call in self.calls
            for head in self.head_numbers
        ]

    def batches(
        self,
        texts: Sequence[Text],
        labels: Sequence[Any] | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[Batch]:
        """Turn texts, or pairs of texts, into batches on the model's device.

        Labels are class numbers, or names of the model's classes; ids name the texts.
        """
        numbers = (
            None
            if labels is None
            else class_numbers(labels, self.class_names, self.wiring.vocabulary)
        )
        batches = text_batches(
            texts,
            self.tokenizer,
            numbers,
            max_length=self.max_length,
            leave_out=self.leave_out_form,
            ids=ids,
        )
        return [batch.to(self.model.device) for batch in batches]

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Run the model on a batch; `embeddings` (B,T,E) replace its own.

        Without them, and outside `faster_products`, the logits and weights are bit-identical to
        those of the model itself.
        """
        inputs, positions = self.model_inputs(batch)
        # All calls of the lowest audited layer are kept, for the `fast` decode path.
        same_layer = {
            call
            for call, layer in enumerate(self.wiring.layer_of_call)
            if layer == self.start_layer
        }
        tape = Tape(positions, keep=frozenset({*self.calls, *same_layer}))
        layers = LayerTape(keep=frozenset({self.start_layer, *self.encoder_end()}))
        out, embedded = passes.run(self.model, self.wiring, inputs, tape, layers, embeddings)
        logits = self.decision.logits(out, positions)
        rows = torch.cat([tape.captured[call].row[:, self.heads] for call in self.calls], 1)
        subwords = Subwords.of(batch, rows, self._allowed(batch, tape, positions))
        return Record(
            batch=batch,
            embeddings=embedded,
            hidden=None,
            alpha=subwords.to_items(rows),
            mask=subwords.item_mask,
            content=subwords.content,
            item_of_token=subwords.item,
            logits=logits,
            state=State(inputs, positions, subwords, tape.captured, layers),
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """Return the logits under other attention: (B,R,N) -> (B,C), (B,K,R,N) -> (B,K,C)."""
        state: State = record.state
        if alpha.shape[-2:] != record.alpha.shape[1:] or len(alpha) != len(record.alpha):
            raise InputError(
                "alpha must have shape (B,R,N) or (B,K,R,N) with the record's (B,R,N) = "
                f"{tuple(record.alpha.shape)}, got {tuple(alpha.shape)}."
            )
        path = choose_path(self, record)
        alternatives = alpha if alpha.dim() == 4 else alpha[:, None]
        size = len(alpha) * (1 if path == "fast" else state.inputs.ids.shape[1])
        parts = [
            decode_by(path, self, record, part.to(record.alpha.dtype))
            for part in alternatives.split(max(1, self.tokens_at_once() // size), 1)
        ]
        logits = torch.cat(parts, 1)
        return logits if alpha.dim() == 4 else logits[:, 0]

    def read_logits(self, batch: Batch) -> Tensor:
        """Return the logits alone (B,C), by the model's own attention function."""
        return read_logits(self, batch)

    def leave_out(self, record: Record) -> Tensor:
        """Return the logits without each item (B,N,C), by the model's own attention function."""
        return leave_out(self, record)

    def attention_rollout(self, record: Record) -> Tensor:
        """Return the attention traced through all layers up to the site (B,N) or (B,R,N)."""
        return attention_rollout(self, record)

    def attended_norms(self, record: Record) -> Tensor:
        """Return the norm of what each word adds to the output of each head (B,R,N)."""
        return attended_norms(self, record)

    def value_zeroing(self, record: Record) -> Tensor:
        """Return how far the site's layer turns without each word's values (B,N) or (B,R,N)."""
        return value_zeroing(self, record)

    def spell(self, record: Record, at: int) -> list[str]:
        """Return the text of each item of example `at`."""
        items = record.item_of_token[at].tolist()
        return spell_items(
            self.tokenizer, record.batch.tokens[at].tolist(), items, record.content.shape[1]
        )

    def model_inputs(self, batch: Batch) -> tuple[Inputs, Tensor]:
        """Return the inputs of the wrapped model and the query position of each text (B,)."""
        special = getattr(batch, "special", None)
        if special is None:
            raise InputError(
                "A Hugging Face model reads batches made by text_batches or model.batches, which "
                "hold the word of each token."
            )
        largest = int(batch.tokens.max())
        if largest >= (known := self.wiring.vocabulary):
            raise InputError(
                f"The texts hold token {largest}, but the model knows {known}: the tokenizer "
                "belongs to another model."
            )
        inputs = passes.inputs_of(batch, self.token_ids["pad"], self.decision.decoder_start)
        return inputs, positions_of(self.rule, inputs.ids, inputs.mask, special, self.token_ids)

    def _allowed(self, batch: Batch, tape: Tape, positions: Tensor) -> Tensor:
        """Return which tokens each row may attend to (B,R,T)."""
        rows = []
        for number in self.calls:
            call = tape.captured[number]
            allowed = batch.mask[:, None].expand_as(call.row)
            if call.allowed is not None:
                allowed = allowed & call.allowed
            elif self.wiring.causal:
                token = torch.arange(allowed.shape[2], device=allowed.device)
                allowed = allowed & (token <= positions[:, None])[:, None]
            rows.append(allowed[:, self.heads])
        return torch.cat(rows, 1)

    @property
    def start_layer(self) -> int:
        """The layer call of the lowest audited attention call."""
        return self.wiring.layer_of_call[self.calls[0]]

    def encoder_end(self) -> tuple[int, ...]:
        """Return the layer call that ends the encoder of an encoder–decoder model, if it is one."""
        end = self.wiring.layer_of_call[self.wiring.calls[0]] - 1
        return (end,) if self.model.config.is_encoder_decoder and end >= 0 else ()

    def tokens_at_once(self) -> int:
        """Return the tokens per pass; fewer if each gives logits over a vocabulary."""
        vocabulary = 1 if self.decision.task == "classification" else self.wiring.vocabulary
        return max(1, min(_TOKENS_AT_ONCE, 2**26 // vocabulary))
