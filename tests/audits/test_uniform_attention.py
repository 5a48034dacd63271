"""Uniform attention against a plain loop."""

from __future__ import annotations

from dataclasses import replace

from attnaudit.audits.uniform_attention import uniform_attention
from audit_cases import EXAMPLES, case, every_case, same, tvd


@every_case
def test_uniform_attention_is_over_the_real_items_of_each_row(name: str) -> None:
    chosen = case(name)
    values = uniform_attention(chosen.model, chosen.record, {}, 0)
    assert chosen.record.batch.labels is not None
    for index in range(EXAMPLES):
        even = chosen.mask[index] / chosen.mask[index].sum(-1, keepdims=True)
        own, other = (chosen.decided(index, alpha) for alpha in (chosen.alpha[index], even))
        label = int(chosen.record.batch.labels[index])
        same(
            values["", "tvd"][index],
            tvd(chosen.probs(index, even), chosen.probs(index, chosen.alpha[index])),
        )
        same(values["", "flipped"][index], float(own != other))
        same(values["", "correct"][index], float(own == label))
        same(values["", "accuracy_drop"][index], float(own == label) - float(other == label))
    assert values["", "flipped"].any()


def test_without_labels_there_is_no_accuracy() -> None:
    chosen = case("two classes")
    record = replace(chosen.record, batch=replace(chosen.record.batch, labels=None))
    assert set(uniform_attention(chosen.model, record, {}, 0)) == {("", "tvd"), ("", "flipped")}
