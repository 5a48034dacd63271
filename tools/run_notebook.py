"""Run a notebook from top to bottom in its own folder and keep what its cells show.

python tools/run_notebook.py NOTEBOOK [COPY]
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

SECONDS_A_CELL = 600


def run_notebook(notebook: Path, copy: Path) -> nbformat.NotebookNode:
    """Run every cell and write the copy, which may be the notebook itself.

    Stops at the first cell that fails; then nothing is written.
    """
    read = nbformat.read(notebook, as_version=4)
    client = NotebookClient(
        read, timeout=SECONDS_A_CELL, resources={"metadata": {"path": notebook.parent}}
    )
    client.execute()
    for cell in (each for each in read.cells if each.cell_type == "code"):
        cell.metadata.pop("execution", None)  # when it ran
        # Warnings of libraries hold paths of the machine, and change from one to the next.
        cell["outputs"] = [out for out in cell["outputs"] if out.get("name") != "stderr"]
    nbformat.write(read, copy)
    return read


if __name__ == "__main__":
    run_notebook(Path(sys.argv[1]), Path(sys.argv[-1]))
