"""Every command of the tutorial that starts with attnaudit runs, on a tiny model."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from attnaudit.cli import app
from tiny_transformers import TEXTS, tiny

FLAGS = re.DOTALL | re.MULTILINE
PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"


def commands() -> list[str]:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), FLAGS)
    lines = [line for kind, block in blocks if not kind for line in block.splitlines()]
    return [line for line in lines if line.startswith("attnaudit")]


def test_the_commands_of_the_tutorial_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model, tokenizer = tiny("bert", num_labels=2, num_hidden_layers=1)
    model.save_pretrained("minilm")
    tokenizer.save_pretrained("minilm")
    lines = [
        f"{text.replace(' ,', '')} {word},{n % 2}"
        for n, text in enumerate(TEXTS)
        for word in ("good", "bad", "dull", "we")
    ]
    Path("test.csv").write_text("text,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    listed = commands()
    assert len(listed) == 6
    outputs = {}
    for command in listed:
        ran = CliRunner().invoke(app, shlex.split(command)[1:])
        is_gate = command.startswith("attnaudit gate")
        assert ran.exit_code == (3 if is_gate else 0), (command, ran.output, ran.exception)
        outputs[command.split()[1]] = ran.output
    assert "Attention passes" in outputs["audit"]
    assert (
        "attnaudit heatmaps audit --explanation" in outputs["audit"]
        or "show none" in outputs["audit"]
    )
    assert ElementTree.parse("gate.xml").getroot().get("failures") == "1"
    assert "<figure" in Path("heatmaps.html").read_text(encoding="utf-8")
