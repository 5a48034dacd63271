"""The contract between models and audits: a model reads a batch and returns a record, and `decode`
gives the logits that other attention would have led to.

Shape letters used everywhere: B examples, T tokens, N items, R rows, C classes, E embedding,
H hidden, K alternatives, Q query tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.errors import InputError


@dataclass(frozen=True, eq=False)  # comparing tensors gives no single truth value
class Batch:
    """Examples as a model reads them. Masks are True where there is a real token.

    Parameters
    ----------
    example_id : tuple of str
        B names, the same in every run: random draws and results are keyed by them.
    tokens : Tensor, (B,T) int64
    mask : Tensor, (B,T) bool
    query : Tensor, (B,Q) int64, optional
        The second text, such as a question.
    query_mask : Tensor, (B,Q) bool, optional
    segments : Tensor, (B,T) int64, optional
        The sentence each token is in.
    classes : Tensor, (B,C) bool, optional
        The candidate answers; if omitted, every class is a candidate.
    labels : Tensor, (B,) int64, optional
    evidence : Tensor, (B,T) bool, optional
        The tokens that are known to decide the label.

    Examples
    --------
    >>> tokens = torch.tensor([[5, 6, 7], [8, 9, 0]])
    >>> batch = Batch(("a", "b"), tokens, tokens > 0)
    >>> len(batch)
    2
    >>> batch.without(tokens == 6).tokens
    tensor([[5, 7],
            [8, 9]])
    """

    per_token: ClassVar[tuple[str, ...]] = ("tokens", "mask", "segments", "evidence")

    example_id: tuple[str, ...]
    tokens: Tensor
    mask: Tensor
    query: Tensor | None = None
    query_mask: Tensor | None = None
    segments: Tensor | None = None
    classes: Tensor | None = None
    labels: Tensor | None = None
    evidence: Tensor | None = None

    def __post_init__(self) -> None:
        if len(self.example_id) != len(self.tokens) or self.tokens.shape != self.mask.shape:
            raise InputError(
                "A batch needs one example_id per text and a mask of the shape of its tokens: "
                f"got {len(self.example_id)} ids, tokens {tuple(self.tokens.shape)}, "
                f"mask {tuple(self.mask.shape)}."
            )

    def __len__(self) -> int:
        return len(self.example_id)

    def without(self, drop: Tensor) -> Batch:
        """Delete the tokens in drop (B,T) and close the gaps: texts are shorter, not blanked."""
        keep = self.mask & ~drop
        order = torch.argsort((~keep).to(torch.int8), dim=-1, stable=True)
        length = keep.sum(-1)
        width = max(int(length.max()), 1) if len(self) else 1
        order = order[:, :width]
        closed = {
            name: value.gather(1, order)
            for name in self.per_token
            if (value := getattr(self, name)) is not None
        }
        mask = torch.arange(width, device=keep.device) < length[:, None]
        for name, value in closed.items():
            closed[name] = value.masked_fill(~mask, 0)
        return replace(self, **{**closed, "mask": mask})

    def replaced(self, places: Tensor, token: int) -> Batch:
        """Put `token` in these places (B,T)."""
        return replace(self, tokens=self.tokens.masked_fill(places, token))

    def rows(self, index: Tensor) -> Batch:
        """The examples at index (M,), which may repeat: how alternatives are batched."""
        picked: dict[str, Any] = {
            field.name: value[index]
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return replace(self, example_id=tuple(self.example_id[i] for i in index.tolist()), **picked)

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        moved: dict[str, Any] = {
            field.name: value.to(device)
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return replace(self, **moved)


@dataclass(frozen=True, eq=False)
class Record:
    """One forward pass: what was attended, and what came out.

    Parameters
    ----------
    batch : Batch
    embeddings : Tensor, (B,T,E)
    hidden : Tensor, (B,N,H), or None
    alpha : Tensor, (B,R,N)
        The attention weights; each row is on the simplex.
    mask : Tensor, (B,R,N) bool
        True where an item may be attended.
    content : Tensor, (B,N) bool
        True where an item is ranked; special tokens are not.
    item_of_token : Tensor, (B,T) int64
        The item each token belongs to; -1 if none.
    logits : Tensor, (B,C)
    readout : Tensor, (B,N,C), optional
        The logits that each item alone would give, if the output is linear in the attention:
        ``logits = alpha @ readout``.
    state : optional
        Private to the model.
    """

    batch: Batch
    embeddings: Tensor
    hidden: Tensor | None
    alpha: Tensor
    mask: Tensor
    content: Tensor
    item_of_token: Tensor
    logits: Tensor
    readout: Tensor | None = None
    state: Any = None

    @property
    def probs(self) -> Tensor:
        """Class probabilities (B,C); 0 for a class that is not a candidate."""
        return masking.probabilities(self.logits, self.batch.classes)

    @property
    def predicted(self) -> Tensor:
        """The most probable candidate class (B,)."""
        return masking.argmax(self.logits, self.batch.classes)

    @property
    def length(self) -> Tensor:
        """The number of items that are ranked (B,)."""
        return self.content.sum(-1)

    def to_items(self, per_token: Tensor) -> Tensor:
        """Sum token values (B,T), such as attributions, over the tokens of each item: (B,N)."""
        return masking.to_items(per_token, self.item_of_token, self.content.shape[1])


@runtime_checkable
class AttentionModel(Protocol):
    """What an audit needs of a model; `attnaudit.check_model` checks that it behaves.

    A model may offer more, found by name:

    - ``leave_out(record) -> (B,N,C)``: the logits without each item, if it can do better than
      reading each shortened text;
    - ``read_logits(batch) -> (B,C)``: the logits alone, if that is faster than reading;
    - ``state_influence(record, norm=, per_facet=) -> (B,N,N) or None``: how fast each hidden state
      changes with each item, as the measure `influence` defines it before scaling, if it can do
      better than one backward pass per state;
    - ``attention_without(record, drop) -> (B,K,R,N)``: its scores projected again without the
      items in drop (B,K,N);
    - ``attended_norms(record) -> (B,R,N)``: the norm of what each item adds to each row's sum;
    - ``self_attention(record) -> (B,L,N,N)``: the layers below the site, averaged over heads,
      lowest first;
    - ``attention_rollout(record) -> (B,N) or (B,R,N)``: attention traced down from the site, if
      the layers below do not attend between items;
    - ``value_zeroing(record) -> (B,N) or (B,R,N)``: how far the output of the site's layer turns
      without each item's values;
    - ``keep_only(record, keep) -> (B,K,C)``: the logits with only the sources in keep (B,K,N) in
      the prompt, for a model that answers from sources. It may also offer
      ``without_question(record)`` and ``reordered(record, order)``, the record of the prompt
      changed so, ``rollout(record) -> (B,N)``, ``input_gradient(record) -> (B,N)`` and
      ``answer_attention(record, at)``;
    - ``batches(texts, labels) -> list[Batch]``: if it reads plain texts;
    - ``spell(record, at) -> list[str]``: the text of each item of example `at`;
    - ``row_names(record) -> list[str]``: the name of each row ("layer 5 head 0");
    - ``class_names``;
    - ``replacement_token``: the id of the token that can stand in place of an erased word, such as
      a mask token or the unknown word; None if there is none;
    - ``without_readout``: the same model reading faster, its records without a readout;
    - ``about``: a dict of the settings it was made with, stored with the results.
    """

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """One forward pass, from these embeddings (B,T,E) instead of the tokens' own if given."""
        ...

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """The logits if alpha had been used: (B,R,N) -> (B,C), or (B,K,R,N) -> (B,K,C)."""
        ...
