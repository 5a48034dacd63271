"""Random numbers that depend on names, never on batch size or order.

A torch generator gives one stream for a whole tensor, so a row's numbers would depend on the batch
around it. Here each row has its own key, and all rows draw from SplitMix64 (Steele, Lea & Flood
2014) at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

_SEPARATOR = "\x1f"  # between names
_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB


def derive(seed: int, *names: object) -> int:
    """A 63-bit seed for (seed, names…); different names give unrelated streams.

    Stored results depend on it: it must never change.
    """
    return int.from_bytes(_digest(_SEPARATOR.join([str(seed), *map(str, names)])), "big") >> 1


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def generator(seed: int, *names: object) -> torch.Generator:
    """A torch generator of its own for (seed, names…)."""
    return torch.Generator().manual_seed(derive(seed, *names))


def keys(seed: int, name: str, example_ids: Iterable[str]) -> Tensor:
    """One key per example: (B,) int64, `derive(seed, name, id)`."""
    before = _SEPARATOR.join([str(seed), name, ""])
    digests = b"".join([_digest(before + str(id_)) for id_ in example_ids])
    return torch.from_numpy((np.frombuffer(digests, ">u8") >> 1).astype(np.int64))


def keys_by_row(seed: int, name: str, example_ids: Iterable[str], rows: int) -> Tensor:
    """One key per example and row: (B,rows) int64."""
    ids = tuple(example_ids)
    by_row = [keys(seed, f"{name}/{row}", ids) for row in range(rows)]
    return torch.stack(by_row, 1) if by_row else torch.empty(len(ids), 0, dtype=torch.int64)


def uniform(key: Tensor, count: int) -> Tensor:
    """(B,count) float64 in [0, 1): the first `count` numbers of each key's stream."""
    return uniform_at(key[:, None], torch.arange(count, dtype=torch.int64, device=key.device))


def uniform_at(key: Tensor, place: Tensor) -> Tensor:
    """float64 in [0, 1): the numbers at these places, from 0, of each key's stream.

    Parameters
    ----------
    key, place : Tensor, int64
        Of shapes that broadcast with each other.

    Examples
    --------
    >>> key = keys(0, "example", ["a"])
    >>> bool(uniform_at(key, torch.tensor([7])) == uniform(key, 8)[0, 7])
    True
    """
    return bits_at(key, place).to(torch.float64).mul_(2.0**-53)


def bits_at(key: Tensor, place: Tensor) -> Tensor:
    """The same numbers times 2^53, as int64: in the same order, and quicker to sort."""
    state = key + (place + 1) * _signed(_GOLDEN)
    # In place: there can be millions of numbers.
    if state.device.type == "cpu":
        return _mixed(state)
    state.bitwise_xor_(_shift(state, 30)).mul_(_signed(_MIX_1))
    state.bitwise_xor_(_shift(state, 27)).mul_(_signed(_MIX_2))
    state.bitwise_xor_(_shift(state, 31))
    return _shift(state, 11)


def _mixed(state: Tensor) -> Tensor:
    """The same in NumPy, whose unsigned integers need fewer steps."""
    bits = state.numpy().view(np.uint64)
    bits ^= bits >> 30
    bits *= _MIX_1
    bits ^= bits >> 27
    bits *= _MIX_2
    bits ^= bits >> 31
    bits >>= 11
    return state


def _shift(value: Tensor, bits: int) -> Tensor:
    """Logical right shift; torch's own is arithmetic and copies the sign bit."""
    return (value >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def _signed(value: int) -> int:
    """The same 64 bits as a signed integer; torch has no unsigned 64-bit arithmetic."""
    return value - (1 << 64) if value >> 63 else value


def normal(key: Tensor, count: int) -> Tensor:
    """(B,count) float64 from N(0,1): the first `count` numbers of each key's stream."""
    return normal_at(key[:, None], torch.arange(count, dtype=torch.int64, device=key.device))


def normal_at(key: Tensor, place: Tensor) -> Tensor:
    """float64 from N(0,1), by the inverse of its distribution function; as `uniform_at`."""
    above_zero = uniform_at(key, place) + 2.0**-54
    return torch.special.ndtri(above_zero)
