"""How much faster are two plain LSTMs with a reversal than one packed bidirectional LSTM?

Forward and backward, in one run.
"""

from __future__ import annotations

import time

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnaudit.models.encoders.bilstm import BiLSTM


def packed(lstm: nn.LSTM, embeddings: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    rows = pack_padded_sequence(embeddings, mask.sum(-1), batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(lstm(rows)[0], batch_first=True, total_length=mask.shape[1])[0]


def seconds(step: object, repeats: int = 10) -> float:
    step()  # type: ignore[operator]  # warm up
    started = time.perf_counter()
    for _ in range(repeats):
        step().sum().backward()  # type: ignore[operator]
    return (time.perf_counter() - started) / repeats


def main() -> None:
    for examples, tokens, size, hidden in (
        (32, 21, 100, 128),
        (50, 40, 50, 30),
        (64, 200, 100, 128),
    ):
        embeddings = torch.randn(examples, tokens, size)
        mask = torch.arange(tokens) < torch.randint(tokens - 3, tokens + 1, (examples, 1))
        ours, theirs = (
            BiLSTM(size, hidden=hidden),
            nn.LSTM(size, hidden, batch_first=True, bidirectional=True),
        )
        fast = seconds(lambda ours=ours, e=embeddings, m=mask: ours(e, m))
        slow = seconds(lambda theirs=theirs, e=embeddings, m=mask: packed(theirs, e, m))
        print(
            f"{examples} texts of {tokens} tokens, {hidden} units: "
            f"packed takes {slow / fast:.1f} times as long"
        )


if __name__ == "__main__":
    main()
