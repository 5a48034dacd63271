"""The page in a browser, opened from disk.

Without chromium these tests are skipped; with REQUIRE_BROWSER=1 that is a failure.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import kendalltau

from attnaudit import exact, statistics
from attnaudit.auditing.audit import audit
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.huggingface import from_huggingface
from attnaudit.models.huggingface.text_batch import numbered_ids
from attnaudit.papers.lesson import make_lesson
from attnaudit.report.page import write_page
from attnaudit.report.word_heatmaps import word_heatmaps
from attnaudit.results.findings import Findings
from attnaudit.results.results import Results
from attnaudit.results.value_columns import ValueColumns
from tiny_transformers import TEXTS, tiny

# The one without windows takes four fifths of the processor time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "שלום",
    "🙂",
    "x" * 10_000,
    "a\x00b",
    "\u202eevil",
]


def _missing() -> str | None:
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed (the extra dev has it)"
    return None if CHROMIUM else "there is no chromium on the path"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if (reason := _missing()) is not None:
        if os.environ.get("REQUIRE_BROWSER"):
            pytest.fail(f"REQUIRE_BROWSER is set, and {reason}")
        pytest.skip(f"not run: {reason}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        opened = player.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield Browser(opened)
        opened.close()


class Tab:
    """A browser tab that one test after the other opens its page in: a new one takes longer."""

    def __init__(self, browser: Any, **options: Any) -> None:
        size = {"viewport": {"width": 1280, "height": 900}}
        self.page = browser.new_context(**{**size, **options}).new_page()
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))

    def clear(self) -> None:
        """Leave nothing of the page before: no document, no pressed button, no complaint."""
        self.page.goto("about:blank")
        self.page.mouse.up()
        self.page.mouse.move(0, 0)
        self.asked, self.complaints = [], []


class Browser:
    """A browser that keeps its tabs, by what they were opened with."""

    def __init__(self, launched: Any) -> None:
        self.launched = launched
        self.tabs: dict[str, Tab] = {}

    def tab(self, **options: Any) -> Tab:
        key = repr(sorted(options.items()))
        if key in self.tabs:
            self.tabs[key].clear()
        else:
            self.tabs[key] = Tab(self.launched, **options)
        return self.tabs[key]


class Opened:
    """A page from disk, and all it asked for or complained of.

    new_tab: open it in a tab of its own, as a reader does.
    """

    def __init__(
        self, browser: Browser, path: Path, *, new_tab: bool = False, **options: Any
    ) -> None:
        tab = Tab(browser.launched, **options) if new_tab else browser.tab(**options)
        self.page, self.asked, self.complaints = tab.page, tab.asked, tab.complaints
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("body[data-ready]")

    def tab(self, name: str) -> None:
        self.page.click(f"#tab-{name}")

    def draw_all(self) -> None:
        """Scroll through the charts until every one is drawn."""
        for figure in self.page.query_selector_all("figure"):
            figure.scroll_into_view_if_needed()
            figure.wait_for_selector(".plot[data-drawn], table, p.soft:not(.small)", timeout=20_000)

    def check_quiet(self, path: Path) -> None:
        outside = [
            each
            for each in self.asked
            if not each.startswith((path.as_uri(), "blob:file", "blob:null", "data:"))
        ]
        assert outside == []
        assert self.complaints == []


def results(kind: str = "oracle", *, words: list[str] | None = None, **about: Any) -> Results:
    listed = words or [f"word{number}" for number in range(50)]
    found = audit(
        Glass(kind), glass_batch(60), words=listed, class_names=["no", "yes"], show_progress=False
    )
    choices = {
        "dataset": "glass",
        "encoder": kind,
        "scorer": "none",
        "projection": "softmax",
        "seed": 0,
        **about,
    }
    return replace(found, about={**found.about, "run": {"choices": choices}})


@pytest.fixture(scope="module")
def oracle() -> Results:
    return results()


@pytest.fixture(scope="module")
def one(oracle: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page([oracle], tmp_path_factory.mktemp("one") / "page.html")


@pytest.fixture(scope="module")
def several(oracle: Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = [oracle, results("inert"), results("shifted"), results("inert", seed=1)]
    return write_page(runs, tmp_path_factory.mktemp("several") / "page.html")


def test_every_part_opens_without_a_request_or_a_complaint(browser: Browser, one: Path) -> None:
    opened = Opened(browser, one)
    assert opened.asked == [one.as_uri()]
    for part in ("browse", "examples", "playground", "overview"):
        opened.tab(part)
        assert opened.page.is_visible(f"#{part}")
    opened.tab("browse")
    opened.draw_all()
    drawn = opened.page.query_selector_all(".plot[data-drawn] svg")
    assert len(drawn) >= 10
    opened.check_quiet(one)


def test_a_foreign_script_would_not_run(browser: Browser, one: Path, tmp_path: Path) -> None:
    """The control of the test above: the policy is at work, and its complaint would be heard."""
    tampered = tmp_path / "tampered.html"
    html = one.read_text(encoding="utf-8").replace(
        "</main>", "</main><script>document.title = 'taken'</script>", 1
    )
    tampered.write_text(html, encoding="utf-8")
    opened = Opened(browser, tampered)
    assert opened.page.title() != "taken"
    assert any("Content Security Policy" in each for each in opened.complaints)


def test_time_to_interactive_is_under_two_seconds(browser: Browser, one: Path) -> None:
    opened = Opened(browser, one, new_tab=True)
    assert 0 < float(opened.page.get_attribute("body", "data-ready")) < 2000


def test_javascript_gives_the_numbers_of_python_on_300_examples(
    browser: Browser, one: Path
) -> None:
    opened = Opened(browser, one)
    draw = torch.Generator().manual_seed(7)
    examples = []
    for at in range(300):
        items = int(torch.randint(1, 25, (), generator=draw))
        classes = 2 if at % 3 else 4
        weights = torch.rand(items, generator=draw, dtype=torch.float64) ** 3
        if at % 5 == 0 and items > 2:
            weights[0] = 0.0
        alpha = weights / weights.sum()
        readout = 4 * torch.randn(items, classes, generator=draw, dtype=torch.float64)
        other = torch.rand(items, generator=draw, dtype=torch.float64)
        other /= other.sum()
        epsilon = float(10 ** (-3 + 2.5 * torch.rand((), generator=draw)))
        examples.append((alpha, readout, other, epsilon))
    computed = opened.page.evaluate(
        """(examples) => examples.map(([alpha, readout, other, epsilon]) => ({
            probs: distributions.probs(alpha, readout),
            jsd: distributions.jsd(alpha, other),
            tvd: distributions.tvd(
                distributions.probs(alpha, readout), distributions.probs(other, readout)),
            furthest: readout[0].length === 2 ? exact.furthest(alpha, readout, epsilon) : null,
            flip: exact.smallestFlip(alpha, readout),
        }))""",
        [
            [alpha.tolist(), readout.tolist(), other.tolist(), epsilon]
            for alpha, readout, other, epsilon in examples
        ],
    )
    worst = 0.0
    flipped = 0
    for (alpha, readout, other, epsilon), in_browser in zip(examples, computed, strict=True):
        mask = torch.ones(1, len(alpha), dtype=torch.bool)
        probs, moved = (alpha @ readout).softmax(-1), (other @ readout).softmax(-1)
        differences = [
            (torch.tensor(in_browser["probs"], dtype=torch.float64) - probs).abs().max(),
            (in_browser["jsd"] - statistics.jsd(alpha[None], other[None], mask)).abs().max(),
            (in_browser["tvd"] - statistics.tvd(probs[None], moved[None])).abs().max(),
        ]
        if readout.shape[1] == 2:
            best = exact.furthest(alpha[None], readout[None], mask, epsilon=epsilon)
            differences.append((in_browser["furthest"]["jsd"] - best.jsd).abs().max())
        worst = max(worst, *(float(each) for each in differences))
        smallest = exact.smallest_flip(alpha[None], readout[None], mask)
        assert (in_browser["flip"] is not None) == bool(smallest.possible)
        if in_browser["flip"] is not None:
            flipped += 1
            assert in_browser["flip"]["size"] == int(smallest.size)
    assert worst < 1e-9
    assert 50 < flipped < 300


def _wait_until_painted(page: Any) -> None:
    """Wait two frames: one in which the page paints, one for what came into view with it."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def _attributes(page: Any, selector: str, name: str) -> list[str]:
    """An attribute of all elements, with one question to the page."""
    return page.eval_on_selector_all(
        selector, "(all, name) => all.map((each) => each.getAttribute(name))", name
    )


