"""The audits of sources, of the words inside them: if both levels are audited in one run."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from attnaudit.audits.citations.lds import lds
from attnaudit.audits.citations.right_source import right_source
from attnaudit.audits.citations.source_use import DOUBLED, source_use
from attnaudit.audits.citations.top_source import top_source
from attnaudit.audits.declaration import Declaration, Values, declaration_of, declares
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.option_limits import COUNT, Number, limits


def _of_words(audit: object, question: str, meanings: dict[str, str]) -> Declaration:
    """The declaration of an audit of sources with these of its metrics, in words about words."""
    declared = declaration_of(audit)  # type: ignore[arg-type]
    metrics = {
        name: replace(declared.metrics[name], meaning=text) for name, text in meanings.items()
    }
    return replace(declared, question=question, metrics=metrics)


@declares(
    _of_words(
        source_use,
        "Was the word used that is pointed at?",
        {
            "only_together": "words were used, but none brings a quarter of what all bring "
            "together",
            "cited_used": "the word pointed at was used, of the answers that come from sources; "
            "floor: any word",
            "chance": "share of the words that were used",
        },
    )
)
@limits(least_gain=Number(least=0), least_share=Number(above=0, most=1))
def word_use(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    least_gain: float = DOUBLED,
    least_share: float = 0.5,
) -> Values:
    """Whether the word with the largest score was used: `source_use` with words as items.

    Parameters
    ----------
    least_gain, least_share : as for `source_use`.

    Returns
    -------
    dict of Tensor (B,)
        Without the numbers that do not depend on the level, such as the closed-book pass.
    """
    found = source_use(model, record, scores, seed, least_gain=least_gain, least_share=least_share)
    wanted = declaration_of(word_use).metrics
    return {key: value for key, value in found.items() if key[1] in wanted}


@declares(
    _of_words(
        top_source,
        "How much less likely is the answer without the top words?",
        {
            "drop": "fall of the log-probability per token without the k words with the largest "
            "scores; floor: any k words, ceiling: those of leave-one-out",
            "chance": "the mean fall without k words, whichever",
        },
    )
)
@limits(k=COUNT)
def top_word(
    model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int, *, k: int = 1
) -> Values:
    """Leave out the k words with the largest scores: `top_source` with words as items."""
    return top_source(model, record, scores, seed, k=k)


@declares(
    _of_words(
        lds,
        "Do the scores foresee what happens when random words are left out?",
        {
            "lds": "linear datamodelling score: rank correlation of the summed scores of the words "
            "that are left with the log-probability of the answer",
        },
    )
)
@limits(samples=COUNT)
def word_lds(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    samples: int = 32,
) -> Values:
    """Spearman's rho over random sets of words: `lds` with words as items."""
    return lds(model, record, scores, seed, samples=samples)


@declares(declaration_of(right_source))
def word_evidence(
    model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int
) -> Values:
    """Whether the top words are in the sources known to be needed: `evidence` of words."""
    return right_source(model, record, scores, seed)
