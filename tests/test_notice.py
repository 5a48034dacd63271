"""NOTICE holds the licence of every package in the chart bundle."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES: dict[str, str] = json.loads(
    (ROOT / "tools" / "vega_packages.json").read_text(encoding="utf-8")
)
BUNDLE = (ROOT / "src" / "attnaudit" / "report" / "static" / "vega.js").read_text(encoding="utf-8")


def test_every_package_of_the_bundle_has_its_licence_in_notice() -> None:
    licensed: dict[str, str] = {}
    for part in (ROOT / "NOTICE").read_text(encoding="utf-8").split("-" * 80 + "\n")[1:]:
        names, licence = part.split("\n\n", 1)
        for line in names.splitlines():
            name, version, _ = line.split(" ", 2)
            assert PACKAGES[name] == version
            licensed[name] = licence
    assert licensed.keys() == PACKAGES.keys()
    for name, licence in licensed.items():
        assert "copyright" in licence.lower() or "public domain" in licence, name
        assert "WITHOUT WARRANTY" in licence.upper() or '"AS IS"' in licence, name


def test_the_list_of_packages_is_of_this_bundle() -> None:
    version = re.search(r"Vega-Lite (\S+) with Vega", BUNDLE)
    assert version is not None
    assert PACKAGES["vega-lite"].startswith(f"{version[1]}.")
    for name, trace in {
        "semver": "SEMVER_SPEC_VERSION",
        "fast-json-patch": "TEST_OPERATION_FAILED",
    }.items():
        assert (trace in BUNDLE) == (name in PACKAGES)
