"""Any PyTorch classifier: hooks read and override its attention, and leave it unchanged."""

from attnaudit.models.hooked.model import Hooked, from_hooks

__all__ = ["Hooked", "from_hooks"]
