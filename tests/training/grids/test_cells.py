"""From a file to cells: the expansion, next to a list written by hand, and every error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attnaudit.core.errors import InputError
from attnaudit.results.run_names import run_name
from attnaudit.training.experiment import make_experiment
from attnaudit.training.grids.cells import Cell, expand
from attnaudit.training.grids.spec import read_spec


def cells_of(spec: dict[str, Any] | Path) -> tuple[Cell, ...]:
    return expand(read_spec(spec))


def chosen(spec: dict[str, Any] | Path, *keys: str) -> list[tuple[Any, ...]]:
    """The named choices of every cell, with its intervention."""
    return [
        (*(cell.choices.get(key) for key in keys), cell.intervention) for cell in cells_of(spec)
    ]


def test_expansion_equals_a_list_written_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    file.write_text(
        """
        datasets = ["keyword", "babi:task=2"]
        encoders = ["average", "cnn:filters=8"]
        seeds = [0, 1]
        interventions = ["uniform"]
        epochs = 2

        [[exclude]]             # a name without options matches it with any
        encoder = "cnn"
        dataset = "babi"

        [[exclude]]
        intervention = "uniform"
        seed = 1

        [[include]]             # the same grid again, with these keys replaced
        dataset = "keyword"
        encoder = "mlp"
        seed = 7
        epochs = [3, 4]
        interventions = []
        """
    )
    assert chosen(file, "dataset", "encoder", "seed", "epochs") == [
        ("keyword", "average", 0, 2, None),
        ("keyword", "average", 0, 2, "uniform"),
        ("keyword", "average", 1, 2, None),
        ("keyword", "cnn:filters=8", 0, 2, None),
        ("keyword", "cnn:filters=8", 0, 2, "uniform"),
        ("keyword", "cnn:filters=8", 1, 2, None),
        ("babi:task=2", "average", 0, 2, None),
        ("babi:task=2", "average", 0, 2, "uniform"),
        ("babi:task=2", "average", 1, 2, None),
        ("keyword", "mlp", 7, 3, None),
        ("keyword", "mlp", 7, 4, None),
    ]


def test_a_cell_is_the_run_that_the_same_choices_make() -> None:
    spec = {
        "dataset": "keyword",
        "preset": "wen",
        "scorers": ["dot", "additive"],
        "projection": "sparsemax",
        "seed": 3,
        "audits": ["furthest:epsilon=0.05", "agreement"],
        "sample": 10,
    }
    first, second = cells_of(spec)
    choices = {
        "preset": "wen",
        "projection": "sparsemax",
        "seed": 3,
        "audits": ("furthest:epsilon=0.05", "agreement"),
        "sample": 10,
    }
    expected = make_experiment("keyword", scorer="dot", **choices)
    assert first.experiment == expected
    assert first.name == run_name(expected.choices())
    assert second.experiment == make_experiment("keyword", scorer="additive", **choices)
    assert (first.label, second.label) == ("scorer dot", "scorer additive")


def test_a_list_of_lists_is_several_selections_of_audits() -> None:
    spec = {"dataset": "keyword", "audits": [["agreement"], ["agreement", "furthest"]]}
    assert [cell.experiment.audits for cell in cells_of(spec)] == [
        ("agreement",),
        ("agreement", "furthest"),
    ]


def test_cells_that_are_the_same_run_are_one_cell() -> None:
    spec = {
        "dataset": "keyword",
        "encoders": ["bilstm", "bilstm:hidden=32"],  # the default of this dataset
        "include": [{"encoder": "bilstm"}],
    }
    assert len(cells_of(spec)) == 1


def test_the_base_of_an_intervention_is_a_cell_before_it() -> None:
    spec = {"dataset": "keyword", "interventions": ["seeds:count=2", "uniform"]}
    run, first, second = cells_of(spec)
    assert (run.base, first.base, second.base) == (None, run.name, run.name)


WRONG: list[tuple[str, str]] = [
    ("seed = 1\nencoder = [3 4]", "grid.toml is not TOML: .*line 2"),
    ('encodrs = ["cnn"]', "grid.toml, line 1: there is no key 'encodrs'. Did you mean 'encoders'"),
    ("\nencoders = [3]", "grid.toml, line 2: encoders must be a name, got 3"),
    (
        '\nencoders = ["cnn", "bilstmm"]',
        "line 2: encoders, value 2: There is no encoder 'bilstmm'. Did you mean 'bilstm'",
    ),
    ('encoder = "cnn:filtres=3"', "line 1: encoder: The encoder 'cnn' has no option 'filtres'"),
    ('scorer = "x"', "line 1: scorer: There is no scorer 'x'"),
    ('model = "x"', "line 1: model: There is no model 'x'"),
    ('preset = "x"', "line 1: preset: There is no preset 'x'"),
    ('intervention = "x"', "line 1: intervention: There is no intervention 'x'"),
    ('dataset = "x"', "line 1: dataset: There is no dataset 'x'"),
    ('dataset = "keyword:x=1"', "The dataset 'keyword' has no option 'x'"),
    ('audits = ["agreement", "x"]', "line 1: audits: There is no audit 'x'"),
    ('audits = [["agreement"], ["x"]]', "line 1: audits, value 2: There is no audit 'x'"),
    ("audits = []", "line 1: audits is an empty list"),
    ('measures = "x"', "There is no measure 'x'"),
    ('vectors = "nowhere.txt"', "There is no file of word vectors at nowhere.txt"),
    ('seeds = [0, "1"]', "line 1: seeds, value 2 must be a whole number, got '1'"),
    ("seeds = [true]", "seeds must be a whole number, got True"),
    ("seeds = [0, 0]", "seeds, value 2: 0 is listed twice"),
    ("seeds = []", "seeds is an empty list, so the grid has no cells"),
    ("epochs = 0", "line 1: epochs: .*epochs"),
    ("epochs = 2.5", "epochs must be a whole number, got 2.5"),
    ('learning_rate = "fast"', "learning_rate must be a number, got 'fast'"),
    ("sample = 0", "line 1: sample: .*sample"),
    ('optimiser = "x"', "line 1: optimiser: There is no optimiser 'x'"),
    ('variant = "uniform"', "there is no key 'variant'"),
    ("seed = 1\nseeds = [2]", "line 2: seed is given twice"),
    ("include = 3", "line 1: include must be tables, each headed"),
    ("[[include]]", r"line 1 \(\[\[include\]\] number 1\): the table is empty"),
    (
        'seed = 1\n[[exclude]]\nseed = 1\n[[exclude]]\nencodr = "cnn"',
        r"line 5 \(\[\[exclude\]\] number 2\): there is no key 'encodr'",
    ),
    (
        "seeds = [0, 1]\n[[exclude]]\nseed = 2",
        r"line 2 \(\[\[exclude\]\] number 1\): it matches no cell",
    ),
    ('dataset = "keyword"\n[[exclude]]\ndataset = "keyword"', "the grid is empty"),
    (
        'encoder = "transformer:hidden=10,heads=3"',
        "the cell .*encoder transformer:hidden=10,heads=3: ",
    ),
]


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[text for text, _ in WRONG])
def test_a_mistake_is_reported_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "grid.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        cells_of(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Cannot read the grid file .*No such file"):
        read_spec(tmp_path / "grid.toml")


def test_two_files_of_the_same_name_are_not_one_cell(tmp_path: Path) -> None:
    files = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        files.append(str(tmp_path / folder / "reviews.csv"))
        Path(files[-1]).write_text("text,label\ngood,1\n")
    with pytest.raises(InputError, match="two cells would have the same folder"):
        cells_of({"datasets": files})


def test_the_example_of_the_documentation_is_a_grid(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "grid.md").read_text(encoding="utf-8")
    file = tmp_path / "grid.toml"
    file.write_text(page.split("```toml\n")[1].split("```")[0], encoding="utf-8")
    cells = cells_of(file)
    runs = [cell for cell in cells if cell.intervention is None]
    # 2 x 3 x 2 x 2 x 3 combinations, without average and sparsemax (2 x 2 x 3), and one included.
    assert len(runs) == 72 - 12 + 1
    # Uniform for the runs on keyword, which are half of them, and two for the included one.
    assert len(cells) - len(runs) == 30 + 2
