"""Small results to store, shared by the tests of files and folders; and a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from attnaudit.auditing.audit import audit
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.results import Results
from dask_cluster import DaskCluster, dask_cluster


@pytest.fixture(scope="session")
def results() -> Results:
    return audit(
        Glass("oracle"),
        glass_batch(8),
        audits=["permutation"],
        measures=["random"],
        show_progress=False,
    )


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A real scheduler with two real worker processes."""
    with dask_cluster(tmp_path_factory.mktemp("dask")) as cluster:
        yield cluster
