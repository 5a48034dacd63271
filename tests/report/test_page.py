"""The page: its numbers are those of the results, its size is bounded, texts are shown as text."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import kendalltau

from attnaudit.auditing.audit import audit
from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.papers.lesson import make_lesson, sentences
from attnaudit.report.charts.chart_data import chart_data
from attnaudit.report.charts.concentration import concentration
from attnaudit.report.charts.measure_matrix import measure_matrix
from attnaudit.report.column_view import Columns
from attnaudit.report.examples import all_examples, example_data
from attnaudit.report.inline_data import as_json, packed
from attnaudit.report.model_words import model_words
from attnaudit.report.overview import bar, dimensions, facts, on_marks, tables
from attnaudit.report.page import write_page
from attnaudit.report.row_effects import row_effects
from attnaudit.report.site import write_site
from attnaudit.results.card import Finding
from attnaudit.results.results import Results
from attnaudit.results.value_columns import ValueColumns

NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "שלום",
    "🙂",
    "x" * 10_000,
    "a\x00b",
    "{{ 7 * 7 }}",
    "\ud800",
    "</script>",
    "<!--",
    "\u2028",
]


def results(kind: str = "oracle", count: int = 12) -> Results:
    words = [NASTY[number % len(NASTY)] for number in range(50)]
    return audit(
        Glass(kind),
        glass_batch(count),
        words=words,
        class_names=["<b>no</b>", "yes & more"],
        show_progress=False,
    )


@pytest.fixture(scope="module")
def oracle() -> Results:
    return results()


class Page(HTMLParser):
    """The elements of a page, and the text of each script by its id."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.handlers: list[str] = []
        self.addresses: list[str] = []
        self.scripts: list[str] = []
        self.data: dict[str, str] = {}
        self._in: tuple[str, str | None] | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        given = dict(attributes)
        self.handlers += [name for name in given if name.startswith("on")]
        self.addresses += [str(given[name]) for name in ("src", "href") if name in given]
        if tag == "script":
            self._in = ("data", given["id"]) if "id" in given else ("script", None)
            self.scripts += [""] if self._in[0] == "script" else []

    def handle_endtag(self, tag: str) -> None:
        self._in = None if tag == "script" else self._in

    def handle_data(self, data: str) -> None:
        if self._in is None:
            return
        kind, name = self._in
        if kind == "script":
            self.scripts[-1] += data
        else:
            self.data[str(name)] = self.data.get(str(name), "") + data


def page_of(found: Results | list[Results], folder: Path) -> tuple[str, Page]:
    given = found if isinstance(found, list) else [found]
    html = write_page(given, folder / "page.html").read_text(encoding="utf-8")
    return html, Page(html)


def test_hostile_texts_are_data_and_make_no_element(oracle: Results, tmp_path: Path) -> None:
    html, page = page_of(oracle, tmp_path)
    assert "img" not in page.seen
    assert page.handlers == []
    assert "&lt;b&gt;no&lt;/b&gt;" in html
    content = json.loads(page.data["examples-0"])
    shown = {token for example in content["examples"] for token in example["tokens"]}
    kept = {token for tokens in oracle.examples["tokens"] for token in tokens}
    assert shown == kept
    assert {
        "<script>alert(1)</script>",
        "</script>",
        "a\x00b",
        "{{ 7 * 7 }}",
        "שלום",
        "x" * 10_000,
    } <= shown
    assert all(mark not in page.data["examples-0"] for mark in "<>&\u2028")


def test_a_name_cannot_turn_the_numbers_after_it(oracle: Results, tmp_path: Path) -> None:
    """U+202E in a file name once made "vocabulary 53" read "35 yralubacov"."""
    turned = replace(
        oracle,
        about={
            **oracle.about,
            "classes": ["\u202eno", "\u2067yes"],
            "run": {"choices": {"dataset": "data\u202egnp.csv", "seed": 0}},
        },
    )
    html, _ = page_of(turned, tmp_path)
    outside_of_data = re.sub(r"<script[^>]*>.*?</script>", "", html, flags=re.DOTALL)
    assert "data\\u202egnp.csv" in outside_of_data
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", outside_of_data)


