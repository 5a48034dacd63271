"""Values of a model and a record, kept as long as the record: several audits use the same ones."""

from __future__ import annotations

from contextlib import suppress
from typing import Generic, TypeVar
from weakref import ReferenceType, WeakKeyDictionary, ref

from attnaudit.core.contract import AttentionModel, Record

T = TypeVar("T")


class KeptValues(Generic[T]):
    """One value per record and model.

    Models are compared by identity; one that is gone matches nothing, even if another has its
    address. The record is of the model as it was when it read the texts: after a change of its
    weights, read again.
    """

    def __init__(self) -> None:
        self._values: WeakKeyDictionary[Record, list[tuple[ReferenceType[AttentionModel], T]]] = (
            WeakKeyDictionary()
        )

    def find(self, model: AttentionModel, record: Record) -> T | None:
        """The value that was kept, and None without one."""
        for owner, value in self._values.get(record, []):
            if owner() is model:
                return value
        return None

    def keep(self, model: AttentionModel, record: Record, value: T) -> None:
        """Keep a value; of a model whose class has no weak references nothing is kept."""
        with suppress(TypeError):
            self._values.setdefault(record, []).append((ref(model), value))
