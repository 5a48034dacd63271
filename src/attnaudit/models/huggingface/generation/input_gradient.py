"""Input × gradient of an answer's log-probability, in memory that does not grow with the layers.

Of a long prompt, only the inputs of the layers are kept in the forward pass. Each layer is run
again when its gradient is due, so that the activations of one layer at a time are held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from attnaudit.core.heap import return_free_memory
from attnaudit.core.module_state import evaluating, parameters_frozen
from attnaudit.data.citations import CitationBatch
from attnaudit.models.huggingface.generation import answer_passes
from attnaudit.models.huggingface.generation.spans import mean_of_span
from attnaudit.models.huggingface.layers import layer_modules
from attnaudit.models.interception import forward_wrapped

LONG = 2**9  # tokens of a batch from which on layers are run again


def input_gradient(
    model: Any,
    batch: CitationBatch,
    embedding: Any,
    embeddings: Tensor,
    decoder_start: int | None,
) -> Tensor:
    """Input × gradient of the mean log-probability per token of the prompt (B,T), signed.

    Parameters
    ----------
    model : of transformers; unchanged afterwards.
    batch : B examples.
    embedding : its module for the embeddings of tokens.
    embeddings : what it returned (B,T,E).
    decoder_start : first token of the decoder, of an encoder–decoder model.
    """
    sequences = answer_passes.sequences_of(batch, decoder_start)
    with ExitStack() as stack:
        # Layers that are run again must be in evaluation mode, as they were the first time.
        stack.enter_context(evaluating(model))
        # Otherwise a layer that is run again keeps what only gradients of its weights would need.
        stack.enter_context(parameters_frozen(model))
        stack.enter_context(torch.enable_grad())
        if sequences.ids.numel() > LONG:
            stack.enter_context(layers_run_again(model))
        inputs = embeddings.detach().requires_grad_()
        found, _ = answer_passes.token_log_probs(
            model, batch, sequences, embedding=embedding, embeddings=inputs
        )
        (slope,) = torch.autograd.grad(mean_of_span(found, batch).sum(), inputs)
    return (slope * inputs.detach()).sum(-1)


@contextmanager
def layers_run_again(model: Any) -> Iterator[None]:
    """Keep only the inputs of every layer inside the context; gradients must be taken in it too."""

    def wrap(forward: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            # Inputs that stay between activations that go would keep the memory of both.
            return_free_memory()
            return forward(*args, **kwargs)

        return partial(checkpoint, run, use_reentrant=False)

    with ExitStack() as stack:
        for module in layer_modules(model):
            stack.enter_context(forward_wrapped(module, wrap))
        yield
