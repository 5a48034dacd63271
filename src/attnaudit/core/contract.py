"""The contract between models and audits: a batch goes in, a record comes out, and `decode` answers "what if".

Shape letters used everywhere: B examples, T tokens, N items, R rows, C classes, E embedding, H hidden, K alternatives, Q query.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.errors import InputError


@dataclass(frozen=True, eq=False)  # tensors have no single truth value to compare by
class Batch:
    """Examples as a model reads them. Masks are True where something real stands; labels are optional everywhere."""

    per_token: ClassVar[tuple[str, ...]] = (
        "tokens",
        "mask",
        "segments",
        "evidence",
    )  # move when tokens are deleted

    example_id: tuple[str, ...]  # B names, stable over runs: randomness is derived from them
    tokens: Tensor  # (B,T) int64
    mask: Tensor  # (B,T) bool
    query: Tensor | None = None  # (B,Q) int64, the second text
    query_mask: Tensor | None = None  # (B,Q) bool
    segments: Tensor | None = None  # (B,T) int64, the sentence of each token
    classes: Tensor | None = None  # (B,C) bool, the candidate answers
    labels: Tensor | None = None  # (B,) int64
    evidence: Tensor | None = None  # (B,T) bool, the known truth

    def __post_init__(self) -> None:
        if len(self.example_id) != len(self.tokens) or self.tokens.shape != self.mask.shape:
            raise InputError(
                f"A batch needs one example_id a text, and a mask like its tokens: got {len(self.example_id)} ids, tokens "
                f"{tuple(self.tokens.shape)}, mask {tuple(self.mask.shape)}."
            )

    def __len__(self) -> int:
        return len(self.example_id)

    def without(self, drop: Tensor) -> Batch:
        """The same examples with the tokens in drop (B,T) deleted and the gaps closed: really shorter, not blanked."""
        keep = self.mask & ~drop
        order = torch.argsort((~keep).to(torch.int8), dim=-1, stable=True)
        left = keep.sum(-1)
        width = max(int(left.max()), 1) if len(self) else 1
        order = order[:, :width]
        closed = {
            name: value.gather(1, order)
            for name in self.per_token
            if (value := getattr(self, name)) is not None
        }
        mask = torch.arange(width, device=keep.device) < left[:, None]
        for name, value in closed.items():
            closed[name] = value.masked_fill(~mask, 0)
        return replace(self, **{**closed, "mask": mask})

    def replaced(self, places: Tensor, token: int) -> Batch:
        """The same examples with another token in these places (B,T)."""
        return replace(self, tokens=self.tokens.masked_fill(places, token))

    def rows(self, index: Tensor) -> Batch:
        """The examples at index (M,), which may repeat: how alternatives are batched along B."""
        picked: dict[str, Any] = {
            field.name: value[index]
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return replace(self, example_id=tuple(self.example_id[i] for i in index.tolist()), **picked)

    def to(self, device: torch.device | str) -> Batch:
        moved: dict[str, Any] = {
            field.name: value.to(device)
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return replace(self, **moved)


@dataclass(frozen=True, eq=False)
class Record:
    """One forward pass as a value: what was attended, and what came out."""

    batch: Batch
    embeddings: Tensor  # (B,T,E)
    hidden: Tensor | None  # (B,N,H)
    alpha: Tensor  # (B,R,N), each row on the simplex
    mask: Tensor  # (B,R,N) bool, True = may be attended
    content: Tensor  # (B,N) bool, True = counts in rankings
    item_of_token: Tensor  # (B,T) int64, -1 where a token belongs to no item
    logits: Tensor  # (B,C)
    readout: Tensor | None = None  # (B,N,C), the logits item n alone would give
    state: Any = None  # private to the model

    @property
    def probs(self) -> Tensor:
        """(B,C); 0 for a class that is no candidate."""
        return masking.probabilities(self.logits, self.batch.classes)

    @property
    def predicted(self) -> Tensor:
        """(B,) the most probable candidate class."""
        return masking.argmax(self.logits, self.batch.classes)

    @property
    def length(self) -> Tensor:
        """(B,) how many items count in rankings."""
        return self.content.sum(-1)

    def to_items(self, per_token: Tensor) -> Tensor:
        """(B,T) -> (B,N): token values, such as attributions of a library, summed over the tokens of each item."""
        return masking.to_items(per_token, self.item_of_token, self.content.shape[1])


@runtime_checkable
class AttentionModel(Protocol):
    """All that an audit asks of a model. Laws: `attnaudit.laws.checks`.

    A model may offer more, and is asked for it by name: `leave_out(record) -> (B,N,C)`, the logits without each item, where it can do
    better than re-reading; `attention_without(record, drop) -> (B,K,R,N)`, its scores projected anew without the items in drop
    (B,K,N); `attended_norms(record) -> (B,R,N)`, weight × length of what is attended; `self_attention(record) -> (B,L,N,N)`, the layers below the site, mean over heads, the lowest first; `batches(texts, labels)
    -> list[Batch]`, where it reads plain texts; `spell(record, at) -> list[str]`, the text of each item of example `at`;
    `row_names(record) -> list[str]`, the name of each row ("layer 5 head 0"); `class_names`;
    and `about`, a dict of what it was told, kept with the results.
    """

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record: ...

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """The logits, had alpha been used at the site: (B,R,N) -> (B,C), or (B,K,R,N) -> (B,K,C)."""
        ...
