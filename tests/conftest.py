"""One thread per test process: the tensors are small, and the processes run at the same time.

Parsed corpora go to a folder of the test run.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNAUDIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