def test_only_our_scripts_may_run(oracle: Results, tmp_path: Path) -> None:
    html, page = page_of(oracle, tmp_path)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].replace("&#39;", "'").split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in rules["script-src"]
    digests = [
        base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in page.scripts
    ]
    assert rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]
    assert len(digests) > 10
    assert page.addresses == []


def test_the_page_has_its_parts_and_all_audits(oracle: Results, tmp_path: Path) -> None:
    html, page = page_of([oracle, results("inert")], tmp_path)
    assert html.count('class="card"') == 2
    assert html.count('role="tab" id=') == html.count('role="tabpanel"') == 4
    tables = json.loads(page.data["tables-1"])
    assert set(tables["audits"]) == set(oracle.summaries["audit"])


def test_numbers_on_the_page_are_the_numbers_of_the_results(
    oracle: Results, tmp_path: Path
) -> None:
    html, page = page_of(oracle, tmp_path)
    for answer in oracle.card().answers:
        for finding in answer.findings:
            assert f"{finding.value:.3f} [{finding.low:.3f}, {finding.high:.3f}]" in html
    for caution in oracle.card().cautions:
        assert caution.split(";")[0] in html
    assert oracle.card().cautions
    tables = json.loads(page.data["tables-0"])
    lines = sum(len(each) for each in tables["audits"].values())
    assert lines == len(oracle.summaries)  # one row at this site
    mean = tables["columns"].index("mean")
    first = oracle.summaries[oracle.summaries["audit"] == "agreement"]["mean"].to_numpy()
    shown = [
        math.nan if line[mean] is None else line[mean] for line in tables["audits"]["agreement"]
    ]
    np.testing.assert_allclose(shown, first, rtol=1e-3)


def test_what_did_not_apply_is_told_with_its_reason(oracle: Results, tmp_path: Path) -> None:
    about = {
        **oracle.about,
        "not_applicable": {"evidence": "no <evidence>"},
        "measures_not_applicable": {"rollout": "no layers"},
    }
    html, _ = page_of(replace(oracle, about=about), tmp_path)
    assert "The audit <b>evidence</b>: no &lt;evidence&gt;." in html
    assert "The measure <b>rollout</b>: no layers." in html


@pytest.mark.parametrize("text", [*NASTY, "plain", "]]>", "&amp;", '\\"'])
def test_json_comes_back_as_it_was_and_cannot_end_its_element(text: str) -> None:
    made = as_json({"text": text, "number": float("nan"), "array": np.arange(3)})
    assert json.loads(made) == {"text": text, "number": None, "array": [0, 1, 2]}
    assert not re.search("[<>&\u2028\u2029\ud800-\udfff]", made)


def test_packed_numbers_lose_nothing_of_a_float32() -> None:
    values = torch.rand(50).tolist()
    back = np.frombuffer(base64.b64decode(packed(values)), "<f4")
    assert back.tolist() == values


def test_an_embedded_example_is_the_stored_one(oracle: Results) -> None:
    stored = {line.example_id: line for line in oracle.examples.itertuples()}
    for example in all_examples(oracle):
        line = stored[example["id"]]
        attention = np.frombuffer(base64.b64decode(example["attention"]), "<f4")
        np.testing.assert_allclose(attention, line.attention, atol=1e-7)
        far = np.zeros(example["furthest"]["count"])
        at = np.frombuffer(base64.b64decode(example["furthest"]["at"]), "<u4")
        far[at] = np.frombuffer(base64.b64decode(example["furthest"]["weights"]), "<f4")
        np.testing.assert_allclose(far, line.furthest, atol=1e-7)
        readout = np.frombuffer(base64.b64decode(example["readout"]), "<f4").reshape(
            len(line.tokens), 2
        )
        logits = attention @ readout
        np.testing.assert_allclose(np.exp(logits) / np.exp(logits).sum(), line.probs, atol=1e-5)
        for each in line.scores:
            scale = example["scores"][each["measure"]]
            steps = np.frombuffer(base64.b64decode(scale["steps"]), "<u2")
            values = np.asarray(each["values"])
            known = ~np.isnan(values)
            assert ((steps == 65535) == ~known).all()
            back = scale["low"] + steps / 65534 * (scale["high"] - scale["low"])
            room = (scale["high"] - scale["low"]) / 65534
            np.testing.assert_allclose(back[known], values[known], atol=room + 1e-12)