def _weights(page: Any) -> np.ndarray:
    return np.array([float(each) for each in _attributes(page, ".words .w", "data-weight")])


def _shown(page: Any) -> dict[int, float]:
    classes = _attributes(page, ".bar", "data-class")
    values = _attributes(page, ".bar .value", "data-value")
    return {int(at): float(value) for at, value in zip(classes, values, strict=True)}


def _stored(found: Results, page: Any) -> Any:
    name = page.eval_on_selector("#playground-body select", "box => box.value")
    return found.examples.set_index("example_id").loc[name]


def _check_against_python(found: Results, page: Any) -> tuple[np.ndarray, np.ndarray]:
    """What the page shows is what Python makes of the weights it shows."""
    _wait_until_painted(page)
    line, weights = _stored(found, page), _weights(page)
    assert weights.sum() == pytest.approx(1, abs=1e-9)
    logits = weights @ np.asarray(line["readout"]).reshape(-1, 2)
    expected = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    shown = _shown(page)
    np.testing.assert_allclose([shown[0], shown[1]], expected, atol=1e-6)
    tvd = float(page.get_attribute(".tvd", "data-value"))
    assert tvd == pytest.approx(np.abs(expected - line["probs"]).sum() / 2, abs=1e-5)
    start = torch.tensor(np.asarray(line["attention"]))[None]
    jsd = statistics.jsd(
        torch.tensor(weights)[None], start / start.sum(), torch.ones_like(start, dtype=torch.bool)
    )
    assert float(page.get_attribute(".jsd", "data-value")) == pytest.approx(float(jsd), abs=1e-6)
    return weights, expected


def _centre(page: Any, word: int) -> tuple[float, float]:
    box = page.locator(".words .w").nth(word).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_dragging_attention_moves_the_probabilities(
    browser: Browser, one: Path, oracle: Results
) -> None:
    opened = Opened(browser, one)
    opened.tab("playground")
    page = opened.page
    before, _ = _check_against_python(oracle, page)
    top = int(before.argmax())
    target = 0 if top else 1
    page.mouse.move(*_centre(page, top))
    page.mouse.down()
    page.mouse.move(*_centre(page, target), steps=6)
    held, _ = _check_against_python(oracle, page)  # already while it is carried
    page.mouse.up()
    after, _ = _check_against_python(oracle, page)
    np.testing.assert_allclose(held, after)
    assert after[top] == 0
    assert after[target] == pytest.approx(before[target] + before[top])
    others = [n for n in range(len(before)) if n not in (top, target)]
    np.testing.assert_allclose(after[others], before[others])
    opened.check_quiet(one)


def test_a_drag_that_ends_outside_changes_nothing(
    browser: Browser, one: Path, oracle: Results
) -> None:
    opened = Opened(browser, one)
    opened.tab("playground")
    page = opened.page
    before = _weights(page)
    page.mouse.move(*_centre(page, int(before.argmax())))
    page.mouse.down()
    page.mouse.move(*_centre(page, 0), steps=4)
    page.mouse.move(5, 5, steps=4)
    page.mouse.up()
    after, _ = _check_against_python(oracle, page)
    np.testing.assert_allclose(after, before)


def test_keys_and_typing_move_attention_too(browser: Browser, one: Path, oracle: Results) -> None:
    opened = Opened(browser, one)
    opened.tab("playground")
    page = opened.page
    before = _weights(page)
    top = int(before.argmax())
    page.focus('.words .w[tabindex="0"]')
    page.keyboard.press("ArrowDown")
    after, _ = _check_against_python(oracle, page)
    assert after[top] == pytest.approx(before[top] - 0.05)
    step = "ArrowLeft" if top else "ArrowRight"
    page.keyboard.press("Enter")
    page.keyboard.press(step)
    page.keyboard.press("Enter")
    carried, _ = _check_against_python(oracle, page)
    assert carried[top] == 0
    assert carried[top + (-1 if top else 1)] == pytest.approx(
        after[top] + after[top + (-1 if top else 1)]
    )
    page.fill('.weight input[type="number"]', "0.25")
    page.keyboard.press("Tab")
    typed, _ = _check_against_python(oracle, page)
    assert typed[top + (-1 if top else 1)] == pytest.approx(0.25)


def test_the_buttons_do_what_they_say(browser: Browser, one: Path, oracle: Results) -> None:
    opened = Opened(browser, one)
    opened.tab("playground")
    page = opened.page
    line = _stored(oracle, page)
    start = np.asarray(line["attention"]) / np.sum(line["attention"])
    alpha, readout = (
        torch.tensor(start)[None],
        torch.tensor(np.asarray(line["readout"]).reshape(1, -1, 2)),
    )
    mask = torch.ones_like(alpha, dtype=torch.bool)

    page.click(".buttons >> text=Uniform")
    np.testing.assert_allclose(_check_against_python(oracle, page)[0], 1 / len(start))
    page.click(".buttons >> text=Permute")
    np.testing.assert_allclose(
        np.sort(_check_against_python(oracle, page)[0]), np.sort(start), atol=1e-7
    )
    page.click(".buttons >> text=Furthest with the same answer")
    _check_against_python(oracle, page)
    jsd = float(page.get_attribute(".jsd", "data-value"))
    assert jsd == pytest.approx(
        float(exact.furthest(alpha, readout, mask, epsilon=0.01).jsd), abs=1e-6
    )
    page.eval_on_selector(
        '[aria-label^="ε"]',
        "slider => { slider.value = Math.log10(0.2); slider.dispatchEvent(new Event('input')); }",
    )
    _wait_until_painted(page)
    wider = float(page.get_attribute(".jsd", "data-value"))
    epsilon = 10 ** float(page.eval_on_selector('[aria-label^="ε"]', "slider => slider.value"))
    assert wider == pytest.approx(
        float(exact.furthest(alpha, readout, mask, epsilon=epsilon).jsd), abs=1e-6
    )
    assert wider > jsd
    page.click(".buttons >> text=Smallest removal that flips")
    _wait_until_painted(page)
    smallest = exact.smallest_flip(alpha, readout, mask)
    if bool(smallest.possible):
        assert f"on {int(smallest.size)} of" in page.inner_text(".note")
        assert "Flipped" in page.inner_text(".decision")
    else:
        assert "No removal" in page.inner_text(".note")
    page.click(".buttons >> text=Original")
    np.testing.assert_allclose(_check_against_python(oracle, page)[0], start, atol=1e-7)


def test_examples_are_searched_filtered_and_sorted(
    browser: Browser, one: Path, oracle: Results
) -> None:
    opened = Opened(browser, one)
    opened.tab("examples")
    page = opened.page
    stored = oracle.examples

    def listed() -> list[str]:
        while (more := page.query_selector("text=Show more")) is not None:
            more.click()
        return _attributes(page, ".entry", "data-id")

    assert len(listed()) == len(stored)
    page.fill('input[type="search"]', "WORD17")
    having = {
        line.example_id
        for line in stored.itertuples()
        if any("word17" in token for token in line.tokens)
    }
    assert 0 < len(having) < len(stored)
    assert set(listed()) == having
    page.fill('input[type="search"]', "")
    page.select_option("label:has-text('Predicted') select", label="yes")
    assert set(listed()) == set(stored[stored["predicted"] == 1]["example_id"])
    page.select_option("label:has-text('Predicted') select", label="any class")
    page.select_option("label:has-text('Sort') select", label="longest first")
    lengths = stored.set_index("example_id")["tokens"].map(len)
    assert [lengths[name] for name in listed()] == sorted(lengths, reverse=True)
    page.select_option("label:has-text('Sort') select", label="furthest attention first")
    jsd = stored.set_index("example_id")["furthest_jsd"]
    found = [jsd[name] for name in listed()]
    np.testing.assert_allclose(found, np.sort(jsd)[::-1], atol=1e-5)
    page.select_option("label:has-text('Answer') select", label="wrong")
    assert set(listed()) == set(stored[stored["predicted"] != stored["label"]]["example_id"])


