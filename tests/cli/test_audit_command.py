"""`attnaudit audit`: a saved model and a file of texts; what is written, printed and rejected."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
import transformers as hf
from safetensors.torch import load_file, save_file
from tokenizers import normalizers
from typer.testing import CliRunner

from attnaudit import audit_files
from attnaudit.cli import app
from attnaudit.core.errors import InputError
from attnaudit.core.verbosity import Verbosity, set_verbosity
from attnaudit.results.results import Results
from attnaudit.results.store import load_results
from tiny_transformers import TEXTS, tiny, tiny_tokenizer

CLASSES = ["Bad", "Fair", "Good"]
FAST = ["--audits", "uniform_attention,agreement", "--measures", "gradient,random"]
LABELLED = [
    (TEXTS[0], "good"),
    (TEXTS[1], "BAD"),
    (TEXTS[2], "Bad"),
    ("we liked the film", "GOOD"),
    ("it was not bad", "fair"),
    ("a very dull one", "bad"),
]
PAIRS = [
    ("a dull film", "we liked it"),
    ("not good", "at all"),
    ("the film", "was very good"),
    ("it was bad", "not one"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with three named classes, as save_pretrained leaves it."""
    model, tokenizer = tiny("bert", id2label=dict(enumerate(CLASSES)))
    # No class may be the answer to everything: that would hide the order of the texts.
    with torch.no_grad():
        logits = torch.cat(
            [model(**tokenizer(text, return_tensors="pt")).logits for text, _ in LABELLED]
        )
        model.classifier.bias -= logits.mean(0)
    made = tmp_path_factory.mktemp("model")
    tokenizer.backend_tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=False
    )  # as BERT's has
    model.float().save_pretrained(made)
    tokenizer.save_pretrained(made)
    return made


def copied(folder: Path, to: Path) -> Path:
    to.mkdir()
    for each in folder.iterdir():
        (to / each.name).write_bytes(each.read_bytes())
    return to


def csv_file(
    path: Path, rows: list[tuple[str, ...]], header: tuple[str, ...] = ("text", "label")
) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def printed(folder: Path, data: Path, out: Path, *options: str, code: int = 0) -> str:
    """What the command prints; it must end with this exit code."""
    result = CliRunner().invoke(
        app, ["audit", str(folder), "--data", str(data), "--out", str(out), *FAST, *options]
    )
    if result.exit_code != code:
        raise AssertionError(f"exit code {result.exit_code}: {result.output}") from result.exception
    return result.output


def shows_card(output: str, results: Results) -> bool:
    """Whether the card was printed as it is stored, but for the folders of paths in commands."""
    return str(results.card()) in re.sub(r"(?<= )/\S*/(?=\S)", "", output)


def rejection(folder: Path, data: Path, out: Path, *options: str) -> str:
    """The text of the rejection; nothing must be written."""
    result = CliRunner().invoke(
        app, ["audit", str(folder), "--data", str(data), "--out", str(out), *FAST, *options]
    )
    assert isinstance(result.exception, InputError), result.output
    assert not out.exists()
    return str(result.exception)


def each_text(out: Path) -> list[tuple[int, int]]:
    """(label, predicted) of every text, in the order of the file."""
    frame = load_results(out).frame().drop_duplicates("example_id").sort_values("example_id")
    return list(zip(frame["label"].tolist(), frame["predicted"].tolist(), strict=True))


def own_logits(folder: Path, texts: list[Any]) -> torch.Tensor:
    """By transformers alone, one text at a time."""
    model = hf.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        return torch.cat(
            [
                model(**tokenizer(*([t] if isinstance(t, str) else t), return_tensors="pt")).logits
                for t in texts
            ]
        )


