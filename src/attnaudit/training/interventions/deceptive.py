"""Can the heatmap be made to lie? Trained to hide certain words from its attention (Pruthi et al. 2020)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import torch

from attnaudit.core import masking
from attnaudit.core.option_limits import NOT_NEGATIVE, limits
from attnaudit.data.batching import batches_of
from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext, mean_with_interval
from attnaudit.training.objectives.deceptive import evidence, mass_on


@limits(lam=NOT_NEGATIVE)
def deceptive(plan: InterventionContext, *, lam: float = 1.0, words: str | None = None) -> Findings:
    """Attention on the impermissible words, before and after, and the accuracy it costs. Words: the known evidence, or words=a+b."""
    base = plan.base()
    options = f"lam={lam:g}" + (f",words={words}" if words else "")
    hiding = plan.variant(f"deceptive:{options}")
    accuracy = plan.perform(base, hiding).set_index("metric").loc["accuracy"]
    masses = {
        name: _mass(plan, run, words) for name, run in (("ordinary", base), ("deceptive", hiding))
    }
    lines = [
        {
            "model": name,
            **mean_with_interval(mass, "attention on hidden words", plan.cell.seed),
            "accuracy": accuracy["first" if name == "ordinary" else "second"],
        }
        for name, mass in masses.items()
    ]
    summary = pd.DataFrame(lines)
    summary["accuracy_lost"] = [0.0, accuracy["difference"]]
    summary["accuracy_lost_low"], summary["accuracy_lost_high"] = (
        [0.0, accuracy["low"]],
        [0.0, accuracy["high"]],
    )
    question = "Can the model hide the words it decides by, at no cost?"
    runs, answer = (base, hiding), answers.deceptive(summary)
    return Findings("deceptive", question, summary, pd.DataFrame(masses), runs, answer)


def _mass(plan: InterventionContext, folder: Path, words: str | None) -> pd.Series:
    """Per test example that has such words: the attention on them."""
    run = plan.load(folder)
    numbers = (
        torch.tensor([run.vocabulary.index[word] for word in words.split("+")]) if words else None
    )
    found = []
    with torch.no_grad():
        for batch in batches_of(plan.splits.test, run.vocabulary, len(plan.splits.classes)):
            hidden = evidence(batch) if numbers is None else torch.isin(batch.tokens, numbers)
            record = run.model.read(batch)
            mass = masking.mean(mass_on(record, hidden).double(), record.mask.any(-1))
            found.append(mass.masked_fill(~hidden.any(-1), torch.nan))
    return pd.Series(torch.cat(found).numpy())
