"""The scripts of the pages, in the order in which they run: each uses only those before it."""

from __future__ import annotations

_PLAYGROUND = (
    "dom.js",
    "unpack.js",
    "distributions.js",
    "exact.js",
    "heatmap.js",
    "outcome.js",
    "word_field.js",
    "playground.js",
)
_CHARTS = (
    "charts/parts.js",
    "charts/histogram.js",
    "charts/scatter.js",
    "charts/tau.js",
    "charts/permutation.js",
    "charts/change.js",
    "charts/furthest.js",
    "charts/furthest_by_peak.js",
    "charts/epsilon.js",
    "charts/delta.js",
    "charts/flips.js",
    "charts/removal.js",
    "charts/entropy.js",
    "charts/concentration.js",
    "charts/matrix.js",
    "charts/information.js",
    "charts/intervention.js",
    "charts/all_runs.js",
    "charts/theme.js",
    "charts/figure.js",
)
PAGE = (
    *_PLAYGROUND,
    "stored_playground.js",
    "example_list.js",
    "heatmap_export.js",
    "example_detail.js",
    "examples.js",
    "numbers.js",
    "vega.js",
    *_CHARTS,
    "browse.js",
    "page.js",
)
LESSON = (*_PLAYGROUND, "kendall.js", "lesson.js")
CITATIONS = ("dom.js", "citations.js")