def test_a_readout_that_does_not_give_the_prediction_is_left_out(oracle: Results) -> None:
    assert all(example["readout"] for example in all_examples(oracle))
    wrong = oracle.examples.assign(probs=[np.array([0.5, 0.5])] * len(oracle.examples))
    assert not any(example["readout"] for example in all_examples(replace(oracle, examples=wrong)))


def test_examples_stay_within_number_and_bytes_and_the_rule_says_so() -> None:
    found = results("shifted", 40)
    everything = example_data(found, budget=10**9)
    assert len(everything["examples"]) == 40
    assert "all of them are here" in everything["rule"]
    few = example_data(found, budget=10**9, most=7)
    assert len(few["examples"]) == 7
    assert "7 of them are here" in few["rule"]
    small = example_data(found, budget=20_000)
    assert 0 < len(small["examples"]) < 40
    assert (
        len(json.dumps(small["examples"], ensure_ascii=False).encode("utf-8", "replace")) < 22_000
    )


def test_few_examples_come_from_every_class_and_from_errors() -> None:
    found = results("oracle", 60)
    predicted = np.array([0] * 57 + [1] * 3)
    labels = predicted.copy()
    labels[0] = 1  # one error, in the large class
    few = example_data(
        replace(found, examples=found.examples.assign(predicted=predicted, label=labels)),
        budget=10**9,
        most=6,
    )
    groups = [(each["predicted"], each["predicted"] == each["label"]) for each in few["examples"]]
    assert set(groups) == {(0, False), (0, True), (1, True)}
    assert groups.count((1, True)) >= 2


def test_a_column_is_one_number_an_example_and_the_mean_over_rows() -> None:
    frame = pd.DataFrame(
        {
            "example_id": ["a", "b", "a", "b", "a", "b"],
            "label": -1,
            "predicted": [0, 1, 0, 1, 0, 1],
            "length": 4,
            "audit": ["furthest:epsilon=0.1"] * 2 + ["agreement"] * 4,
            "measure": [""] * 2 + ["gradient"] * 4,
            "metric": ["jsd"] * 2 + ["tau"] * 4,
            "row": [0, 0, 0, 0, 1, 1],
            "value": [0.1, 0.2, 1.0, 0.5, 0.0, math.nan],
        }
    )
    columns = Columns(ValueColumns.from_long(frame))
    assert columns.ids == ["a", "b"]
    np.testing.assert_allclose(columns("agreement", "gradient", "tau"), [0.5, 0.5])
    np.testing.assert_allclose(columns("furthest", "", "jsd"), [0.1, 0.2])
    assert columns("furthest", "", "nothing") is None


def test_charts_count_every_example() -> None:
    found = results("oracle", 80)
    data = chart_data(found, points=50)
    values = found.values
    predicted = values.drop_duplicates("example_id")["predicted"].to_numpy()
    taus = values[
        (values["audit"] == "agreement")
        & (values["measure"] == "gradient")
        & (values["metric"] == "tau")
    ]
    part = data["tau"]["measures"]["gradient"]
    assert np.sum(part["counts"]) + part["undefined"] == 80
    edges = np.linspace(-1, 1, 41)
    first = taus[taus["predicted"] == predicted.min()]["value"].dropna()
    assert part["counts"][0] == np.histogram(first, edges)[0].tolist()
    assert part["mean"] == pytest.approx(taus["value"].mean(), rel=1e-3)
    assert data["points"]["count"] == 50
    flips = {line["class"]: line for line in data["flips"]}
    cells = [flips[-1][name] for name in ("both", "only_top", "only_random", "neither")]
    assert sum(cells) == pytest.approx(1, abs=1e-3)
    assert sum(flips[group]["count"] for group in (0, 1)) == flips[-1]["count"] == 80
    curve = [line for line in data["epsilon"] if line["class"] == -1]
    jsd = values[(values["audit"] == "epsilon_curve") & (values["metric"] == "jsd_0.01")]["value"]
    assert [line["epsilon"] for line in curve] == sorted(line["epsilon"] for line in curve)
    assert next(line for line in curve if line["epsilon"] == 0.01)["mean"] == pytest.approx(
        jsd.mean(), rel=1e-3
    )


