"""Write NOTICE and tools/vega_packages.json: the npm packages in vega.js and their licences.

Run by `make vega`, after tools/make_vega.py. Needs npm. The versions are those that vl-convert
holds; two packages are part of vega-embed's own build and have no version there.
"""

from __future__ import annotations

import importlib.util
import io
import json
import re
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
MANIFEST = ROOT / "tools" / "vega_packages.json"
ROOTS = ("vega", "vega-lite", "vega-embed")
# Inlined by vega-embed's build; the versions that its package.json asks for.
INLINED = {"semver": "7.7.1", "fast-json-patch": "3.1.1"}
# npm pack does not find 3.0.0; the licence is taken from the next version.
LICENCE_FROM = {"robust-predicates": "3.0.1"}
HEAD = """\
attnaudit
Copyright the attnaudit developers. Licensed under the Apache License, Version 2.0 (see LICENSE).

The file src/attnaudit/report/static/vega.js bundles the packages below, unchanged but for the \
bundler's renaming. Their licences
follow, each with the packages it is of. The list is made by tools/make_notice.py.
"""


def main() -> None:
    vega_lite = re.search(
        r'^VEGA_LITE = "(.+)"', (ROOT / "tools" / "make_vega.py").read_text(encoding="utf-8"), re.M
    )
    assert vega_lite is not None
    held = {**_held(vega_lite[1]), **INLINED}
    packages: dict[str, str] = {}
    licences: dict[str, list[str]] = {}
    waiting = list(ROOTS)
    with TemporaryDirectory() as folder:
        while waiting:
            name = waiting.pop()
            # What is not held is for a package's own command line, not for the browser.
            if name in packages or name not in held:
                continue
            packages[name] = held[name]
            about, licence = _read(name, LICENCE_FROM.get(name, held[name]), Path(folder))
            licences.setdefault(licence, []).append(f"{name} {held[name]} ({about['license']})")
            waiting += about.get("dependencies", {})
    MANIFEST.write_text(
        json.dumps(dict(sorted(packages.items())), indent=1) + "\n", encoding="utf-8"
    )
    parts = [HEAD]
    for licence, names in sorted(licences.items(), key=lambda each: sorted(each[1])):
        parts.append("-" * 80 + "\n" + "\n".join(sorted(names)) + "\n\n" + licence + "\n")
    (ROOT / "NOTICE").write_text("\n".join(parts), encoding="utf-8")
    print(f"{len(packages)} packages, {len(licences)} licence texts")


def _held(vega_lite: str) -> dict[str, str]:
    """name -> version of the npm packages in vl-convert.

    Of Vega-Lite it holds several versions; this is the bundled one.
    """
    spec = importlib.util.find_spec("vl_convert")
    if spec is None or spec.origin is None:
        raise SystemExit("This needs vl-convert-python; run `make vega`.")
    (library,) = Path(spec.origin).parent.glob("*.so")
    found = re.findall(rb"npm/([a-z0-9-]+)@(\d+\.\d+\.\d+)", library.read_bytes())
    held: dict[str, str] = {}
    for name, version in sorted({(name.decode(), version.decode()) for name, version in found}):
        if name == "vega-lite" and not version.startswith(f"{vega_lite}."):
            continue
        if name in held:
            raise SystemExit(
                f"vl-convert holds two versions of {name}: {held[name]} and {version}."
            )
        held[name] = version
    return held


def _read(name: str, version: str, folder: Path) -> tuple[dict, str]:
    """package.json and the licence of a package, from the npm registry."""
    command = ["npm", "pack", f"{name}@{version}", "--silent", "--pack-destination", str(folder)]
    packed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1]
    with tarfile.open(folder / packed) as archive:
        files = {
            each.name.split("/", 1)[1]: each for each in archive.getmembers() if "/" in each.name
        }
        about = json.load(_file(archive, files["package.json"]))
        texts = sorted(
            each for each in files if re.fullmatch(r"(LICEN[CS]E|COPYING)(\.\w+)?", each, re.I)
        )
        if not texts:
            raise SystemExit(
                f"{name} {version} has no licence file; find its licence and add it by hand."
            )
        licence = _file(archive, files[texts[0]]).read().decode("utf-8")
    return about, licence.replace("\r\n", "\n").strip("\n")


def _file(archive: tarfile.TarFile, member: tarfile.TarInfo) -> io.BufferedReader:
    content = archive.extractfile(member)
    assert content is not None
    return content  # type: ignore[return-value]


if __name__ == "__main__":
    main()
