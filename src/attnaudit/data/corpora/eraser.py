"""Corpora with human rationales in the layout of the ERASER benchmark (DeYoung et al. 2020): movies, boolq, multirc, fever and others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.corpora.eraser_layout import FILES, SPLITS, Annotation, Document, read_layout
from attnaudit.data.corpus_info import About, Download, describes
from attnaudit.data.reading.options import one_of, yes_or_no
from attnaudit.data.reading.preprocessing import Preparation, Text, require
from attnaudit.data.reading.tokenise import find_tokeniser
from attnaudit.data.splits import Example, Splits

_HOME = "https://www.eraserbenchmark.com/"

ABOUT = About(
    title="ERASER: any corpus in the layout of the benchmark",
    task="classes of documents, or of documents with a query, with human rationales",
    size="of the corpus chosen",
    licence="of the corpus chosen",
    home=_HOME,
    places=("{corpus}", "{corpus}.tar*", "eraser*/{corpus}", "eraser*/{corpus}.tar*"),
    holds=FILES,
    steps=f"Get <corpus>.tar.gz from {_HOME} and put it into the data folder as it is.",
)
MOVIES = About(
    title="Movie reviews with rationales (Zaidan & Eisner 2008; ERASER)",
    task="sentiment of reviews, 2 classes, with the phrases that people marked as reasons",
    size="1,600 / 200 / 199 reviews",
    licence="none stated; distributed for research",
    home=_HOME,
    places=tuple(place.format(corpus="movies") for place in ABOUT.places),
    holds=FILES,
    downloads=(
        Download(
            f"{_HOME}zipped/movies.tar.gz",
            "sha256:66e18d4e6c9df9e9f5544572b0bfe92a39673f74ecbfc3859b46cedb2f5b2dee",
            "eraser/movies.tar.gz",
        ),
    ),
)


@describes(MOVIES)
def movies(place: Path, *, replace_numbers: bool = False, skip_bad: bool = False) -> Splits:
    """Movie reviews with the phrases people marked as reasons (Zaidan & Eisner 2008, in the layout of ERASER)."""
    return _corpus(place, "movies", None, replace_numbers=replace_numbers, skip_bad=skip_bad)


@describes(ABOUT)
def eraser(
    place: Path,
    *,
    corpus: str = "movies",
    query: bool = True,
    query_tokeniser: str = "regex",
    replace_numbers: bool = False,
    skip_bad: bool = False,
) -> Splits:
    """Any corpus in the layout of the ERASER benchmark, by the name of its folder or archive: eraser:corpus=boolq.

    The words are the documents' own, split at blanks; a line is a sentence. Several documents are one text, in the order of `docids`.
    A word is evidence if it is in any of the groups: that one group alone would do is not kept. A query that is the same throughout
    says nothing and is dropped. Not supported: evidence without token numbers, and queries that are not text.
    """
    yes_or_no("eraser", "query", query)
    one_of("eraser", "query_tokeniser", query_tokeniser, ("regex", "blanks", "spacy"))
    split = find_tokeniser(query_tokeniser).split if query else None
    return _corpus(place, corpus, split, replace_numbers=replace_numbers, skip_bad=skip_bad)


def _corpus(
    place: Path,
    corpus: str,
    split: Callable[[str], list[str]] | None,
    *,
    replace_numbers: bool,
    skip_bad: bool,
) -> Splits:
    prepare = Preparation(
        corpus, tokeniser="blanks", replace_numbers=replace_numbers, skip_bad=skip_bad
    )
    documents, annotations = read_layout(place, prepare)
    require(place, (f"{name}.jsonl" for name in annotations), FILES)
    everything = [each for part in annotations.values() for each in part]
    classes = sorted({each.row["classification"] for each in everything})
    queries = {each.row.get("query") for each in everything}
    ask = split if len(queries) > 1 else None
    spans: Counter[str] = Counter()
    without: Counter[str] = Counter()

    def texts(name: str) -> Iterator[Text]:
        for each in annotations[name]:
            with prepare.bad:
                text = _text(each, SPLITS[name], documents, classes, ask)
                spans[SPLITS[name]] += len(each.evidence)
                without[SPLITS[name]] += not each.evidence
                yield text

    read: dict[str, tuple[Example, ...]] = {
        SPLITS[name]: prepare.examples(texts(name)) for name in SPLITS
    }
    return prepare.finish(
        train=read["train"],
        dev=read["dev"],
        test=read["test"],
        classes=tuple(classes),
        source=f"{corpus}, in the layout of ERASER",
        evidence_spans=dict(spans),
        without_evidence=dict(without),
        query=_told(queries, ask is not None),
    )


def _told(queries: set[str | None], kept: bool) -> str:
    if kept or queries <= {None}:
        return "each its own" if kept else "none"
    return "left out: the same throughout" if len(queries) == 1 else "left out, as asked"


def _text(
    annotation: Annotation,
    split: str,
    documents: dict[str, Document],
    classes: list[str],
    ask: Callable[[str], list[str]] | None,
) -> Text:
    where, row = annotation.where, annotation.row
    words: list[str] = []
    sentences: list[int] = []
    starts: dict[str, int] = {}
    for name in _documents_of(annotation):
        if name not in documents:
            raise InputError(
                f"{where}: the document {name!r} is not in docs. Take the corpus anew, whole."
            )
        starts[name] = len(words)
        first = sentences[-1] + 1 if sentences else 0
        words += documents[name].words
        sentences += [first + number for number in documents[name].sentences]
    marked = [False] * len(words)
    for each in annotation.evidence:
        first, last = _span(where, each, documents, starts)
        marked[first:last] = [True] * (last - first)
    if ask is not None and row.get("query") is None:
        raise InputError(
            f"{where}: the query is missing, but other lines have one. Choose query=false to do without."
        )
    return Text(
        f"{split}/{row['annotation_id']}",
        where,
        words,
        classes.index(row["classification"]),
        query=None if ask is None else ask(row["query"]),
        evidence=tuple(marked),
        segments=tuple(sentences),
    )


def _documents_of(annotation: Annotation) -> Iterable[str]:
    """Those named; else those the evidence is in; else the one with the name of the annotation."""
    named = annotation.row.get("docids") or [each["docid"] for each in annotation.evidence]
    return dict.fromkeys(named or [annotation.row["annotation_id"]])


def _span(
    where: str, evidence: dict[str, Any], documents: dict[str, Document], starts: dict[str, int]
) -> tuple[int, int]:
    """The words of the text that are this piece of evidence. They must be the words it says they are."""
    name, first, last = evidence["docid"], evidence["start_token"], evidence["end_token"]
    if name not in starts:
        raise InputError(
            f"{where}: evidence in {name!r}, which is not among the docids {list(starts)[:5]}."
        )
    words = documents[name].words
    if not 0 <= first <= last <= len(words):  # the released test split has empty ones, of no text
        raise InputError(
            f"{where}: evidence from token {first} to {last}, but {name!r} has {len(words)} tokens."
        )
    found = " ".join(words[first:last])
    if found.split() != evidence["text"].split():
        raise InputError(
            f"{where}: tokens {first} to {last} of {name!r} are {found[:80]!r}, but the evidence says "
            f"{evidence['text'][:80]!r}. Take the corpus anew, or leave such lines out with skip_bad=true."
        )
    return starts[name] + first, starts[name] + last