def test_heatmaps_stand_side_by_side_and_can_be_read_as_numbers(
    browser: Browser, one: Path, oracle: Results
) -> None:
    opened = Opened(browser, one)
    opened.tab("examples")
    page = opened.page
    page.select_option("label:has-text('Compare with') select", "gradient")
    assert len(page.query_selector_all(".maps .heatmap")) == 3
    name = page.inner_text(".detail h3")
    line = oracle.examples.set_index("example_id").loc[name]
    page.focus(".maps .heatmap")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert f"attention {line['attention'][1]:.4f}" in page.inner_text(".reading")
    page.check(".tick input")
    figures = [
        each.inner_text() for each in page.query_selector_all(".maps section:first-child .n")
    ]
    assert figures == [f"{weight:.3f}" for weight in line["attention"]]
    known = [
        at
        for at, each in enumerate(page.query_selector_all(".maps section:first-child .w"))
        if "evidence" in each.get_attribute("class")
    ]
    assert known == [at for at, is_known in enumerate(line["evidence"]) if is_known]
    page.click("text=Play with this example")
    assert page.is_visible("#playground")
    assert page.eval_on_selector("#playground-body select", "box => box.value") == name


@pytest.fixture(scope="module")
def compared() -> Results:
    words = [f"word{number}" for number in range(50)]
    return audit(
        Glass("shifted"),
        glass_batch(40),
        words=words,
        audits=["top_words", "permutation"],
        explanations=["leave_one_out", "input_times_gradient"],
        show_progress=False,
    )


def test_explanations_are_ranked_and_stand_next_to_each_other(
    browser: Browser, compared: Results, tmp_path: Path
) -> None:
    path = write_page([compared], tmp_path / "page.html")
    opened = Opened(browser, path)
    page = opened.page
    rows = [
        each.inner_text().splitlines()[0].split("\t")
        for each in page.query_selector_all("table.ranking tbody tr")
    ]
    assert [row[0].split(" (")[0] for row in rows] == [
        {"leave_one_out": "leave-one-out", "input_times_gradient": "input × gradient"}.get(
            name, name
        )
        for name in compared.explanations()["explanation"]
    ]
    assert "between random words (0)" in page.get_attribute(
        "table.ranking th:has-text('comprehensiveness')", "title"
    )
    page.click("text=How to read this page")
    assert page.is_visible("text=as if they said why the model decided")
    opened.tab("examples")
    page.select_option("label:has-text('Compare with') select", label="all, next to each other")
    names = [each.inner_text() for each in page.query_selector_all(".maps h4")]
    assert {"attention", "leave one out", "input times gradient"} <= set(names)
    opened.check_quiet(path)


def test_one_heatmap_is_saved_as_python_saves_it(
    browser: Browser, compared: Results, tmp_path: Path
) -> None:
    path = write_page([compared], tmp_path / "page.html")
    opened = Opened(browser, path)
    opened.tab("examples")
    page = opened.page
    name = page.inner_text(".detail h3")
    saved = {}
    for kind in ("HTML", "SVG", "PNG"):
        with page.expect_download() as waiting:
            page.click(f".maps section:first-child .save >> text={kind}")
        saved[kind] = Path(waiting.value.path()).read_bytes()
    (python,) = [each for each in word_heatmaps(compared) if each.example_id == name]
    shades = re.findall(r"rgba\(37, 99, 176, ([\d.]+)\)", saved["HTML"].decode())
    assert [float(shade) for shade in shades] == pytest.approx(python.shades, abs=2e-3)
    assert re.findall(r">(word\d+)<", saved["HTML"].decode()) == list(python.words)
    assert re.findall(r">(word\d+)</text>", saved["SVG"].decode()) == list(python.words)
    assert saved["PNG"].startswith(b"\x89PNG")
    opened.check_quiet(path)


@pytest.fixture(scope="module")
def transformer() -> tuple[Any, Results]:
    """A transformer, whose output is not linear in the attention, and its results."""
    model = from_huggingface(*tiny("bert"))
    texts = [*TEXTS, " ".join(["good", "bad", "film", "dull"] * 10)]
    return model, audit(
        model, texts, audits=["permutation", "furthest"], measures=["random"], show_progress=False
    )


def _bars(page: Any) -> np.ndarray:
    """The probabilities on show, by class."""
    shown = _shown(page)
    return np.array([shown[c] for c in sorted(shown)])


