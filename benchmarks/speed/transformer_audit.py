"""What do the default audits of a transformer take, and which of them takes it?

MiniLM (6 layers of 12 heads) with a classifier fine-tuned on 2,000 sentences of SST (or of Rotten
Tomatoes, without ATTNAUDIT_DATA) by `examples/finetune_minilm.py`, or any saved Hugging Face
classifier. Seconds of processor time on one thread. Readings that several audits share count for
the first of them; `everything else` is reading the texts, the summary and the table.

python -m benchmarks.speed.transformer_audit --texts 24
python -m benchmarks.speed.transformer_audit --model FOLDER --json build/transformer.json
"""

from __future__ import annotations

import argparse
import functools
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from examples.finetune_minilm import drawn, finetune, sentences
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import attnaudit
from attnaudit.audits import AUDITS, DEFAULT_AUDITS
from attnaudit.measures import DEFAULT_MEASURES, MEASURES


class Seconds(Counter[str]):
    """Seconds of processor time by name."""

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose time is counted, without that of others that it calls."""

        @functools.wraps(function)
        def call(*given: Any, **options: Any) -> Any:
            started, inside = time.process_time(), self.total()
            result = function(*given, **options)
            self[name] += time.process_time() - started - (self.total() - inside)
            return result

        return call


def measured(folder: Path, count: int) -> tuple[Seconds, float]:
    """Audit so many test sentences: seconds by audit and measure, and of everything."""
    loaded = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = attnaudit.from_huggingface(loaded.eval(), tokenizer)
    texts = [text for text, _ in drawn(sentences().test, count, 0)]
    seconds = Seconds()
    for registry, names in ((MEASURES, DEFAULT_MEASURES), (AUDITS, DEFAULT_AUDITS)):
        for name in names:
            registry[name] = seconds.timed(name, registry[name])
    started = time.process_time()
    attnaudit.audit(model, texts, show_progress=False)
    return seconds, time.process_time() - started


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--model", type=Path, help="a saved classifier; default: MiniLM on SST")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.texts < 1:
        parser.error(f"--texts must be at least 1, got {given.texts}")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as made:
        if given.model is None:
            finetune(Path(made))
        seconds, everything = measured(given.model or Path(made), given.texts)
    lines = {name: took for name, took in seconds.most_common() if took >= everything / 1000}
    lines["everything else"] = everything - sum(lines.values())
    lines["everything"] = everything
    print(f"{given.texts} texts, processor seconds on one thread")
    for name, took in lines.items():
        print(f"{name:24} {took:8.2f}")
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        report = {"texts": given.texts, "seconds": lines}
        given.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
