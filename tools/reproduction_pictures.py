"""Draw the pictures of docs/reproduction.md that are of tables alone, from the stored tables.

Run by `make reproduction`. Pictures of texts or of findings need the runs and come from `attnaudit
reproduce`. Where the lines of an item have different seeds, the picture is of all of them and has
all seeds in its name.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from pool_trainings import TABLES, parts_of_name, read

from attnaudit.papers.catalogue import PAPERS
from attnaudit.report.figures import style

IMAGES = Path(__file__).parents[1] / "docs" / "images" / "reproduction"


def draw_all(tables: Path = TABLES, images: Path = IMAGES) -> list[Path]:
    """Draw every picture that is there already again, and remove what it replaces."""
    drawn = []
    for paper, items in PAPERS.items():
        for item in items:
            if item.draw is None or item.pictured:
                continue
            by_item: dict[tuple[str, str], list[Path]] = {}
            for path in sorted(tables.glob(f"{paper}-{item.name}-*.csv")):
                by_item.setdefault(parts_of_name(path)[0], []).append(path)
            for of, paths in by_item.items():
                olds = [
                    path
                    for path in images.glob(f"{paper}-{item.name}-*.png")
                    if parts_of_name(path)[0] == of
                ]
                if not olds:
                    continue
                seeds = sorted({seed for path in paths for seed in parts_of_name(path)[1]})
                name = f"{of[0]}{of[1]}-seeds_{'.'.join(map(str, seeds))}"
                table = pd.concat([read(path) for path in paths], ignore_index=True)
                for old in olds:
                    old.unlink()
                with style.paper():
                    drawn += style.save(item.draw((), table), images / name, ("png",))
    return drawn


if __name__ == "__main__":
    for picture in draw_all():
        print(picture.name)
