"""The parts of a trained model, called as the released code calls its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnaudit.core.special_tokens import END
from attnaudit.models.encoders.bidirectional import Bidirectional

_DIRECTIONS = (("forwards", ""), ("backwards", "_reverse"))


class Read(NamedTuple):
    """What the tests of attention start from."""

    tokens: Tensor  # (B,T)
    mask: Tensor  # (B,T) bool
    hidden: Tensor  # (B,T,H)
    alpha: Tensor  # (B,T)


class PlainModel(nn.Module):
    """embedding -> encoder -> attention -> output, with the weights of one of our models.

    A recurrent encoder is one packed bidirectional network. The parameters are copies, so that the
    reference can be trained on its own.
    """

    def __init__(self, ours: Any) -> None:
        super().__init__()
        vectors = ours.embedding.weight.detach().clone()
        self.embedding = nn.Embedding.from_pretrained(vectors, freeze=False, padding_idx=0)
        self.recurrent = isinstance(ours.encoder, Bidirectional)
        self.encoder = _packed_network(ours.encoder) if self.recurrent else ours.encoder
        self.scorer, self.projection, self.output = ours.scorer, ours.projection, ours.output

    def embed_and_encode(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Embeddings (B,T,E) and hidden states (B,T,H) of tokens (B,T)."""
        embeddings = self.embedding(tokens)
        if embeddings.requires_grad:
            embeddings.retain_grad()
        return embeddings, self.encode(embeddings, mask)

    def encode(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        """Hidden states (B,T,H)."""
        if not self.recurrent:
            return self.encoder(embeddings, mask)
        lengths = mask.sum(-1).cpu()
        packed = pack_padded_sequence(embeddings, lengths, batch_first=True, enforce_sorted=False)
        states, _ = self.encoder(packed)
        return pad_packed_sequence(states, batch_first=True, total_length=mask.shape[1])[0]

    def attend(self, hidden: Tensor, tokens: Tensor, mask: Tensor) -> Tensor:
        """Attention (B,T); none on padding and marks."""
        return self.projection(self.scorer(hidden, None), mask & (tokens > END))

    @torch.no_grad()
    def read(self, tokens: Tensor, mask: Tensor) -> Read:
        """Hidden states and attention of a batch."""
        _, hidden = self.embed_and_encode(tokens, mask)
        return Read(tokens, mask, hidden, self.attend(hidden, tokens, mask))

    def decode(self, alpha: Tensor, hidden: Tensor) -> Tensor:
        """Probabilities (B,C) under alpha (B,T)."""
        return self.output((alpha[:, None] @ hidden)[:, 0], None).softmax(-1)

    def logits(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Logits (B,C), for training."""
        _, hidden = self.embed_and_encode(tokens, mask)
        alpha = self.attend(hidden, tokens, mask)
        return self.output((alpha[:, None] @ hidden)[:, 0], None)


def _packed_network(encoder: Any) -> nn.LSTM | nn.GRU:
    kind = type(encoder.forwards)
    first = encoder.forwards
    network = kind(first.input_size, first.hidden_size, batch_first=True, bidirectional=True)
    with torch.no_grad():
        for direction, ending in _DIRECTIONS:
            for name, values in getattr(encoder, direction).named_parameters():
                getattr(network, name + ending).copy_(values)
    return network.to(values.device)