def test_csv_with_labels_in_another_case(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    output = printed(folder, data, tmp_path / "out")
    results = load_results(tmp_path / "out")
    texts = results.about["texts"]
    assert (texts["read"], texts["audited"], texts["labelled"]) == (6, 6, True)
    predicted = own_logits(folder, [text for text, _ in LABELLED]).argmax(-1).tolist()
    assert each_text(tmp_path / "out") == list(zip([2, 0, 0, 2, 1, 0], predicted, strict=True))
    assert len(set(predicted)) > 1  # or the order of the texts could not be seen
    assert set(results.frame()["audit"]) == {"uniform_attention", "agreement"}
    assert shows_card(output, results)


def test_the_log_says_what_was_done_and_names_no_folder(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    printed(folder, data, tmp_path / "out", *FAST)
    log = (tmp_path / "out" / "run.log").read_text()
    assert log.splitlines()[0] == f"{folder.name} on {data.name}"
    for phase in ("loading the model", "reading the texts", "audit"):
        assert f"\n{phase}: " in log
    assert str(tmp_path) not in log
    assert str(folder.parent) not in log


def test_the_page_is_written_and_named(folder: Path, tmp_path: Path) -> None:
    rows = [*LABELLED, ("<script>alert(1)</script> good", "good")]
    output = printed(folder, csv_file(tmp_path / "own.csv", rows), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert str(tmp_path / "out" / "report.html") in re.sub(r"\s", "", output)
    assert "uniform" in page
    assert "<script>alert(1)" not in page


def test_jsonl_without_labels(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "own.jsonl"
    data.write_text(
        "".join(json.dumps({"review": text}) + "\n" for text in TEXTS), encoding="utf-8"
    )
    printed(folder, data, tmp_path / "out")
    about = load_results(tmp_path / "out").about
    assert about["texts"]["labelled"] is False
    assert about["texts"]["audited"] == 3
    assert {label for label, _ in each_text(tmp_path / "out")} == {-1}
    assert about["majority"] is None


def test_one_text_is_enough(folder: Path, tmp_path: Path) -> None:
    printed(folder, csv_file(tmp_path / "own.csv", [(TEXTS[0],)], ("text",)), tmp_path / "out")
    results = load_results(tmp_path / "out")
    assert results.frame()["example_id"].nunique() == 1


def test_columns_by_name_and_pairs(folder: Path, tmp_path: Path) -> None:
    rows = [
        ("7", *pair, label)
        for pair, label in zip(PAIRS, ["good", "bad", "fair", "bad"], strict=True)
    ]
    data = csv_file(tmp_path / "own.csv", rows, ("n", "one", "two", "verdict"))
    named = ["--text-column", "one", "--pair-column", "two", "--label-column", "verdict"]
    printed(folder, data, tmp_path / "out", *named)
    # The prediction depends on the second text, so leaving it out must show.
    predicted = own_logits(folder, PAIRS).argmax(-1).tolist()
    assert predicted != own_logits(folder, [one for one, _ in PAIRS]).argmax(-1).tolist()
    assert each_text(tmp_path / "out") == list(zip([2, 0, 1, 0], predicted, strict=True))


def test_a_sample_is_reported_and_holds_each_label_in_its_share(
    folder: Path, tmp_path: Path
) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    output = printed(folder, data, tmp_path / "out", "--sample", "3")
    assert "3 of 6 texts were audited" in output
    assert load_results(tmp_path / "out").about["texts"]["audited"] == 3


def test_truncation_is_reported(folder: Path, tmp_path: Path) -> None:
    data = csv_file(
        tmp_path / "own.csv", [("film " * 30, "bad"), ("film", "bad"), ("good " * 9, "good")]
    )
    output = printed(folder, data, tmp_path / "out", "--max-length", "12")
    assert "2 texts were longer than the model reads and cut" in output
    assert load_results(tmp_path / "out").about["truncated"] == 2
    assert "longer than the model reads" not in printed(folder, data, tmp_path / "whole")


def test_layers_and_heads_are_chosen(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    printed(folder, data, tmp_path / "out", "--layers", "0+2", "--heads", "1")
    model = load_results(tmp_path / "out").about["model"]
    assert (model["layers"], model["heads"]) == ([0, 2], [1])
    assert "numbers from 0 to 2" in rejection(folder, data, tmp_path / "none", "--layers", "7")


def test_the_gate_closes_with_exit_code_3(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    # Random scores agree with nothing perfectly, and no change of a distribution is above 1.
    closed, never = "agreement/tau@random<0.99", "uniform_attention/tvd>1.5"
    assert "The gate is closed" in printed(
        folder, data, tmp_path / "out", "--fail-if", closed, code=3
    )
    assert (tmp_path / "out" / "report.html").is_file()
    assert "The gate is open" in printed(folder, data, tmp_path / "open", "--fail-if", never)


def test_what_needs_retraining_is_not_claimed(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    printed(folder, data, tmp_path / "out")
    card = load_results(tmp_path / "out").card()
    assert card["is it stable?"].answer == "cannot tell"


def test_other_trainings_are_compared(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    other = copied(folder, tmp_path / "model")
    weights = load_file(other / "model.safetensors")
    # Queries the other way round: what was attended most is attended least.
    turned = {name: -value if "query" in name else value for name, value in weights.items()}
    save_file(turned, other / "model.safetensors", metadata={"format": "pt"})
    for name, given in (("same", folder), ("turned", other)):
        printed(
            folder, data, tmp_path / name, "--other-models", str(given), "--audits", "stability"
        )
    assert load_results(tmp_path / "same").mean("stability", "jsd") == pytest.approx(0, abs=1e-6)
    assert load_results(tmp_path / "turned").mean("stability", "jsd") > 0.05


def test_labels_the_model_does_not_know(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", [*LABELLED, ("a film", "superb")])
    words = rejection(folder, data, tmp_path / "out")
    assert "superb" in words
    assert all(name in words for name in CLASSES)


def test_numbers_are_labels_too(folder: Path, tmp_path: Path) -> None:
    predicted = own_logits(folder, TEXTS).argmax(-1).tolist()
    rows = [(text, str(number)) for text, number in zip(TEXTS, predicted, strict=True)]
    printed(folder, csv_file(tmp_path / "own.csv", rows), tmp_path / "out")
    assert each_text(tmp_path / "out") == [(number, number) for number in predicted]
    words = rejection(
        folder, csv_file(tmp_path / "three.csv", [("a film", "3")]), tmp_path / "none"
    )
    assert words.startswith("three.csv, line 2: the label '3' is not a class")


def test_pickled_weights_are_rejected(folder: Path, tmp_path: Path) -> None:
    other = copied(folder, tmp_path / "model")
    torch.save(load_file(other / "model.safetensors"), other / "pytorch_model.bin")
    (other / "model.safetensors").unlink()
    words = rejection(other, csv_file(tmp_path / "own.csv", LABELLED), tmp_path / "out")
    assert "safetensors" in words
    assert "may run code" in words


def test_a_folder_without_a_model_is_rejected(tmp_path: Path) -> None:
    words = rejection(tmp_path, csv_file(tmp_path / "own.csv", LABELLED), tmp_path / "out")
    assert "holds no config.json" in words


def test_the_model_is_checked_before_the_data_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no_model") as caught:
        audit_files(tmp_path / "no_model", tmp_path / "no_data.csv")
    assert "no_data.csv" not in str(caught.value)


def test_an_encoder_without_its_classifier_is_rejected(folder: Path, tmp_path: Path) -> None:
    """transformers would draw the missing weights at random, and the card would be about noise."""
    other = copied(folder, tmp_path / "model")
    weights = load_file(other / "model.safetensors")
    kept = {name: value for name, value in weights.items() if not name.startswith("classifier")}
    save_file(kept, other / "model.safetensors", metadata={"format": "pt"})
    words = rejection(other, csv_file(tmp_path / "own.csv", LABELLED), tmp_path / "out")
    assert "classifier.weight" in words


def test_a_tokenizer_of_another_model_is_rejected(folder: Path, tmp_path: Path) -> None:
    other = copied(folder, tmp_path / "model")
    tokenizer = tiny_tokenizer("bert")
    tokenizer.add_tokens([f"word{number}" for number in range(40)])
    tokenizer.save_pretrained(other)
    words = rejection(other, csv_file(tmp_path / "own.csv", LABELLED), tmp_path / "out")
    assert "do not belong together" in words


def test_which_column_is_asked_in_the_words_of_the_command(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", [("a film", "x")], ("foo", "bar"))
    words = rejection(folder, data, tmp_path / "out")
    assert "--text-column" in words
    assert "'foo', 'bar'" in words


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_decoders_and_encoder_decoders_go_through_the_command(name: str, tmp_path: Path) -> None:
    model, tokenizer = tiny(name, id2label=dict(enumerate(CLASSES)))
    model.float().save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    texts = [text for text, _ in LABELLED]
    output = printed(tmp_path / "model", csv_file(tmp_path / "own.csv", LABELLED), tmp_path / "out")
    predicted = own_logits(tmp_path / "model", texts).argmax(-1).tolist()
    assert [each for _, each in each_text(tmp_path / "out")] == predicted
    results = load_results(tmp_path / "out")
    assert results.about["model"]["model"] == type(model).__name__
    assert results.about["rows"] == 4
    assert shows_card(output, results)


def test_results_are_replaced_only_when_asked_and_every_label_is_checked(
    folder: Path, tmp_path: Path
) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    printed(folder, data, tmp_path / "out")
    again = CliRunner().invoke(
        app, ["audit", str(folder), "--data", str(data), "--out", str(tmp_path / "out"), *FAST]
    )
    assert "--force to replace" in str(again.exception)
    assert "6 texts" in printed(folder, data, tmp_path / "out", "--force")
    wrong = csv_file(tmp_path / "wrong.csv", [*LABELLED, ("a film", "superb")])
    for seed in ("0", "1", "2"):  # whichever texts are drawn
        assert "superb" in rejection(
            folder, wrong, tmp_path / "none", "--sample", "3", "--seed", seed
        )


def test_a_sample_of_the_labels_means_what_the_whole_column_means(tmp_path: Path) -> None:
    """With classes named 1, 2, 3 and labels 0, 1, 2, a sample without a 0 would look like names.

    Every label would be one class off.
    """
    model, tokenizer = tiny("bert", id2label={0: "1", 1: "2", 2: "3"})
    model.float().save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    rows = [(TEXTS[0], "0"), *[(text, label) for text in TEXTS[:2] for label in ("1", "2")] * 3]
    data = csv_file(tmp_path / "own.csv", rows)
    printed(tmp_path / "model", data, tmp_path / "out", "--sample", "6")
    labels = [label for label, _ in each_text(tmp_path / "out")]
    assert 0 not in labels  # none was drawn: this is the case in question
    assert sorted(labels) == [1, 1, 1, 2, 2, 2]


# What was read -----------------------------------------------------------------------------


def test_what_was_read_is_printed_before_the_work(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "own.csv"
    data.write_text("premise;hypothesis;label\na dull film;we liked it;bad\nnot good;at all;good\n")
    output = printed(folder, data, tmp_path / "out")
    summary = (
        "Read own.csv: text = premise, pair = hypothesis, label = label, 2 rows, delimiter ;, "
        "encoding utf-8"
    )
    assert output.count(summary) == 1
    assert output.index(summary) < output.index("BertForSequenceClassification")
    pairs = [("a dull film", "we liked it"), ("not good", "at all")]
    predicted = own_logits(folder, pairs).argmax(-1).tolist()
    assert [each for _, each in each_text(tmp_path / "out")] == predicted


def test_quiet_prints_the_results_alone(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    output = printed(folder, data, tmp_path / "out", "--quiet")
    set_verbosity(Verbosity.NORMAL)
    assert "Read own.csv" not in output
    assert shows_card(output, load_results(tmp_path / "out"))


def test_results_to_which_no_audit_applied_are_read_and_shown(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    output = printed(folder, data, tmp_path / "out", "--audits", "evidence")
    results = load_results(tmp_path / "out")
    assert results.summaries.empty
    assert list(results.about["not_applicable"]) == ["evidence"]
    assert shows_card(output, results)
    assert (tmp_path / "out" / "report.html").is_file()


def test_only_the_name_of_the_file_is_stored(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", [*LABELLED, ("", "bad")])
    printed(folder, data, tmp_path / "out", "--skip-bad")
    about = load_results(tmp_path / "out").about
    assert about["texts"]["file"] == "own.csv"
    assert str(tmp_path) not in json.dumps(about)


def test_every_kind_of_bad_row_is_skipped_and_counted_or_an_error(
    folder: Path, tmp_path: Path
) -> None:
    bad = {"\u200b\u200d": "bad", "\x01\x02": "good", " ": "bad", "a film": ""}
    rows = [*LABELLED[:3], *bad.items(), *LABELLED[3:]]
    output = printed(folder, csv_file(tmp_path / "own.csv", rows), tmp_path / "out", "--skip-bad")
    assert "4 rows were skipped: 1 no text, 1 no label, 2 no token." in output
    assert "texts were audited" not in output  # nothing was drawn
    texts = load_results(tmp_path / "out").about["texts"]
    assert (texts["read"], texts["audited"], texts["skipped"]["rows"]) == (6, 6, 4)
    assert texts["skipped"]["reasons"] == {"no text": 1, "no label": 1, "no token": 2}
    predicted = own_logits(folder, [text for text, _ in LABELLED]).argmax(-1).tolist()
    assert each_text(tmp_path / "out") == list(zip([2, 0, 0, 2, 1, 0], predicted, strict=True))
    for text, label in bad.items():
        data = csv_file(tmp_path / "one.csv", [*LABELLED, (text, label)])
        assert rejection(folder, data, tmp_path / "none").startswith("one.csv, line 8: ")


def test_others_are_drawn_for_texts_without_a_token(folder: Path, tmp_path: Path) -> None:
    rows = [*LABELLED, *[("\u200b", label) for label in ("good", "bad", "fair")] * 8]
    data = csv_file(tmp_path / "own.csv", rows)
    printed(folder, data, tmp_path / "out", "--skip-bad", "--sample", "4")
    assert load_results(tmp_path / "out").about["texts"]["audited"] == 4
    only = csv_file(tmp_path / "only.csv", [("\u200b", "good")] * 2)
    assert "No text is left of 2" in rejection(folder, only, tmp_path / "none", "--skip-bad")


def test_labels_of_the_file_are_renamed(folder: Path, tmp_path: Path) -> None:
    names = {"good": "pos", "bad": "neg", "fair": "fair"}
    rows = [(text, names[label.lower()]) for text, label in LABELLED]
    data = csv_file(tmp_path / "own.csv", rows)
    words = rejection(folder, data, tmp_path / "none")
    assert words.startswith(
        "own.csv, line 2: the label 'pos' is not a class of the model. Choose from: Bad, Fair, Good"
    )
    assert "--labels" in words
    printed(folder, data, tmp_path / "out", "--labels", "pos=good, neg=Bad")
    assert [label for label, _ in each_text(tmp_path / "out")] == [2, 0, 0, 2, 1, 0]
    unknown = rejection(folder, data, tmp_path / "none", "--labels", "pos=good,nag=bad")
    assert "'nag' is not. The data has 'pos', 'neg', 'fair'" in unknown
    unknown = rejection(folder, data, tmp_path / "none", "--labels", "pos=good,neg=awful")
    assert "'awful' is not a class of the model. Its classes: Bad, Fair, Good" in unknown
    for wrong in ("pos", "pos=", "=good", "pos=good,pos=bad", ""):
        assert "--labels must be label=CLASS" in rejection(
            folder, data, tmp_path / "none", "--labels", wrong
        )
    unlabelled = csv_file(tmp_path / "un.csv", [(TEXTS[0],)], ("text",))
    assert "no label column" in rejection(
        folder, unlabelled, tmp_path / "none", "--labels", "pos=good"
    )


def test_numbers_are_renamed_as_they_are_typed(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "own.jsonl"
    rows = [{"text": text, "label": float(number)} for number, text in enumerate(TEXTS)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    printed(folder, data, tmp_path / "out", "--labels", "0=good,1=fair,2=bad")
    assert [label for label, _ in each_text(tmp_path / "out")] == [2, 1, 0]


def test_a_label_too_large_for_a_number_is_no_class(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "own.jsonl"
    data.write_text('{"text": "a film", "label": 1' + "0" * 400 + "}\n")
    assert rejection(folder, data, tmp_path / "none").startswith(
        "own.jsonl, line 1: the label '1000"
    )


def test_delimiter_and_encoding_are_options(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "own.csv"
    data.write_bytes("text|label\na film, caf\xe9|bad\n".encode("cp1252"))
    assert "--encoding cp1252" in rejection(folder, data, tmp_path / "none")
    output = printed(folder, data, tmp_path / "out", "--encoding", "cp1252", "--delimiter", "|")
    assert "delimiter |, encoding cp1252" in output


# The same in Python --------------------------------------------------------------------------


def test_audit_files_in_python_is_the_command(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", [*LABELLED, ("", "bad")])
    output = printed(folder, data, tmp_path / "command", "--skip-bad", "--sample", "4")
    messages: list[str] = []
    results = audit_files(
        str(folder),
        str(data),
        audits=["uniform_attention", "agreement"],
        measures=["gradient", "random"],
        sample=4,
        skip_bad=True,
        out=tmp_path / "python",
        on_message=messages.append,
    )
    stored = [load_results(tmp_path / name) for name in ("command", "python")]
    pd.testing.assert_frame_equal(stored[0].values, stored[1].values)
    pd.testing.assert_frame_equal(stored[0].values, results.values)
    texts = [about["texts"] for about in (stored[0].about, results.about)]
    # Only the advice differs: "leave such rows out with --skip-bad".
    assert [each["skipped"].pop("first")[0][:34] for each in texts] == [
        "own.csv, line 8: the text is empty"
    ] * 2
    assert [each["call"].pop("out") for each in texts] == ["command", "python"]
    assert texts[0] == texts[1]
    assert (tmp_path / "python" / "report.html").is_file()
    (summary,) = messages  # too few texts for an estimate of the time
    assert summary in output


def test_audit_files_saves_nothing_unless_asked_and_writes_options_as_in_python(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = csv_file(tmp_path / "own.csv", [("a film", "x")], ("foo", "bar"))
    with pytest.raises(InputError, match="text='COLUMN'"):
        audit_files(folder, data)
    quick = {"audits": ["uniform_attention"], "measures": ["random"]}
    results = audit_files(folder, data, text="foo", label="", **quick)
    assert results.about["texts"]["audited"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["own.csv"]


def test_results_without_their_report_are_not_audited_again(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    printed(folder, data, tmp_path / "out")
    (tmp_path / "out" / "report.html").unlink()  # as if killed before it was written
    arguments = ["audit", str(folder), "--data", str(data), "--out", str(tmp_path / "out"), *FAST]
    rejected = str(CliRunner().invoke(app, arguments).exception)
    assert "only the report is missing" in rejected
    command = re.search(r"attnaudit (report .*?report\.html)", rejected)
    assert command is not None
    assert CliRunner().invoke(app, command[1].split()).exit_code == 0
    assert (tmp_path / "out" / "report.html").is_file()
    printed(folder, data, tmp_path / "out", "--force")


def test_the_next_command_on_the_card_can_be_copied(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    shown = printed(folder, data, tmp_path / "out")
    (command,) = set(re.findall(r"attnaudit (audit .*)", shown))
    monkeypatch.chdir(tmp_path.parent)
    assert CliRunner().invoke(app, command.split()).exit_code == 0
    assert (tmp_path / "out-2" / "report.html").is_file()


def test_stored_files_hold_no_folder_of_the_user(folder: Path, tmp_path: Path) -> None:
    data = csv_file(tmp_path / "own.csv", LABELLED)
    printed(folder, data, tmp_path / "out")
    stored = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert {"run.json", "report.html"} <= {path.name for path in stored}
    for path in stored:
        content = path.read_bytes()
        assert str(tmp_path).encode() not in content, path.name
        assert str(folder.parent).encode() not in content, path.name
