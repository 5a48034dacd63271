"""How long an audit of texts will take, from a few of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, update_wrapper
from typing import Any

from attnaudit.auditing.battery import Battery, read
from attnaudit.auditing.jobs.text_examples import TextExample
from attnaudit.audits.data_options import bind_data_options, compute_data_options
from attnaudit.core.contract import Batch
from attnaudit.core.progress import duration

_TRIAL = 4  # texts of the smaller trial
_LONG = 60.0  # seconds, from which on it is said what takes them
_LISTED = 4  # audits and measures that are named
_NEEDED = ("attention", "permutation", "top_words", "polarity", "furthest", "noise_stability")


def estimate_time(
    battery: Battery,
    examples: Sequence[TextExample],
    to_batches: Callable[[Sequence[TextExample]], Sequence[Batch]],
    tokens: Sequence[int] | None = None,
) -> str | None:
    """How long it takes, and what takes longest; from texts of medium length, None if few.

    Of long work the slowest audits are named, and what to leave out to halve it.

    Parameters
    ----------
    battery : what is run.
    examples : the texts; need not be in memory.
    to_batches : makes batches of some of them.
    tokens : the number of tokens of each, if it is at hand.
    """
    count = len(examples)
    if count < 16 * _TRIAL:
        return None
    sizes = [example.tokens for example in examples] if tokens is None else tokens
    by_length = sorted(range(count), key=sizes.__getitem__)

    def seconds_of(texts: int) -> tuple[float, Counter[str]]:
        start = (count - texts) // 2
        batches = to_batches([examples[index] for index in by_length[start : start + texts]])
        started = time.monotonic()
        options = compute_data_options(
            battery.audits, lambda: (read(battery.model, batch) for batch in batches)
        )
        if "text_count" in options:  # of which expensive audits read a share
            options["text_count"] = count
        spent: Counter[str] = Counter()
        timed = replace(
            battery,
            audits=_timed(bind_data_options(battery.audits, options), spent),
            measures=_timed(battery.measures, spent),
        )
        timed.run(batches)
        return time.monotonic() - started, spent

    seconds_of(_TRIAL)  # the first time is slow: libraries are still being loaded
    (many, of_many), (few, of_few) = seconds_of(3 * _TRIAL), seconds_of(_TRIAL)
    # The cost of one more text, without what is done once for any number of texts.
    scale = count / (2 * _TRIAL)
    seconds = max(many - few, 0) * scale
    parts = {name: max(spent - of_few[name], 0) * scale for name, spent in of_many.items()}
    return f"About {duration(seconds)} for {count} texts.{_longest(parts, seconds)}"


def _timed(
    functions: Mapping[str, Callable[..., Any]], spent: Counter[str]
) -> dict[str, Callable[..., Any]]:
    """The functions, which add the seconds that they take to `spent`, by name."""

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            started = time.monotonic()
            try:
                return function(*arguments, **options)
            finally:
                spent[name] += time.monotonic() - started  # type: ignore[assignment]

        inner = function
        while isinstance(inner, partial):
            inner = inner.func
        return update_wrapper(run, inner)

    return {name: timed(name, function) for name, function in functions.items()}


def _longest(parts: Mapping[str, float], seconds: float) -> str:
    """What takes longest, and what to leave out to halve the time; empty for short work."""
    if seconds < _LONG:
        return ""
    ordered = sorted(parts, key=lambda name: -parts[name])
    listed = ", ".join(f"{name} {duration(parts[name])}" for name in ordered[:_LISTED])
    saved, left_out = 0.0, []
    for name in ordered:
        if saved >= seconds / 2 or name in _NEEDED:
            continue
        saved += parts[name]
        left_out.append(name)
    halve = ""
    if saved >= seconds / 2:
        halve = f" Half the time without {', '.join(left_out)}, or with half of the texts."
    return f" Longest: {listed}.{halve}"
