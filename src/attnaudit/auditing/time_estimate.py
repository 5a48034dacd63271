"""How long an audit of texts will take, from a few of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from attnaudit.auditing.battery import Battery, read
from attnaudit.auditing.jobs.text_examples import TextExample
from attnaudit.audits.data_options import bind_data_options, compute_data_options
from attnaudit.core.contract import Batch

_TRIAL = 4  # texts of the smaller trial


def estimate_time(
    battery: Battery,
    examples: Sequence[TextExample],
    to_batches: Callable[[Sequence[TextExample]], Sequence[Batch]],
) -> str | None:
    """One sentence, from texts of medium length; None if there are few texts."""
    count = len(examples)
    if count < 16 * _TRIAL:
        return None
    by_length = sorted(examples, key=lambda example: example.tokens)

    def seconds_of(texts: int) -> float:
        start = (count - texts) // 2
        batches = to_batches(by_length[start : start + texts])
        started = time.monotonic()
        options = compute_data_options(
            battery.audits, lambda: (read(battery.model, batch) for batch in batches)
        )
        if "text_count" in options:  # of which expensive audits read a share
            options["text_count"] = count
        replace(battery, audits=bind_data_options(battery.audits, options)).run(batches)
        return time.monotonic() - started

    seconds_of(_TRIAL)  # the first time is slow: libraries are still being loaded
    # The cost of one more text, without what is done once for any number of texts.
    seconds = max(seconds_of(3 * _TRIAL) - seconds_of(_TRIAL), 0) / (2 * _TRIAL) * count
    duration = f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"
    return f"About {duration} for {count} texts."