def test_many_classes_are_drawn_as_the_most_frequent_and_the_rest() -> None:
    found = results("oracle", 60)
    number = found.values["example_id"].map(
        {name: at for at, name in enumerate(sorted(set(found.values["example_id"])))}
    )
    many = found.values.assign(predicted=(number % 11).to_numpy())
    data = chart_data(
        replace(
            found,
            columns=ValueColumns.from_long(many),
            about={**found.about, "classes": [f"c{n}" for n in range(11)]},
        )
    )
    assert len(data["classes"]) == 8
    assert data["classes"][-1] == "other classes"
    assert np.sum(data["jsd"]["measures"]["jsd"]["counts"]) == 60


def test_the_matrix_of_measures_is_scipys_tau(oracle: Results) -> None:
    cells = {(cell["a"], cell["b"]): cell for cell in measure_matrix(oracle.examples)["cells"]}
    for pair in (("attention", "gradient"), ("gradient", "leave_one_out")):
        taus = []
        for line in oracle.examples.itertuples():
            scores = {
                "attention": line.attention,
                **{each["measure"]: each["values"] for each in line.scores},
            }
            taus.append(kendalltau(scores[pair[0]], scores[pair[1]]).statistic)
        assert cells[pair]["tau"] == pytest.approx(np.nanmean(taus), abs=1e-3)
        assert cells[pair]["count"] == np.isfinite(taus).sum()


def test_runs_that_the_usual_choices_do_not_tell_apart_are_told_apart() -> None:
    def run(**choices: object) -> dict[str, object]:
        return {"dataset": "keyword", "seed": 0, **choices}

    dims = dimensions([run(recipe={"epochs": 2}), run(recipe={"epochs": 5}), run(dataset="babi")])
    assert [each.get("other") for each in dims] == ["epochs 2", "epochs 5", None]
    assert [each["dataset"] for each in dims] == ["keyword", "keyword", "babi"]


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, computed only once per result and options."""
    known: dict[tuple[Any, ...], Any] = {}

    def call(result: Results, **options: Any) -> Any:
        key = (id(result), *sorted(options.items()))
        if key not in known:
            known[key] = function(result, **options)
        return known[key]

    return call


def test_a_typical_page_is_under_5_mb_and_a_grid_of_72_under_25(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The 72 runs are one run 72 times; its data is computed once and written 72 times."""
    for module, function in (
        ("run_data", chart_data),
        ("page", example_data),
        ("run_data", row_effects),
    ):
        monkeypatch.setattr(f"attnaudit.report.{module}.{function.__name__}", once(function))
    monkeypatch.setattr("attnaudit.report.overview.tables", once(tables))
    long = _long_texts(200, 200)
    one = write_page([long], tmp_path / "one.html").stat().st_size
    assert 1_500_000 < one < 5_000_000
    fewer = replace(long, examples=long.examples.head(50))
    grid = write_page([fewer] * 72, tmp_path / "grid.html").stat().st_size
    assert 15_000_000 < grid < 25_000_000


def _long_texts(count: int, length: int) -> Results:
    """Short texts audited, stretched to `length` words each: as large as real reviews."""
    found = results("oracle", count)
    reach = [np.resize(values, length) for values in found.examples["attention"]]
    weights = [values / values.sum() for values in reach]
    readout = [np.resize(values, 2 * length) for values in found.examples["readout"]]
    again = [np.exp(a @ r.reshape(-1, 2)) for a, r in zip(weights, readout, strict=True)]
    stretched = found.examples.assign(
        tokens=[[f"word{n}" for n in range(length)]] * count,
        evidence=[[False] * length] * count,
        attention=weights,
        furthest=weights,
        readout=readout,
        probs=[each / each.sum() for each in again],
        scores=[
            [
                {"measure": each["measure"], "values": np.resize(each["values"], length)}
                for each in scores
            ]
            for scores in found.examples["scores"]
        ],
    )
    return replace(found, examples=stretched)


def test_no_ranking_beats_the_exact_minimum_at_any_quantile() -> None:
    found = chart_data(results("oracle", 250))["removal"]
    boxes = {each["measure"]: each for each in found if each["class"] == -1}
    ends = ("q5", "q25", "q50", "q75", "q95")
    assert len(boxes) > 3
    for box in boxes.values():
        assert all(boxes["smallest_set"][end] <= box[end] for end in ends)
        assert box["count"] == 250  # of all examples, also those that a ranking does not flip
    worst = min(boxes.values(), key=lambda box: box["flipped"])
    assert worst["flipped"] < 0.9 * boxes["smallest_set"]["flipped"]
    assert worst["q95"] == 1.0  # what it never flips counts as all of the words


