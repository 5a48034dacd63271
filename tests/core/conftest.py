"""Small results to store, shared by the tests of files and folders."""

from __future__ import annotations

import pytest

from attnaudit.auditing.audit import audit
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.results import Results


@pytest.fixture(scope="session")
def results() -> Results:
    return audit(
        Glass("oracle"),
        glass_batch(8),
        audits=["permutation"],
        measures=["random"],
        show_progress=False,
    )
