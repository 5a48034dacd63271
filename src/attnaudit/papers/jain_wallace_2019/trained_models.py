"""The corpora and models of Jain & Wallace 2019, with the audits that all items share."""

from __future__ import annotations

from collections.abc import Sequence

from attnaudit.papers.item import Plan, Table

PRESET = "jain_wallace"
CLASSIFICATION = (
    *("sst", "imdb", "adr_tweets", "newsgroups", "ag_news"),
    *("mimic:task=diabetes", "mimic:task=anemia"),
)
ANSWERING = ("cnn_qa", "babi_files:task=1", "babi_files:task=2", "babi_files:task=3")
DATASETS = (*CLASSIFICATION, *ANSWERING, "snli")
MEASURES = ("gradient", "leave_one_out")


def models(
    plan: Plan, encoders: Sequence[str] = ("bilstm",), scorers: Sequence[str] = ("additive",)
) -> list[Table]:
    """The paper's models with the audits of all its items, so that items share their runs.

    The epsilon of `furthest` is 0.01, and 0.05 for question answering. bAbI's CNN has 8 filters.
    """
    answering = plan.name in ("cnn_qa", "babi", "babi_files")
    furthest = "furthest:epsilon=0.05" if answering else "furthest"
    small = plan.name.startswith("babi")
    return [
        plan.table(
            PRESET,
            encoders=["cnn:filters=8" if small and name == "cnn" else name for name in encoders],
            scorers=list(scorers),
            audits=["agreement", "permutation", furthest],
            measures=[*MEASURES, "random"],
        )
    ]
