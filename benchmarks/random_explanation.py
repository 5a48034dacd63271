"""How often would random scores be recommended as an explanation?

    python -m benchmarks.random_explanation --out random_explanation.jsonl [--audits 200]

Each audit takes another handmade model of the calibration's zoo and other texts, and compares
attention with scores drawn at random for every text. It is made hard for the rule: the card is
taken to be a no, so that the random scores are the only candidate. One line per audit; what is in
the file is not made again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from benchmarks.calibration import zoo_paths, zoo_words
from torch import Tensor

import attnaudit
from attnaudit.core import randomness
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.results.recommendation import may_be_shown, recommended
from attnaudit.statistics.rates import rate_interval


def random_scores(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Scores (B,N), drawn for each text from its id."""
    keys = randomness.keys(seed, "mine", record.batch.example_id)
    return randomness.uniform(keys, record.content.shape[1])


def one_audit(number: int, texts: int) -> dict[str, object]:
    """Audit model `number` of the zoo, and say whether its random scores would be recommended."""
    entries = [*zoo_words.entries(), *zoo_paths.entries()]
    entry = entries[number % len(entries)]
    batch = entry.corpus.texts(texts, seed=number, name="random explanation")
    results = attnaudit.audit(
        entry.make(),
        [batch],
        audits=["top_words"],
        measures=["random"],
        explanations={"mine": random_scores},
        seed=number,
        keep_examples=0,
        show_progress=False,
    )
    ranking = results.about["explanation_ranking"]
    (mine,) = (row for row in ranking if row["explanation"] == "mine")
    best = recommended(ranking, "no")
    return {
        "audit": number,
        "model": entry.name,
        "place": mine["place"],
        "low": mine["place_low"],
        "high": mine["place_high"],
        "passed": mine["passed"],
        "beats_random": mine["beats_random"],
        "recommended": best is not None and may_be_shown(best),
    }


def main() -> None:
    """Audit what is missing, and print the rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--audits", type=int, default=200)
    parser.add_argument("--texts", type=int, default=50)
    options = parser.parse_args()
    torch.set_num_threads(1)
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    done = [json.loads(line) for line in lines]
    for number in range(len(done), options.audits):
        done.append(one_audit(number, options.texts))
        with options.out.open("a") as file:
            file.write(json.dumps(done[-1]) + "\n")
    for key in ("beats_random", "recommended"):
        count = sum(bool(line[key]) for line in done)
        low, high = rate_interval(torch.tensor(count), torch.tensor(len(done)))
        print(f"{key}: {count} of {len(done)} ({count / len(done):.3f}, {low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()
