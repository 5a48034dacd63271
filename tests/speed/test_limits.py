"""The limits of the benchmark, counted by hand for small models."""

from __future__ import annotations

import pytest
import torch
from benchmarks.speed import limits
from benchmarks.speed.choice import matching
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
    model = _model("bilstm:hidden=3")  # 3 units per direction, states of 6 numbers, 2 classes
    inner = model.scorer.item.weight.shape[0]
    words, tokens = 4, 6
    gates = 2 * 4 * 3  # a product and a sum for each unit of four gates
    reading = 2 * (tokens * gates * 5 + (tokens - 1) * gates * 3)  # the first state is 0
    scores_and_readouts = 2 * tokens * 6 * (inner + 2)
    sums = 2 * words * tokens * 2
    changed = words * (tokens - 1)  # states of one direction
    again = changed * (gates * 3 + 2 * 3 * (inner + 2))
    needed = limits.leave_one_out(model, [words])
    assert needed.operations == reading + scores_and_readouts + sums + again
    # σ and tanh: five for each unit and token of the reading, in both directions.
    in_reading = 5 * 6 * tokens
    assert needed.functions == tokens * inner + in_reading + changed * (5 * 3 + inner)


@pytest.mark.parametrize(
    ("words", "width", "changed"), [(1, 7, 2), (2, 7, 6), (2, 3, 4), (4, 5, 14)]
)
def test_states_of_a_cnn_that_a_deletion_changes(words: int, width: int, changed: int) -> None:
    """Counted by the windows that differ before and after."""
    reach, tokens = width // 2, words + 2
    differ = 0
    for gone in range(1, words + 1):
        left = [place for place in range(tokens) if place != gone]
        for new, place in enumerate(left):
            before = {p for p in range(place - reach, place + reach + 1) if 0 <= p < tokens}
            after = {left[p] for p in range(new - reach, new + reach + 1) if 0 <= p < len(left)}
            differ += before != after
    assert limits._in_reach(words, reach) == changed == differ


def test_a_pass_back_needs_no_function_and_may_hold_attention() -> None:
    model = _model("bilstm:hidden=3")
    both = limits.gradients(model, [4, 7], backward=1)
    back = limits.gradients(model, [4, 7], backward=1, forward=0)
    assert both.operations == 2 * back.operations
    assert (back.functions, both.functions > 0) == (0, True)
    assert limits.integrated_gradients(model, [4, 7], 50) == both * 50
    held = limits.gradients(model, [4, 7], backward=1, forward=0, through_attention=0)
    inner, hidden = model.scorer.item.weight.shape
    assert back.operations - held.operations == 2 * (6 + 9) * hidden * inner


def test_the_battery_reads_the_texts_once() -> None:
    model = _model("bilstm:hidden=3")
    whole = limits.battery(model, [6], 2)
    leave_one_out = limits.leave_one_out(model, [6])
    back = limits.gradients(model, [6], backward=1, forward=0, through_attention=0)
    assert whole.operations == leave_one_out.operations + back.operations + 2 * 600 * 2
    assert (whole.draws, whole.sorts) == (600, 2 * 2 * 6 + 8)


def test_a_transformer() -> None:
    config = BertConfig(hidden_size=2, intermediate_size=3, num_hidden_layers=4)
    per_token = 2 * (4 * 2 * 2 + 2 * 2 * 3)
    needed = limits.transformer(config, [5, 5])
    keys_and_values = 5 * 2 * 2 * 2 * 2
    assert needed.operations == 2 * (3 * (5 * per_token + 2 * 2 * 5 * 5 * 2) + keys_and_values)


def test_what_is_drawn_sorted_and_moved() -> None:
    assert limits.permutation([3, 7], 2) == Needed(2 * (700 + 3 * 6) * 2, draws=700)
    assert limits.ranks([3, 4], 2).sorts == 2 * 2 * 7
    assert limits.removal([3, 4], 2, 5) == Needed(bytes=5 * 7 * 3 * 4, sorts=5 * 7)
    assert limits.sparsemax(3, 4).bytes == 3 * 4 * 8
    assert limits.furthest([3]) == Needed(functions=15, sorts=5)


def test_a_word_that_names_nothing_is_an_error() -> None:
    assert matching("KEND", ["kendall", "removal"]) == ["kendall"]
    with pytest.raises(SystemExit, match="Nothing is called 'tau'"):
        matching("tau", ["kendall", "removal"])


def _model(encoder: str):  # type: ignore[no-untyped-def]
    architecture = Architecture(encoder=encoder, embedding=5)
    return build(architecture, words=9, classes=2, with_query=False)
