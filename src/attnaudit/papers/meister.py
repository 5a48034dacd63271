"""Meister et al. 2021, table 3: test accuracy of their two models."""

from __future__ import annotations

from attnaudit.core import registry
from attnaudit.data.corpus_info import corpus_of

# dataset -> encoder -> accuracy; softmax attention, fastText vectors of 300 dimensions.
TABLE_3 = {
    "sst": {"bilstm": 0.82, "transformer": 0.79},
    "imdb": {"bilstm": 0.90, "transformer": 0.89},
    "newsgroups": {"bilstm": 0.91, "transformer": 0.91},
}


def beside_published(chosen: dict[str, str], accuracy: float) -> str | None:
    """A line to stand under our accuracy, where dataset and encoder are theirs."""
    theirs = (
        chosen["model"] == "attentive"
        and chosen["variant"] == "ordinary"
        and chosen["projection"] in ("softmax", "sparsemax")
    )
    if not theirs:
        return None
    published = TABLE_3.get(corpus_of(chosen["dataset"]), {}).get(
        registry.parse(chosen["encoder"])[0]
    )
    if published is None:
        return None
    return f"Published accuracy (Meister et al. 2021, table 3): {published}; ours {accuracy:.3f}, a difference of {accuracy - published:+.3f}."
