"""A quick look at one text: what is shaded, in a terminal and in a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import attnaudit
from attnaudit import InputError
from attnaudit.auditing.show import REMINDER, Look
from attnaudit.cli import app
from attnaudit.measures import MEASURES
from attnaudit.models import from_huggingface
from tiny_transformers import tiny

TEXT = "a dull film , not good"


def test_the_weights_are_those_of_the_measures() -> None:
    model, tokenizer = tiny("bert", num_labels=2)
    look = attnaudit.show(model, tokenizer, TEXT)
    wrapped = from_huggingface(model, tokenizer)
    (batch,) = wrapped.batches([TEXT])
    record = wrapped.read(batch)
    score = MEASURES["leave_one_out"](wrapped, record, 0)[0][record.content[0]]
    assert look.weights["leave_one_out"] == pytest.approx(score.tolist())
    assert look.words == tuple(TEXT.split())
    assert sum(look.weights["attention"]) == pytest.approx(1)
    assert attnaudit.show(wrapped, TEXT).weights == look.weights


def test_it_is_shaded_and_escaped() -> None:
    look = Look(
        ("<b>", "x\033[2J", "c", "d"), {"attention": (0.02, 0.94, 0.02, 0.02)}, "pos", 0.9, {}
    )
    html = look._repr_html_()
    assert "<b>" not in html
    assert REMINDER.split(":")[0] in html
    assert "\033[2J" not in look.text()
    assert "\033[48;2;37;99;176" in look.text()  # the darkest
    assert "**x" in str(look)
    assert "\033" not in str(look)


def test_a_word_that_speaks_against_the_decision_looks_different() -> None:
    look = Look(("for", "against"), {"leave_one_out": (0.5, -0.9)}, "pos", 0.9, {})
    assert "\033[48;2;206;148;95" in look.text()  # orange, 0.9 / 1.4 of the way from white
    assert "**-against**" in str(look)
    assert "rgba(179, 88, 6, " in look._repr_html_()


def test_the_command(tmp_path: Path) -> None:
    model, tokenizer = tiny("bert", num_labels=2)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    ran = CliRunner().invoke(app, ["show", str(tmp_path), TEXT])
    assert ran.exit_code == 0, ran.output
    assert "leave-one-out" in ran.output
    assert "Not tested" in ran.output


def test_no_text_is_said() -> None:
    with pytest.raises(InputError, match="There is no text to show"):
        attnaudit.show(*tiny("bert", num_labels=2), "")
