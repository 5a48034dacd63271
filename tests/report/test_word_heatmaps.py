"""Heatmaps to paste elsewhere: what is shaded, what is escaped, and every kind of file."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from attnaudit import InputError, Results, audit
from attnaudit.cli import app
from attnaudit.models import Glass, glass_batch
from attnaudit.report.word_heatmaps import WordHeatmap, word_heatmaps

BAD = WordHeatmap("a", "mine", ("<b>", "good", "$x$"), (0.1, 0.9, float("nan")), "pos & neg")


@cache
def results() -> Results:
    words = [f"w{number}" for number in range(50)]
    return audit(
        Glass("shifted"),
        glass_batch(12),
        audits=["top_words"],
        explanations=["leave_one_out"],
        words=words,
        show_progress=False,
    )


def test_the_darkest_word_is_the_one_that_decides() -> None:
    for heatmap in word_heatmaps(results(), "leave_one_out"):
        darkest = heatmap.words[heatmap.shades.index(max(heatmap.shades))]
        assert darkest in ("w1", "w2")


def test_words_of_equal_weight_are_pale() -> None:
    even = WordHeatmap("a", "mine", ("a",) * 9, (0.1,) * 9, "x")
    assert even.shades == pytest.approx([1 / 3] * 9)


def test_words_with_negative_weights_have_another_colour() -> None:
    mixed = WordHeatmap("a", "mine", ("for", "against", "none"), (0.5, -0.9, 0.0), "x")
    colours = re.findall(r"rgba\((\d+, \d+, \d+), ", mixed.to_html())
    assert colours == ["37, 99, 176", "179, 88, 6", "37, 99, 176"]
    assert re.findall(r'fill="rgb\((\d+), ', mixed.to_svg()) == ["37", "179", "37"]
    assert "orange is negative" in mixed.caption
    assert "orange" not in WordHeatmap("a", "mine", ("for",), (0.5,), "x").caption


def test_a_picture_shows_negative_weights_in_their_colour(tmp_path: Path) -> None:
    from matplotlib.image import imread

    WordHeatmap("a", "mine", ("against",), (-0.9,), "x").to_png(tmp_path / "one.png")
    pixels = imread(tmp_path / "one.png")[..., :3].reshape(-1, 3)
    orange = np.abs(pixels - np.array([179, 88, 6]) / 255).max(-1) < 0.02
    blue = np.abs(pixels - np.array([37, 99, 176]) / 255).max(-1) < 0.02
    assert orange.sum() > 1000
    assert not blue.any()


def test_texts_are_escaped_and_undefined_weights_are_said() -> None:
    html, svg = BAD.to_html(), BAD.to_svg()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert 'title="undefined"' in html
    root = ElementTree.fromstring(svg)
    assert [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")][:2] == [
        "<b>",
        "good",
    ]
    assert json.loads(BAD.to_json())["scores"] == [0.1, 0.9, None]


@pytest.mark.parametrize("ending", ["html", "svg", "png", "jsonl"])
def test_every_kind_of_file(ending: str, tmp_path: Path) -> None:
    results().save(tmp_path / "run")
    out = tmp_path / f"maps.{ending}"
    given = ["heatmaps", str(tmp_path / "run"), "--explanation", "leave_one_out", "--out", str(out)]
    ran = CliRunner().invoke(app, given)
    assert ran.exit_code == 0, ran.output
    content = out.read_bytes()
    assert content.startswith({"png": b"\x89PNG", "svg": b"<svg"}.get(ending, b""))
    if ending == "jsonl":
        assert len(content.splitlines()) == 12
    if ending == "html":
        assert content.count(b"<figure") == 12
    other = list(word_heatmaps(results(), "leave_one_out"))[3].example_id
    assert CliRunner().invoke(app, [*given, "--example", other]).exit_code == 0  # its own file
    assert out.read_bytes() != content
    out.write_bytes(b"mine")
    again = CliRunner().invoke(app, given)
    assert isinstance(again.exception, InputError)
    assert "Give the heatmap another name" in str(again.exception)


def test_wrong_requests_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no scores of 'lime'.*They have: attention"):
        results().to_heatmaps(tmp_path / "a.html", explanation="lime")
    with pytest.raises(InputError, match=r"must end in .html"):
        results().to_heatmaps(tmp_path / "a.pdf")
    with pytest.raises(InputError, match="no example 'nobody'"):
        results().to_heatmaps(tmp_path / "a.svg", examples=["nobody"])


def test_heatmaps_of_citations_name_question_and_answer(tmp_path: Path) -> None:
    from attnaudit import cite
    from attnaudit.data.citations import simulate
    from attnaudit.models.planted_citations import PlantedReader

    (question,) = simulate(1)
    cited = cite(PlantedReader("copier"), [question], show_progress=False)
    (heatmap,) = word_heatmaps(cited)
    assert heatmap.words == question.sources
    assert heatmap.caption == (
        f"attention (darker is more) of the sources, for the answer {question.answer!r} to "
        f"{question.question!r}"
    )
    line = json.loads(heatmap.to_json())
    assert (line["question"], line["answer"]) == (question.question, question.answer)
    assert "predicted" not in line
    with pytest.raises(InputError, match="Audit again with --measures lime"):
        cited.to_heatmaps(tmp_path / "a.html", explanation="lime")
