"""The papers' tables that can be reproduced, by name, and `reproduce`, which makes one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from attnaudit.core import registry
from attnaudit.core.output_files import recovery_advice, write_file
from attnaudit.data.corpus_info import corpus_of
from attnaudit.papers.meister_tables import meister_figure2, meister_table1, meister_table6
from attnaudit.papers.neely_schouten_tables import neely_schouten_table2
from attnaudit.papers.reproduction_config import ReproductionConfig
from attnaudit.papers.wen_tables import wen_weighted_tau

REPRODUCTIONS: dict[str, Callable[[ReproductionConfig], pd.DataFrame]] = {
    "meister_table1": meister_table1,
    "meister_table6": meister_table6,
    "meister_figure2": meister_figure2,
    "neely_schouten_table2": neely_schouten_table2,
    "wen_weighted_tau": wen_weighted_tau,
}


class Reproduction(NamedTuple):
    """A table made again, and the csv file it was written to."""

    table: pd.DataFrame
    path: Path


def reproduce(
    table: str,
    dataset: str = "sst",
    *,
    out: str | Path = "runs",
    vectors: str | Path | None = None,
    seed: int = 0,
    sample: int | None = None,
    epochs: int | None = None,
    data_dir: str | Path | None = None,
    device: str = "cpu",
) -> Reproduction:
    """Reproduce a paper's table: train and audit its models, with ours next to the published.

    Does what `attnaudit reproduce` does. Finished runs are used again.

    Parameters
    ----------
    table : a name of `REPRODUCTIONS`, such as "meister_table1".
    dataset : name with options.
    out : folder of the run directories; the table is written to `reproductions` in it.
    vectors : file of pretrained word vectors; the papers use 300 dimensions.
    sample : number of test examples to audit; None for all.
    epochs : None for those of the paper.
    data_dir : folder of the corpora; if omitted, the environment variable ATTNAUDIT_DATA, else the
        user's cache folder.

    Examples
    --------
    >>> reproduce("meister_table1", "sst", vectors="glove.txt").table  # doctest: +SKIP
    """
    make_table = registry.find(REPRODUCTIONS, table, "reproduction")
    config = ReproductionConfig(
        dataset,
        Path(out),
        None if data_dir is None else Path(data_dir),
        None if vectors is None else str(vectors),
        seed,
        sample,
        epochs,
        device,
    )
    frame = make_table(config)
    name = f"{table}-{corpus_of(dataset).replace(':', '_')}-seed_{seed}.csv"
    path = config.out / "reproductions" / name
    with recovery_advice(f"The runs in {config.out} are complete and will be used again."):
        return Reproduction(frame, write_file(path, frame.to_csv(index=False), kind="table"))