def _decoded(model: Any, text: str, move: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """What the model predicts if the weights of the words of every row are moved."""
    (batch,) = model.batches([text])
    record = model.read(batch)
    content = record.content[0].numpy()
    alpha = record.alpha[0].detach().double().numpy().copy()
    alpha[:, content] = [move(row) for row in alpha[:, content]]
    with torch.no_grad():
        logits = model.decode(record, torch.from_numpy(alpha[None]).to(record.alpha.dtype))
    return logits[0].double().softmax(-1).numpy()


def test_stored_moves_of_a_transformer_are_its_own_predictions(
    browser: Browser, transformer: tuple[Any, Results], tmp_path: Path
) -> None:
    model, found = transformer
    path = write_page([found], tmp_path / "page.html")
    opened = Opened(browser, path)
    opened.tab("playground")
    page = opened.page
    page.select_option("#playground label:has-text('Example') select", numbered_ids(4)[0])
    line = found.examples.set_index("example_id").loc[numbered_ids(4)[0]]
    words, text = len(line["tokens"]), TEXTS[0]
    original = np.asarray(line["attention"]).reshape(-1, words).mean(0)
    np.testing.assert_allclose(_weights(page), original, atol=1e-6)
    np.testing.assert_allclose(_bars(page), line["probs"], atol=1e-5)

    def seen(button: str, move: Callable[[np.ndarray], np.ndarray]) -> None:
        page.click(f".playground button:has-text('{button}')")
        _wait_until_painted(page)
        np.testing.assert_allclose(_bars(page), _decoded(model, text, move), atol=1e-4)
        rows = np.asarray(line["attention"]).reshape(-1, words)
        np.testing.assert_allclose(
            _weights(page), np.mean([move(row) for row in rows], 0), atol=1e-5
        )

    top = int(original.argmax())
    others = np.arange(words) != top
    seen("Uniform", lambda row: np.full(words, row.sum() / words))
    seen("Nothing on", lambda row: np.where(others, row, 0) * row.sum() / row[others].sum())
    seen("All on", lambda row: np.where(others, 0, row.sum()))
    seen("Original", lambda row: row)

    slider = page.locator(".playground input[type=range]")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    _wait_until_painted(page)
    left = ~np.isin(np.arange(words), np.argsort(-original, kind="stable")[:2])
    two = _decoded(model, text, lambda row: np.where(left, row, 0) * row.sum() / row[left].sum())
    np.testing.assert_allclose(_bars(page), two, atol=1e-4)
    assert "Without the 2 of 10 words" in page.inner_text(".playground .note")

    target = (top + 1) % words
    x, y = _centre(page, top)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(*_centre(page, target), steps=4)
    page.mouse.up()

    def carried(row: np.ndarray) -> np.ndarray:
        out = row.copy()
        out[target] += out[top]
        out[top] = 0
        return out

    _wait_until_painted(page)
    np.testing.assert_allclose(_bars(page), _decoded(model, text, carried), atol=1e-4)
    assert _weights(page)[top] == 0
    assert slider.input_value() == "0"  # the words that were taken out are back

    before = _bars(page)
    page.click(".playground button:has-text('Furthest')")
    _wait_until_painted(page)
    assert np.abs(_bars(page) - np.asarray(line["probs"])).sum() / 2 <= 0.01 + 1e-4
    assert not np.allclose(before, _bars(page))
    stored = [move for move in line["moves"] if move["kind"] == "shuffle"]
    for move in (*stored, stored[0]):  # and again from the start
        page.click(".playground button:has-text('Shuffle')")
        _wait_until_painted(page)
        np.testing.assert_allclose(_bars(page), move["probs"], atol=1e-6)
        np.testing.assert_allclose(_weights(page), move["weights"], atol=1e-6)
        shown = page.get_attribute(".playground .jsd", "data-value")
        assert float(shown) == pytest.approx(move["jsd"], abs=1e-6)
    assert "nothing is interpolated" in page.inner_text(".playground")
    opened.check_quiet(path)


def test_a_move_that_is_not_stored_is_not_made(
    browser: Browser, transformer: tuple[Any, Results], tmp_path: Path
) -> None:
    _, found = transformer
    opened = Opened(browser, write_page([found], tmp_path / "page.html"))
    opened.tab("playground")
    page = opened.page
    page.select_option("#playground label:has-text('Example') select", numbered_ids(4)[3])
    line = found.examples.set_index("example_id").loc[numbered_ids(4)[3]]  # of 40 words
    movable = {move["word"] for move in line["moves"] if move["kind"] == "carry"}
    chosen = {move["word"] for move in line["moves"] if move["kind"] == "only"}
    framed = page.eval_on_selector_all(
        ".playground .w.movable", "all => all.map((each) => Number(each.dataset.n))"
    )
    assert set(framed) == movable
    assert len(chosen) < 40
    fixed = next(n for n in range(40) if n not in movable)
    before = _bars(page)
    page.mouse.move(*_centre(page, fixed))
    page.mouse.down()
    page.mouse.move(*_centre(page, next(iter(movable))), steps=4)
    page.mouse.up()
    _wait_until_painted(page)
    np.testing.assert_array_equal(_bars(page), before)
    unstored = next(n for n in range(40) if n not in chosen)
    page.mouse.click(*_centre(page, unstored))
    assert page.is_disabled(".playground button:has-text('All on')")
    start = next(iter(movable))
    page.mouse.move(*_centre(page, start))
    page.mouse.down()
    page.mouse.move(*_centre(page, unstored), steps=4)
    page.mouse.up()
    _wait_until_painted(page)
    np.testing.assert_allclose(_bars(page), line["probs"], atol=1e-5)
    assert "not stored" in page.inner_text(".playground .note")


def _touch(page: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """A finger that goes from one place to another."""
    session = page.context.new_cdp_session(page)
    steps = [
        (start[0] + (end[0] - start[0]) * t, start[1] + (end[1] - start[1]) * t)
        for t in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    for number, (x, y) in enumerate(steps):
        kind = "touchMove" if number else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(150)


def test_a_finger_taps_a_word_and_carries_its_attention(
    browser: Browser, transformer: tuple[Any, Results], one: Path, tmp_path: Path
) -> None:
    _, found = transformer
    stored = write_page([found], tmp_path / "page.html")
    for path in (stored, one):
        opened = Opened(
            browser, path, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
        )
        page = opened.page
        page.tap("#tab-playground")
        before = _weights(page)
        top = int(before.argmax())
        target = (top + 1) % len(before)
        page.locator(".words .w").nth(top).scroll_into_view_if_needed()
        page.touchscreen.tap(*_centre(page, top))
        page.wait_for_timeout(50)
        assert page.locator(".words .w").nth(top).get_attribute("aria-pressed") == "true"
        _touch(page, _centre(page, top), _centre(page, target))
        after = _weights(page)
        assert after[top] == 0
        assert after[target] == pytest.approx(before[target] + before[top], abs=1e-6)
        for _ in range(20):  # a tap soon after another may count as the second of a double tap
            page.wait_for_timeout(600)
            if _weights(page)[top] > 0:
                break
            page.tap(".playground button:has-text('Uniform')")
        np.testing.assert_allclose(_weights(page), before.sum() / len(before), atol=1e-6)
        opened.check_quiet(path)


def test_stored_moves_of_2000_words_are_painted_only_near_the_view(
    browser: Browser, oracle: Results, tmp_path: Path
) -> None:
    length = 2000
    rows = np.random.default_rng(0).dirichlet(np.full(length, 0.1), size=2)
    first = oracle.examples.iloc[[0]]
    moves = [
        {"kind": "uniform", "word": -1, "to": -1, "probs": [0.4, 0.6], "jsd": 0.3, "weights": None},
        {"kind": "top", "word": 9, "to": -1, "probs": [0.3, 0.7], "jsd": 0.2, "weights": None},
    ]
    long = first.assign(
        tokens=[[f"word{n}" for n in range(length)]],
        evidence=[[False] * length],
        attention=[rows.flatten()],
        furthest=[None],
        furthest_jsd=[np.nan],
        readout=[None],
        scores=[[]],
        moves=[moves],
    )
    path = write_page([replace(oracle, examples=long)], tmp_path / "page.html")
    opened = Opened(browser, path)
    opened.tab("playground")
    page = opened.page
    painted = page.evaluate(
        f"""async () => {{
            {COUNT_CHANGES}
            const buttons = [...document.querySelectorAll("#playground button")];
            const uniform = buttons.find((each) => each.textContent === "Uniform");
            return await changes(".words", {{attributeFilter: ["data-weight"], subtree: true}},
                (changed) => changed.length, () => {{ uniform.click(); uniform.click(); }});
        }}"""
    )
    assert 0 < painted < length / 2  # once for two clicks in a frame, and only words near the view
    page.locator(".words .w").last.scroll_into_view_if_needed()
    page.wait_for_selector(".words .piece:last-child .w:last-child[data-weight^='0.0005']")
    opened.check_quiet(path)


def test_weights_that_are_alike_look_pale(browser: Browser, one: Path) -> None:
    page = Opened(browser, one).page
    for weights, shades in (
        ([0.25] * 4, [1 / 3] * 4),
        ([1, 0, 0, 0], [1, 0, 0, 0]),
        ([0.7], [1]),
        ([0, None, 0], [0, 0, 0]),
        ([-0.6, 0.2, 0.1, 0.1], [0.6 / 0.75, 0.2 / 0.75, 0.1 / 0.75, 0.1 / 0.75]),
    ):
        assert page.evaluate("(weights) => heatmap.shades(weights)", weights) == pytest.approx(
            shades
        )


def test_several_rows_are_shown_one_by_one_or_as_their_mean(
    browser: Browser, oracle: Results, tmp_path: Path
) -> None:
    first = oracle.examples.iloc[[0]]
    one_row = np.asarray(first["attention"].iloc[0])
    rows = np.concatenate([one_row, one_row[::-1]])
    two = first.assign(attention=[rows], furthest=[rows], readout=[None])
    path = write_page([replace(oracle, examples=two)], tmp_path / "page.html")
    opened = Opened(browser, path)
    opened.tab("examples")
    page = opened.page
    page.check(".tick input")

    def figures() -> list[float]:
        return [
            float(each.inner_text())
            for each in page.query_selector_all(".maps section:first-child .n")
        ]

    np.testing.assert_allclose(figures(), (one_row + one_row[::-1]) / 2, atol=6e-4)
    page.select_option("label:has-text('Row') select", label="row 1")
    np.testing.assert_allclose(figures(), one_row[::-1], atol=6e-4)
    assert page.query_selector("text=Play with this example") is None
    assert not page.is_visible("#tab-playground")  # nothing to play with, and said once
    assert page.inner_text("#examples-body").count("There is no playground") == 1
    opened.check_quiet(path)


def test_rows_are_named_by_layer_and_head(
    browser: Browser, oracle: Results, tmp_path: Path
) -> None:
    first = oracle.examples.iloc[[0]]
    rows = np.concatenate([np.asarray(first["attention"].iloc[0])] * 2)
    two = replace(
        oracle,
        examples=first.assign(attention=[rows], furthest=[rows], readout=[None]),
        about={**oracle.about, "rows": 2, "row_names": ["layer 5 head 0", "layer 5 head 7"]},
    )
    opened = Opened(browser, write_page([two], tmp_path / "page.html"))
    opened.tab("examples")
    choices = opened.page.eval_on_selector(
        "label:has-text('Row') select", "box => [...box.options].map((each) => each.text)"
    )
    assert choices == ["mean of all rows", "layer 5 head 0", "layer 5 head 7"]


def _sorts(page: Any) -> list[str]:
    return page.eval_on_selector(
        "label:has-text('Sort') select", "box => [...box.options].map((each) => each.text)"
    )


@pytest.mark.parametrize("stored", ["none", "as older versions stored it"])
def test_without_the_audit_furthest_nothing_is_shown_of_it(
    browser: Browser, oracle: Results, tmp_path: Path, stored: str
) -> None:
    found = audit(Glass("oracle"), glass_batch(20), audits=["permutation"], show_progress=False)
    assert all(each is None for each in found.examples["furthest"])
    if stored != "none":
        found = replace(found, examples=found.examples.assign(furthest=found.examples["attention"]))
    path = write_page([found], tmp_path / "page.html")
    opened = Opened(browser, path)
    opened.tab("examples")
    page = opened.page
    assert [each.inner_text() for each in page.query_selector_all(".maps h4")] == ["attention"]
    assert "JSD" not in page.inner_text(".list")
    assert _sorts(page)[0] == "least change when shuffled first"
    assert not {
        "furthest attention first",
        "most pinned down first",
        "tau with gradient, lowest first",
    } & set(_sorts(page))
    changes = found.values[found.values["metric"] == "tvd_median"].set_index("example_id")["value"]
    listed = _attributes(page, ".entry", "data-id")
    np.testing.assert_allclose(changes[listed], np.sort(changes), rtol=1e-2)
    opened.tab("playground")  # two classes: the page computes it itself
    assert page.query_selector("text=Furthest with the same answer") is not None
    opened.check_quiet(path)


def test_what_is_unknown_of_an_example_comes_last_in_every_order(
    browser: Browser, oracle: Results, tmp_path: Path
) -> None:
    jsd = oracle.examples["furthest_jsd"].copy()
    jsd.iloc[:5] = np.nan
    unknown = set(oracle.examples["example_id"].iloc[:5])
    opened = Opened(
        browser,
        write_page(
            [replace(oracle, examples=oracle.examples.assign(furthest_jsd=jsd))],
            tmp_path / "page.html",
        ),
    )
    opened.tab("examples")
    page = opened.page
    for order in ("furthest attention first", "most pinned down first"):
        page.select_option("label:has-text('Sort') select", label=order)
        while (more := page.query_selector("text=Show more")) is not None:
            more.click()
        listed = _attributes(page, ".entry", "data-id")
        assert set(listed[-5:]) == unknown


def test_the_texts_of_a_pair_are_apart_and_weight_on_marks_is_shown(
    browser: Browser, oracle: Results, tmp_path: Path
) -> None:
    first = oracle.examples.iloc[[0]]
    count = len(first["tokens"].iloc[0])
    pair = [0] * 3 + [1] * (count - 3)
    known = replace(oracle, examples=first.assign(pair=[pair], weight_on_marks=[[0.314]]))
    path = write_page([known], tmp_path / "page.html")
    opened = Opened(browser, path)
    page = opened.page
    assert "On average 31 % of the attention is on special tokens" in page.inner_text("#overview")
    opened.tab("examples")
    assert "31 % of the attention is on special tokens, not on words." in page.inner_text(".detail")
    for part, root in (
        ("examples", ".maps section:first-child .heatmap"),
        ("playground", ".words"),
    ):
        opened.tab(part)
        headings = page.eval_on_selector(
            root,
            "root => [...root.querySelectorAll('.part, .w')]"
            ".map((each) => each.matches('.part') ? each.textContent : '')",
        )
        assert headings == ["first text", "", "", "", "second text", *[""] * (count - 3)]
    assert page.query_selector_all(".words .w")[3].get_attribute("data-weight") is not None
    opened.tab("examples")
    words = first["tokens"].iloc[0]
    assert page.inner_text(".snippet").startswith(f"{' '.join(words[:3])} | {words[3]}")
    opened.check_quiet(path)


# What every JavaScript object has by birth, and what Vega would read as a path in a field.
BORN_WITH = ("constructor", "__proto__", "toString", "hasOwnProperty", "a.b[0]", "it's")


@pytest.mark.parametrize("names", [BORN_WITH[:2], BORN_WITH[2:4], BORN_WITH[4:]])
def test_names_that_every_object_has_are_names_like_others(
    browser: Browser, tmp_path: Path, names: tuple[str, str]
) -> None:
    def measured(name: str) -> Any:
        def measure(model: Any, record: Any, seed: int) -> torch.Tensor:
            return record.alpha[:, 0] ** (1 + len(name) / 7)

        measure.__name__ = name
        return measure

    found = audit(
        Glass("oracle"),
        glass_batch(20),
        audits=["agreement", "permutation", "top_item", "flip_fraction", "furthest"],
        measures=["attention", "gradient", "random", *(measured(name) for name in names)],
        class_names=list(names),
        show_progress=False,
    )
    assert set(names) <= set(found.values["measure"])
    path = write_page([found], tmp_path / "page.html")
    opened = Opened(browser, path)
    page = opened.page
    opened.tab("browse")
    opened.draw_all()
    sizes = found.values.drop_duplicates("example_id")["predicted"].value_counts()
    for name in ("gradient", *names):
        page.select_option("#chart-tau select", name)
        _wait_until_painted(page)
        rows = list(csv.DictReader(io.StringIO(_download(page, "#chart-tau", "CSV"))))
        counted = {
            each: sum(int(row["count"]) for row in rows if row["class"] == each) for each in names
        }
        assert counted == {each: sizes[at] for at, each in enumerate(names)}
    for chart in ("tau", "permutation", "change", "furthest", "delta"):
        drawn = page.eval_on_selector_all(
            f"#chart-{chart} svg .role-legend-label text",
            "all => all.map((each) => each.textContent)",
        )
        assert drawn == list(names), chart
    for chart in ("removal", "matrix"):
        drawn = page.eval_on_selector_all(
            f"#chart-{chart} svg .role-axis-label text",
            "all => all.map((each) => each.textContent)",
        )
        assert {each.replace("_", " ").strip() for each in names} <= set(drawn), chart
    rows = list(csv.DictReader(io.StringIO(_download(page, "#chart-removal", "CSV"))))
    assert {each.replace("_", " ") for each in names} <= {row["measure"] for row in rows}
    assert "key" not in rows[0]
    page.select_option("label:has-text('Predicted class') select", label=names[0])
    opened.draw_all()
    rows = list(csv.DictReader(io.StringIO(_download(page, "#chart-change", "CSV"))))
    assert len(rows) == sizes[0]
    assert {row["class"] for row in rows} == {names[0]}
    opened.tab("examples")
    for name in names:
        page.select_option("label:has-text('Compare with') select", name)
        assert (
            page.query_selector_all(".maps h4")[-1].inner_text() == name.replace("_", " ").strip()
        )
    opened.check_quiet(path)


def _nothing_defined(found: Results) -> Results:
    """The same run, every value and every number of an example undefined."""
    lost = dict.fromkeys(
        ("mean", "low", "high", "sd", "floor", "ceiling", "relative", "compared"), np.nan
    )
    examples = found.examples.assign(
        scores=[
            [{**each, "values": np.full(len(each["values"]), np.nan)} for each in scores]
            for scores in found.examples["scores"]
        ],
        furthest_jsd=np.nan,
        furthest_upper=np.nan,
    )
    return replace(
        found,
        columns=ValueColumns.from_long(found.values.assign(value=np.nan)),
        summaries=found.summaries.assign(**lost, nan_share=1.0),
        examples=examples,
    )


def _one_class(found: Results) -> Results:
    classes = found.about["classes"]
    return replace(
        found,
        columns=ValueColumns.from_long(found.values[found.values["predicted"] == 0]),
        summaries=found.summaries[found.summaries["group"] != classes[1]],
        examples=found.examples[found.examples["predicted"] == 0].assign(label=-1),
    )


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda found: replace(found, examples=found.examples.iloc[:0]), {"overview", "browse"}),
        (lambda found: replace(found, examples=pd.DataFrame()), {"overview", "browse"}),
        (_one_class, {"overview", "browse", "examples", "playground"}),
        (_nothing_defined, {"overview", "browse", "examples", "playground"}),
        (
            lambda found: _nothing_defined(replace(found, examples=found.examples.iloc[:0])),
            {"overview", "browse"},
        ),
    ],
)
def test_a_run_that_holds_little_is_shown_without_a_complaint(
    browser: Browser, oracle: Results, tmp_path: Path, change: Any, parts: set[str]
) -> None:
    path = write_page([change(oracle)], tmp_path / "page.html")
    opened = Opened(browser, path)
    page = opened.page
    offered = {
        part
        for part in ("overview", "browse", "examples", "playground")
        if page.is_visible(f"#tab-{part}")
    }
    for part in offered:
        opened.tab(part)
        assert page.inner_text(f"#{part}").strip()
        if part == "browse":
            opened.draw_all()
        assert "NaN" not in page.inner_text(f"#{part}")
    assert offered == parts
    if "examples" not in parts:
        assert "none was kept whole" in page.text_content("#overview")
    page.focus("#tab-overview")
    page.keyboard.press("ArrowLeft")  # to the last one that is there
    assert page.evaluate("document.activeElement.id") in {f"tab-{part}" for part in parts}
    opened.check_quiet(path)


