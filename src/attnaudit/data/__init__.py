"""Corpora and simulators: each gives Splits. A new one is one file and one line here."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.data.corpora.adr_tweets import adr_tweets
from attnaudit.data.corpora.ag_news import ag_news
from attnaudit.data.corpora.babi_files import babi_files
from attnaudit.data.corpora.babi_simulated import babi
from attnaudit.data.corpora.cnn_qa import cnn_qa
from attnaudit.data.corpora.eraser import eraser, movies
from attnaudit.data.corpora.imdb import imdb
from attnaudit.data.corpora.keyword import keyword
from attnaudit.data.corpora.mimic import mimic
from attnaudit.data.corpora.movie_reviews import movie_reviews
from attnaudit.data.corpora.newsgroups import newsgroups
from attnaudit.data.corpora.reviews_and_answers import amazon, yahoo, yelp
from attnaudit.data.corpora.snli import snli
from attnaudit.data.corpora.sst import sst
from attnaudit.data.corpus_info import About, about_of
from attnaudit.data.reading import parquet_cache
from attnaudit.data.reading.cache import cache_folder, cached_file
from attnaudit.data.reading.tokenise import tokeniser_name
from attnaudit.data.splits import Splits
from attnaudit.data.text_file import file_choice, text_file

DATASETS: dict[str, Callable[..., Splits]] = {
    "adr_tweets": adr_tweets,
    "ag_news": ag_news,
    "amazon": amazon,
    "babi": babi,
    "babi_files": babi_files,
    "cnn_qa": cnn_qa,
    "eraser": eraser,
    "imdb": imdb,
    "keyword": keyword,
    "mimic": mimic,
    "movie_reviews": movie_reviews,
    "movies": movies,
    "newsgroups": newsgroups,
    "snli": snli,
    "sst": sst,
    "text_file": text_file,
    "yahoo": yahoo,
    "yelp": yelp,
}


def load(choice: str, *, data_dir: Path | None = None, seed: int = 0, cache: bool = True) -> Splits:
    """The dataset a choice such as "babi:task=2" names; "reviews.csv:label=stars" is short for "text_file:path=reviews.csv,label=stars".

    Corpora are looked for in `data_dir` (see data_folder) and, once parsed, kept for the next time; simulators get `seed`,
    unless the choice gives its own; the seed of a model is another matter and does not change its data.
    """
    name, options = file_choice(choice, DATASETS) or registry.parse(choice)
    reader = registry.find(DATASETS, name, "dataset")
    given: dict[str, Any] = dict(options)
    takes = {
        name: each for name, each in inspect.signature(reader).parameters.items() if name != "place"
    }
    unknown = [each for each in options if each not in takes and each != "folder"]
    if unknown and not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in takes.values()):
        raise InputError(
            f"The dataset {name!r} has no option {unknown[0]!r}. Choose from: {', '.join(takes) or 'none'}."
        )
    if "seed" in takes:
        given.setdefault("seed", seed)
    about = about_of(reader)
    if about is None or not (about.places or about.locate):
        if "folder" in takes:
            given["folder"] = data_folder(given.get("folder", data_dir))
        return reader(**given)
    folder = given.pop("folder", data_dir)
    if about.locate is not None:
        place = about.locate()
    else:
        settled = {each.name: given.get(each.name, each.default) for each in takes.values()}
        place = about.chosen(settled).find(name, data_folder(folder))
    return _read(reader, name, about, place, given, cache=cache)


def reads_files(choice: str) -> bool:
    """Does this dataset come from files, which may change, rather than from a simulator?"""
    name, _ = file_choice(choice, DATASETS) or registry.parse(choice)
    return name == "text_file" or about_of(registry.find(DATASETS, name, "dataset")) is not None


def data_folder(folder: Path | str | None = None) -> Path:
    """The folder given, or else that in ATTNAUDIT_DATA, or else `data` in the user's cache folder."""
    where = folder or os.environ.get("ATTNAUDIT_DATA")
    if not where:
        return cache_folder() / "data"
    if not isinstance(where, str | Path) or not Path(where).is_dir():
        raise InputError(
            f"The data folder {str(where)!r} does not exist. "
            "Check the path given (--data-dir), or the environment variable ATTNAUDIT_DATA."
        )
    return Path(where)


def _read(
    reader: Callable[..., Splits],
    name: str,
    about: About,
    place: Path,
    given: dict[str, Any],
    *,
    cache: bool,
) -> Splits:
    """From the files, or from what was parsed of the same files with the same options before."""
    if not cache:
        return _without_folder(reader(place, **given), place)
    bound = inspect.signature(reader).bind(place, **given)
    bound.apply_defaults()
    settled = {key: value for key, value in bound.arguments.items() if value is not place}
    if "tokeniser" in settled:  # "auto" is one thing today and another once spaCy is installed
        settled["tokeniser"] = tokeniser_name(settled["tokeniser"])
    kept = cached_file(name, about.version, settled, place)
    # Not there, no right to read it, or a damaged file of our own (pyarrow's errors are among these): the corpus is read again.
    with suppress(OSError, ValueError, KeyError, TypeError):
        return parquet_cache.load(kept)
    splits = _without_folder(reader(place, **given), place)
    with suppress(OSError):  # no room, or no right to write there: the corpus is read all the same
        parquet_cache.save(splits, kept)
    return splits


def _without_folder(splits: Splits, place: Path) -> Splits:
    """The messages of skipped rows are stored with results: they name files without the user's folders."""
    skipped = splits.notes.get("skipped", {})
    if "first" not in skipped:
        return splits
    folder = f"{place.parent}{os.sep}"
    first = [message.replace(folder, "") for message in skipped["first"]]
    return replace(
        splits, notes={**splits.notes, "skipped": {**skipped, "first": first}}, checked=True
    )
