"""Assertions on results for a test suite of your own, such as pytest.

Examples
--------
>>> from attnaudit.testing import assert_card
>>> assert_card(results, matters="yes", points="yes")  # doctest: +SKIP
"""

from attnaudit.testing.assert_card import assert_card

__all__ = ["assert_card"]
