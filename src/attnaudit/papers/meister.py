"""Meister et al. 2021, table 3: test accuracy of the two models."""

from __future__ import annotations

from attnaudit.core import registry
from attnaudit.data.corpus_info import corpus_of

# dataset -> encoder -> accuracy; softmax attention, fastText vectors of 300 dimensions.
TABLE_3 = {
    "sst": {"bilstm": 0.82, "transformer": 0.79},
    "imdb": {"bilstm": 0.90, "transformer": 0.89},
    "newsgroups": {"bilstm": 0.91, "transformer": 0.91},
}


def next_to_published(choices: dict[str, str], accuracy: float) -> str | None:
    """Our accuracy next to the published one, in words; None for another dataset or model."""
    if (
        choices["model"] != "attentive"
        or choices["variant"] != "ordinary"
        or choices["projection"] not in ("softmax", "sparsemax")
    ):
        return None
    accuracies = TABLE_3.get(corpus_of(choices["dataset"]), {})
    published = accuracies.get(registry.parse(choices["encoder"])[0])
    if published is None:
        return None
    return (
        f"Published accuracy (Meister et al. 2021, table 3): {published}; ours {accuracy:.3f}, "
        f"a difference of {accuracy - published:+.3f}."
    )
