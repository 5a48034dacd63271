"""Audit a finished run on all its test examples together."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from attnaudit.audits.corpus import CORPUS_AUDITS
from attnaudit.core import registry
from attnaudit.results.findings import Findings
from attnaudit.results.run_names import file_name
from attnaudit.training.checkpoint import audited_batches


class CorpusAuditOutput(NamedTuple):
    """What a corpus audit found, and the folder, inside the run's, where it is stored."""

    findings: Findings
    folder: Path


def corpus_audit(
    run: str | Path,
    audit: str = "mutual_information",
    *,
    seed: int = 0,
    data_dir: str | Path | None = None,
) -> CorpusAuditOutput:
    """Run a corpus audit on a finished run and store the findings in the run's folder.

    Parameters
    ----------
    run : run directory with its model.
    audit : name with options: "mutual_information:rule=2,clusters=50".
    seed : of the clustering and of all draws.
    data_dir : folder of the corpora; if omitted, the environment variable ATTNAUDIT_DATA, else the
        user's cache folder.

    Examples
    --------
    >>> print(corpus_audit("runs/sst").findings)  # doctest: +SKIP
    """
    function = registry.find(CORPUS_AUDITS, audit, "corpus audit")
    folder = Path(run)
    model, batches = audited_batches(folder, data_dir=None if data_dir is None else Path(data_dir))
    findings = Findings.of_corpus_audit(function(model, batches, seed))
    stored = findings.save(folder / file_name(f"{audit}-seed_{seed}"))
    return CorpusAuditOutput(findings, stored)
