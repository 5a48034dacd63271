"""Which stored audit a bare name refers to."""

from __future__ import annotations

import pytest

from attnaudit.results.audit_names import bare, resolve_audit_name


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a:of=x", "a:b=1", "a:b=2"], "a:b=1"),
        (["a:b=1", "a"], "a"),
        (["a:of=x", "ab"], None),
        ([], None),
    ],
)
def test_the_plain_audit_comes_first_and_one_of_something_else_never(
    names: list[str], expected: str | None
) -> None:
    assert resolve_audit_name("a", names) == expected


def test_a_bare_name_has_no_options() -> None:
    assert bare("furthest:epsilon=0.05") == bare("furthest") == "furthest"
