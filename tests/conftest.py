"""One thread per test process: the tensors are small, and the processes run at the same time.

Parsed corpora go to a folder of the test run. Worker processes are forked with the libraries. The
process that only hands out tests loads no torch.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from functools import cache

import pytest

from dask_cluster import DaskCluster, dask_cluster
from loaded_process import load_in_server

os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the commands that tests start, too


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end, so that no search for garbage needs to pass over them.

    The tests make many small objects and little garbage in cycles: it is looked for seldom.
    """
    import torch

    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNAUDIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        load_in_server(patch.setattr)
        _make_once(patch)
        yield


def _make_once(patch: pytest.MonkeyPatch) -> None:
    """Once per test process, not per test: the commands and spaCy's tokeniser, which keep nothing.

    Making either takes longer than most tests that need it.
    """
    if "typer.testing" in sys.modules:
        from typer import testing

        patch.setattr(testing, "_get_command", cache(testing._get_command))
    if "attnaudit.data.reading.tokenise" in sys.modules:
        from attnaudit.data.reading import tokenise

        patch.setitem(tokenise.TOKENISERS, "spacy", cache(tokenise._spacy))


@pytest.fixture(autouse=True)
def _same_draws() -> None:
    """Which tests ran before in this process must not change what a test draws."""
    import torch

    # As `torch.manual_seed` on a CPU, which notes for other devices where it was called from.
    torch.default_generator.manual_seed(0)


@pytest.fixture
def onednn_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Multiply by oneDNN, whatever the processor."""
    from attnaudit.core import onednn

    monkeypatch.setattr(onednn, "_mkl_is_as_fast", lambda: False)


@pytest.fixture
def small_heap() -> None:
    """Garbage is looked for only in what a test makes: in all that is loaded, it takes long.

    What is there now stays to the end; `gc.unfreeze` would give back all that was frozen before.
    """
    gc.freeze()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A real scheduler with two real worker processes, for all tests.

    Tests may kill workers, which are started again.
    """
    pytest.importorskip("distributed")
    with dask_cluster(tmp_path_factory.mktemp("dask"), loaded=True) as cluster:
        yield cluster
