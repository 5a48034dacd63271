"""Which attention row changes the prediction most? The rows of a run, ranked."""

from __future__ import annotations

from typing import Any

from attnaudit.results.audit_names import resolve_audit_name
from attnaudit.results.results import Results
from attnaudit.results.rows import are_heads

# The only audit that changes one row and keeps the others; the rest change all rows together.
_AUDIT, _CHANGE, _FLIPS = "top_item", "js_reach", "flips_top"


def row_effects(results: Results) -> dict[str, Any] | None:
    """Heading, explanation, and one line per row, the largest effect first.

    None if the run has one row, or the audit was not run.
    """
    rows = results.summaries["row"]
    if not (rows > 0).any():
        return None
    overall = results.summaries[(results.summaries["group"] == "all") & (rows >= 0)]
    audit = resolve_audit_name(_AUDIT, overall["audit"].astype(str).unique())
    part = overall[overall["audit"].astype(str) == audit]
    change = part[part["metric"] == _CHANGE].set_index("row")
    if len(change) < 2:
        return None
    flips = part[part["metric"] == _FLIPS].set_index("row")["mean"]
    ranked = change.sort_values("mean", ascending=False, kind="stable", na_position="last")
    kind = "head" if are_heads(results.about) else "row"
    return {
        "heading": f"{kind.capitalize()}s by effect",
        "kind": kind,
        "basis": f"How far the prediction moves when this {kind} alone loses its most attended "
        f"word and the other {kind}s stay as they are: Jensen–Shannon divergence in nats, from 0 "
        "to 0.693, mean over the examples (audit top_item). "
        f"A {kind} whose next words would do as well has a small effect.",
        "lines": [
            {
                "name": results.row_name(int(line.Index)),
                "mean": line.mean,
                "low": line.low,
                "high": line.high,
                "flips": flips[line.Index],
            }
            for line in ranked.itertuples()
        ],
    }
