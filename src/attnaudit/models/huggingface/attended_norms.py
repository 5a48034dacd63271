"""The norm of what each word adds to a head's output (Kobayashi et al. 2020).

The output projection is found by what it is given: the attended sums of the attention call before
it. Its name differs from family to family; what it computes is verified.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from attnaudit.core.contract import Record
from attnaudit.core.errors import NotApplicable
from attnaudit.core.module_state import evaluating
from attnaudit.core.tolerance import tolerance_of
from attnaudit.models.huggingface import passes
from attnaudit.models.huggingface.attention_tape import Tape
from attnaudit.models.huggingface.layers import LayerTape

if TYPE_CHECKING:
    from attnaudit.models.huggingface.model import HuggingFaceModel, State


@torch.no_grad()
def attended_norms(model: HuggingFaceModel, record: Record) -> Tensor:
    """Return ‖Σ alpha_t v_t W_O‖₂ over the tokens t of each word, per head (B,R,N).

    v_t is the head's value vector, with its bias; W_O the head's part of the output projection,
    without its bias, which belongs to no word.
    """
    state: State = record.state
    if any(state.captured[call].values is None for call in model.calls):
        raise NotApplicable("the value vectors of this family are out of reach")
    norms = []
    for call, projection in _output_projections(model, record).items():
        captured = state.captured[call]
        assert captured.values is not None  # as just checked
        for head in model.head_numbers:
            weighted = captured.row[:, head, :, None] * captured.values[:, head]  # (B,S,D)
            words = state.subwords.to_items(weighted.transpose(1, 2)).transpose(1, 2)
            norms.append(torch.linalg.vector_norm(words @ projection[head], dim=-1))
    return torch.stack(norms, 1)


def _output_projections(model: HuggingFaceModel, record: Record) -> dict[int, Tensor]:
    """Return the output projection of each audited attention call, per head (H,D,E).

    Raises NotApplicable if what follows the attended sums is not one linear module.
    """
    projections = {}
    for call, candidates in _candidates(model, record).items():
        sums = record.state.captured[call].out  # (B,H,D)
        with evaluating(model.model):
            matrices = (_matrix(module, sums.flatten(1)) for module in candidates)
            matrix = next((matrix for matrix in matrices if matrix is not None), None)
        if matrix is None:
            raise NotApplicable("the attended sums do not go straight into a linear projection")
        projections[call] = matrix.unflatten(0, sums.shape[1:])
    return projections


def _candidates(model: HuggingFaceModel, record: Record) -> dict[int, list[nn.Module]]:
    """Return the modules that are given the attended sums, and nothing else, in a pass."""
    state: State = record.state
    first = torch.zeros(1, dtype=torch.int64, device=state.positions.device)
    tape = Tape(state.positions[first], keep=frozenset(model.calls), keep_all_positions=True)
    candidates: dict[int, list[nn.Module]] = {call: [] for call in model.calls}

    def hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        call = tape.next_call - 1
        captured = tape.captured.get(call)
        if captured is None or len(args) != 1 or kwargs or not isinstance(args[0], Tensor):
            return
        assert captured.sums is not None  # all positions are kept
        sums = captured.sums.flatten(2)
        if args[0].shape == sums.shape and torch.equal(args[0], sums):
            candidates[call].append(module)

    modules = {id(module): module for layer in model.wiring.layers for module in layer.modules()}
    with ExitStack() as stack:
        for module in modules.values():
            if not isinstance(module, (nn.Dropout, nn.Identity)):
                handle = module.register_forward_pre_hook(hook, with_kwargs=True)
                stack.callback(handle.remove)
        passes.run(
            model.model,
            model.wiring,
            state.inputs.rows(first),
            tape,
            LayerTape(),
            record.embeddings[first].detach(),
        )
    return candidates


def _matrix(module: nn.Module, inputs: Tensor) -> Tensor | None:
    """Return W (I,E) of a module that computes x W + b; None if it does not for inputs (M,I)."""
    origin = module(torch.zeros_like(inputs[:1]))
    if not isinstance(origin, Tensor):
        return None
    if type(module) is nn.Linear:  # subclasses may store other weights
        matrix = module.weight.T
    else:
        matrix = module(torch.eye(inputs.shape[1], dtype=inputs.dtype, device=inputs.device))
        matrix = matrix - origin
    expected = module(inputs)
    if (inputs @ matrix + origin - expected).abs().max() > tolerance_of(expected):
        return None
    return matrix
