"""The corpora, models and interventions of Wen et al. 2022."""

from __future__ import annotations

from collections.abc import Sequence

from attnaudit.data.corpus_info import corpus_of
from attnaudit.papers.item import Plan, Table
from attnaudit.papers.published import published

PRESET = "wen"
CLASSIFICATION = (
    *("sst", "imdb", "adr_tweets", "newsgroups", "ag_news"),
    *("mimic:task=diabetes", "mimic:task=anemia"),
)
ANSWERING = ("babi_files:task=1", "babi_files:task=2", "babi_files:task=3")
DATASETS = (*CLASSIFICATION, *ANSWERING, "snli")
ENCODERS = ("bilstm:hidden=128", "cnn:kernels=1-3-5-7-15,filters=128", "mlp:hidden=128")
# Scaled with a query (eq. 1) and not without one (eq. 5): see `models`.
SCORERS = ("additive", "deep", "dot")
SEED_NOISE = 0.05  # the largest difference between trainings that the paper states
FIXED = ("fix_attention", "fix_attention:constant=uniform", "fix_representation")


def models(
    plan: Plan,
    encoders: Sequence[str] = ENCODERS[:1],
    scorers: Sequence[str] = SCORERS[:1],
    projections: Sequence[str] = ("softmax",),
    interventions: Sequence[str] = (),
) -> list[Table]:
    """The paper's models; information is measured on the finished runs."""
    unscaled = "dot" if plan.has_query else "dot:scaled=false"
    return [
        plan.table(
            PRESET,
            encoders=list(encoders),
            scorers=[unscaled if name == "dot" else name for name in scorers],
            projections=list(projections),
            audits=["dispersion"],
            measures=["random"],
            interventions=list(interventions),
        )
    ]


def all_models(plan: Plan, projections: Sequence[str] = ("softmax",)) -> list[Table]:
    """Nine models: three encoders with three scorers."""
    return models(plan, plan.few(ENCODERS), plan.few(SCORERS), projections)


def twin_of(plan: Plan) -> str:
    """The twin of table 3, with twice the published lam; any lam for other corpora."""
    table = published("wen_2022_table3")
    lams = table[table["metric"] == "lam"].set_index("dataset")["value"]
    lam = 2 * float(lams.get(corpus_of(plan.dataset), 5e-4))
    return f"adversarial:lams={lam:g},seeds=2,keep=best_f1"