def test_runs_and_classes_are_selected(browser: Browser, several: Path) -> None:
    opened = Opened(browser, several)
    page = opened.page
    assert "one of 4 runs" in page.inner_text("#chooser")
    page.select_option("#chooser label:has-text('Encoder') select", "inert")
    assert page.is_visible('[data-run="1"]')
    assert not page.is_visible('[data-run="0"]')
    page.select_option("#chooser label:has-text('Seed') select", "1")
    assert page.is_visible('[data-run="3"]')
    page.select_option(
        "#chooser label:has-text('Encoder') select", "shifted"
    )  # seed 1 has none: the nearest run
    assert page.is_visible('[data-run="2"]')
    opened.tab("browse")
    opened.draw_all()
    assert page.query_selector("#chart-glance svg") is not None
    together = _download(page, "#chart-flips", "CSV")
    page.select_option("label:has-text('Predicted class') select", label="yes")
    opened.draw_all()
    yes = _download(page, "#chart-flips", "CSV")
    whole, part = (next(csv.DictReader(io.StringIO(text))) for text in (together, yes))
    assert int(whole["count"]) == 60
    assert 0 < int(part["count"]) < 60
    opened.check_quiet(several)


def _download(page: Any, figure: str, kind: str) -> str:
    with page.expect_download() as waiting:
        page.click(f"{figure} button:has-text('{kind}')")
    return Path(waiting.value.path()).read_text(encoding="utf-8")


