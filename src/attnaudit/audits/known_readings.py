"""What a model made of texts without some items: several audits delete the same ones."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.kept_values import KeptValues

_MOST_BYTES = 2**25  # of keys, per record: some 500,000 sets of words of texts of 500 words


class KnownReadings:
    """Numbers (M,V) of texts without some items, found again by the items."""

    def __init__(self) -> None:
        self._keys = np.empty(0, dtype="S1")  # sorted
        self._values: Tensor | None = None  # in the same order

    def find(self, rows: Tensor, drop: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return which readings are known (M,) bool, and the values of these, if there are any.

        Of examples rows (M,), each without the items drop (M,N) bool.
        """
        known = np.zeros(len(rows), dtype=bool)
        if self._values is None:
            return torch.from_numpy(known).to(rows.device), None
        keys = _keys(rows, drop)
        place = np.searchsorted(self._keys, keys).clip(max=len(self._keys) - 1)
        known = self._keys[place] == keys
        return torch.from_numpy(known).to(rows.device), self._values[place[known]]

    def add(self, rows: Tensor, drop: Tensor, values: Tensor) -> None:
        """Keep the values (M,V) of new readings, unless that would take too much memory."""
        keys = _keys(rows, drop)
        if self._keys.nbytes + keys.nbytes > _MOST_BYTES:
            return
        together = np.concatenate([self._keys, keys])
        order = np.argsort(together, kind="stable")
        before = values[:0] if self._values is None else self._values
        self._keys, self._values = together[order], torch.cat([before, values])[order]


_READINGS: KeptValues[KnownReadings] = KeptValues()


def known_readings(model: AttentionModel, record: Record) -> KnownReadings:
    """Return what this model is known to make of the record's texts without some items."""
    readings = _READINGS.find(model, record)
    if readings is None:
        readings = KnownReadings()
        _READINGS.keep(model, record, readings)
    return readings


def _keys(rows: Tensor, drop: Tensor) -> np.ndarray:
    """One string of bytes per reading (M,), all of the same length."""
    number = rows.cpu().numpy().astype(">i8").view(np.uint8).reshape(len(rows), 8)
    bits = np.packbits(drop.cpu().numpy(), axis=1)
    whole = np.ascontiguousarray(np.concatenate([number, bits], axis=1))
    return whole.view(f"S{whole.shape[1]}")[:, 0]
