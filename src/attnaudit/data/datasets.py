"""The registry of datasets, and how a choice such as "babi:task=2" is resolved and loaded."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.core.paths import file_name
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
from attnaudit.data.corpus_info import about_of
from attnaudit.data.reading.cache import cache_folder
from attnaudit.data.reading.cached_corpus import read_corpus
from attnaudit.data.splits import SPLITS, Splits
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


def parse_choice(choice: str) -> tuple[str, dict[str, Any]]:
    """Split a dataset choice into its name and options.

    Parameters
    ----------
    choice : str
        A registered name with options, or the path of a file: "reviews.csv:label=stars" is short
        for "text_file:path=reviews.csv,label=stars".

    Returns
    -------
    (str, dict)
        The name in `DATASETS` (or "package.module:function") and the options given.

    Examples
    --------
    >>> parse_choice("babi:task=2")
    ('babi', {'task': 2})
    >>> parse_choice("reviews.csv:label=stars")
    ('text_file', {'path': 'reviews.csv', 'label': 'stars'})
    """
    return file_choice(choice, DATASETS) or registry.parse(choice)


def load(choice: str, *, data_dir: Path | None = None, seed: int = 0, cache: bool = True) -> Splits:
    """Load a dataset by name, or the user's own file by its path.

    Parameters
    ----------
    choice : str
        A name in `DATASETS` with options, such as "babi:task=2", or the path of a csv, tsv, jsonl,
        json or parquet file with options, such as "reviews.csv:label=stars".
    data_dir : Path, optional
        Folder to look for corpora in; see `data_folder` for the default.
    seed : int
        Seed of simulators and random splits, unless the choice has its own. The seed of a model is
        a separate option and does not change its data.
    cache : bool
        Whether to keep the parsed corpus in the user's cache folder and read it from there.

    Returns
    -------
    Splits
        Tokenised train, dev and test examples.

    Examples
    --------
    >>> splits = load("keyword:train=4,dev=2,test=2", seed=1)
    >>> len(splits.train), splits.classes
    (4, ('negative', 'positive'))
    """
    name, options, reader = _resolve(choice)
    parameters = _parameters(reader)
    if "seed" in parameters:
        options.setdefault("seed", seed)
    about = about_of(reader)
    if about is None or not (about.places or about.locate):
        if "folder" in parameters:
            options["folder"] = data_folder(options.get("folder", data_dir))
        return reader(**options)
    folder = options.pop("folder", data_dir)
    if about.locate is not None:
        place = about.locate()
    else:
        resolved = {
            parameter.name: options.get(parameter.name, parameter.default)
            for parameter in parameters.values()
        }
        place = about.with_options(resolved).find(name, data_folder(folder))
    return read_corpus(reader, name, about, place, options, cache=cache)


def check_choice(choice: str) -> None:
    """Reject an unknown dataset, or an unknown option of one, without reading anything.

    Examples
    --------
    >>> check_choice("keyword:length=40")
    """
    _resolve(choice)


def default_sizes(choice: str) -> dict[str, int]:
    """The numbers of examples that a choice names or its simulator has by default, by split.

    Examples
    --------
    >>> default_sizes("keyword:train=40,dev=20,test=10"), default_sizes("sst")
    ({'train': 40, 'dev': 20, 'test': 10}, {})
    """
    _, options, reader = _resolve(choice)
    parameters = _parameters(reader)
    sizes = {
        split: options.get(split, parameters[split].default)
        for split in SPLITS
        if split in parameters
    }
    return {split: size for split, size in sizes.items() if isinstance(size, int)}


def _resolve(choice: str) -> tuple[str, dict[str, Any], Callable[..., Splits]]:
    """The name, the options and the reader that a choice stands for."""
    name, options = parse_choice(choice)
    reader = registry.find(DATASETS, name, "dataset")
    parameters = _parameters(reader)
    unknown = [option for option in options if option not in parameters and option != "folder"]
    takes_any = any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()
    )
    if unknown and not takes_any:
        raise InputError(
            f"The dataset {name!r} has no option {unknown[0]!r}. "
            f"Choose from: {', '.join(parameters) or 'none'}."
        )
    return name, dict(options), reader


def _parameters(reader: Callable[..., Splits]) -> dict[str, inspect.Parameter]:
    """The options of a reader; `place` is where its files are."""
    parameters = inspect.signature(reader).parameters
    return {name: parameter for name, parameter in parameters.items() if name != "place"}


def reads_files(choice: str) -> bool:
    """Whether a dataset comes from files, which may change, rather than from a simulator.

    Examples
    --------
    >>> reads_files("sst"), reads_files("keyword")
    (True, False)
    """
    name, _ = parse_choice(choice)
    return name == "text_file" or about_of(registry.find(DATASETS, name, "dataset")) is not None


def choice_without_folders(choice: str) -> str:
    """A dataset choice as it is stored: absolute paths are cut to the name of the file.

    Folders describe a machine, not the data. The option `folder` is dropped for the same reason.

    Examples
    --------
    >>> choice_without_folders("text_file:path=/home/ann/reviews.csv,label=stars")
    'text_file:path=reviews.csv,label=stars'
    """
    name, options = parse_choice(choice)
    shared = {key: file_name(value) for key, value in options.items() if key != "folder"}
    return choice if shared == options else registry.render(name, shared)


def data_folder(folder: Path | str | None = None) -> Path:
    """The folder that corpora are looked for in.

    Parameters
    ----------
    folder : Path or str, optional
        Used as it is. If omitted: the environment variable ATTNAUDIT_DATA, else `data` in the
        user's cache folder.
    """
    chosen = folder or os.environ.get("ATTNAUDIT_DATA")
    if not chosen:
        return cache_folder() / "data"
    if not isinstance(chosen, str | Path) or not Path(chosen).is_dir():
        raise InputError(
            f"The data folder {str(chosen)!r} does not exist. "
            "Check the path given (--data-dir), or the environment variable ATTNAUDIT_DATA."
        )
    return Path(chosen)