def test_charts_are_saved_as_csv_svg_and_png(browser: Browser, one: Path, oracle: Results) -> None:
    opened = Opened(browser, one)
    opened.tab("browse")
    opened.draw_all()
    page = opened.page
    rows = list(csv.DictReader(io.StringIO(_download(page, "#chart-change", "CSV"))))
    assert len(rows) == 60
    values = oracle.values
    stored = values[(values["audit"] == "permutation") & (values["metric"] == "tvd_median")][
        "value"
    ]
    np.testing.assert_allclose(
        sorted(float(row["change"]) for row in rows), np.sort(stored), atol=1e-6
    )
    assert _download(page, "#chart-tau", "SVG").startswith("<svg")
    with page.expect_download() as waiting:
        page.click("#chart-tau .save >> text=PNG")
    assert Path(waiting.value.path()).read_bytes().startswith(b"\x89PNG")
    opened.check_quiet(one)


def findings() -> list[Findings]:
    """As interventions leave them: twins, seeds, a sweep over sparsity, a table of its own."""
    twins = pd.DataFrame(
        [
            {"kind": kind, "lam": lam, "jsd": jsd, "jsd_low": jsd - 0.02, "jsd_high": jsd + 0.02}
            | {"tvd": 0.05, "tvd_low": 0.04, "tvd_high": 0.06, "accuracy": 0.8}
            for kind, lam, jsd in (("twin", 0.01, 0.4), ("twin", 0.1, 0.6), ("seed", 0.0, 0.1))
        ]
    )
    sweep = pd.DataFrame(
        [
            {"projection": name, "value": value, "accuracy": 0.8}
            | {
                f"{key}{end}": 0.3
                for key in ("tau_gradient", "tau_random", "furthest_jsd")
                for end in ("", "_low", "_high")
            }
            for name, value in (("softmax", float("nan")), ("sparsegen", 0.5))
        ]
    )
    pairs = pd.DataFrame(
        {
            "example_id": ["a", "b"],
            "jsd": [0.1, 0.2],
            "tvd": [0.1, 0.1],
            "max_attention": [0.2, 0.9],
        }
    )
    plain = pd.DataFrame({"metric": ["accuracy"], "trained": [0.8], "uniform": [0.7]})
    made = {
        "adversarial": (twins, pd.DataFrame()),
        "seeds": (plain, pairs),
        "sparsity": (sweep, pd.DataFrame()),
        "uniform": (plain, pd.DataFrame()),
    }
    return [
        Findings(
            name, f"What of {name}?", *frames, (), "" if name == "seeds" else f"This of {name}."
        )
        for name, frames in made.items()
    ]


def test_interventions_and_curves_are_drawn(
    browser: Browser, oracle: Results, tmp_path: Path
) -> None:
    folder = oracle.save(tmp_path / "run")
    for each in findings():
        each.save(tmp_path / each.name)
    opened = Opened(browser, write_page([oracle], tmp_path / "page.html", folders=[folder]))
    opened.tab("browse")
    opened.draw_all()
    drawn = {
        figure.query_selector("h3").inner_text(): figure
        for figure in opened.page.query_selector_all("figure")
    }
    for question in (
        "What of adversarial?",
        "What of seeds?",
        "What of sparsity?",
        "How many words hold the attention?",
    ):
        assert drawn[question].query_selector("svg"), question
    assert drawn["What of uniform?"].query_selector("table")
    caption = "figcaption p"
    for name in ("adversarial", "sparsity", "uniform"):
        said = drawn[f"What of {name}?"].query_selector(caption).inner_text()
        assert said.startswith(f"This of {name}. Intervention {name} (")
    assert (
        drawn["What of seeds?"]
        .query_selector(caption)
        .inner_text()
        .startswith("Intervention seeds (")
    )
    text_of_chart = drawn["What of adversarial?"].inner_text()
    assert text_of_chart.count("adversarial twins") == 1  # one legend
    opened.check_quiet(tmp_path / "page.html")


