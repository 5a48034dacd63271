"""The limits of the benchmark, counted by hand for small models."""

from __future__ import annotations

import pytest
import torch
from benchmarks.speed import limits
from benchmarks.speed.machine import Machine, Needed, measure_machine
from transformers import BertConfig

from attnaudit.models import Architecture, build


def test_seconds_are_the_parts_one_after_another() -> None:
    machine = Machine(operations=10, functions=5, bytes=100, draws=4, sorts=2)
    assert machine.seconds(Needed(20, 5, 50, 8, 1)) == pytest.approx(2 + 1 + 0.5 + 2 + 0.5)
    assert machine.seconds(Needed(20, 5, 50, 8, 1) * 3 + Needed(10)) == pytest.approx(19)


def test_every_rate_of_the_machine_is_measured() -> None:
    machine = measure_machine(torch.device("cpu"))
    assert machine.operations > machine.functions > 1e6
    assert min(machine.bytes, machine.draws, machine.sorts) > 1e6


def test_leave_one_out_of_a_bilstm() -> None:
    model = _model("bilstm:hidden=3")  # 3 units per direction, states of 6 numbers
    inner = model.scorer.item.weight.shape[0]
    words, tokens = 4, 6
    reading = 2 * tokens * 8 * 3 * (5 + 3)  # both directions: four gates of products with 5 and 3
    scores = 2 * tokens * 6 * inner
    sums = 2 * words * words * 6
    changed = words * (tokens - 1)  # states of one direction
    again = changed * (8 * 3 * 3 + 2 * 3 * inner)
    needed = limits.leave_one_out(model, [words])
    assert needed.operations == reading + scores + sums + again
    assert needed.functions == tokens * inner + changed * (5 * 3 + inner)


def test_a_pass_back_costs_what_a_pass_costs_and_needs_no_function() -> None:
    model = _model("bilstm:hidden=3")
    both = limits.gradients(model, [4, 7], backward=1)
    back = limits.gradients(model, [4, 7], backward=1, forward=0)
    assert both.operations == 2 * back.operations
    assert (back.functions, both.functions > 0) == (0, True)
    assert limits.integrated_gradients(model, [4, 7], 50) == both * 50


def test_the_battery_reads_the_texts_once() -> None:
    model = _model("bilstm:hidden=3")
    whole = limits.battery(model, [4], 2)
    leave_one_out = limits.leave_one_out(model, [4])
    back = limits.gradients(model, [4], backward=1, forward=0)
    assert whole.operations == leave_one_out.operations + back.operations + 2 * 400 * 2
    assert (whole.draws, whole.sorts) == (400, 400 + 2 * 2 * 4 + 6)


def test_a_transformer() -> None:
    config = BertConfig(hidden_size=2, intermediate_size=3, num_hidden_layers=4)
    per_token = 2 * (4 * 2 * 2 + 2 * 2 * 3)
    needed = limits.transformer(config, [5, 5])
    assert needed.operations == 4 * 2 * (5 * per_token + 2 * 2 * 5 * 5 * 2)


def test_what_is_sorted_and_moved() -> None:
    assert limits.ranks([3, 4], 2).sorts == 2 * 2 * 7
    assert limits.removal([3, 4], 2, 5) == Needed(bytes=5 * 7 * 3 * 8 * 2, sorts=5 * 7)
    assert limits.sparsemax(3, 4).bytes == 3 * 4 * 8
    assert limits.furthest([3]) == Needed(functions=15, sorts=5)


def _model(encoder: str):  # type: ignore[no-untyped-def]
    architecture = Architecture(encoder=encoder, embedding=5)
    return build(architecture, words=9, classes=2, with_query=False)
