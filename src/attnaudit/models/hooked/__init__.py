"""Any PyTorch classifier: hooks read and override its attention, and leave it unchanged."""

from attnaudit.models.hooked.model import Hooked
from attnaudit.models.hooked.wrapper import from_hooks

__all__ = ["Hooked", "from_hooks"]
