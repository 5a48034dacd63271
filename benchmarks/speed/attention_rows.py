"""Shuffles, rank correlations, removal, the furthest attention, and all of them together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from benchmarks.reference import attention_tests as released
from benchmarks.reference import measures as released_measures
from benchmarks.reference.plain_model import PlainModel, Read
from benchmarks.speed import essentials, limits
from benchmarks.speed.measure_rows import of_measures
from benchmarks.speed.row import Numbers, Row, per_text
from benchmarks.speed.setting import Corpus, plain, records, trained
from torch import Tensor

from attnaudit import exact, statistics
from attnaudit.audits import AUDITS
from attnaudit.audits.counterfactual import permuted, words_of
from attnaudit.core.contract import Record


def permutation_row(data: Corpus, device: torch.device) -> Row:
    """100 shuffles of the attention. Numbers are compared on the same shuffles, untimed."""
    model = trained(data, "bilstm").to(device)
    read = list(records(model, data.batches(device)))
    reference = plain(model, device)
    plainly_read = [reference.read(*batch) for batch in data.plain_batches(device)]
    draw = np.random.default_rng(0)

    def theirs() -> Numbers:
        return of_shuffles(reference, plainly_read, lambda w, text, k: draw.permutation(w))

    def difference(ours: Numbers, _: Numbers) -> float:
        same = of_shuffles(reference, plainly_read, _our_shuffles(read))
        # Texts of five words and fewer are decoded in every order, not in random ones.
        pairs = zip(ours, same, sorted(data.lengths), strict=True)
        return max(float((a - b).abs()) for a, b, length in pairs if length > 5)

    return Row(
        f"permutation, {data.name}",
        "100 decoder passes, NumPy shuffles",
        lambda: of_audit(model, read, "permutation", ("", "tvd_median")),
        theirs,
        60.0,
        difference,
        needed=limits.permutation(data.lengths, 2),
        essential=essentials.shuffles(model, read),
    )


def of_audit(model: Any, read: list[Record], audit: str, key: tuple[str, str]) -> Numbers:
    """One value of an audit, text by text."""
    values = []
    for record in read:
        with torch.no_grad():
            values += list(AUDITS[audit](model, record, {}, 0)[key])
    return values


def of_shuffles(model: PlainModel, batches: list[Read], shuffle: Any) -> Numbers:
    """The median TVD of the reference; texts are numbered over all batches."""
    values: list[Tensor] = []
    for read in batches:
        first = len(values)
        values += list(
            released.permutation(
                model, read, shuffle=lambda w, text, k, at=first: shuffle(w, at + text, k)
            )
        )
    return values


def _our_shuffles(read: list[Record]) -> Callable[[np.ndarray, int, int], np.ndarray]:
    """The shuffles that the audit draws, for the reference."""
    shuffled: list[Tensor] = []
    for record in read:
        words = words_of(record)
        drawn = permuted(record.alpha, words, 100, 0, record.batch.example_id)[:, :, 0]
        shuffled += [row[:, content].cpu() for row, content in zip(drawn, words[:, 0], strict=True)]
    return lambda weights, text, draw: shuffled[text][draw].numpy()


def kendall_row(data: Corpus, device: torch.device) -> Row:
    """tau-b with p-values of attention and leave-one-out."""
    model = trained(data, "bilstm").to(device)
    scored = []
    for record in records(model, data.batches(device)):
        words = of_measures(model, [record.batch], ("leave_one_out",))
        width = max(map(len, words))
        x, y = (torch.zeros(len(words), width, device=device) for _ in range(2))
        attention = per_text(record.alpha[:, 0], record.content)
        for index, (one, other) in enumerate(zip(attention, words, strict=True)):
            x[index, : len(one)], y[index, : len(other)] = one, other
        scored.append((x, y, [len(row) for row in words]))

    def ours() -> Numbers:
        numbers: list[Tensor] = []
        for x, y, lengths in scored:
            size = torch.tensor(lengths, device=device)[:, None]
            mask = torch.arange(x.shape[1], device=device) < size
            numbers.append(torch.stack(statistics.kendall(x, y, mask), -1))
        return numbers

    return Row(
        f"Kendall with p-values, {data.name}",
        "SciPy, one text at a time",
        ours,
        lambda: [released.kendall(x, y, lengths) for x, y, lengths in scored],
        40.0,
        tolerance=1e-9,
        needed=limits.ranks(data.lengths),
    )


def removal_row(data: Corpus, device: torch.device) -> Row:
    """The share of the words removed until the decision flips, by attention and by gradient."""
    model = trained(data, "bilstm").to(device)
    reference, plain_batches = plain(model, device), data.plain_batches(device)
    plainly_read = [reference.read(*batch) for batch in plain_batches]
    batches = data.batches(device)
    names = ("attention", "attention_gradient")
    scores = {name: padded(of_measures(model, batches, (name,)), plain_batches) for name in names}
    read = [(record, _scores_of(model, record, names)) for record in records(model, batches)]

    def ours() -> Numbers:
        values: dict[str, list[Tensor]] = {name: [] for name in names}
        for record, of_record in read:
            found = AUDITS["flip_fraction"](model, record, of_record, 0)
            for name in names:
                values[name].append(found[name, "removed"])
        return [torch.cat(values[name]) for name in names]

    def theirs() -> Numbers:
        return [
            torch.cat(
                [
                    released.removed_until_flip(reference, of_batch, score)
                    for of_batch, score in zip(plainly_read, scores[name], strict=True)
                ]
            )
            for name in names
        ]

    return Row(
        f"removal until the decision flips, {data.name}",
        "one decoder pass per text and prefix",
        ours,
        theirs,
        100.0,
        needed=limits.removal(data.lengths, 2, len(names)),
    )


def _scores_of(model: Any, record: Record, names: tuple[str, ...]) -> dict[str, Tensor]:
    from attnaudit.measures import MEASURES

    return {name: MEASURES[name](model, record, 0) for name in names}


def padded(numbers: Numbers, batches: list[tuple[Tensor, Tensor]]) -> list[Tensor]:
    """Scores of words as (B,T), the first word behind the start mark, batch by batch."""
    left = iter(numbers)
    scores = []
    for _, mask in batches:
        score = torch.zeros(mask.shape, device=mask.device)
        for row in score:
            words = next(left)
            row[1 : 1 + len(words)] = words
        scores.append(score)
    return scores


def furthest_row(data: Corpus, device: torch.device, classes: int) -> Row:
    """The furthest attention with the same prediction; ours must never be lower."""
    model = trained(data, "bilstm", classes=classes).to(device)
    read = list(records(model, data.batches(device, classes)))
    reference = plain(model, device)
    plainly_read = [reference.read(*batch) for batch in data.plain_batches(device)]

    def found(record: Record) -> exact.Furthest:
        readout = record.readout.double()
        return exact.furthest(record.alpha[:, 0].double(), readout, record.mask[:, 0])

    def ours() -> Numbers:
        numbers: list[Tensor] = []
        for record in read:
            far = found(record)
            numbers += list(torch.stack([far.jsd, far.upper], -1))
        return numbers

    def below(ours: Numbers, theirs: Numbers) -> float:
        """How far the search is above what we found: its attention is feasible to 1e-6 only."""
        return max(float(b - a[0]) for a, b in zip(ours, theirs, strict=True))

    return Row(
        f"furthest attention, {classes} classes, {data.name}",
        "five starts, 500 steps of Adam",
        ours,
        lambda: of_search(reference, plainly_read),
        400.0 if classes == 2 else 20.0,
        below,
        tolerance=1e-4,
        needed=limits.furthest(data.lengths),
        essential=essentials.bound(read, lambda record: found(record).jsd) if classes > 2 else None,
    )


def of_search(model: PlainModel, batches: list[Read]) -> Numbers:
    """The ε-max JSD of the released search."""
    return [jsd for read in batches for jsd in released.furthest(model, read)]


def battery_row(data: Corpus, device: torch.device) -> Row:
    """What Jain & Wallace compute after training: both measures, tau, shuffles, the search."""
    model = trained(data, "bilstm").to(device)
    batches, plain_batches = data.batches(device), data.plain_batches(device)
    reference = plain(model, device)
    draw = np.random.default_rng(0)
    functions = {
        "gradient": released_measures.gradient,
        "leave_one_out": released_measures.leave_one_out,
    }

    def ours() -> Numbers:
        found: dict[str, Numbers] = {name: [] for name in functions}
        for record in records(model, batches):
            scores = _scores_of(model, record, ("attention", *functions))
            words = record.content
            for name, numbers in found.items():
                statistics.kendall(scores["attention"][:, 0], scores[name], words)
                numbers += per_text(scores[name], words)
            with torch.no_grad():
                AUDITS["permutation"](model, record, {}, 0)
                exact.furthest(
                    record.alpha[:, 0].double(), record.readout.double(), record.mask[:, 0]
                )
        return [row for name in functions for row in found[name]]

    def theirs() -> Numbers:
        found: dict[str, Numbers] = {name: [] for name in functions}
        for tokens, mask in plain_batches:
            read = reference.read(tokens, mask)
            lengths = (mask.sum(-1) - 2).tolist()
            for name, function in functions.items():
                scores = function(reference, tokens, mask)[:, 1:]
                released.kendall(read.alpha[:, 1:], scores, lengths)
                found[name] += [row[:size] for row, size in zip(scores, lengths, strict=True)]
            released.permutation(reference, read, shuffle=lambda w, text, k: draw.permutation(w))
            released.furthest(reference, read)
        return [row for name in functions for row in found[name]]

    passes = essentials.passes(model, batches, backward=1)

    return Row(
        f"Jain & Wallace battery, {data.name}",
        "all of the above as released",
        ours,
        theirs,
        40.0 if data.name == "sst" else None,
        # Scores are compared, not taus: the ranks of scores that are all at rounding mean nothing.
        needed=limits.battery(model, data.lengths, 2),
        essential=lambda: (of_measures(model, batches, ("leave_one_out",)), passes()),
    )
