"""Intervals of rates, from counts alone."""

from __future__ import annotations

from statistics import NormalDist

from torch import Tensor


def rate_interval(hits: Tensor, count: Tensor, level: float = 0.95) -> tuple[Tensor, Tensor]:
    """Wilson's score interval of a rate (Wilson 1927).

    Parameters
    ----------
    hits, count : Tensor, (M,)
    level : float

    Returns
    -------
    (Tensor, Tensor), (M,) each

    Examples
    --------
    >>> import torch
    >>> low, high = rate_interval(torch.tensor([0.0]), torch.tensor([20]))
    >>> round(float(low), 3), round(float(high), 3)
    (0.0, 0.161)
    """
    hits, count = hits.double(), count.double()
    z = _z(level)
    share = hits / count
    scale = 1 + z**2 / count
    centre = (share + z**2 / (2 * count)) / scale
    reach = z * (share * (1 - share) / count + (z / (2 * count)).square()).sqrt() / scale
    return (centre - reach).clamp_min(0), (centre + reach).clamp_max(1)


def signed_rate_interval(
    gained: Tensor, lost: Tensor, count: Tensor, level: float = 0.95
) -> tuple[Tensor, Tensor]:
    """The interval of a mean of values -1, 0 and 1, such as a paired difference of two rates.

    Wald's interval with one example of each kind added (Bonett & Price 2012).

    Parameters
    ----------
    gained, lost, count : Tensor, (M,)
        How many values are 1, how many are -1, and how many there are.
    level : float

    Returns
    -------
    (Tensor, Tensor), (M,) each

    Examples
    --------
    >>> import torch
    >>> low, high = signed_rate_interval(*(torch.tensor([n]) for n in (6, 2, 50)))
    >>> round(float(low), 3), round(float(high), 3)
    (-0.04, 0.194)
    """
    size = count.double() + 2
    up, down = (gained.double() + 1) / size, (lost.double() + 1) / size
    reach = _z(level) * ((up + down - (up - down).square()) / size).sqrt()
    return (up - down - reach).clamp_min(-1), (up - down + reach).clamp_max(1)


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