def test_hostile_texts_are_shown_as_text_everywhere(browser: Browser, tmp_path: Path) -> None:
    words = [HOSTILE[number % len(HOSTILE)] for number in range(50)]
    path = write_page([results(words=words)], tmp_path / "page.html")
    opened = Opened(browser, path)
    opened.tab("examples")
    shown = opened.page.evaluate(
        "[...document.querySelectorAll('.heatmap .t')].map((each) => each.textContent)"
    )
    assert "a\u2400b" in shown or "<script>alert(1)</script>" in shown
    opened.tab("playground")
    texts: set[str] = set()
    for _ in range(6):
        texts |= set(
            opened.page.evaluate(
                "[...document.querySelectorAll('.words .t')].map((each) => each.textContent)"
            )
        )
        opened.page.click("button:has-text('Next')")
    assert {*HOSTILE[:5], "a\u2400b", "\\u202eevil"} <= texts
    assert opened.page.query_selector("main img") is None
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 1280
    opened.check_quiet(path)


# changes(selector, options, count, act): act, and count what changed below the selector by the time
# the next frame is drawn.
COUNT_CHANGES = """
    const changes = async (selector, options, count, act) => {
        const seen = [];
        const collector = new MutationObserver((changed) => seen.push(...changed));
        collector.observe(document.querySelector(selector), options);
        act();
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        seen.push(...collector.takeRecords());
        collector.disconnect();
        return count(seen);
    };
"""


def test_2000_words_are_made_once_and_painted_only_near_the_view(
    browser: Browser, oracle: Results, tmp_path: Path
) -> None:
    length = 2000
    first = oracle.examples.iloc[[0]]
    weights = np.random.default_rng(0).dirichlet(np.full(length, 0.1))
    readout = np.random.default_rng(1).normal(size=(length, 2))
    powers = np.exp(weights @ readout)
    long = first.assign(
        tokens=[[f"word{n}" for n in range(length)]],
        evidence=[[False] * length],
        attention=[weights],
        furthest=[weights],
        readout=[readout.flatten()],
        probs=[powers / powers.sum()],
        scores=[[{"measure": "gradient", "values": weights}]],
    )
    path = write_page([replace(oracle, examples=long)], tmp_path / "page.html")
    opened = Opened(browser, path)
    opened.tab("examples")
    made = opened.page.evaluate(
        f"""async () => {{
            {COUNT_CHANGES}
            const box = [...document.querySelectorAll("#examples select")].at(-1);
            box.value = "gradient";
            return await changes("#examples", {{childList: true, subtree: true}}, (changed) =>
                changed.flatMap((change) => [...change.addedNodes])
                    .filter((node) => node.nodeType === Node.ELEMENT_NODE)
                    .reduce((sum, node) => sum + node.querySelectorAll(".w").length
                        + (node.matches(".w") ? 1 : 0), 0),
                () => box.dispatchEvent(new Event("change")));
        }}"""
    )
    assert opened.page.locator(".maps .w").count() == 3 * length
    assert made <= 3 * length  # no word is made twice
    opened.tab("playground")
    painted = opened.page.evaluate(
        f"""async () => {{
            {COUNT_CHANGES}
            const buttons = [...document.querySelectorAll("#playground button")];
            const uniform = buttons.find((each) => each.textContent === "Uniform");
            return await changes(".words", {{attributeFilter: ["data-weight"], subtree: true}},
                (changed) => changed.length, () => {{ uniform.click(); uniform.click(); }});
        }}"""
    )
    assert 0 < painted < length / 2  # once for two clicks in a frame, and only words near the view
    # Only what is in view is drawn again; the rest when it comes into view.
    assert opened.page.inner_text(".words .w >> nth=0").split()[-1] == f"{1 / length:.3f}"
    last = opened.page.locator(".words .w").last
    last.scroll_into_view_if_needed()
    opened.page.wait_for_selector('.words .piece:last-child .w:last-child[data-weight="0.0005"]')


