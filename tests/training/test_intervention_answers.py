"""The answer of each intervention: yes, no, cannot tell, and NaN, from made-up summaries."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from attnaudit.results.findings import Findings, Kind, read_findings
from attnaudit.training.interventions import answers

NAN = math.nan
Three = tuple[float, float, float]


def three(name: str, values: Three) -> dict[str, float]:
    return {name: values[0], f"{name}_low": values[1], f"{name}_high": values[2]}


def scores(values: Three, column: str = "difference", **more: str) -> list[dict[str, object]]:
    """A line of accuracy, after one of another metric that must not be read."""
    lines = [("f1", (9.0, 9.0, 9.0)), ("accuracy", values)]
    return [
        {**more, "metric": metric, column: v[0], "low": v[1], "high": v[2]} for metric, v in lines
    ]


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (
            (0.001, -0.011, 0.014),
            "uniform",
            "Trained with uniform attention, the model loses 0.1 points of accuracy [-1.1, 1.4]: "
            "attention is not needed for this task.",
        ),
        (
            (0.2, 0.15, 0.25),
            "uniform",
            "Trained with uniform attention, the model loses 20.0 points of accuracy [15.0, 25.0]: "
            "attention is needed for this task.",
        ),
        (
            (-0.03, -0.05, -0.01),
            "random",
            "Trained with random attention, the model gains 3.0 points of accuracy [1.0, 5.0]: "
            "attention to chosen words is not needed for this task.",
        ),
        (
            (0.01, -0.1, 0.12),
            "uniform",
            "Trained with uniform attention, the model loses 1.0 points of accuracy [-10.0, 12.0]. "
            "Cannot tell whether attention is needed: the interval is too wide.",
        ),
        (
            (NAN, NAN, NAN),
            "uniform",
            "Cannot tell whether attention is needed: the accuracy is not known.",
        ),
    ],
)
def test_uniform_and_random(values: Three, kind: str, expected: str) -> None:
    assert answers.without_attention(pd.DataFrame(scores(values)), kind) == expected


@pytest.mark.parametrize(
    ("low", "high", "end"),
    [
        (0.02, 0.5, "Cannot tell"),
        (0.02 + 1e-6, 0.5, ": attention is needed"),
        (0.0, 0.02, "Cannot tell"),
        (0.0, 0.02 - 1e-6, "not needed"),
    ],
)
def test_the_threshold_of_needed_is_the_cards(low: float, high: float, end: str) -> None:
    assert end in answers.without_attention(pd.DataFrame(scores((0.015, low, high))), "uniform")


@pytest.mark.parametrize(
    ("jsd", "end"),
    [
        (
            (0.07, 0.06, 0.08),
            "10 % of the maximum distance apart (JSD 0.07 [0.06, 0.08]; 1 pair of models): the "
            "attention is similar",
        ),
        ((0.6, 0.55, 0.65), ": the attention depends on the seed."),
        ((0.35, 0.3, 0.4), "depends on the seed in part"),
        (
            (0.35, 0.1, 0.6),
            "Cannot tell whether the attention depends on the seed: the interval is too wide",
        ),
        ((NAN, NAN, NAN), "Cannot tell whether the attention is stable: no distance"),
        ((0.1, NAN, NAN), "Cannot tell whether the attention is stable: no distance"),
    ],
)
def test_seeds(jsd: Three, end: str) -> None:
    lines = [
        {"pair": name, **three("jsd", values), **three("tvd", (0.02, 0.01, 0.03))}
        for name, values in (("0–1", (9.0, 9.0, 9.0)), ("all", jsd))
    ]
    found = answers.seeds(pd.DataFrame(lines))
    assert end in found
    assert ("predictions differ by TVD 0.02 [0.01, 0.03]" in found) == (not math.isnan(jsd[1]))


def twin(jsd: Three, tvd: Three, lam: float = 0.001, kind: str = "twin") -> dict[str, object]:
    return {"kind": kind, "lam": lam, **three("jsd", jsd), **three("tvd", tvd)}


SEED = twin((0.1, 0.09, 0.11), (0.1, 0.09, 0.11), NAN, "seed")


@pytest.mark.parametrize(
    ("twins", "start"),
    [
        (
            [twin((0.5, 0.45, 0.55), (0.05, 0.04, 0.06))],
            "Yes, it can be moved: the twin with lam=0.001",
        ),
        ([twin((0.5, 0.45, 0.55), (0.4, 0.35, 0.45))], "No twin attends further away"),
        ([twin((0.1, 0.09, 0.11), (0.05, 0.04, 0.06))], "No twin attends further away"),
        (
            [twin((0.12, 0.1, 0.14), (0.05, 0.04, 0.06))],
            "Cannot tell whether the attention can be moved",
        ),
        (
            [twin((0.5, 0.45, 0.55), (0.13, 0.1, 0.16))],
            "Cannot tell whether the attention can be moved: the intervals",
        ),
        (
            [twin((NAN, NAN, NAN), (0.1, 0.1, 0.1))],
            "Cannot tell whether the attention can be moved: there is no twin",
        ),
    ],
)
def test_adversarial(twins: list[dict[str, object]], start: str) -> None:
    assert answers.adversarial(pd.DataFrame([SEED, *twins])).startswith(start)


def test_adversarial_names_the_twin_that_moved_furthest_and_needs_another_seed() -> None:
    near, far = (
        twin((at, at - 0.01, at + 0.01), (0.05, 0.04, 0.06), lam)
        for at, lam in ((0.3, 0.1), (0.5, 0.2))
    )
    assert "lam=0.2 attends JSD 0.50 [0.49, 0.51] away" in answers.adversarial(
        pd.DataFrame([SEED, near, far])
    )
    assert "there is no other seed" in answers.adversarial(pd.DataFrame([near, far]))


@pytest.mark.parametrize(
    ("base", "other", "parts"),
    [
        (
            (0.05, 0.03, 0.07),
            (0.0, -0.01, 0.01),
            [
                "gains 5.0 points of accuracy [3.0, 7.0]",
                "tells another model something",
                "helps more than",
            ],
        ),
        (
            (0.05, 0.03, 0.07),
            (0.05, 0.03, 0.07),
            ["tells another model something", "not clearly better or worse"],
        ),
        ((0.05, 0.03, 0.07), (0.1, 0.08, 0.12), ["helps less than"]),
        ((0.05, 0.03, 0.07), (NAN, NAN, NAN), ["tells another model something about the words."]),
        ((0.0, -0.01, 0.01), (0.0, -0.01, 0.01), ["tells another model nothing useful"]),
        (
            (0.05, -0.01, 0.11),
            (0.0, -0.01, 0.01),
            ["Cannot tell whether it helps: the interval is too wide"],
        ),
        (
            (NAN, NAN, NAN),
            (0.0, 0.0, 0.0),
            ["Cannot tell whether the base's attention helps: the accuracy is not known"],
        ),
    ],
)
def test_guided_mlp(base: Three, other: Three, parts: list[str]) -> None:
    lines = [
        line
        for source, values in (
            ("uniform", (0.0, 0.0, 0.0)),
            ("the base's", base),
            ("the twin's", other),
        )
        for line in scores(values, "above uniform", attention=source)
    ]
    found = answers.guided_mlp(pd.DataFrame(lines))
    assert [part for part in parts if part not in found] == []


def held(name: str, values: Three, other: Three) -> pd.DataFrame:
    return pd.DataFrame(
        [{"model": "held", **three(name, values)}, {"model": "other seed", **three(name, other)}]
    )


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ((0.1, 0.08, 0.12), "Yes, it comes back closer"),
        ((0.5, 0.48, 0.52), "No, it does not come back"),
        ((0.3, 0.25, 0.35), "Cannot tell whether it comes back closer"),
        ((NAN, NAN, NAN), "Cannot tell whether the same attention comes back"),
    ],
)
def test_fix_representation(values: Three, part: str) -> None:
    assert part in answers.fix_representation(held("jsd", values, (0.3, 0.28, 0.32)))


@pytest.mark.parametrize(
    ("values", "part"),
    [
        (
            (0.0, -0.01, 0.01),
            "loses 0.0 points of accuracy [-1.0, 1.0] (another seed loses 1.0 points of accuracy "
            "[0.0, 2.0]). Yes, it does as well",
        ),
        ((0.1, 0.05, 0.15), "No, it does worse"),
        ((0.01, -0.05, 0.07), "Cannot tell whether it does as well: the interval is too wide"),
        (
            (NAN, NAN, NAN),
            "Cannot tell whether a new encoder does as well: the accuracy is not known",
        ),
    ],
)
def test_fix_attention(values: Three, part: str) -> None:
    assert part in answers.fix_attention(held("accuracy_lost", values, (0.01, 0.0, 0.02)))


@pytest.mark.parametrize(
    ("mass", "lost", "part"),
    [
        (
            (0.01, 0.0, 0.02),
            (0.0, -0.01, 0.01),
            "goes from 0.60 [0.50, 0.70] to 0.01 [0.00, 0.02], and the model loses 0.0 points of "
            "accuracy [-1.0, 1.0]. Yes",
        ),
        ((0.01, 0.0, 0.02), (0.1, 0.05, 0.15), "Only at a cost"),
        (
            (0.01, 0.0, 0.02),
            (0.01, -0.05, 0.07),
            "cannot tell whether at no cost: the interval is too wide",
        ),
        ((0.01, 0.0, 0.02), (NAN, NAN, NAN), "Cannot tell at what cost"),
        ((0.8, 0.7, 0.9), (0.0, 0.0, 0.0), "No, the model did not learn to hide them"),
        (
            (0.5, 0.4, 0.6),
            (0.0, 0.0, 0.0),
            "Cannot tell whether the words can be hidden: the intervals overlap",
        ),
        (
            (NAN, NAN, NAN),
            (0.0, 0.0, 0.0),
            "Cannot tell whether the words can be hidden: no test text",
        ),
    ],
)
def test_deceptive(mass: Three, lost: Three, part: str) -> None:
    name = "attention on hidden words"
    lines = [
        {
            "model": "ordinary",
            **three(name, (0.6, 0.5, 0.7)),
            **three("accuracy_lost", (0.0, 0.0, 0.0)),
        },
        {"model": "deceptive", **three(name, mass), **three("accuracy_lost", lost)},
    ]
    assert part in answers.deceptive(pd.DataFrame(lines))


SAME_TAU, SAME_JSD = (0.3, 0.25, 0.35), (0.4, 0.35, 0.45)
HIGH, LOW, NONE = (0.6, 0.55, 0.65), (0.1, 0.05, 0.15), (NAN, NAN, NAN)


@pytest.mark.parametrize(
    ("tau", "jsd", "part"),
    [
        (HIGH, SAME_JSD, "Yes, the sparser attention explains better here"),
        (SAME_TAU, LOW, "Yes, the sparser attention explains better here"),
        (LOW, SAME_JSD, "No, the sparser attention does not explain better"),
        (SAME_TAU, HIGH, "No, the sparser attention does not explain better"),
        (HIGH, HIGH, "One speaks for sparser attention and one against it"),
        (
            SAME_TAU,
            SAME_JSD,
            "Cannot tell whether sparser attention explains better: the intervals overlap",
        ),
        (NONE, SAME_JSD, "the sparsest model lacks the numbers"),
    ],
)
def test_sparsity(tau: Three, jsd: Three, part: str) -> None:
    def model(
        projection: str, value: float, widest: float, tau: Three, jsd: Three
    ) -> dict[str, object]:
        known = three("tau_gradient", tau) | three("furthest_jsd", jsd)
        return {"projection": projection, "value": value, "max_attention": widest, **known}

    lines = [
        model("softmax", NAN, 0.3, SAME_TAU, SAME_JSD),
        model("sparsegen", 0.9, 0.9, tau, jsd),
        model("entmax", 1.5, 0.5, HIGH, LOW),  # less sparse: not the one compared
    ]
    found = answers.sparsity(pd.DataFrame(lines))
    assert part in found
    assert ("sparsest attention (sparsegen 0.9; one training each)" in found) == (tau is not NONE)
    assert "nothing to compare" in answers.sparsity(pd.DataFrame(lines[:1]))


def test_the_answer_is_stored_printed_last_and_not_needed_to_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"jsd": [0.1]})
    findings = Findings("seeds", "How far apart?", frame, frame, (), "Not far.")
    assert str(findings).endswith("\n\nNot far.")
    folder = findings.save(tmp_path / "found")
    assert read_findings(folder).answer == "Not far."
    mark = folder / Kind.INTERVENTION.mark
    about = json.loads(mark.read_text(encoding="utf-8"))
    for key in ("answer", "files", "checksum"):  # earlier versions stored none of them
        del about[key]
    mark.write_text(json.dumps(about), encoding="utf-8")
    old = read_findings(folder)
    assert old.answer == ""
    assert str(old) == str(Findings("seeds", "How far apart?", frame, frame, ()))
