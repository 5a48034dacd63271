"""Wrap a PyTorch classifier as a model that can be audited; wrong arguments are rejected."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

from torch import Tensor, nn

from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.errors import InputError
from attnaudit.models.hooked.model import Hooked
from attnaudit.models.hooked.passes import HookOptions
from attnaudit.models.hooked.positions import RULES, Rule
from attnaudit.models.readout import with_readout

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
