"""Scores from elsewhere as a measure: aligned with the words of the audited model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError
from attnaudit.data.audit_texts import OwnText
from attnaudit.data.given_scores import ScoredText, read_given_scores
from attnaudit.data.token_spans import token_spans
from attnaudit.models.huggingface.text_batch import numbered_ids

Text = str | tuple[str, str] | None


class GivenExplanation:
    """A measure (model, record, seed) -> scores (B,N) that looks up given scores.

    A token that covers several words shares its score among them by characters; a word of several
    tokens has their sum. Of scores per class, those of the predicted class count.

    Parameters
    ----------
    name : of the explanation.
    scores : one per example.
    ids : the example ids, in the same order.
    texts : the text of each example; None for a model that does not read texts.
    """

    is_given = True  # it cannot be computed again for another input

    def __init__(
        self, name: str, scores: Sequence[ScoredText], ids: Sequence[str], texts: Sequence[Text]
    ) -> None:
        if len(scores) != len(ids):
            raise InputError(
                f"The explanation {name!r} has scores for {len(scores)} texts, but there are "
                f"{len(ids)}. Expected one entry per text, in the same order."
            )
        self.__name__ = name
        self._of: Mapping[str, tuple[ScoredText, list[tuple[int, int] | None] | None]] = {
            example_id: (scored, _spans(scored, text))
            for example_id, scored, text in zip(ids, scores, texts, strict=True)
        }
        digest = hashlib.sha256()
        for scored in scores:
            digest.update(scored.values.tobytes() + repr(scored.tokens).encode())
        self.fingerprint = digest.hexdigest()

    def __call__(self, model: AttentionModel, record: Record, seed: int) -> Tensor:
        """The scores of the words (B,N); NaN for items that do not count."""
        rows = [self._row(record, index) for index in range(len(record.batch))]
        scores = torch.from_numpy(np.stack(rows)).to(record.alpha.device)
        return scores.masked_fill(~record.content, torch.nan)

    def _row(self, record: Record, index: int) -> np.ndarray:
        scored, spans = self._of[record.batch.example_id[index]]
        values = scored.values
        if values.ndim == 2:
            if values.shape[1] != record.logits.shape[1]:
                raise InputError(
                    f"{scored.where}: there are scores of {values.shape[1]} classes, but the "
                    f"model has {record.logits.shape[1]}."
                )
            values = values[:, int(record.predicted[index])]
        if spans is None:
            return self._by_number(record, index, scored, values)
        return _by_characters(record, index, scored, values, spans)

    def _by_number(
        self, record: Record, index: int, scored: ScoredText, values: np.ndarray
    ) -> np.ndarray:
        """Scores without tokens: one per word, or one per token of the model."""
        content = record.content[index].cpu().numpy()
        item = record.item_of_token[index].cpu().numpy()
        real = record.batch.mask[index].cpu().numpy()
        out = np.full(len(content), np.nan)
        if len(values) == content.sum():
            out[content] = values
            return out
        # Of a batch of Captum, the padding too.
        if real.sum() <= len(values) <= max(len(real), real.sum()):
            out[content] = 0.0
            for place, value in zip(np.flatnonzero(real), values, strict=False):
                if item[place] >= 0 and content[item[place]]:
                    out[item[place]] += value
            return out
        raise InputError(
            f"{scored.where}: there are {len(values)} scores, but the model reads "
            f"{int(content.sum())} words ({int(real.sum())} tokens). Give the tokens that the "
            "scores are of, too."
        )


def _spans(scored: ScoredText, text: Text) -> list[tuple[int, int] | None] | None:
    """The characters of each scored token in its text (of a pair: in both, one after the other)."""
    if scored.spans is not None:
        return list(scored.spans)
    if scored.tokens is None:
        return None
    if text is None:
        return None
    whole = text if isinstance(text, str) else " ".join(text)
    return token_spans(whole, scored.tokens, scored.where)


def _by_characters(
    record: Record,
    index: int,
    scored: ScoredText,
    values: np.ndarray,
    spans: Sequence[tuple[int, int] | None],
) -> np.ndarray:
    batch: Any = record.batch
    if getattr(batch, "start", None) is None:
        raise InputError(
            f"{scored.where}: this model's tokenizer does not say where its tokens are in the "
            "text. Give one score per word instead, without tokens."
        )
    item = record.item_of_token[index].tolist()
    starts, ends = batch.start[index].tolist(), batch.end[index].tolist()
    content = record.content[index].cpu().numpy()
    of_character = np.full(max([*ends, *(span[1] for span in spans if span)], default=0), -1)
    for token, start, end in zip(item, starts, ends, strict=True):
        if token >= 0 and content[token]:
            of_character[start:end] = token
    out = np.where(content, 0.0, np.nan)
    covered = np.zeros(len(content), dtype=bool)
    for value, span in zip(values, spans, strict=True):
        if span is None:
            continue
        words = of_character[slice(*span)]
        words = words[words >= 0]
        for word in np.unique(words):
            out[word] += value * (words == word).mean()
            covered[word] = True
    missing = content & ~covered
    if missing.any():
        word = int(missing.argmax())
        first = next(start for token, start in zip(item, starts, strict=True) if token == word)
        raise InputError(
            f"{scored.where}: no score for word {word} of the text (character {first})."
        )
    return out


def read_scores_of(
    chosen: Sequence[OwnText], rows: int, files: Mapping[str, Any], columns: Sequence[str]
) -> dict[str, GivenExplanation]:
    """Explanations from files with one line per row of the data, and from columns of the data.

    Parameters
    ----------
    chosen : the texts that are audited, of which `example_id` is "row/NUMBER".
    rows : number of rows of the data, skipped ones included.
    files : name -> path.
    columns : names of columns, whose values are in `OwnText.scores`.
    """
    ids, texts = numbered_ids(len(chosen)), [each.content() for each in chosen]
    numbers = [int(each.example_id.rpartition("/")[2]) for each in chosen]
    given = {}
    for name, path in files.items():
        scored = read_given_scores(path, name)
        if len(scored) != rows:
            raise InputError(
                f"{path}: there are scores for {len(scored)} texts, but the data has {rows} rows. "
                "Expected one line per row, in the same order."
            )
        given[name] = GivenExplanation(name, [scored[row] for row in numbers], ids, texts)
    for place, column in enumerate(columns):
        scored = [
            read_given_scores([each.scores[place]], f"{each.where}, column {column}")[0]
            for each in chosen
        ]
        given[column] = GivenExplanation(column, scored, ids, texts)
    return given
