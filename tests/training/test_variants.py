"""Variants of training that are rejected."""

from __future__ import annotations

import pytest

from attnaudit.core.errors import InputError
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.models import Architecture, build
from attnaudit.training.variants import VariantContext, make_training


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        ("twin", "needs a base"),
        ("imposed:source=mine", "no source 'mine'"),
        ("fix_representation", "needs a base"),
        ("deceptive:words=nosuchword", "not in the vocabulary: nosuchword"),
        ("twins", "There is no variant 'twins'. Did you mean 'twin'"),
    ],
)
def test_impossible_variants_are_rejected_in_words(variant: str, text: str) -> None:
    fresh = build(Architecture(embedding=4), words=9, classes=2, with_query=False)
    with pytest.raises(InputError, match=text):
        make_training(variant, VariantContext(fresh, None, Vocabulary(("a",)), 0))
