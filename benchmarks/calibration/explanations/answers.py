"""What the product says of every explanation, and what it recommends, next to the truth.

Rankings and recommendations are made again from the stored summaries by today's rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from benchmarks.calibration.explanations.planted import PLANTED
from benchmarks.calibration.truth import NO, NOT_YES, OPEN, YES

from attnaudit.measures import EXPLANATIONS
from attnaudit.results.explanation_ranking import PLACE, rank_explanations
from attnaudit.results.explanation_tests import TESTS
from attnaudit.results.recommendation import may_be_shown, recommended
from attnaudit.results.value_columns import ValueColumns

PASSES, SHOWN = "passes", "shown"  # questions, besides the key of each test
NOTHING = "nothing"
USUAL, BY_CONSTRUCTION = "the usual ones", "planted ones"  # what is compared


def stored_ranking(folder: Path, size: int, names: Sequence[str]) -> list[dict[str, Any]]:
    """Rank some explanations of a stored audit by today's rules."""
    about = json.loads((folder / f"explanations_{size}.json").read_text(encoding="utf-8"))["about"]
    contrast = pd.read_parquet(folder / f"contrast_{size}.parquet")
    keys = [(PLACE[0], name, PLACE[1], 0) for name in contrast]
    examples = pd.DataFrame({"example_id": [f"{index:06d}" for index in contrast.index]})
    columns = ValueColumns.from_matrix(examples, keys, contrast.to_numpy())
    summaries = pd.read_parquet(folder / f"explanations_{size}.parquet")
    return rank_explanations(columns, summaries, {**about, "explanations": list(names)})


def answers_of(folder: Path, halves: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the answers on every explanation, and what is recommended for every model.

    Parameters
    ----------
    folder : what `run` wrote.
    halves : of the zoo; "fit" alone while rules are chosen.

    Returns
    -------
    answers : with the columns model, half, texts, explanation, question, answer and truth. Per
        explanation, the answer of each test; `passes`: "yes" if all tests are passed, "no" if one
        is failed, else "partly"; `shown`: whether the product would offer it if nothing else was
        compared.
    chosen : with the columns model, half, texts, compared (`USUAL` or `BY_CONSTRUCTION`),
        explanation (the recommended one of these, or "nothing"), truth (of that one; empty for
        nothing), best (the truth of the best one compared) and passed.
    """
    answers: list[dict[str, Any]] = []
    chosen: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*/explanations_truth.json")):
        known = json.loads(file.read_text(encoding="utf-8"))
        if known["half"] not in halves:
            continue
        truth = {name: line["points"] for name, line in known["explanations"].items()}
        for stored in file.parent.glob("explanations_*.json"):
            if stored == file:
                continue
            size = int(stored.stem.removeprefix("explanations_"))
            same = {"model": known["model"], "half": known["half"], "texts": size}
            decision = json.loads(stored.read_text(encoding="utf-8"))["decision"]
            ranking = stored_ranking(file.parent, size, EXPLANATIONS)
            planted = stored_ranking(file.parent, size, list(PLANTED))
            for row in (*ranking, *planted):
                of = {**same, "explanation": row["explanation"], "truth": truth[row["explanation"]]}
                answers += [
                    {**of, "question": question, "answer": answer}
                    for question, answer in _answers(row)
                ]
            for compared, rows in ((USUAL, ranking), (BY_CONSTRUCTION, planted)):
                chosen.append({**same, "compared": compared, **_chosen(rows, decision, truth)})
    order = ["texts", "model"]
    return (
        pd.DataFrame(answers).sort_values(order, kind="stable", ignore_index=True),
        pd.DataFrame(chosen).sort_values(order, kind="stable", ignore_index=True),
    )


def _chosen(
    ranking: Sequence[dict[str, Any]], decision: str, truth: dict[str, str]
) -> dict[str, Any]:
    best = recommended(ranking, decision)
    if best is not None and not may_be_shown(best):
        best = None
    name = NOTHING if best is None else best["explanation"]
    return {
        "explanation": name,
        "truth": truth.get(name, ""),
        "best": _best(truth[row["explanation"]] for row in ranking),
        "passed": 0 if best is None else best["passed"],
    }


def _answers(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    tests = row["tests"]
    yield from tests.items()
    passes = "partly"
    if NO in tests.values():
        passes = NO
    elif row["passed"] == len(TESTS):
        passes = YES
    yield PASSES, passes
    yield SHOWN, YES if may_be_shown(row) else NO


def _best(truths: Iterator[str]) -> str:
    found = set(truths)
    return next(truth for truth in (YES, OPEN, NOT_YES, NO) if truth in found)
