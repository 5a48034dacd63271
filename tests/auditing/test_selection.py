"""Choosing audits and measures by name, with options, or as functions."""

from __future__ import annotations

from typing import Any

import pytest

from attnaudit import audit
from attnaudit.auditing.selection import find_audits, find_measures
from attnaudit.core.contract import Record
from attnaudit.core.errors import InputError
from attnaudit.models.glass import Glass, glass_batch
from small_models import Wrong


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"audits": ["permutaton"]}, "There is no audit 'permutaton'. Did you mean 'permutation'?"),
        ({"audits": ["x"]}, "There is no audit 'x'. Choose from: uniform_attention, permutation"),
        ({"measures": ["gradiant"]}, "There is no measure 'gradiant'. Did you mean 'gradient'?"),
    ],
)
def test_unknown_names_are_rejected_before_the_model_is_read(
    more: dict[str, Any], text: str
) -> None:
    def never(record: Record) -> Record:
        raise AssertionError("the model was read")

    with pytest.raises(InputError) as error:
        audit(Wrong(never), glass_batch(2), show_progress=False, **more)
    assert str(error.value).startswith(text)


def test_options_are_part_of_the_name_and_are_used() -> None:
    names = ["furthest:epsilon=0.05", "furthest:epsilon=0.2"]
    results = audit(Glass("oracle"), glass_batch(8), audits=names, measures=[], show_progress=False)
    summary = results.summary()
    jsds = [
        float(
            summary.loc[(summary["audit"] == name) & (summary["metric"] == "jsd"), "mean"].iloc[0]
        )
        for name in names
    ]
    assert jsds[0] < jsds[1]


def test_one_name_stands_for_a_list_of_one() -> None:
    results = audit(
        Glass("oracle"),
        glass_batch(8),
        audits="permutation",
        measures="gradient",
        show_progress=False,
    )
    assert set(results.frame()["audit"]) == {"permutation"}


@pytest.mark.parametrize(
    ("find", "choice", "said"),
    [
        (
            find_audits,
            "permutation:shuffles=0",
            "shuffles of the audit .* must be 1 or more, got 0",
        ),
        (find_audits, "random_attention:draws=-3", "must be 1 or more"),
        (find_audits, "permutation:shuffles=abc", "takes a whole number, got 'abc'"),
        (find_audits, "permutation:shuffles=1.5", "takes a whole number, got 1.5"),
        (find_audits, "furthest:epsilon=abc", "takes a number, got 'abc'"),
        (find_audits, "furthest:epsilon=true", "takes a number, got True"),
        (find_audits, "dispersion:influence=3", "takes true or false, got 3"),
        (find_measures, "lime:n_samples=abc", "takes a whole number"),
        (find_measures, "integrated_gradients:n_steps=0", "must be 1 or more"),
        (find_measures, "shap:stdevs=abc", "takes a number"),
    ],
)
def test_wrong_values_of_options_are_rejected_before_any_work(
    find: Any, choice: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        find([choice])
