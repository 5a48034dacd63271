"""Mutual information between attended states and outputs, over a corpus."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from attnaudit.audits.corpus.mutual_information import (
    cluster,
    mutual_information,
)
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.models.glass import Glass, glass_batch
from bilstm_cases import bilstm_case


def test_oracles_most_attended_states_are_informative_and_shuffled_outputs_are_not() -> None:
    batch = glass_batch(300)
    found = mutual_information(Glass("oracle"), [batch], 0, clusterings=2, show_progress=False)
    detail = found.detail.set_index("rank")
    assert detail.loc[1, "mi"] > 0.6  # the word that decides: ln 2 at most
    assert detail.loc[1, "mi"] > detail.loc[2, "mi"] + 0.3
    assert (detail["mi_floor"] < 0.3).all()
    summary = found.summary.set_index("metric")
    # The plug-in's bias alone ranks the first word first; taken off, chance gives nothing.
    assert summary.loc["weighted_tau", "floor"] > 0.5
    tau = summary.loc["weighted_tau_corrected"]
    assert abs(tau["floor"]) < 0.5 < tau["value"]
    assert tau["low"] <= tau["value"] <= tau["high"]
    again = mutual_information(Glass("oracle"), [batch], 0, clusterings=2, show_progress=False)
    assert again.summary.equals(found.summary)
    other = mutual_information(Glass("oracle"), [batch], 1, clusterings=2, show_progress=False)
    assert not other.detail.equals(found.detail)


# Five texts, repeated: k-means may find fewer clusters than asked for.
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_information_does_not_depend_on_the_batches() -> None:
    model, record, _ = bilstm_case()
    batch = record.batch.rows(torch.tensor([1, 2, 3, 4, 5] * 30))
    batch = replace(batch, example_id=tuple(map(str, range(150))))
    whole = mutual_information(
        model, [batch], 0, rule=2, clusters=4, clusterings=1, show_progress=False
    )
    parts = [batch.rows(torch.arange(index, index + 50)) for index in (0, 50, 100)]
    cut = mutual_information(
        model, parts, 0, rule=2, clusters=4, clusterings=1, show_progress=False
    )
    np.testing.assert_allclose(whole.detail["mi"], cut.detail["mi"], atol=1e-9)
    with pytest.raises(InputError, match="rule must be 1 or 2"):
        mutual_information(model, parts, 0, rule=3)
    with pytest.raises(NotApplicable, match="leaves 1 rank"):
        mutual_information(model, [record.batch.rows(torch.tensor([0, 0]))], 0)


def test_fewer_texts_than_clusters_are_rejected() -> None:
    with pytest.raises(NotApplicable, match="take at least 100"):
        mutual_information(Glass("oracle"), [glass_batch(40)], 0, show_progress=False)


def test_vectors_that_differ_by_rounding_alone_are_clustered_without_a_warning() -> None:
    """Two of five values are a rounding apart: k-means finds four clusters and would warn."""
    vectors = np.repeat(np.array([0.1, 0.1 + 1e-17 + 2**-56, 0.4, 0.6, 0.9]), 20)[:, None]
    assert len(np.unique(vectors)) == 5
    labels, wanted = cluster(vectors, 5, 0)
    assert wanted == 5
    assert len(np.unique(labels)) >= 4
