"""The furthest equivalent attention: how different can a heatmap be with the same prediction?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core.errors import InputError
from attnaudit.exact.ascent import ascend
from attnaudit.exact.inputs import Prepared, chunks, prepare
from attnaudit.exact.outer_bound import outer_bound
from attnaudit.exact.polish import polish
from attnaudit.exact.relaxations import relaxations
from attnaudit.exact.small_support import search
from attnaudit.exact.wide import gradient_search, more_starts

_EQUAL = 1e-12  # bounds this close are one
# Intervals wider than this, in nats, are worth a slower search, one after the other.
_SLOWER = ((0.02, more_starts), (0.03, gradient_search))


@dataclass(frozen=True, eq=False)
class Furthest:
    """The furthest attention found, with jsd <= the true maximum <= upper.

    An example with an empty mask has NaN and exact = False.

    Attributes
    ----------
    alpha : Tensor, (B,N)
        The attention found; it changes the prediction by at most epsilon.
    jsd : Tensor, (B,)
        Its JSD from the original attention in nats, at most ln 2.
    upper : Tensor, (B,)
        Certified: no equivalent attention is further than this.
    exact : Tensor, (B,) bool
        jsd and upper are equal.
    probs : Tensor, (B,C)
        The prediction under the attention found.
    """

    alpha: Tensor
    jsd: Tensor
    upper: Tensor
    exact: Tensor
    probs: Tensor


def furthest(
    alpha: Tensor,
    readout: Tensor,
    mask: Tensor,
    *,
    epsilon: float | Tensor = 0.01,
    classes: Tensor | None = None,
) -> Furthest:
    """Maximise JSD(a, alpha) over attentions a with TVD(p(a), p(alpha)) <= epsilon.

    High values: very different heatmaps lead to the same prediction. Low values: the prediction
    determines the attention. Defined by Jain & Wallace 2019, eq. 1.

    With two candidate classes the result is the true maximum. With more, TVD <= epsilon bounds
    every log-odds: each rival of the predicted class gives a slab that contains every feasible
    attention, and the smallest of the maxima over these slabs is an upper bound. The lower bound
    is the furthest feasible attention found.

    Parameters
    ----------
    alpha : Tensor, (B,N)
        The attention weights, summing to 1 within the mask.
    readout : Tensor, (B,N,C)
        The logits that each item alone would give.
    mask : Tensor, (B,N) bool
        True where an item is real.
    epsilon : float or Tensor, (B,)
        The largest change of the prediction (TVD) that counts as the same; a tensor has one per
        example.
    classes : Tensor, (B,C) bool, optional
        The candidate classes; all if omitted.

    Returns
    -------
    Furthest

    Examples
    --------
    All weight on the middle item; half on each of the other two gives the same logits.

    >>> alpha = torch.tensor([[0.0, 1.0, 0.0]])
    >>> readout = torch.tensor([[[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]])
    >>> answer = furthest(alpha, readout, torch.ones(1, 3, dtype=torch.bool), epsilon=0.0)
    >>> answer.alpha
    tensor([[0.5000, 0.0000, 0.5000]])
    >>> answer.jsd, answer.exact
    (tensor([0.6931]), tensor([True]))
    """
    given = prepare(alpha, readout, mask, classes)
    tolerance = _tolerance(epsilon, given)
    best = given.alpha.clone()
    jsd, upper = (torch.zeros_like(given.probs[:, 0]) for _ in range(2))
    for examples, group in _by_number_of_candidates(given):
        entries = group.alpha.shape[1] * group.probs.shape[1] * 32
        for part in chunks(len(examples), entries, limit=2**23):
            index = examples[part]
            best[index], jsd[index], upper[index] = _furthest(group.rows(part), tolerance[index])
    exact = (jsd >= upper - _EQUAL) & ~given.empty
    jsd, upper = (value.masked_fill(given.empty, torch.nan) for value in (jsd, upper))
    dtype, probs = alpha.dtype, given.probs_of(best)
    return Furthest(best.to(dtype), jsd.to(dtype), upper.to(dtype), exact, probs.to(dtype))


def _tolerance(epsilon: float | Tensor, given: Prepared) -> Tensor:
    """One epsilon per example (B,), checked."""
    example = given.probs[:, 0]
    values = torch.as_tensor(epsilon, dtype=example.dtype, device=example.device).detach()
    if values.dim() and values.shape != example.shape:
        raise InputError(
            f"epsilon is one number or one per example, (B,) = {tuple(example.shape)}, "
            f"got {tuple(values.shape)}."
        )
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        raise InputError(
            "epsilon is a distance between probabilities, from 0 to 1, "
            f"got {values[wrong].flatten()[0].item():g}."
        )
    return values.expand_as(example)


def _by_number_of_candidates(given: Prepared) -> Iterator[tuple[Tensor, Prepared]]:
    """Groups (indices, examples) with as many candidates, and with only these classes left."""
    if given.classes is None:
        yield torch.arange(len(given.alpha), device=given.alpha.device), given
        return
    counts = given.classes.sum(-1)
    for count in counts.unique().tolist():
        index = (counts == count).nonzero()[:, 0]
        candidates = given.classes[index].nonzero()[:, 1].view(len(index), 1, count)
        columns = candidates.expand(-1, given.alpha.shape[1], -1)
        readout = given.readout[index].gather(2, columns)
        yield index, prepare(given.alpha[index], readout, given.mask[index])


def _furthest(given: Prepared, epsilon: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The attention found (B,N), its JSD (B,) and the upper bound (B,)."""
    lower = _Best(given, epsilon)
    upper = torch.full_like(given.probs[:, 0], torch.inf)
    for vertex in relaxations(given, epsilon):
        upper = torch.minimum(upper, vertex.jsd)
        lower.offer(vertex.dense(given.alpha.shape[1]), vertex.jsd)
    unsettled = (lower.jsd < upper - _EQUAL).nonzero()[:, 0]
    if len(unsettled):
        part, tolerance = given.rows(unsettled), epsilon[unsettled]
        few = search(part, tolerance)
        for candidate in few.unbind(1):
            lower.offer_at(unsettled, candidate, statistics.jsd(candidate, part.alpha))
        outer = outer_bound(part, tolerance, lower.jsd[unsettled])
        upper[unsettled] = torch.minimum(upper[unsettled], outer.upper)
        proposed = polish(part, tolerance, outer.alpha)
        starts = torch.cat([lower.alpha[unsettled, None], few, proposed], 1)
        reached = ascend(part, tolerance, starts)
        lower.offer_at(unsettled, reached, statistics.jsd(reached, part.alpha))
    for width, slower in _SLOWER:
        wide = (lower.jsd < upper - width).nonzero()[:, 0]
        if len(wide):
            part = given.rows(wide)
            reached = slower(part, epsilon[wide], lower.alpha[wide])
            lower.offer_at(wide, reached, statistics.jsd(reached, part.alpha))
    return lower.alpha, lower.jsd, torch.maximum(upper, lower.jsd)


class _Best:
    """The furthest feasible attention so far; at first alpha itself."""

    def __init__(self, given: Prepared, epsilon: Tensor) -> None:
        self.given, self.epsilon = given, epsilon
        self.alpha, self.jsd = given.alpha.clone(), torch.zeros_like(given.probs[:, 0])

    def offer(self, alpha: Tensor, jsd: Tensor) -> None:
        self.offer_at(torch.arange(len(alpha), device=alpha.device), alpha, jsd)

    def offer_at(self, index: Tensor, alpha: Tensor, jsd: Tensor) -> None:
        """Take alpha (b,N) for the examples at index (b,) where it is feasible and further."""
        given = self.given.rows(index)
        feasible = given.within(alpha, self.epsilon[index])
        feasible &= ((alpha >= 0) & (given.mask | (alpha == 0))).all(-1)
        feasible &= (alpha.sum(-1) - 1).abs() < 1e-9
        better = feasible & (jsd > self.jsd[index])
        self.alpha[index[better]], self.jsd[index[better]] = alpha[better], jsd[better]
