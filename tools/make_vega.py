"""Write src/attnaudit/report/static/vega.js: Vega-Lite as one script, for charts without a network.

Run by `make vega`, once for each new version; the script is kept in the repository and shipped with
the package.
"""

from __future__ import annotations

from pathlib import Path

import vl_convert

VEGA_LITE = "6.4"
OUT = Path(__file__).parents[1] / "src" / "attnaudit" / "report" / "static" / "vega.js"
HEAD = (
    f"// Vega-Lite {VEGA_LITE} with Vega and vega-embed (BSD-3-Clause, University of Washington "
    "Interactive Data Lab) and what they use\n"
    "// (d3: ISC; others MIT, ISC or BSD-3-Clause); see NOTICE. Made by tools/make_vega.py with "
    f"vl-convert-python {vl_convert.__version__}; not edited by hand.\n"
)


def main() -> None:
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    if "</script" in bundle.lower() or "<!--" in bundle:
        raise SystemExit(
            "The bundle holds a text that would end its script element; it cannot be put inline."
        )
    # In a function of its own: the bundle declares hundreds of short names, as the page does.
    OUT.write_text(f"{HEAD}(() => {{\n{bundle}\n}})();\n", encoding="utf-8")
    print(f"{OUT}: {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
