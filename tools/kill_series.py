"""Kill every kind of long command at random moments, and compare what it makes in the end.

    python tools/kill_series.py --work DIR [--only NAME]

Makes small inputs (a tiny BERT, texts, grids) and gives each command of `COMMANDS` to
`kill_trials`: 20 kills of the whole process group, five per output folder. Given again with the
same --work, it goes on where it was stopped. Prints a Markdown table, as in docs/scale.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import sys
from pathlib import Path
from typing import Any

from kill_trials import ATTNAUDIT, OUT, run_trials

INPUTS = "{inputs}"
KEYWORD = "keyword:train=200,dev=60,test=6000,length=12"
CHEAP = ["--audits", "permutation,agreement", "--measures", "gradient,random"]
TRAINING = ["--encoder", "average", "--epochs", "2"]
RUN = ["run", "--dataset", KEYWORD, *TRAINING, *CHEAP, "--out", OUT]
AUDIT = ["audit", f"{INPUTS}/model", "--data", f"{INPUTS}/texts.csv", *CHEAP, "--out", OUT]
GRID = ["grid", f"{INPUTS}/grid.toml", "--out", OUT, "--threads", "1"]
COMMANDS = {
    "run": [*RUN, "--threads", "1"],
    "run --intervention seeds:count=2": [*RUN, "--intervention", "seeds:count=2"],
    "grid": GRID,
    "grid --workers 2": [*GRID, "--workers", "2"],
    "audit": [*AUDIT, "--threads", "1"],
    "audit --workers 2": [*AUDIT, "--threads", "1", "--workers", "2"],
}
GRID_FILE = f"""datasets = ["{KEYWORD.replace("6000", "3000")}"]
encoders = ["average"]
seeds = [0, 1, 2]
epochs = 2
audits = ["permutation", "agreement"]
measures = ["gradient", "random"]
"""
WORDS = ("the", "film", "was", "good", "bad", "and", "we", "liked", "it", "dull", "not", "very")


def make_inputs(folder: Path) -> None:
    """A tiny BERT with its tokenizer, 400 texts of 40 words, and the file of a grid."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder.mkdir(parents=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    tokenizer = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(vocabulary)}, "[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    ).save_pretrained(folder / "model")
    torch.manual_seed(0)
    model = transformers.BertForSequenceClassification(
        transformers.BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=24,
            num_labels=2,
        )
    )
    for parameter in model.parameters():  # as initialised, attention is uniform
        torch.nn.init.normal_(parameter, std=0.5)
    model.save_pretrained(folder / "model")
    draw = random.Random(0)
    with (folder / "texts.csv").open("w", newline="", encoding="utf-8") as stream:
        lines = csv.writer(stream)
        lines.writerow(["text"])
        lines.writerows([" ".join(draw.choices(WORDS, k=40))] for _ in range(400))
    (folder / "grid.toml").write_text(GRID_FILE, encoding="utf-8")


def table(series: dict[str, dict[str, Any]]) -> str:
    """One line per command."""
    lines = [
        "| command | processor seconds undisturbed | kills | of them with finished work on disk | "
        "parts and runs found by restarts | `values.parquet` |",
        "|---|---|---|---|---|---|",
    ]
    for name, done in series.items():
        kills = [kill for trial in done["trials"] for kill in trial["kills"]]
        kept = [kill["parts"] + kill["runs"] for kill in kills]
        problems = [problem for trial in done["trials"] for problem in trial["problems"]]
        outcome = "; ".join(problems) or f"{done['values']} of {done['values']} the same bytes"
        lines.append(
            f"| `{name}` | {done['undisturbed'][-1]:.0f} | {len(kills)} | {sum(map(bool, kept))} | "
            f"{sum(kept)} | {outcome}, {len(done['trials'])} times |"
        )
    return "\n".join(lines)


def main() -> None:
    """Read the arguments, make the inputs, run all trials and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for all outputs")
    parser.add_argument("--kills", type=int, default=20, help="per command")
    parser.add_argument("--only", help="name of one command")
    parser.add_argument("--trials", type=int, help="per command, in this call; the next goes on")
    given = parser.parse_args()
    inputs = given.work / "inputs"
    if not (inputs / "grid.toml").is_file():
        make_inputs(inputs)
    series = {}
    for number, (name, words) in enumerate(COMMANDS.items()):
        if given.only not in (None, name):
            continue
        print(f"\n{name}", flush=True)
        command = ATTNAUDIT + [word.replace(INPUTS, str(inputs)) for word in words]
        work = given.work / f"series-{number}"
        series[name] = run_trials(command, work, kills=given.kills, seed=number, most=given.trials)
    print(f"\n{table(series)}")
    (given.work / "series.json").write_text(json.dumps(series, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(trial["problems"] for done in series.values() for trial in done["trials"]))


if __name__ == "__main__":
    main()
