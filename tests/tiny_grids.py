"""A grid of four tiny cells, and cells that fail or kill their process."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.splits import Splits

DATASET = "keyword:train=40,dev=20,test=20"
TINY: dict[str, Any] = {
    "dataset": DATASET,
    "encoders": ["average", "mlp"],
    "seeds": [0, 1],
    "epochs": 1,
    "audits": ["uniform_attention"],
    "measures": ["random"],
}
# The same as a file.
TINY_TOML = f"""
dataset = "{DATASET}"
encoders = ["average", "mlp"]
seeds = [0, 1]
epochs = 1
audits = ["uniform_attention"]
measures = ["random"]
"""


def failing(*, seed: int = 0) -> Splits:
    """A dataset that cannot be read."""
    raise InputError("The disk of this dataset is on fire.")


def deadly(*, seed: int = 0) -> Splits:
    """A dataset that kills the process that reads it."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


def slow(*, folder: str = "", seconds: float = 30.0, seed: int = 0) -> Splits:
    """A dataset that takes a while, and says that it has begun."""
    from attnaudit.data import load

    Path(folder, "begun").write_text(str(os.getpid()))
    time.sleep(seconds)
    return load(DATASET)


def counted(*, folder: str = "", seed: int = 0) -> Splits:
    """The tiny dataset; every read adds a line to a file."""
    from attnaudit.data import load

    with Path(folder, "reads").open("a") as stream:
        stream.write("read\n")
    return load(DATASET)


def tables(out: Path) -> dict[str, bytes]:
    """Folder name -> values.parquet, of every finished run."""
    return {
        path.parent.name: path.read_bytes() for path in sorted(out.glob("[!.]*/values.parquet"))
    }
