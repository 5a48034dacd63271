"""A user's PyTorch classifier as a model with `read` and `decode`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError
from attnaudit.models.hooked.passes import Pass, Wiring, run
from attnaudit.models.hooked.site import (
    RULES,
    Rule,
    Site,
    find_site,
    items_of,
    positions_of,
    real_rows,
)
from attnaudit.models.hooked.weights import Found
from attnaudit.models.readout import with_readout

_TOKENS_AT_ONCE = 2**15


def from_hooks(
    model: nn.Module,
    *,
    alpha: str,
    embedding: str,
    call: Callable[[nn.Module, Batch], Any] | None = None,
    query: Rule = "auto",
    heads: str | int | Sequence[int] = "all",
    readout: str = "auto",
    member: int | None = None,
    before: int = 0,
    mask: Callable[[Batch], Tensor] | None = None,
    batch_first: bool = True,
) -> AttentionModel:
    """Audit a classifier as it is: alpha and embedding are the paths of two of its modules, such as "encoder.layers.1.self_attn".

    alpha: an nn.MultiheadAttention (or nn.TransformerEncoder, its last layer); a module that returns the weights, (B,N), (B,R,N) or
    (B,heads,Q,N), alone or in a tuple (member= says which); or one that computes them by a softmax inside. embedding: the module that
    gives (B,T,E); batch_first=False where it gives (T,B,E). call: how the model is run, model(batch.tokens, batch.mask) by default.
    query: the position whose attention is audited, "first", "last", "all", a number or a function of the batch; by default the one the
    logits hang on. heads: "all", or the numbers of those to audit, the others held. readout="auto" looks for a linear output behind a
    single row; "none" does not. before: items the model puts before the text, such as a class token; mask: what else than the real
    tokens may be attended, a function of the batch, (B,N).

    The first batch that is read decides whether the weights are what the model uses; where they are not, it is refused in words.
    """
    if not isinstance(model, nn.Module):
        raise InputError(f"from_hooks takes a torch.nn.Module, got {type(model).__name__}.")
    if readout not in ("auto", "none"):
        raise InputError(f'readout is "auto" or "none", got {readout!r}.')
    if isinstance(query, str) and query not in ("auto", *RULES):
        raise InputError(
            f"There is no query position {query!r}. Choose from: auto, {', '.join(RULES)}, a number, a function."
        )
    if before < 0:
        raise InputError(f"before counts items, 0 or more; got {before}.")
    wiring = Wiring(
        model=model,
        alpha=_attention_path(model, _known(model, alpha, "alpha")),
        embedding=_known(model, embedding, "embedding"),
        call=call if call is not None else _plain_call(model),
        query=query,
        heads=_head_numbers(heads),
        member=member,
        before=before,
        mask=mask,
        batch_first=batch_first,
    )
    hooked = Hooked(wiring)
    return with_readout(hooked) if readout == "auto" else hooked


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a site in (B,H,Q,N): position by position, and at each one head after the other."""

    at: Tensor  # (B,P) query positions
    heads: Tensor  # (h,)
    has_items: Tensor  # (B,P,h) bool; an empty row keeps the weights it had

    def of(self, weights: Tensor) -> Tensor:
        """(B,P,h,N)."""
        return weights[self._index()]

    def put(self, weights: Tensor, alpha: Tensor) -> tuple[Tensor, Tensor]:
        own = self.of(weights)
        given = torch.where(self.has_items[..., None], alpha.to(own.dtype).reshape(own.shape), own)
        touched = torch.zeros(
            weights.shape[0], weights.shape[2], dtype=torch.bool, device=weights.device
        )
        return weights.index_put(self._index(), given), touched.scatter(
            1, self.at, self.has_items.any(-1)
        )

    def names(self, *, only_head: bool) -> list[str]:
        """Positions are named if there are several, heads unless the module has only one."""
        queries = self.at.shape[1]
        positions = [f"position {at}" for at in range(queries)] if queries > 1 else [""]
        heads = [""] if only_head else [f"head {head}" for head in self.heads.tolist()]
        return [f"{at} {head}".strip() or "attention" for at in positions for head in heads]

    def rows(self, index: Tensor) -> _Rows:
        return _Rows(self.at[index], self.heads, self.has_items[index])

    def _index(self) -> tuple[Tensor, Tensor, Tensor]:
        example = torch.arange(len(self.at), device=self.at.device)
        return example[:, None, None], self.heads[None, None], self.at[:, :, None]