def test_runs_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    found = results("oracle")
    choices = {
        "dataset": "glass",
        "encoder": "none",
        "scorer": "none",
        "projection": "softmax",
        "seed": 0,
    }
    runs = [
        replace(found, about={**found.about, "run": {"choices": {**choices, "sample": size}}})
        for size in (80, 40)
    ]
    page = Page(write_page(runs, tmp_path / "page.html").read_text(encoding="utf-8"))
    titles = [each["title"] for each in json.loads(page.data["runs"])]
    assert [title.rpartition(" · ")[2] for title in titles] == ["sample 80", "sample 40"]


def test_the_curve_of_concentration() -> None:
    def of(weights: list[list[float]], predicted: list[int]) -> Any:
        lines = pd.DataFrame(
            {
                "tokens": [["w"] * 4] * len(weights),
                "attention": weights,
                "predicted": predicted,
                "scores": [[{"measure": "broken", "values": [float("nan")] * 4}]] * len(weights),
            }
        )
        return concentration(lines, {-1: None, 0: [0], 1: [1, 2]})

    found = of([[0.25] * 4, [0, 1, 0, 0], [0, 0.5, 0, 0.5]], [0, 1, 2])
    assert list(found["measures"]) == ["attention"]  # what is undefined is not drawn
    everyone, first, others = found["measures"]["attention"]
    assert (everyone["count"], first["count"], others["count"]) == (3, 1, 2)
    np.testing.assert_allclose(first["mean"], found["shares"])  # uniform: the diagonal
    at_quarter = found["shares"].index(0.25)
    assert others["mean"][at_quarter] == (1 + 0.5) / 2
    assert others["mean"][found["shares"].index(0.5) :] == [1.0] * 11
    assert everyone["mean"][at_quarter] == pytest.approx((0.25 + 1 + 0.5) / 3, abs=1e-4)
    rows = of([[0.25] * 4 + [1, 0, 0, 0]], [0])["measures"]["attention"][0]
    assert rows["mean"][at_quarter] == (0.25 + 1) / 2  # of two rows, the mean
    apart = of([[0.5, 0.5, 0, 0, 0, 0, 0.5, 0.5]], [0])["measures"]["attention"][0]
    np.testing.assert_allclose(
        apart["mean"], found["shares"]
    )  # two sentences, each attended evenly
    assert of([[0.0] * 4], [0]) == {}


def test_a_site_holds_every_example_on_pages_that_find_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnaudit.report.site._EXAMPLES_PER_PAGE", 200)
    found = results("oracle", 250)
    assert len(found.examples) == 250  # all of them were kept
    index = write_site([found, results("inert")], tmp_path / "site")
    assert index == tmp_path / "site" / "index.html"
    pages = {
        each.name: Page(each.read_text(encoding="utf-8")) for each in sorted(index.parent.iterdir())
    }
    assert set(pages) == {"index.html", "run-1.html", "run-1-2.html", "run-2.html"}
    shown = [
        example["id"]
        for name in ("run-1.html", "run-1-2.html")
        for example in json.loads(pages[name].data["examples-0"])["examples"]
    ]
    assert sorted(shown) == sorted(found.examples["example_id"])
    assert all(address in pages for page in pages.values() for address in page.addresses)
    assert set(pages["index.html"].addresses) == {"run-1.html", "run-2.html"}
    assert set(pages["run-1-2.html"].addresses) == {"index.html", "run-1.html"}


