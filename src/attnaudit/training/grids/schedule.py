"""Which cell is next: bases first, an intervention only after its base, nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attnaudit.training.grids.ledger import ListedCell


class Schedule:
    """The cells that are still to be run, in an order that keeps workers busy.

    Parameters
    ----------
    cells : all of the grid that are to be run now.
    done : names of cells whose results exist already.
    is_busy : whether another process is working on the cell of this name; such cells come last.

    Examples
    --------
    >>> run = ListedCell("run", "", {})
    >>> twin = ListedCell("twin", "", {}, "uniform", "run")
    >>> schedule = Schedule([twin, run], done=())
    >>> [cell.name for cell in schedule.ready()]
    ['run']
    >>> schedule.end("run", succeeded=True)
    []
    >>> [cell.name for cell in schedule.ready()]
    ['twin']
    """

    def __init__(
        self,
        cells: Sequence[ListedCell],
        done: Sequence[str],
        is_busy: Callable[[str], bool] = lambda name: False,
    ) -> None:
        needed = [cell.base for cell in cells if cell.base is not None]
        # The bases of many interventions first, so that these are ready when runs run out.
        self.waiting = sorted(cells, key=lambda cell: -needed.count(cell.name))
        self._done = set(done)
        self._is_busy = is_busy

    def __len__(self) -> int:
        return len(self.waiting)

    def ready(self) -> Iterator[ListedCell]:
        """Hand out cells until none is ready; call it again when others have ended."""
        while True:
            candidates = [
                cell for cell in self.waiting if cell.base is None or cell.base in self._done
            ]
            if not candidates:
                return
            free = (cell for cell in candidates if not self._is_busy(cell.name))
            cell = next(free, candidates[0])
            self.waiting.remove(cell)
            yield cell

    def end(self, name: str, *, succeeded: bool) -> list[ListedCell]:
        """Note that a cell has ended; returns the cells that can no longer be run."""
        if succeeded:
            self._done.add(name)
            return []
        lost = [cell for cell in self.waiting if cell.base == name]
        for cell in lost:
            self.waiting.remove(cell)
        return lost
