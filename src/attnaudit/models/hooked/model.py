"""A user's PyTorch classifier as a model with `read` and `decode`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError
from attnaudit.models.hooked.attention_capture import AttentionCapture
from attnaudit.models.hooked.passes import ForwardPass, HookOptions, Replace, run_pass
from attnaudit.models.hooked.site import (
    RULES,
    HookSite,
    Rule,
    find_site,
    items_of,
    positions_of,
    real_positions,
)
from attnaudit.models.readout import with_readout

_TOKENS_AT_ONCE = 2**15
# Former name of a keyword -> its name and its default.
_RENAMED = {"before": ("num_prefix_tokens", 0), "member": ("output_index", None)}


def from_hooks(
    model: nn.Module,
    *,
    alpha: str,
    embedding: str,
    call: Callable[[nn.Module, Batch], Any] | None = None,
    query: Rule = "auto",
    heads: str | int | Sequence[int] = "all",
    readout: str = "auto",
    output_index: int | None = None,
    num_prefix_tokens: int = 0,
    mask: Callable[[Batch], Tensor] | None = None,
    batch_first: bool = True,
    **deprecated: Any,
) -> AttentionModel:
    """Wrap any PyTorch classifier by the paths of two of its modules, so that `audit` takes it.

    The first batch that is read decides whether the weights found are what the model uses; if
    they are not, an error says why. The model itself is not copied, and is unchanged after every
    call.

    Parameters
    ----------
    model : nn.Module
        The classifier.
    alpha : str
        Path of the attention module, such as "encoder.layers.1.self_attn": an
        nn.MultiheadAttention (or nn.TransformerEncoder: its last layer); a module that returns
        the weights, (B,N), (B,R,N) or (B,heads,Q,N), alone or in a tuple; or a module that
        computes them by a softmax inside.
    embedding : str
        Path of the module that returns the token embeddings (B,T,E).
    call : callable, optional
        (model, batch) -> output of the model. By default model(batch.tokens, batch.mask).
    query : {"auto", "first", "last", "all"}, int or callable, default "auto"
        The query position whose attention is audited; a callable maps a batch to positions (B,).
        By default the position that the logits depend on.
    heads : "all", int or sequence of int, default "all"
        The heads to audit; the others keep their weights.
    readout : {"auto", "none"}, default "auto"
        Whether to look for a linear output behind a single row of attention.
    output_index : int, optional
        Which element of the tuple that the attention module returns holds the weights.
    num_prefix_tokens : int, default 0
        Number of tokens that the model puts before the text, such as a class token.
    mask : callable, optional
        batch -> bool (B,N), True where an item may be attended. By default the real tokens.
    batch_first : bool, default True
        False if the embedding module returns (T,B,E).
    **deprecated
        `member` and `before`, the former names of `output_index` and `num_prefix_tokens`.

    Returns
    -------
    AttentionModel
        A model with `read` and `decode`.

    Examples
    --------
    >>> import torch
    >>> import attnaudit
    >>> class Classifier(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.words, self.score = torch.nn.Embedding(9, 4), torch.nn.Linear(4, 1)
    ...         self.softmax, self.output = torch.nn.Softmax(-1), torch.nn.Linear(4, 2)
    ...
    ...     def forward(self, tokens, mask):
    ...         words = self.words(tokens)
    ...         scores = self.score(words)[..., 0].masked_fill(~mask, -torch.inf)
    ...         return self.output((self.softmax(scores)[:, None] @ words)[:, 0])
    >>> model = attnaudit.from_hooks(Classifier(), alpha="softmax", embedding="words")
    >>> tokens = torch.tensor([[5, 6, 7], [8, 5, 0]])
    >>> batch = attnaudit.Batch(("a", "b"), tokens, tokens > 0)
    >>> model.read(batch).alpha.shape
    torch.Size([2, 1, 3])
    """
    if deprecated:
        current = {"output_index": output_index, "num_prefix_tokens": num_prefix_tokens}
        given = _with_deprecated(current, deprecated)
        output_index, num_prefix_tokens = given["output_index"], given["num_prefix_tokens"]
    if not isinstance(model, nn.Module):
        raise InputError(f"from_hooks takes a torch.nn.Module, got {type(model).__name__}.")
    if readout not in ("auto", "none"):
        raise InputError(f'readout must be "auto" or "none", got {readout!r}.')
    if isinstance(query, str) and query not in ("auto", *RULES):
        raise InputError(
            f"There is no query position {query!r}. Choose from: auto, {', '.join(RULES)}, a "
            "number, a function."
        )
    if num_prefix_tokens < 0:
        raise InputError(f"num_prefix_tokens must be 0 or more, got {num_prefix_tokens}.")
    hooked = Hooked(
        HookOptions(
            model=model,
            alpha=_attention_path(model, _check_path(model, alpha, "alpha")),
            embedding=_check_path(model, embedding, "embedding"),
            call=call if call is not None else _default_call(model),
            query=query,
            heads=_head_numbers(heads),
            output_index=output_index,
            num_prefix_tokens=num_prefix_tokens,
            mask=mask,
            batch_first=batch_first,
        )
    )
    return with_readout(hooked) if readout == "auto" else hooked


@dataclass(frozen=True, eq=False)
class _Rows:
    """The audited rows of weights (B,H,Q,N), ordered by position and then by head."""

    positions: Tensor  # (B,P) query positions
    heads: Tensor  # (h,)
    has_items: Tensor  # (B,P,h) bool; a row without items keeps its weights

    def of(self, weights: Tensor) -> Tensor:
        """Select the rows: (B,H,Q,N) -> (B,P,h,N)."""
        return weights[self._index()]

    def put(self, weights: Tensor, alpha: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weights with alpha (B,P·h,N) in these rows, and where they changed (B,Q)."""
        own = self.of(weights)
        new = torch.where(self.has_items[..., None], alpha.to(own.dtype).reshape(own.shape), own)
        touched = torch.zeros(
            weights.shape[0], weights.shape[2], dtype=torch.bool, device=weights.device
        )
        return weights.index_put(self._index(), new), touched.scatter(
            1, self.positions, self.has_items.any(-1)
        )

    def names(self, *, only_head: bool) -> list[str]:
        """Name the rows, by position if there are several and by head unless there is only one."""
        queries = self.positions.shape[1]
        positions = [f"position {index}" for index in range(queries)] if queries > 1 else [""]
        heads = [""] if only_head else [f"head {head}" for head in self.heads.tolist()]
        return [
            f"{position} {head}".strip() or "attention" for position in positions for head in heads
        ]

    def examples(self, index: Tensor) -> _Rows:
        """Return the rows of the examples at index."""
        return _Rows(self.positions[index], self.heads, self.has_items[index])

    def _index(self) -> tuple[Tensor, Tensor, Tensor]:
        example = torch.arange(len(self.positions), device=self.positions.device)
        return example[:, None, None], self.heads[None, None], self.positions[:, :, None]


class Hooked:
    """A classifier wrapped by `from_hooks`: not copied, and unchanged by every pass."""

    def __init__(self, options: HookOptions) -> None:
        self.options = options
        self.model = options.model  # audits look for modules here
        self._site: HookSite | None = None

    @property
    def about(self) -> dict[str, Any]:
        """The choices made, stored with the results."""
        options = self.options
        query = options.query
        if not isinstance(query, (str, int)):
            query = getattr(query, "__name__", "function")
        return {
            "model": type(options.model).__name__,
            "alpha": options.alpha,
            "embedding": options.embedding,
            "query": query,
            "heads": "all" if options.heads is None else list(options.heads),
        }

    @property
    def vocabulary_size(self) -> int | None:
        """Number of tokens in the embedding module; None if it does not say."""
        return getattr(self.model.get_submodule(self.options.embedding), "num_embeddings", None)

    def row_names(self, record: Record) -> list[str]:
        """Name each row by query position and head, counted from 0 as in the attention module."""
        _, rows = record.state
        return rows.names(only_head=self.options.heads is None and len(rows.heads) == 1)

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Run the model on a batch; `embeddings` (B,T,E) replace its own."""
        site = self._site or find_site(self.options, batch)
        if site.is_certain:
            self._site = site
        result = self._run(site, batch, embeddings)
        rows, mask, content = self._rows(site, batch, result.capture)
        token = torch.arange(batch.tokens.shape[1], device=batch.tokens.device).expand_as(
            batch.tokens
        )
        prefix = self.options.num_prefix_tokens
        alpha = rows.of(result.capture.weights).flatten(1, 2)
        return Record(
            batch=batch,
            embeddings=result.embeddings,
            hidden=None,
            # In an empty row softmax gives NaN or uniform weights; by contract they are 0.
            alpha=alpha.masked_fill(~mask.any(-1, keepdim=True), 0.0),
            mask=mask,
            content=content,
            item_of_token=(token + prefix).masked_fill(~content[:, prefix:], -1),
            logits=result.logits,
            state=(site, rows),
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """Return the logits under other attention: (B,R,N) -> (B,C), (B,K,R,N) -> (B,K,C).

        Each alternative is one more example of a forward pass; passes are bounded in size.
        """
        alternatives = alpha[:, None] if alpha.dim() == 3 else alpha
        examples, count = alternatives.shape[:2]
        index = torch.arange(examples, device=alpha.device).repeat_interleave(count)
        flat = alternatives.flatten(0, 1)
        size = max(1, _TOKENS_AT_ONCE // record.batch.tokens.shape[1])
        parts = [
            self._decode_part(record, index[part], flat[part])
            for part in torch.arange(len(index), device=alpha.device).split(size)
        ]
        logits = (
            torch.cat(parts).unflatten(0, (examples, count))
            if parts
            else record.logits[:, None][:, :count]
        )
        return logits[:, 0] if alpha.dim() == 3 else logits

    def _decode_part(self, record: Record, index: Tensor, alpha: Tensor) -> Tensor:
        """Return the logits (M,C) of the examples at index (M,) under alpha (M,R,N)."""
        site, all_rows = record.state
        rows = all_rows.examples(index)
        return self._run(
            site,
            record.batch.rows(index),
            record.embeddings[index],
            lambda capture: rows.put(capture.weights, alpha),
        ).logits

    def _run(
        self,
        site: HookSite,
        batch: Batch,
        embeddings: Tensor | None,
        replace: Replace | None = None,
    ) -> ForwardPass:
        return run_pass(
            self.options,
            batch,
            access=site.access,
            rows_are_positions=site.rows_are_positions,
            embeddings=embeddings,
            replace=replace,
        )

    def _rows(
        self, site: HookSite, batch: Batch, capture: AttentionCapture
    ) -> tuple[_Rows, Tensor, Tensor]:
        """Return the rows of the site, their masks (B,R,N) and the content items (B,N)."""
        options, (_, num_heads, queries, _) = self.options, capture.weights.shape
        positions = positions_of(
            site.rule, batch, queries, options.num_prefix_tokens, site.positions_are_items
        )
        heads = torch.arange(num_heads) if options.heads is None else torch.tensor(options.heads)
        heads = heads.to(positions.device)
        every_row = torch.ones(
            *positions.shape, len(heads), dtype=torch.bool, device=positions.device
        )
        allowed_items, content = items_of(options, batch)
        allowed = capture.allowed
        if allowed is None:
            allowed = torch.ones_like(capture.weights, dtype=torch.bool)
        real = real_positions(site, options, batch, positions)
        mask = _Rows(positions, heads, every_row).of(allowed)
        mask = mask & allowed_items[:, None, None] & real[:, :, None, None]
        rows = _Rows(positions, heads, mask.any(-1))
        mask = mask.flatten(1, 2)
        return rows, mask, content & mask.any(1)


def _with_deprecated(given: dict[str, Any], deprecated: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with those given under their former names."""
    for old, value in deprecated.items():
        if old not in _RENAMED:
            raise TypeError(f"from_hooks() got an unexpected keyword argument {old!r}")
        new, default = _RENAMED[old]
        if given[new] != default:
            raise TypeError(f"from_hooks() got both {new!r} and its former name {old!r}")
        warnings.warn(
            f"{old}= of from_hooks is now called {new}=", DeprecationWarning, stacklevel=3
        )
        given = {**given, new: value}
    return given


def _check_path(model: nn.Module, path: str, option: str) -> str:
    """Return the path of a module; reject one that the model does not have."""
    names = [name for name, _ in model.named_modules() if name]
    if path not in names:
        listed = ", ".join(names[:40]) + (" …" if len(names) > 40 else "")
        raise InputError(
            f"{type(model).__name__} has no module {path!r} ({option}=). Its modules: "
            f"{listed or 'none'}."
        )
    return path


def _attention_path(model: nn.Module, path: str) -> str:
    """Return the path of the self-attention of a Transformer layer, the last one of a stack."""
    module = model.get_submodule(path)
    if isinstance(module, nn.TransformerEncoder):
        return f"{path}.layers.{len(module.layers) - 1}.self_attn"
    return f"{path}.self_attn" if isinstance(module, nn.TransformerEncoderLayer) else path


def _default_call(model: nn.Module) -> Callable[[nn.Module, Batch], Any]:
    """Return the call model(tokens, mask), if the model takes these arguments."""
    try:
        signature(model.forward).bind("tokens", "mask")
    except TypeError as error:
        raise InputError(
            f"{type(model).__name__} cannot be called as model(batch.tokens, batch.mask) "
            f"({error}). Say how to call it with call=lambda model, batch: model(…)."
        ) from error
    return lambda model, batch: model(batch.tokens, batch.mask)


def _head_numbers(heads: str | int | Sequence[int]) -> tuple[int, ...] | None:
    """Return the numbers of the audited heads; None for all."""
    if heads == "all":
        return None
    numbers = (heads,) if isinstance(heads, int) else tuple(heads)
    if (
        not numbers
        or not all(isinstance(number, int) for number in numbers)
        or len(set(numbers)) < len(numbers)
    ):
        raise InputError(
            f'heads must be "all", a number or different numbers, counted from 0; got {heads!r}.'
        )
    return numbers  # type: ignore[return-value]  # each is a number, as just checked
