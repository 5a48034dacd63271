"""Numbers are printed by one rule on the card, the page and in tables."""

from __future__ import annotations

import math

import pytest

from attnaudit.report.tables import table
from attnaudit.results.number_formats import number, percent, probability, with_interval


@pytest.mark.parametrize("value", [0.0, 0.004, 0.005, -0.0049, -0.0051, 0.1264, -0.1264, 12.0])
@pytest.mark.parametrize("digits", [2, 3])
def test_tables_differ_from_the_card_and_the_page_only_in_the_minus_sign(
    value: float, digits: int
) -> None:
    plain = number(value, digits)
    assert plain == (
        "0." + "0" * digits if float(f"{value:.{digits}f}") == 0 else f"{value:.{digits}f}"
    )
    assert table.number(value, digits) == plain.replace("-", "−")
    interval = with_interval(value, value - 1, value + 1, digits)
    assert table.with_interval(value, value - 1, value + 1, digits) == interval.replace("-", "−")


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_missing_number_is_a_dash(missing: float | None) -> None:
    assert number(missing) == percent(missing) == with_interval(missing, 0.0, 1.0) == "–"


def test_zero_has_no_sign() -> None:
    assert number(-0.0, 2) == number(-0.001, 2) == "0.00"


def test_a_single_example_has_no_interval() -> None:
    assert with_interval(0.5, None, math.nan, 2) == "0.50, no interval (too few different values)"


def test_small_shares_keep_a_decimal_in_tables_only() -> None:
    assert (percent(0.003), table.percent(0.003)) == ("0 %", "0.3 %")
    assert (percent(0.638), table.percent(0.638)) == ("64 %", "64 %")
    assert table.percent(0.0) == "0 %"


@pytest.mark.parametrize("digits", [2, 3])
def test_a_small_probability_is_not_printed_as_none(digits: int) -> None:
    step = 10.0**-digits
    for value in (1e-12, 0.49 * step):
        assert probability(value, digits) == f"under {step:.{digits}f}"
        shown = with_interval(value, 0.0, 0.5, digits, is_probability=True)
        assert shown.startswith(f"under {step:.{digits}f} [{0.0:.{digits}f}, ")
    assert probability(0.0, digits) == number(0.0, digits)
    assert probability(0.51 * step, digits) == number(step, digits)
    assert probability(None, digits) == probability(math.nan, digits) == "–"
