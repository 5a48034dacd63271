"""attnaudit: may I show this model's attention as an explanation?

Five lines: `model = attnaudit.from_huggingface(hf, tokenizer)` (or anything with read and decode), `results =
attnaudit.audit(model, texts)`, `results.card()`, `results.frame()`, `results.to_html("audit.html")`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnaudit.auditing.audit import audit
    from attnaudit.core.contract import AttentionModel, Batch, Record
    from attnaudit.core.errors import InputError
    from attnaudit.laws.checks import check_model
    from attnaudit.models.hooked import from_hooks
    from attnaudit.models.huggingface import from_huggingface
    from attnaudit.results.results import Results
    from attnaudit.training.checkpoint import load

__version__ = "0.1.0"
__all__ = [
    "AttentionModel",
    "Batch",
    "InputError",
    "Record",
    "Results",
    "audit",
    "check_model",
    "from_hooks",
    "from_huggingface",
    "load",
]

_HOME = {
    "AttentionModel": "core.contract",
    "Batch": "core.contract",
    "InputError": "core.errors",
    "Record": "core.contract",
    "Results": "results.results",
    "audit": "auditing.audit",
    "check_model": "laws.checks",
    "from_hooks": "models.hooked",
    "from_huggingface": "models.huggingface",
    "load": "training.checkpoint",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that `attnaudit --help` need not wait for torch."""
    if name not in _HOME:
        raise AttributeError(f"module 'attnaudit' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"attnaudit.{_HOME[name]}"), name)
    globals()[name] = value
    return value
