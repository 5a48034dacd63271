"""Can attention be trained to hide words that the model uses? (Pruthi et al. 2020)"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import torch

from attnaudit.audits.declaration import SHARE
from attnaudit.core import masking
from attnaudit.core.option_limits import NOT_NEGATIVE, limits
from attnaudit.data.batching import batches_of
from attnaudit.results.findings import Findings
from attnaudit.training.interventions import answers
from attnaudit.training.interventions.context import InterventionContext, mean_with_interval
from attnaudit.training.objectives.deceptive import evidence, mass_on


@limits(lam=NOT_NEGATIVE)
def deceptive(
    context: InterventionContext, *, lam: float = 1.0, words: str | None = None
) -> Findings:
    """Attention on words to hide, before and after training to hide them, and the accuracy lost.

    The words are the known evidence, or those given, joined by +: words=good+bad.
    """
    options = f"lam={lam:g}" + (f",words={words}" if words else "")
    base, hiding = context.train(context.experiment, context.member(f"deceptive:{options}"))
    accuracy = context.perform(base, hiding).set_index("metric").loc["accuracy"]
    masses = {
        name: _mass(context, run, words)
        for name, run in (("ordinary", base), ("deceptive", hiding))
    }
    lines = [
        {
            "model": name,
            **mean_with_interval(mass, "attention on hidden words", context.experiment.seed, SHARE),
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


def _mass(context: InterventionContext, folder: Path, words: str | None) -> pd.Series:
    """Attention on the words to hide, per test example; NaN for examples without such words."""
    run = context.load(folder)
    numbers = (
        torch.tensor([run.vocabulary.index[word] for word in words.split("+")]) if words else None
    )
    masses = []
    with torch.no_grad():
        for batch in batches_of(context.splits.test, run.vocabulary, len(context.splits.classes)):
            hidden = evidence(batch) if numbers is None else torch.isin(batch.tokens, numbers)
            record = run.model.read(batch)
            mass = masking.mean(mass_on(record, hidden).double(), record.mask.any(-1))
            masses.append(mass.masked_fill(~hidden.any(-1), torch.nan))
    return pd.Series(torch.cat(masses).numpy())
