"""A Hugging Face model as audits see it: rows are layers × heads at the position the head reads, items are words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.models.huggingface import passes
from attnaudit.models.huggingface.decision import Decision
from attnaudit.models.huggingface.decode_paths import choose_path, decode_by
from attnaudit.models.huggingface.labels import class_numbers
from attnaudit.models.huggingface.layers import Layers
from attnaudit.models.huggingface.passes import Inputs, Wiring
from attnaudit.models.huggingface.position import Rule, positions_of
from attnaudit.models.huggingface.subwords import Pieces
from attnaudit.models.huggingface.text_batch import Text, text_batches
from attnaudit.models.huggingface.words import spell
from attnaudit.models.interception.attention_tape import Seen, Tape

_TOKENS_AT_ONCE = 2**11  # more at once is no faster, and takes memory


@dataclass(frozen=True, eq=False)
class State:
    """What decode goes on from."""

    inputs: Inputs
    positions: Tensor  # (B,)
    pieces: Pieces
    seen: dict[int, Seen]
    layers: Layers
    path: list[str] = field(
        default_factory=list
    )  # the one confirmed on this batch, once decode has looked


class HuggingFaceModel:
    """Made by from_huggingface. The user's model is changed inside a call only, and is as found after it."""

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
        numbers: dict[str, int | None],
        max_length: int | None,
        leave_out: str,
    ) -> None:
        self.model, self.tokenizer, self.wiring, self.decision = model, tokenizer, wiring, decision
        self.calls, self.rule, self.numbers = tuple(calls), rule, numbers
        self.head_numbers = list(heads)
        self.max_length, self.form = max_length, leave_out
        self.paths: tuple[str, ...] = ("plain",)
        self.class_names = None if decision.names is None else list(decision.names)

    @property
    def heads(self) -> Tensor:
        """(h,) on the model's device, which an audit may change."""
        return torch.tensor(self.head_numbers, device=self.model.device)

    @property
    def about(self) -> dict[str, Any]:
        """What was chosen and found, kept with the results."""
        return {
            "model": type(self.model).__name__,
            "task": self.decision.task,
            "layers": [self.wiring.calls.index(call) for call in self.calls],
            "heads": self.head_numbers,
            "query": self.rule,
            "words": "offsets"
            if getattr(self.tokenizer, "is_fast", False)
            else "marks of the pieces",
            "leave_out": self.form,
            "max_length": self.max_length,
        }

    def row_names(self, record: Record) -> list[str]:
        """One name per row: layers and heads as `layers=` and `heads=` count them, from 0."""
        kind = "cross-attention layer" if self.model.config.is_encoder_decoder else "layer"
        return [
            f"{kind} {self.wiring.calls.index(call)} head {head}"
            for call in self.calls
            for head in self.head_numbers
        ]

    def batches(self, texts: Sequence[Text], labels: Sequence[Any] | None = None) -> list[Batch]:
        """Texts or pairs as batches on the model's device. Labels are numbers, or names of the model's classes."""
        known = (
            None
            if labels is None
            else class_numbers(labels, self.class_names, self.wiring.vocabulary)
        )
        made = text_batches(
            texts, self.tokenizer, known, max_length=self.max_length, leave_out=self.form
        )
        return [batch.to(self.model.device) for batch in made]

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        inputs, positions = self._inputs(batch)
        # The other calls of the top layer are kept for the path on which only one token is computed.
        top = {
            call for call, layer in enumerate(self.wiring.layer_of_call) if layer == self._start()
        }
        tape = Tape(positions, keep=frozenset({*self.calls, *top}))
        layers = Layers(keep=frozenset({self._start(), *self.encoder_end()}))
        out, embedded = passes.run(self.model, self.wiring, inputs, tape, layers, embeddings)
        logits = self.decision.logits(out, positions)
        rows = torch.cat([tape.seen[call].row[:, self.heads] for call in self.calls], 1)
        pieces = Pieces.of(batch, rows, self._allowed(batch, tape, positions))
        return Record(
            batch=batch,
            embeddings=embedded,
            hidden=None,
            alpha=pieces.to_items(rows),
            mask=pieces.item_mask,
            content=pieces.content,
            item_of_token=pieces.item,
            logits=logits,
            state=State(inputs, positions, pieces, tape.seen, layers),
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        state: State = record.state
        if alpha.shape[-2:] != record.alpha.shape[1:] or len(alpha) != len(record.alpha):
            raise InputError(f"alpha must be (B,R,N) or (B,K,R,N) as the record's {tuple(record.alpha.shape)}, got {tuple(alpha.shape)}.")  # fmt: skip
        path = choose_path(self, record)
        several = alpha if alpha.dim() == 4 else alpha[:, None]
        size = len(alpha) * (1 if path == "fast" else state.inputs.ids.shape[1])
        parts = [
            decode_by(path, self, record, state.pieces.to_tokens(part.to(record.alpha.dtype)))
            for part in several.split(max(1, self._at_once() // size), 1)
        ]
        logits = torch.cat(parts, 1)
        return logits if alpha.dim() == 4 else logits[:, 0]

    def leave_out(self, record: Record) -> Tensor:
        """(B,N,C) by the model's own attention function, without reading its weights; NaN as in attnaudit.leaving_out."""
        batch = record.batch
        logits = record.logits.new_full((*record.content.shape, record.logits.shape[1]), torch.nan)
        example, item = (record.content & (record.length > 1)[:, None]).nonzero(as_tuple=True)
        for part in torch.arange(len(example)).split(
            max(1, self._at_once() // batch.tokens.shape[1])
        ):
            if not len(part):  # one-word texts: nothing would be left of them
                break
            rows, dropped = example[part], item[part]
            shorter = batch.rows(rows).without(record.item_of_token[rows] == dropped[:, None])
            inputs, positions = self._inputs(shorter)
            out = passes.plain_logits(self.model, inputs)
            logits[rows, dropped] = self.decision.logits(out, positions).to(logits.dtype)
        return logits

    def self_attention(self, record: Record) -> Tensor:
        """(B,L,N,N): the layers below the site, mean over heads, words for pieces."""
        if len(self.calls) > 1:
            raise NotApplicable(
                "the site has several layers, and what is below differs from row to row"
            )
        below = self._below()
        state: State = record.state
        tape = Tape(state.positions, keep=frozenset(below), whole=True)
        with torch.no_grad():
            passes.run(self.model, self.wiring, state.inputs, tape, Layers(), record.embeddings)
        if not below:
            return record.alpha.new_zeros(len(record.batch), 0, *[record.alpha.shape[2]] * 2)
        whole = [
            seen.weights.mean(1) for call in below if (seen := tape.seen[call]).weights is not None
        ]
        return torch.stack([state.pieces.between_items(each) for each in whole], 1)

    def attended_norms(self, record: Record) -> Tensor:
        """(B,R,N): weight × length of the value vector, summed over the pieces of a word."""
        state: State = record.state
        found = []
        for call in self.calls:
            seen = state.seen[call]
            if seen.values is None:
                raise NotApplicable("the value vectors of this family are out of reach")
            length = torch.linalg.vector_norm(seen.values.detach(), dim=-1)
            found.append((seen.row.detach() * length)[:, self.heads])
        return state.pieces.to_items(torch.cat(found, 1))

    def spell(self, record: Record, at: int) -> list[str]:
        """The text of each item of example `at`."""
        tokens, items = record.batch.tokens[at].tolist(), record.item_of_token[at].tolist()
        pieces: list[list[int]] = [[] for _ in range(record.content.shape[1])]
        for token, item in zip(tokens, items, strict=True):
            if item >= 0:
                pieces[item].append(token)
        return [spell(self.tokenizer, each) if each else "" for each in pieces]

    def _inputs(self, batch: Batch) -> tuple[Inputs, Tensor]:
        special = getattr(batch, "special", None)
        if special is None:
            raise InputError(
                "A Hugging Face model reads batches made by text_batches or model.batches, which know the words."
            )
        largest = int(batch.tokens.max())
        if largest >= (known := self.wiring.vocabulary):
            raise InputError(
                f"The texts hold token {largest}, but the model knows {known}: the tokenizer is another model's."
            )
        inputs = passes.inputs_of(batch, self.numbers["pad"], self.decision.decoder_start)
        return inputs, positions_of(self.rule, inputs.ids, inputs.mask, special, self.numbers)

    def _allowed(self, batch: Batch, tape: Tape, positions: Tensor) -> Tensor:
        """(B,R,T)"""
        found = []
        for call in self.calls:
            seen = tape.seen[call]
            may = batch.mask[:, None].expand_as(seen.row)
            if seen.allowed is not None:
                may = may & seen.allowed
            elif self.wiring.causal:
                place = torch.arange(may.shape[2], device=may.device)
                may = may & (place <= positions[:, None])[:, None]
            found.append(may[:, self.heads])
        return torch.cat(found, 1)

    def _start(self) -> int:
        """The layer call of the lowest attention call of the site."""
        return self.wiring.layer_of_call[self.calls[0]]

    def encoder_end(self) -> tuple[int, ...]:
        """The layer call that ends the encoder of an encoder–decoder model; none in others."""
        end = self.wiring.layer_of_call[self.wiring.calls[0]] - 1
        return (end,) if self.model.config.is_encoder_decoder and end >= 0 else ()

    def _below(self) -> list[int]:
        """The self-attention calls below the site that go over the same tokens: in an encoder–decoder model, the encoder's."""
        first = self.wiring.calls[0] if self.model.config.is_encoder_decoder else self.calls[0]
        layer = self.wiring.layer_of_call[first]
        return [call for call, of in enumerate(self.wiring.layer_of_call) if of < layer]

    def _at_once(self) -> int:
        """Tokens in one pass; fewer where each gives logits over a vocabulary."""
        vocabulary = 1 if self.decision.task == "classification" else self.wiring.vocabulary
        return max(1, min(_TOKENS_AT_ONCE, 2**26 // vocabulary))
