"""How much time and memory does `attnaudit audit` take for many of the user's texts?

Makes a tiny BERT and csv files of texts of 200 words, and audits them with the cheapest audit, each
number of texts in a process of its own:

    python benchmarks/audit_texts.py --texts 1000 10000 100000 --json audit_texts.json
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = 200
VOCABULARY = [f"word{number}" for number in range(500)]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

# Waits for a command and prints what it used; a process of its own, without large imports.
_LAUNCHER = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=sys.stderr).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def tiny_bert(folder: Path) -> Path:
    """One layer of one head, with a tokenizer of whole words."""
    words = {word: number for number, word in enumerate([*SPECIAL, *VOCABULARY])}
    tokenizer = Tokenizer(models.WordLevel(words, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad", "unk", "cls", "sep", "mask"), SPECIAL, strict=True))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **{f"{name}_token": token for name, token in names.items()}
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        num_labels=2,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def texts_file(path: Path, count: int) -> Path:
    """A csv file of so many texts with labels."""
    draw = random.Random(0)
    with path.open("w", newline="", encoding="utf-8") as stream:
        lines = csv.writer(stream)
        lines.writerow(["text", "label"])
        for number in range(count):
            lines.writerow([" ".join(draw.choices(VOCABULARY, k=WORDS)), number % 2])
    return path


def measure(model: Path, data: Path, out: Path) -> dict[str, Any]:
    """Processor seconds and peak megabytes of one audit, and the checksum of its values."""
    command = [sys.executable, "-m", "attnaudit", "audit", str(model), "--data", str(data)]
    command += ["--audits", "uniform_attention", "--measures", "random", "--out", str(out)]
    command += ["--threads", "1"]
    launched = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, *command], capture_output=True, text=True, check=True
    )
    code, processor, peak = json.loads(launched.stdout)
    if code:
        raise SystemExit(launched.stderr[-2000:])
    values = hashlib.sha256((out / "values.parquet").read_bytes()).hexdigest()
    return {"processor_seconds": round(processor, 1), "peak_mb": round(peak), "values": values}


def main() -> None:
    """Measure each number of texts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--texts", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--json", type=Path, help="file for the measurements")
    given = parser.parse_args()
    measured = {}
    for count in given.texts:
        with tempfile.TemporaryDirectory(prefix="audit-texts-") as folder:
            place = Path(folder)
            data = texts_file(place / "texts.csv", count)
            measured[count] = found = measure(tiny_bert(place / "model"), data, place / "out")
        seconds, peak, values = found.values()
        print(f"{count:9,d} texts {seconds:9.1f} s {peak:6,d} MB  {values[:12]}", flush=True)
        if given.json:
            given.json.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
