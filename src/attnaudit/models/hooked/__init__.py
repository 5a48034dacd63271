"""Any PyTorch classifier: its attention is read and overridden by hooks, and it is as found after every pass."""

from attnaudit.models.hooked.model import Hooked, from_hooks

__all__ = ["Hooked", "from_hooks"]
