"""Random streams depend on names alone: SplitMix64 against integers and its published stream."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from attnaudit.core import randomness
from other_device import DEVICE, other_device

# The reference stream of SplitMix64 for seed 1234567, as published with the algorithm's C code.
PUBLISHED = (
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
)
ALL_64_BITS = 2**64 - 1


def splitmix64(seed: int, count: int) -> list[int]:
    """Plain integers, one at a time: Steele, Lea & Flood 2014."""
    numbers = []
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & ALL_64_BITS
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & ALL_64_BITS
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & ALL_64_BITS
        numbers.append(z ^ (z >> 31))
    return numbers


def test_the_plain_implementation_gives_the_published_stream() -> None:
    assert tuple(splitmix64(1234567, 5)) == PUBLISHED


def test_uniform_is_the_published_stream_cut_to_53_bits() -> None:
    drawn = randomness.uniform(torch.tensor([1234567]), 5)
    assert drawn.dtype == torch.float64
    assert drawn[0].tolist() == [(number >> 11) / 2**53 for number in PUBLISHED]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 2**63 - 1), st.integers(1, 40))
def test_uniform_equals_plain_integers_for_any_key(key: int, count: int) -> None:
    drawn = randomness.uniform(torch.tensor([key]), count)[0]
    assert [int(value * 2**53) for value in drawn.tolist()] == [
        n >> 11 for n in splitmix64(key, count)
    ]


def test_numbers_lie_in_0_to_1_and_are_evenly_spread() -> None:
    drawn = (
        randomness.uniform(randomness.keys(0, "spread", map(str, range(200))), 500)
        .flatten()
        .numpy()
    )
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert stats.kstest(drawn, "uniform").pvalue > 0.001


def test_neighbouring_names_are_not_correlated() -> None:
    drawn = randomness.uniform(randomness.keys(0, "rows", map(str, range(400))), 400).numpy()
    along = np.corrcoef(drawn[:, :-1].ravel(), drawn[:, 1:].ravel())[0, 1]
    across = np.corrcoef(drawn[:-1].ravel(), drawn[1:].ravel())[0, 1]
    assert max(abs(along), abs(across)) < 4 / 400  # four standard errors of 160 000 pairs


def test_a_row_does_not_depend_on_the_batch_or_on_how_many_are_drawn() -> None:
    names = ["a", "b", "c", "d"]
    together = randomness.uniform(randomness.keys(7, "x", names), 9)
    turned = randomness.uniform(randomness.keys(7, "x", names[::-1]), 9)
    assert torch.equal(together, turned.flip(0))
    for at, name in enumerate(names):
        alone = randomness.uniform(randomness.keys(7, "x", [name]), 4)
        assert torch.equal(alone[0], together[at, :4])


def test_seed_name_and_example_each_change_the_stream() -> None:
    keys = [
        randomness.keys(seed, name, [example]).item()
        for seed in (0, 1)
        for name in ("permutation", "random")
        for example in ("a", "b")
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("names", [[], ["a"], ["a", "", "ä/7", "a"]])
def test_keys_are_those_derived_one_by_one(names: list[str]) -> None:
    keys = randomness.keys(3, "audit", names)
    assert keys.dtype == torch.int64
    assert keys.tolist() == [randomness.derive(3, "audit", name) for name in names]


def test_numbers_on_another_device_are_the_same() -> None:
    keys = randomness.keys(0, "device", map(str, range(20)))
    with other_device():
        drawn = randomness.uniform(keys.to(DEVICE), 30)
        assert drawn.tolist() == randomness.uniform(keys, 30).tolist()


def test_names_do_not_run_into_one_another() -> None:
    assert randomness.derive(1, "2", "3") != randomness.derive(12, "3")
    assert randomness.derive(1, "ab", "c") != randomness.derive(1, "a", "bc")


@pytest.mark.parametrize("seed", [0, -1, 2**70])
def test_a_derived_seed_fits_a_signed_integer_of_64_bits(seed: int) -> None:
    assert all(0 <= randomness.derive(seed, name) < 2**63 for name in range(50))


def test_derived_seeds_never_change() -> None:
    """Stored numbers depend on them: half the blake2b of seed and names, joined by \\x1f."""
    digest = hashlib.blake2b(b"3\x1fpermutation\x1fkeyword/17", digest_size=8).hexdigest()
    assert randomness.derive(3, "permutation", "keyword/17") == int(digest, 16) // 2


def test_a_generator_repeats_itself_and_leaves_the_global_one_alone() -> None:
    before = torch.random.get_rng_state()
    first, second = (torch.rand(5, generator=randomness.generator(1, "a")) for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(first, torch.rand(5, generator=randomness.generator(1, "b")))
    assert torch.equal(torch.random.get_rng_state(), before)