class Hooked:
    """The model itself is held, not copied; every pass leaves it as found."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self.model = wiring.model  # where audits look for modules
        self._site: Site | None = None

    @property
    def about(self) -> dict[str, Any]:
        told = self.wiring
        named = (
            told.query
            if isinstance(told.query, (str, int))
            else getattr(told.query, "__name__", "function")
        )
        return {
            "model": type(told.model).__name__,
            "alpha": told.alpha,
            "embedding": told.embedding,
            "query": named,
            "heads": "all" if told.heads is None else list(told.heads),
        }

    @property
    def vocabulary_size(self) -> int | None:
        """How many tokens the embedding module knows, where it says."""
        return getattr(self.model.get_submodule(self.wiring.embedding), "num_embeddings", None)

    def row_names(self, record: Record) -> list[str]:
        """One name per row: query positions and heads as the attention module counts them, from 0."""
        _, rows = record.state
        return rows.names(only_head=self.wiring.heads is None and len(rows.heads) == 1)

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        site = self._site or find_site(self.wiring, batch)
        if site.certain:
            self._site = site
        seen = self._run(site, batch, embeddings)
        rows, mask, content = self._rows(site, batch, seen.found)
        place = torch.arange(batch.tokens.shape[1], device=batch.tokens.device).expand_as(
            batch.tokens
        )
        counted = content[:, self.wiring.before :]
        return Record(
            batch=batch,
            embeddings=seen.embeddings,
            hidden=None,
            # An empty row of a softmax is NaN or uniform; here it is 0, as everywhere.
            alpha=rows.of(seen.found.weights)
            .flatten(1, 2)
            .masked_fill(~mask.any(-1, keepdim=True), 0.0),
            mask=mask,
            content=content,
            item_of_token=(place + self.wiring.before).masked_fill(~counted, -1),
            logits=seen.logits,
            state=(site, rows),
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """Another forward pass; alternatives are batched along B and come in bounded parts."""
        several = alpha[:, None] if alpha.dim() == 3 else alpha
        examples, count = several.shape[:2]
        every = torch.arange(examples, device=alpha.device).repeat_interleave(count)
        flat = several.flatten(0, 1)
        parts = [
            self._decoded(record, every[part], flat[part])
            for part in torch.arange(len(every), device=alpha.device).split(
                max(1, _TOKENS_AT_ONCE // record.batch.tokens.shape[1])
            )
        ]
        logits = (
            torch.cat(parts).unflatten(0, (examples, count))
            if parts
            else record.logits[:, None][:, :count]
        )
        return logits[:, 0] if alpha.dim() == 3 else logits

    def _decoded(self, record: Record, index: Tensor, alpha: Tensor) -> Tensor:
        site, rows = record.state
        chosen = rows.rows(index)
        return self._run(
            site,
            record.batch.rows(index),
            record.embeddings[index],
            lambda found: chosen.put(found.weights, alpha),
        ).logits

    def _run(self, site: Site, batch: Batch, embeddings: Tensor | None, change: Any = None) -> Pass:
        return run(
            self.wiring,
            batch,
            how=site.how,
            positions=site.positions,
            embeddings=embeddings,
            change=change,
        )

    def _rows(self, site: Site, batch: Batch, found: Found) -> tuple[_Rows, Tensor, Tensor]:
        """The rows of the site, their masks (B,R,N), and the items that count (B,N)."""
        told, (_, heads, queries, _) = self.wiring, found.weights.shape
        at = positions_of(site.rule, batch, queries, told.before, site.follows)
        chosen = torch.arange(heads) if told.heads is None else torch.tensor(told.heads)
        may, content = items_of(told, batch)
        everything = (
            torch.ones_like(found.weights, dtype=torch.bool)
            if found.allowed is None
            else found.allowed
        )
        rows = _Rows(
            at,
            chosen.to(at.device),
            torch.ones(*at.shape, len(chosen), dtype=torch.bool, device=at.device),
        )
        real = real_rows(site, told, batch, at)
        mask = rows.of(everything) & may[:, None, None] & real[:, :, None, None]
        return (
            _Rows(at, rows.heads, mask.any(-1)),
            mask.flatten(1, 2),
            content & mask.flatten(1, 2).any(1),
        )


def _known(model: nn.Module, path: str, option: str) -> str:
    names = [name for name, _ in model.named_modules() if name]
    if path not in names:
        listed = ", ".join(names[:40]) + (" …" if len(names) > 40 else "")
        raise InputError(
            f"{type(model).__name__} has no module {path!r} ({option}=). Its modules: {listed or 'none'}."
        )
    return path


def _attention_path(model: nn.Module, path: str) -> str:
    """Of a Transformer layer, its self-attention; of a stack of layers, that of the last one."""
    module = model.get_submodule(path)
    if isinstance(module, nn.TransformerEncoder):
        return f"{path}.layers.{len(module.layers) - 1}.self_attn"
    return f"{path}.self_attn" if isinstance(module, nn.TransformerEncoderLayer) else path


def _plain_call(model: nn.Module) -> Callable[[nn.Module, Batch], Any]:
    try:
        signature(model.forward).bind("tokens", "mask")
    except TypeError as error:
        raise InputError(
            f"{type(model).__name__} cannot be run as model(batch.tokens, batch.mask) ({error}). "
            "Say how with call=lambda model, batch: model(…)."
        ) from error
    return lambda model, batch: model(batch.tokens, batch.mask)


def _head_numbers(heads: str | int | Sequence[int]) -> tuple[int, ...] | None:
    if heads == "all":
        return None
    numbers = (heads,) if isinstance(heads, int) else tuple(heads)
    if (
        not numbers
        or not all(isinstance(number, int) for number in numbers)
        or len(set(numbers)) < len(numbers)
    ):
        raise InputError(
            f'heads is "all", a number or different numbers, counted from 0; got {heads!r}.'
        )
    return numbers  # type: ignore[return-value]  # each is a number, as just checked
