"""attnaudit: may I show this model's attention as an explanation?

>>> import attnaudit
>>> model = attnaudit.from_huggingface(hf_model, tokenizer)  # doctest: +SKIP
>>> results = attnaudit.audit(model, texts)  # doctest: +SKIP
>>> results.card()  # doctest: +SKIP
>>> results.to_html("audit.html")  # doctest: +SKIP

Any object with the methods `read` and `decode` is a model too. Whatever a command of the command
line does, one function does: `run`, `compare`, `gate` and `verify` here, `audit_files` for the
command `audit`, others in `attnaudit.training`, `attnaudit.papers` and `attnaudit.report`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attnaudit.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from attnaudit.auditing.audit import audit
    from attnaudit.auditing.audit_files import audit_files
    from attnaudit.auditing.cite import cite
    from attnaudit.auditing.cite_files import cite_files
    from attnaudit.auditing.show import show
    from attnaudit.core.contract import AttentionModel, Batch, Record
    from attnaudit.core.errors import InputError
    from attnaudit.core.tasks import Workers
    from attnaudit.laws.checks import check_model
    from attnaudit.models.hooked import from_hooks
    from attnaudit.models.huggingface import from_huggingface
    from attnaudit.results.checks import gate, verify
    from attnaudit.results.results import Results
    from attnaudit.training.checkpoint import load
    from attnaudit.training.comparisons.runs import compare
    from attnaudit.training.runner import run

__version__ = "0.1.0"
__all__ = [
    "AttentionModel",
    "Batch",
    "InputError",
    "Record",
    "Results",
    "Workers",
    "audit",
    "audit_files",
    "check_model",
    "cite",
    "cite_files",
    "compare",
    "from_hooks",
    "from_huggingface",
    "gate",
    "load",
    "run",
    "show",
    "verify",
]

# Imported on first use, so that `attnaudit --help` need not wait for torch.
__getattr__ = lazy_names(
    __name__,
    {
        "AttentionModel": "core.contract",
        "Batch": "core.contract",
        "InputError": "core.errors",
        "Record": "core.contract",
        "Results": "results.results",
        "Workers": "core.tasks",
        "audit": "auditing.audit",
        "audit_files": "auditing.audit_files",
        "check_model": "laws.checks",
        "cite": "auditing.cite",
        "cite_files": "auditing.cite_files",
        "compare": "training.comparisons.runs",
        "from_hooks": "models.hooked",
        "from_huggingface": "models.huggingface",
        "gate": "results.checks",
        "load": "training.checkpoint",
        "run": "training.runner",
        "show": "auditing.show",
        "verify": "results.checks",
    },
)
