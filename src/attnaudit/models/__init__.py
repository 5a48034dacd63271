"""Models with `read` and `decode`: built from named parts, wrapped, or synthetic.

- `build` makes an untrained model from an `Architecture`; `MODELS` lists the kinds by name.
- `from_huggingface` and `from_hooks` wrap models that were trained elsewhere.
- `Imposed` gives a model attention from elsewhere, `OfModel` that of another model.
- `Glass` is a synthetic reference model whose attention is known to be right or wrong.

Names are imported on first use, so that importing this package does not import torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attnaudit.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from attnaudit.models.architecture import Architecture
    from attnaudit.models.attentive import Attentive
    from attnaudit.models.factory import MODELS, build, check
    from attnaudit.models.glass import Glass, glass_batch
    from attnaudit.models.hierarchical import Hierarchical
    from attnaudit.models.hooked import from_hooks
    from attnaudit.models.huggingface import from_huggingface
    from attnaudit.models.imposed import Imposed, OfModel
    from attnaudit.models.readout import with_readout

__all__ = [
    "MODELS",
    "Architecture",
    "Attentive",
    "Glass",
    "Hierarchical",
    "Imposed",
    "OfModel",
    "build",
    "check",
    "from_hooks",
    "from_huggingface",
    "glass_batch",
    "with_readout",
]

__getattr__ = lazy_names(
    __name__,
    {
        "MODELS": "factory",
        "Architecture": "architecture",
        "Attentive": "attentive",
        "Glass": "glass",
        "Hierarchical": "hierarchical",
        "Imposed": "imposed",
        "OfModel": "imposed",
        "build": "factory",
        "check": "factory",
        "from_hooks": "hooked",
        "from_huggingface": "huggingface",
        "glass_batch": "glass",
        "with_readout": "readout",
    },
)