def test_of_20000_words_the_rest_is_shown_on_request(
    browser: Browser, oracle: Results, tmp_path: Path
) -> None:
    length = 20_000
    weights = np.random.default_rng(0).dirichlet(np.full(length, 0.1))
    readout = np.random.default_rng(1).normal(size=(length, 2))
    powers = np.exp(weights @ readout)
    long = oracle.examples.iloc[[0]].assign(
        tokens=[[f"word{n}" for n in range(length)]],
        evidence=[[False] * length],
        attention=[weights],
        furthest=[weights],
        readout=[readout.flatten()],
        probs=[powers / powers.sum()],
        scores=[[{"measure": "gradient", "values": weights}]],
    )
    path = write_page([replace(oracle, examples=long)], tmp_path / "page.html")
    assert path.stat().st_size < 3_000_000
    opened = Opened(browser, path)
    opened.tab("examples")
    first = opened.page.locator(".maps .heatmap").first
    assert first.locator(".w").count() == 2400
    assert opened.page.locator(".maps .w").count() == 2 * 2400
    assert "2,400 of 20,000 words are shown." in first.locator(".rest").inner_text()
    first.press("End")  # the last word that is shown
    assert opened.page.inner_text(".reading").startswith("2400. word2399")
    first.locator(".rest button").click()
    assert first.locator(".w").count() == 4800
    assert first.locator(".w").last.text_content() == "word4799"  # not in view
    assert "4,800 of 20,000" in first.locator(".rest").inner_text()
    assert not opened.page.is_visible("#tab-playground")
    assert "too long" in opened.page.inner_text("#examples")
    opened.check_quiet(path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("part", ["overview", "browse", "examples", "playground"])
def test_a_phone_shows_it_without_scrolling_sideways(
    browser: Browser, several: Path, part: str, scheme: str
) -> None:
    opened = Opened(browser, several, viewport={"width": 390, "height": 844}, color_scheme=scheme)
    opened.tab(part)
    if part == "browse":
        opened.draw_all()
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert _least_contrast(opened.page, f"#{part}") >= 4.5


def _least_contrast(page: Any, root: str) -> float:
    """The least WCAG contrast of any text that is seen, against what lies behind it."""
    return page.evaluate(
        """(root) => {
            const parse = (text) => {
                const n = text.match(/[\\d.]+/g).map(Number);
                return n.length < 4 ? [...n, 1] : n;
            };
            const over = (top, below) =>
                [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3]));
            const behind = (element) => {
                const layers = [];
                for (let each = element; each; each = each.parentElement)
                    layers.unshift(parse(getComputedStyle(each).backgroundColor));
                return layers.reduce((below, top) => over(top, below), [255, 255, 255]);
            };
            const light = (rgb) => rgb.map((each) => each / 255)
                .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
                .reduce((total, c, at) => total + c * [0.2126, 0.7152, 0.0722][at], 0);
            let least = 99;
            for (const element of document.querySelector(root).querySelectorAll("*")) {
                if (element.closest("svg") || !element.offsetParent) continue;
                const isText = (node) => node.nodeType === 3 && node.textContent.trim();
                if (![...element.childNodes].some(isText)) continue;
                const below = behind(element);
                const colour = parse(getComputedStyle(element).color);
                const [a, b] = [light(over(colour, below)), light(below)];
                least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
            }
            return least;
        }""",
        root,
    )


def test_print_shows_the_card_and_no_controls(browser: Browser, one: Path) -> None:
    opened = Opened(browser, one, new_tab=True, color_scheme="dark")
    opened.tab("examples")
    opened.page.emulate_media(media="print")
    assert opened.page.is_visible("#overview .card")
    assert opened.page.is_visible("#examples .maps")
    assert not opened.page.is_visible(".tabs")
    assert not opened.page.is_visible("#examples .controls")
    assert _least_contrast(opened.page, "#overview") >= 4.5
    assert opened.page.pdf().startswith(b"%PDF")


def test_on_paper_the_ranking_is_not_cut(
    browser: Browser, compared: Results, tmp_path: Path
) -> None:
    path = write_page([compared], tmp_path / "page.html")
    on_paper = {"width": 680, "height": 900}  # CSS pixels of A4 between its margins
    page = Opened(browser, path, new_tab=True, viewport=on_paper).page
    page.emulate_media(media="print")
    right = page.evaluate("document.querySelector('.ranking').getBoundingClientRect().right")
    assert right <= 680


def test_tabs_and_tables_work_with_the_keyboard(browser: Browser, one: Path) -> None:
    opened = Opened(browser, one)
    page = opened.page
    page.focus("#tab-overview")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-browse", "aria-selected") == "true"
    page.keyboard.press("ArrowLeft")
    page.focus(".numbers summary")
    page.keyboard.press("Enter")
    page.wait_for_selector(".numbers table")
    rows = list(csv.DictReader(io.StringIO(_download(page, ".numbers", "All numbers as CSV"))))
    data = json.loads(page.eval_on_selector("#tables-0", "each => each.textContent"))
    assert len(rows) == sum(map(len, data["audits"].values()))


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_lesson(tmp_path_factory.mktemp("lesson") / "lesson.html")


def _task(page: Any, model: str, task: str) -> Any:
    return page.query_selector(f".play[data-model={model}][data-task={task}]")


def _press(page: Any, play: Any, button: str) -> tuple[bool, str]:
    """Whether the task is done after pressing a button, and what the page says of it."""
    play.query_selector(f"button:has-text('{button}')").click()
    _wait_until_painted(page)
    return "finished" in play.get_attribute("class"), play.query_selector(".task").inner_text()


@pytest.mark.parametrize(
    ("model", "task", "wrong", "hint", "right"),
    [
        (
            "oracle",
            "flip",
            "Furthest with the same answer",
            "the answer is the same",
            "Smallest removal that flips",
        ),
        (
            "inert",
            "same",
            "Uniform",
            "until the JSD is at least 0.5",
            "Furthest with the same answer",
        ),
        (
            "oracle",
            "tau",
            "Uniform",
            "prediction moved by more than 0.01",
            "Disturb the small weights",
        ),
        ("oracle", "far", "Furthest with the same answer", "Not far enough", "It cannot be done"),
        ("oracle", "far", "Uniform", "prediction moved by more than 0.01", "It cannot be done"),
        ("inert", "unflippable", "Smallest removal that flips", "", None),
        ("inert", "unflippable", "Uniform", "The answer is the same", "It cannot be done"),
    ],
)
def test_in_the_lesson_only_the_right_move_counts(
    browser: Browser, taught: Path, model: str, task: str, wrong: str, hint: str, right: str | None
) -> None:
    opened = Opened(browser, taught)
    play = _task(opened.page, model, task)
    assert "finished" not in play.get_attribute("class")
    assert play.query_selector(".task").inner_text() == ""
    done, said = _press(opened.page, play, wrong)
    assert not done
    assert hint in said
    if right is not None:
        done, said = _press(opened.page, play, right)
        assert done
        assert said.startswith("Done")
    opened.check_quiet(taught)


@pytest.mark.parametrize(("model", "task"), [("oracle", "far"), ("inert", "unflippable")])
def test_in_the_lesson_nobody_gives_up_untried(
    browser: Browser, taught: Path, model: str, task: str
) -> None:
    opened = Opened(browser, taught)
    answers = opened.page.query_selector(f"details[data-answers={task}]")
    play = _task(opened.page, model, task)
    done, said = _press(opened.page, play, "It cannot be done")
    assert not done
    assert "Try first" in said
    assert answers.get_attribute("open") is None
    _press(opened.page, play, "Uniform")  # a move for sure; a permutation may change nothing
    assert _press(opened.page, play, "It cannot be done")[0]
    assert answers.get_attribute("open") is not None


def test_in_the_lesson_the_shifted_attention_must_be_carried_to_the_underlined_word(
    browser: Browser, taught: Path
) -> None:
    opened = Opened(browser, taught)
    page = opened.page
    play = _task(page, "shifted", "carry")
    for wrong in ("Smallest removal that flips", "Uniform", "Furthest with the same answer"):
        assert not _press(page, play, wrong)[0], (
            wrong
        )  # the first of them flips the answer: not what was asked
    assert "Not this way" in _press(page, play, "Smallest removal that flips")[1]
    _press(page, play, "Original")
    words = play.query_selector_all(".words .w")
    marked = next(n for n, word in enumerate(words) if "evidence" in word.get_attribute("class"))
    play.scroll_into_view_if_needed()
    source, target, past = (words[n].bounding_box() for n in (marked + 1, marked, marked - 1))
    centre = [
        (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for box in (source, target, past)
    ]
    page.mouse.move(*centre[0])
    page.mouse.down()
    page.mouse.move(*centre[1], steps=6)
    _wait_until_painted(page)
    assert "finished" not in play.get_attribute("class")  # still being carried
    page.mouse.up()
    _wait_until_painted(page)
    assert "finished" in play.get_attribute("class")
    page.mouse.move(*centre[1])
    page.mouse.down()
    page.mouse.move(*centre[2], steps=6)
    page.mouse.up()
    _wait_until_painted(page)
    assert "finished" not in play.get_attribute("class")  # one word too far
    opened.check_quiet(taught)


def test_the_lessons_quiz_takes_no_guess(browser: Browser, taught: Path) -> None:
    opened = Opened(browser, taught)
    page = opened.page

    def choose(name: str) -> tuple[bool, str]:
        page.click(f".quiz >> text={name}")
        return "finished" in page.get_attribute(".quiz", "class"), page.inner_text(".quiz .task")

    assert choose("Model B") == (
        False,
        "That would be a guess: move the attention in both models first.",
    )
    for play in page.query_selector_all(".two .play"):
        assert not choose("Model B")[0]
        play.query_selector("button:has-text('Uniform')").click()
        _wait_until_painted(page)
    assert "Look again" in choose("Model A")[1]
    assert choose("Model B")[0]
    opened.check_quiet(taught)


def test_the_lesson_links_the_papers_and_fetches_none(browser: Browser, taught: Path) -> None:
    opened = Opened(browser, taught)
    links = opened.page.query_selector_all("a[href]")
    papers = ("N19-1357", "D19-1002", "P19-1282", "2021.acl-short.17", "2020.acl-main.432")
    assert [link.get_attribute("href") for link in links] == [
        f"https://aclanthology.org/{each}/" for each in papers
    ]
    assert all("noopener" in link.get_attribute("rel") for link in links)
    assert opened.asked == [taught.as_uri()]


def test_the_lesson_defines_its_terms_before_they_are_used(browser: Browser, taught: Path) -> None:
    opened = Opened(browser, taught)
    page = opened.page
    terms = [each.inner_text() for each in page.query_selector_all(".terms dt")]
    assert terms == ["TVD", "JSD", "ε"]
    assert "ln\u00a02" in page.inner_text(".terms")
    place = "each => each.getBoundingClientRect().top"
    assert page.eval_on_selector(".terms", place) < page.eval_on_selector(".play", place)
    before = page.evaluate(
        "() => { const range = document.createRange(); range.setStart(document.body, 0);"
        " range.setEndBefore(document.querySelector('.terms')); return range.toString(); }"
    )
    assert not any(term in before for term in (*terms, "ln\u00a02", "ln 2"))


def test_the_teachers_notes_are_closed_until_opened(browser: Browser, taught: Path) -> None:
    opened = Opened(browser, taught)
    page = opened.page
    assert not page.is_visible(".notes h3")
    page.click(".notes summary")
    titles = [each.inner_text() for each in page.query_selector_all(".notes h3")]
    assert titles == ["Aims", "Timing", "What to ask", "Common misunderstandings", "Answers"]


def test_the_lessons_tau_is_scipys(browser: Browser, taught: Path) -> None:
    opened = Opened(browser, taught)
    draw = np.random.default_rng(3)
    pairs = draw.integers(0, 6, (50, 2, 12)).tolist()
    taus = opened.page.evaluate("(pairs) => pairs.map(([x, y]) => kendallTau(x, y))", pairs)
    for (x, y), tau in zip(pairs, taus, strict=True):
        assert tau == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)


def test_the_lesson_fits_a_phone(browser: Browser, taught: Path) -> None:
    opened = Opened(browser, taught, viewport={"width": 390, "height": 844}, color_scheme="dark")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert _least_contrast(opened.page, "main") >= 4.5
