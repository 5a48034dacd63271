"""Export names from a package without importing their modules until they are used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The module-level `__getattr__` of a package whose exports are imported on first use.

    Parameters
    ----------
    package : name of the package, `__name__` in its `__init__.py`.
    modules : exported name -> the module below the package that defines it.

    Examples
    --------
    >>> lazy_names("attnaudit.core", {"InputError": "errors"})("InputError").__name__
    'InputError'
    """

    def __getattr__(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__
