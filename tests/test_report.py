"""The page: every text in it is data from outside and is shown as text."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from attnaudit.auditing import audit
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.report.page import write_page
from attnaudit.results import Results

NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "שלום",
    "🙂",
    "x" * 10_000,
    "a\x00b",
    "{{ 7 * 7 }}",
    "\ud800",
]


def results(kind: str = "oracle") -> Results:
    words = [NASTY[number % len(NASTY)] for number in range(50)]
    return audit(
        Glass(kind),
        glass_batch(12),
        words=words,
        class_names=["<b>no</b>", "yes & more"],
        show_progress=False,
    )


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.handlers += [name for name, _ in attributes if name.startswith("on")]


def test_hostile_texts_are_shown_and_run_nothing(tmp_path: Path) -> None:
    html = write_page([results()], tmp_path / "page.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(html)
    assert "script" not in tags.seen
    assert "img" not in tags.seen
    assert tags.handlers == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "&lt;b&gt;no&lt;/b&gt;" in html
    assert "{{ 7 * 7 }}" in html
    assert "שלום" in html


def test_the_page_forbids_the_network(tmp_path: Path) -> None:
    html = write_page([results()], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in html
    assert "http://" not in html
    assert "https://" not in html


def test_the_page_shows_card_tables_and_ten_heatmaps(tmp_path: Path) -> None:
    html = write_page([results(), results("inert")], tmp_path / "page.html").read_text(encoding="utf-8")
    assert html.count('class="card"') == 2
    assert html.count('class="example"') == 20
    for audit_name in ("agreement", "permutation", "furthest", "flip_fraction", "top_item", "evidence"):
        assert f"<summary>{audit_name}</summary>" in html


def test_numbers_on_the_page_are_the_numbers_of_the_results(tmp_path: Path) -> None:
    found = results()
    html = found.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    for answer in found.card().answers:
        for finding in answer.findings:
            assert f"{finding.value:.3f} [{finding.low:.3f}, {finding.high:.3f}]" in html


def test_results_show_themselves_in_a_notebook() -> None:
    found = results()
    assert "Does it matter?" in found._repr_html_()
    assert "does it matter?" in repr(found)


def test_a_page_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = results().to_html(tmp_path / "page.html")
    before = page.read_text(encoding="utf-8")
    monkeypatch.setattr("attnaudit.report.page.heatmaps", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        results("inert").to_html(page)
    assert page.read_text(encoding="utf-8") == before
