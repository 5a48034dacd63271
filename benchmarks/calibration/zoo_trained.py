"""Trained models: encoders × scorers × projections × outputs on texts with planted structure."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.calibration.corpus import Corpus, Plant
from benchmarks.calibration.entry import Entry
from benchmarks.calibration.training import Recipe, train

KEY = Corpus()
THREE = replace(KEY, classes=3)
TWO_WORDS = Corpus((Plant("key"), Plant("weak")))
SHORTCUT = Corpus((Plant("key", agrees=0.6), Plant("shortcut")))
AGAINST = Corpus((Plant("key"), Plant("weak", agrees=0.0)))
NEGATION = Corpus((Plant("key"), Plant("not", chance=0.5, at="before key")))
WEAK_WORDS = Corpus(
    (Plant("key", agrees=0.8), *(Plant("weak", agrees=0.75) for _ in range(3))), evidence=None
)
LONG = replace(KEY, shortest=20, longest=30)

BASE = Recipe()
RECIPES: dict[str, Recipe] = {
    "key-none": replace(BASE, encoder="none"),
    "key-mlp-dot": replace(BASE, encoder="mlp:hidden=12", scorer="dot"),
    "key-average": replace(BASE, encoder="average:hidden=12"),
    "key-bilstm": BASE,
    "key-bilstm-tanh": replace(BASE, output="tanh"),
    "key-bilstm-sparsemax": replace(BASE, projection="sparsemax"),
    "key-bigru-deep": replace(BASE, encoder="bigru:hidden=8", scorer="deep"),
    "key-cnn-entmax": replace(BASE, encoder="cnn:kernels=1-3,filters=6", projection="entmax"),
    "key-transformer": replace(BASE, encoder="transformer:hidden=12,layers=1"),
    "key-uniform": replace(BASE, projection="uniform"),
    "three-none": replace(BASE, encoder="none", corpus=THREE),
    "three-bilstm": replace(BASE, corpus=THREE),
    "two-none": replace(BASE, encoder="none", corpus=TWO_WORDS),
    "two-bilstm": replace(BASE, corpus=TWO_WORDS),
    "shortcut-none": replace(BASE, encoder="none", corpus=SHORTCUT),
    "shortcut-bigru": replace(BASE, encoder="bigru:hidden=8", corpus=SHORTCUT),
    "against-none": replace(BASE, encoder="none", corpus=AGAINST),
    "against-bilstm": replace(BASE, corpus=AGAINST),
    "negation-bilstm": replace(BASE, corpus=NEGATION, epochs=20),
    "negation-cnn": replace(BASE, encoder="cnn:kernels=1-3,filters=8", corpus=NEGATION, epochs=20),
    "weak-none": replace(BASE, encoder="none", corpus=WEAK_WORDS),
    "weak-bilstm-sparsemax": replace(BASE, corpus=WEAK_WORDS, projection="sparsemax"),
    "avoid-1": replace(BASE, avoids=0.02),
    "avoid-2": replace(BASE, avoids=0.1),
    "avoid-3": replace(BASE, avoids=1.0),
    "avoid-transformer": replace(BASE, encoder="transformer:hidden=12,layers=1", avoids=1.0),
    "avoid-none": replace(BASE, encoder="none", avoids=0.3),
    "seek-bilstm": replace(BASE, avoids=0.3, role="filler"),
    "seek-none": replace(BASE, encoder="none", avoids=0.3, role="filler"),
    "seek-three-mlp": replace(
        BASE, encoder="mlp:hidden=12", avoids=0.3, role="filler", corpus=THREE
    ),
    "long-none": replace(BASE, encoder="none", corpus=LONG),
    "long-bilstm": replace(BASE, corpus=LONG),
    "long-avoid-bilstm": replace(BASE, corpus=LONG, avoids=1.0),
    "long-seek-none": replace(BASE, encoder="none", corpus=LONG, avoids=0.3, role="filler"),
    "untrained-bilstm": replace(BASE, epochs=0),
    "untrained-none": replace(BASE, encoder="none", epochs=0),
}


def entries() -> list[Entry]:
    """Return all trained models."""
    return [_entry(f"trained-{name}", recipe) for name, recipe in RECIPES.items()]


def _entry(name: str, recipe: Recipe) -> Entry:
    return Entry(name, "trained", 0, recipe.corpus, lambda: train(recipe, name))
