"""Corpora with human rationales in the layout of the ERASER benchmark (DeYoung et al. 2020)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.corpora.eraser_layout import FILES, SPLIT_OF, Annotation, Document, read_layout
from attnaudit.data.corpus_info import About, Download, describes
from attnaudit.data.reading.options import one_of, yes_or_no
from attnaudit.data.reading.preprocessing import Preparation, Text, require_parts
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
    """Movie reviews with the phrases that people marked as reasons (Zaidan & Eisner 2008)."""
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
    """Any corpus in the layout of ERASER, by the name of its folder: eraser:corpus=boolq.

    Words are those of the documents, split at blanks; a line is a sentence. Several documents are
    joined in the order of `docids`. A word is evidence if it is in any of the evidence groups, even
    if one group would suffice. A query that is the same for all texts is dropped. Evidence without
    token numbers and queries that are not text are not supported.
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
    require_parts(place, (f"{name}.jsonl" for name in annotations), FILES)
    rows = [annotation.row for part in annotations.values() for annotation in part]
    classes = sorted({row["classification"] for row in rows})
    queries = {row.get("query") for row in rows}
    split_query = split if len(queries) > 1 else None
    spans: Counter[str] = Counter()
    without: Counter[str] = Counter()

    def texts(name: str) -> Iterator[Text]:
        for annotation in annotations[name]:
            with prepare.bad:
                text = _text(annotation, SPLIT_OF[name], documents, classes, split_query)
                spans[SPLIT_OF[name]] += len(annotation.evidence)
                without[SPLIT_OF[name]] += not annotation.evidence
                yield text

    read: dict[str, tuple[Example, ...]] = {
        SPLIT_OF[name]: prepare.examples(texts(name)) for name in SPLIT_OF
    }
    return prepare.finish(
        train=read["train"],
        dev=read["dev"],
        test=read["test"],
        classes=tuple(classes),
        source=f"{corpus}, in the layout of ERASER",
        evidence_spans=dict(spans),
        without_evidence=dict(without),
        query=_query_note(queries, split_query is not None),
    )


def _query_note(queries: set[str | None], kept: bool) -> str:
    if kept or queries <= {None}:
        return "each its own" if kept else "none"
    return "left out: the same throughout" if len(queries) == 1 else "left out, as asked"


def _text(
    annotation: Annotation,
    split: str,
    documents: dict[str, Document],
    classes: list[str],
    split_query: Callable[[str], list[str]] | None,
) -> Text:
    where, row = annotation.where, annotation.row
    words: list[str] = []
    sentences: list[int] = []
    starts: dict[str, int] = {}
    for name in _documents_of(annotation):
        if name not in documents:
            raise InputError(
                f"{where}: the document {name!r} is not in docs. Download the whole corpus again."
            )
        starts[name] = len(words)
        first = sentences[-1] + 1 if sentences else 0
        words += documents[name].words
        sentences += [first + number for number in documents[name].sentences]
    marked = [False] * len(words)
    for evidence in annotation.evidence:
        first, last = _span(where, evidence, documents, starts)
        marked[first:last] = [True] * (last - first)
    if split_query is not None and row.get("query") is None:
        raise InputError(
            f"{where}: the query is missing, but other lines have one. "
            "Choose query=false to read no queries."
        )
    return Text(
        f"{split}/{row['annotation_id']}",
        where,
        words,
        classes.index(row["classification"]),
        query=None if split_query is None else split_query(row["query"]),
        evidence=tuple(marked),
        segments=tuple(sentences),
    )


def _documents_of(annotation: Annotation) -> Iterable[str]:
    """The documents in docids; else those of the evidence; else the one named by the annotation."""
    named = annotation.row.get("docids") or [item["docid"] for item in annotation.evidence]
    return dict.fromkeys(named or [annotation.row["annotation_id"]])


def _span(
    where: str, evidence: dict[str, Any], documents: dict[str, Document], starts: dict[str, int]
) -> tuple[int, int]:
    """(first, last) word of a piece of evidence in the text, checked against its own words."""
    name, first, last = evidence["docid"], evidence["start_token"], evidence["end_token"]
    if name not in starts:
        raise InputError(
            f"{where}: evidence in {name!r}, which is not among the docids {list(starts)[:5]}."
        )
    words = documents[name].words
    if not 0 <= first <= last <= len(words):  # some in the released test split are empty
        raise InputError(
            f"{where}: evidence from token {first} to {last}, but {name!r} has {len(words)} tokens."
        )
    text = " ".join(words[first:last])
    if text.split() != evidence["text"].split():
        raise InputError(
            f"{where}: tokens {first} to {last} of {name!r} are {text[:80]!r}, but the evidence "
            f"says {evidence['text'][:80]!r}. Download the corpus again, or leave such lines out "
            "with skip_bad=true."
        )
    return starts[name] + first, starts[name] + last
