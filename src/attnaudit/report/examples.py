"""Examples as the page reads them: which are embedded, how they are packed, and their order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.core.id_order import id_hash
from attnaudit.report.charts.kept_scores import kept_scores
from attnaudit.report.example_packing import ExamplePacker
from attnaudit.results.results import Results

MOST = 200
_AT_ONCE = 50  # examples that are packed before the budget is looked at again
_LEAST_EXAMPLE, _LEAST_SCORE = 200, 40  # bytes of the names in an example, and in one of its scores


def example_data(results: Results, *, budget: int, most: int = MOST) -> dict[str, Any]:
    """The examples of a page, and the sentence that says which they are.

    They are taken in turn from each predicted class and from right and wrong answers, in an order
    that does not depend on their texts.

    Parameters
    ----------
    results
        Of a run.
    budget
        Bytes of examples, at most.
    most
        Number of examples, at most.

    Returns
    -------
    dict
        examples: a list of dicts; rule: the sentence.
    """
    chosen: list[dict[str, Any]] = []
    spent = 0
    packer = ExamplePacker(results)
    order = _in_turn(results.examples)
    least = _least_bytes(results.examples)[order]
    for start in range(0, len(order), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        fitting = order[part][least[part] <= budget - spent]
        for example in packer.pack(fitting):
            if len(chosen) == most:
                break
            size = len(json.dumps(example, ensure_ascii=False).encode("utf-8", errors="replace"))
            if spent + size <= budget:
                chosen.append(example)
                spent += size
        if len(chosen) == most:
            break
    return {"examples": chosen, "rule": _rule(len(chosen), len(results.examples), results)}


def all_examples(results: Results) -> Iterator[dict[str, Any]]:
    """Every stored example, in the order of `example_data`: for a site of many pages."""
    yield from ExamplePacker(results).pack(_in_turn(results.examples))


def _rule(embedded: int, stored: int, results: Results) -> str:
    audited = len(results.columns)
    kept = (
        f"All {audited:,} audited examples were kept whole"
        if stored == audited
        else f"{stored:,} of the {audited:,} audited examples were kept whole, drawn at random "
        "with the labels in proportion"
    )
    if embedded == stored:
        return f"{kept}; all of them are here."
    return (
        f"{kept}; {embedded:,} of them are here, taken in turn from each predicted class and from "
        "right and wrong answers."
    )


def _in_turn(examples: pd.DataFrame) -> np.ndarray:
    """The order of the examples, as line numbers.

    One from each group of (predicted, right or wrong) in turn; in a group, by hash of the id.
    """
    if not len(examples):
        return np.empty(0, dtype=int)
    hashes = [id_hash(example_id) for example_id in examples["example_id"]]
    predicted, labels = examples["predicted"].to_numpy(), examples["label"].to_numpy()
    is_right = (labels == -1) | (labels == predicted)
    groups: dict[tuple[int, bool], list[int]] = {}
    for number in sorted(range(len(hashes)), key=hashes.__getitem__):
        groups.setdefault((predicted[number], is_right[number]), []).append(number)
    turns = zip_longest(*(groups[key] for key in sorted(groups)))
    return np.array([number for turn in turns for number in turn if number is not None])


def _least_bytes(examples: pd.DataFrame) -> np.ndarray:
    """Fewer bytes than each example takes as JSON, (examples,): those that are quick to count.

    The words with their quotes, scores of two bytes in base64 (four characters for three bytes),
    and the shortest possible rest.
    """
    return np.array(
        [
            _LEAST_EXAMPLE
            + sum(map(len, tokens))
            + 4 * len(tokens)
            + sum(_LEAST_SCORE + 8 * len(values) // 3 for values in scores.values())
            for tokens, (_, scores) in zip(
                examples.get("tokens", ()), kept_scores(examples), strict=True
            )
        ],
        dtype=int,
    )
