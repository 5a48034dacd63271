"""Choices as text: name, options, package.module:name; errors list the choices."""

from __future__ import annotations

import math
import os.path
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from attnaudit.core import registry
from attnaudit.core.errors import InputError


def sparsegen(lam: float = 0.0, **more: Any) -> tuple[float, dict[str, Any]]:
    return lam, more


REGISTRY: dict[str, Callable[..., Any]] = {"softmax": str, "sparsegen": sparsegen}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("softmax", ("softmax", {})),
        (" softmax ", ("softmax", {})),
        ("sparsegen:lam=0.5", ("sparsegen", {"lam": 0.5})),
        ("sparsegen:lam=0.5,steps=3", ("sparsegen", {"lam": 0.5, "steps": 3})),
        ("sparsegen: lam = 0.5 , on = true", ("sparsegen", {"lam": 0.5, "on": True})),
        (
            "x:a=text,b=false,c=null,d=-1e-3",
            ("x", {"a": "text", "b": False, "c": None, "d": -0.001}),
        ),
        ("x:path=/a:b=c", ("x", {"path": "/a:b=c"})),
        ('x:a="1"', ("x", {"a": "1"})),
        ("x:a=", ("x", {"a": ""})),
        ("package.module:name", ("package.module:name", {})),
        ("package.module:name:a=1,b=x", ("package.module:name", {"a": 1, "b": "x"})),
    ],
)
def test_a_choice_is_a_name_and_its_options(
    text: str, expected: tuple[str, dict[str, Any]]
) -> None:
    assert registry.parse(text) == expected


def test_whole_numbers_stay_whole() -> None:
    assert type(registry.parse("x:hidden=128")[1]["hidden"]) is int


@pytest.mark.parametrize("text", ["x:a=1,b", "x:a=1,", "x:=1", "x:1a=2", "x:a b=2"])
def test_an_option_that_cannot_be_read_is_quoted_with_how_to_write_it(text: str) -> None:
    with pytest.raises(
        InputError, match=r"Cannot read the option .* write NAME:option=value,option=value"
    ):
        registry.parse(text)


def test_a_name_finds_its_callable() -> None:
    assert registry.find(REGISTRY, "softmax", "projection") is str


def test_options_are_bound() -> None:
    found = registry.find(REGISTRY, "sparsegen:lam=0.5,steps=3", "projection")
    assert isinstance(found, partial)
    assert found() == (0.5, {"steps": 3})


def test_a_callable_is_its_own_choice() -> None:
    assert registry.find(REGISTRY, sparsegen, "projection") is sparsegen


def test_anything_importable_can_be_named() -> None:
    assert registry.find(REGISTRY, "os.path:join", "projection") is os.path.join
    assert registry.find(REGISTRY, "math:isclose:abs_tol=1.0", "projection")(1.0, 1.5)
    assert not math.isclose(1.0, 1.5)


def test_an_unknown_name_lists_the_choices_and_the_nearest() -> None:
    with pytest.raises(InputError) as raised:
        registry.find(REGISTRY, "sparsgen:lam=1", "projection")
    expected = (
        "There is no projection 'sparsgen'. Did you mean 'sparsegen'? "
        "Choose from: softmax, sparsegen."
    )
    assert str(raised.value) == expected


def test_an_unknown_name_near_to_nothing_still_lists_the_choices() -> None:
    with pytest.raises(InputError) as raised:
        registry.find(REGISTRY, "zzz", "projection")
    assert str(raised.value) == "There is no projection 'zzz'. Choose from: softmax, sparsegen."


@pytest.mark.parametrize(
    "text", ["no_such_module:name", "os.path:no_such_name", ":name", ".relative:name", "softmax:"]
)
def test_what_cannot_be_imported_is_said_in_words(text: str) -> None:
    with pytest.raises(
        InputError,
        match=r"Cannot load the projection .* package\.module:name of something importable",
    ):
        registry.find(REGISTRY, text, "projection")


def test_what_is_imported_must_be_callable() -> None:
    with pytest.raises(InputError, match="Cannot load the projection 'math:pi'"):
        registry.find(REGISTRY, "math:pi", "projection")