def test_a_site_is_never_written_over_a_stranger(oracle: Results, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<h1>mine</h1>", encoding="utf-8")
    with pytest.raises(InputError, match="not written by attnaudit"):
        write_site([oracle], tmp_path)
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "<h1>mine</h1>"
    (tmp_path / "index.html").unlink()
    write_site([oracle], tmp_path)
    write_site([oracle], tmp_path)  # over its own it may


def test_the_lesson_plays_with_what_the_glass_models_say(tmp_path: Path) -> None:
    html = make_lesson(tmp_path / "lesson.html").read_text(encoding="utf-8")
    page = Page(html)
    data = json.loads(page.data["lesson"])
    batch, words = sentences()
    assert set(data["models"]) == {"oracle", "inert", "shifted"}
    for kind, examples in data["models"].items():
        record = Glass(kind).read(batch)
        for at, example in enumerate(examples[name] for name in batch.example_id):
            np.testing.assert_allclose(example["probs"], record.probs[at], atol=1e-5)
            assert example["readout"] is not None
            real = batch.mask[at]
            assert example["tokens"] == [words[token] for token in batch.tokens[at][real].tolist()]
    played = set(re.findall(r'data-model="(\w+)" data-example="([\w ]+)"', html))
    assert len(played) >= 6
    assert all(name in data["models"][kind] for kind, name in played)


def test_in_the_lessons_sentences_the_deciding_word_leaves_room_for_the_shifted_model() -> None:
    batch, _ = sentences()
    assert isinstance(batch, Batch)
    assert batch.evidence is not None
    assert (batch.evidence.sum(-1) == 1).all()
    length = batch.mask.sum(-1)
    assert (batch.evidence.int().argmax(-1) < length - 1).all()


def test_results_show_themselves_in_a_notebook(oracle: Results) -> None:
    assert "Does it matter?" in oracle._repr_html_()
    assert "does it matter?" in repr(oracle)


def test_a_page_that_fails_leaves_the_old_one(
    oracle: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = oracle.to_html(tmp_path / "page.html")
    before = page.read_text(encoding="utf-8")
    monkeypatch.setattr("attnaudit.report.run_data.chart_data", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        oracle.to_html(page)
    assert page.read_text(encoding="utf-8") == before


def test_a_users_model_is_described_in_words() -> None:
    about = {
        "model": "BertForSequenceClassification",
        "task": "classification",
        "layers": [5],
        "heads": [0, 3],
    }
    about |= {"query": "first", "words": "offsets", "leave_out": "delete", "max_length": None}
    assert model_words(about) == (
        "BertForSequenceClassification; task classification; layer 5; heads 0, 3; "
        "read at the first token; "
        "sub-word tokens merged into words by their place in the text; left-out words are deleted"
    )
    hooked = {
        "model": "Net",
        "alpha": "attention",
        "embedding": "embed",
        "query": 0,
        "heads": "all",
    }
    assert model_words(hooked) == (
        "Net; attention from attention; embedding from embed; read at position 0; all heads"
    )
    assert model_words({"own": 3}) == "own 3"


SCALES = {
    "permutation": {"tvd_median": [0.0, 1.0]},
    "agreement": {"tau": [-1.0, 1.0]},
    "furthest:epsilon=0.05": {"jsd": [0.0, math.log(2)]},
}


def finding(
    name: str,
    value: float,
    low: float,
    high: float,
    floor: float = math.nan,
    ceiling: float = math.nan,
) -> Finding:
    return Finding(name, "", value, low, high, floor, ceiling, 0.0)


def test_a_bar_stands_on_the_scale_of_its_metric() -> None:
    """Without a ceiling too: 0.066 of 1 is 6.6 % of the bar."""
    drawn = bar(finding("permutation/tvd_median", 0.066, 0.05, 0.08, floor=0.0), SCALES)
    assert drawn == {
        "ends": ["0", "1"],
        "floor": 0,
        "ceiling": -1,
        "low": 5,
        "width": 3,
        "value": 6.6,
    }
    drawn = bar(finding("agreement/tau@gradient", 0.5, 0.0, 0.6, floor=-0.5, ceiling=1.0), SCALES)
    assert drawn == {
        "ends": ["−1", "1"],
        "floor": 25,
        "ceiling": 100,
        "low": 50,
        "width": 30,
        "value": 75,
    }
    drawn = bar(
        finding("furthest:epsilon=0.05/jsd", math.log(2) / 4, 0.0, math.log(2) + 1e-9), SCALES
    )
    assert drawn is not None
    assert (drawn["value"], drawn["width"], drawn["ends"]) == (25, 100, ["0", "0.69"])


def test_a_number_without_a_scale_has_no_bar(oracle: Results, tmp_path: Path) -> None:
    assert bar(finding("mine/number", 0.5, 0.4, 0.6, 0.0, 1.0), SCALES) is None
    html, _ = page_of(oracle, tmp_path)
    findings = [each for answer in oracle.card().answers for each in answer.findings]
    drawn = [each for each in findings if bar(each, oracle.about["scales"]) is not None]
    assert html.count('class="scale"') == len(drawn) > 5
    log_odds = {each.name for each in findings} - {each.name for each in drawn}
    assert log_odds == {
        "permutation/log_odds_median",
        "top_words/contrast@attention",
        "top_words/contrast@leave_one_out",
        "top_words/comprehensiveness@attention",
        "top_words/sufficiency@attention",
        "polarity/support@attention",
    }
    older = replace(
        oracle, about={key: value for key, value in oracle.about.items() if key != "scales"}
    )
    assert 'class="scale"' not in page_of(older, tmp_path)[0]


def test_rows_are_ranked_by_what_removing_their_top_word_does(
    oracle: Results, tmp_path: Path
) -> None:
    line = oracle.summaries[
        (oracle.summaries["audit"] == "top_item") & (oracle.summaries["group"] == "all")
    ]
    means = {0: 0.01, 1: 0.3, 2: math.nan, 3: 0.02, -1: 0.1}
    rows = [line.assign(row=row, mean=mean, low=mean, high=mean) for row, mean in means.items()]
    others = oracle.summaries[oracle.summaries["audit"] != "top_item"]
    several = replace(
        oracle,
        summaries=pd.concat([others, *rows], ignore_index=True),
        about={**oracle.about, "rows": 4, "row_names": [f"layer {at} head 1" for at in range(4)]},
    )
    found = row_effects(several)
    assert found is not None
    assert found["heading"] == "Heads by effect"
    assert [each["name"] for each in found["lines"]] == [
        f"layer {at} head 1" for at in (1, 3, 0, 2)
    ]
    html, _ = page_of(several, tmp_path)
    assert (
        html.index("Heads by effect")
        < html.index("layer 1 head 1</th>")
        < html.index("layer 0 head 1</th>")
    )
    unnamed = replace(several, about={**several.about, "row_names": None})
    assert (row_effects(unnamed) or {})["heading"] == "Rows by effect"
    assert row_effects(oracle) is None  # one row
    assert row_effects(replace(several, summaries=others)) is None  # the audit was not run


def test_weight_on_marks_is_the_mean_over_the_examples_kept(oracle: Results) -> None:
    assert on_marks(oracle) is None  # all of it is on words
    shares = [[0.2, 0.4], [0.5, 0.5], *[[0.0, 0.0]] * (len(oracle.examples) - 2)]
    some = replace(oracle, examples=oracle.examples.assign(weight_on_marks=shares))
    assert f"{100 * 0.8 / len(shares):.0f} % of the attention is on special tokens" in str(
        on_marks(some)
    )
    assert (
        on_marks(replace(oracle, examples=oracle.examples.drop(columns="weight_on_marks"))) is None
    )


def test_a_test_set_of_one_example_has_no_interval(oracle: Results, tmp_path: Path) -> None:
    performance = {"accuracy": 1.0, "accuracy_interval": None, "majority": 1.0}
    one = replace(oracle, about={**oracle.about, "run": {"performance": performance}})
    assert "1.000, no interval (too few different values)" in dict(facts(one))["Test accuracy"]
    single = results(count=1)
    html, _ = page_of([one, single], tmp_path)
    assert "no interval (too few different values)" in html


def test_no_folder_of_the_user_is_on_a_page(oracle: Results, tmp_path: Path) -> None:
    secret = "/home/ann.smith/private corpus"
    choices = {
        "dataset": f"text_file:path={secret}/reviews.csv,label=stars",
        "encoder": "average",
        "vectors": f"{secret}/glove.txt",
        "seed": 0,
    }
    trained = [
        replace(
            oracle,
            about={**oracle.about, "run": {"choices": {**choices, "vectors": f"{secret}/{name}"}}},
        )
        for name in ("a.txt", "b.txt")
    ]
    texts = {"file": f"{secret}/mine.csv", "model": "bert", "read": 3, "audited": 3}
    reason = {"evidence": f"there is no file {secret}/spans.json"}
    audited = replace(oracle, about={**oracle.about, "texts": texts, "not_applicable": reason})
    for at, given in enumerate((trained, [audited])):
        html, _ = page_of(given, tmp_path)
        assert "ann.smith" not in html
        assert "private corpus" not in html
        assert ("text_file:path=reviews.csv,label=stars", "mine.csv")[at] in html
