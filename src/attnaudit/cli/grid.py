"""`attnaudit grid`: many runs from one file; `attnaudit status`: how far it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attnaudit.cli.exit_codes import ExitCode
from attnaudit.cli.options import (
    DataDir,
    Device,
    Quiet,
    Resources,
    Scheduler,
    Threads,
    Verbose,
    WorkerCount,
    workers_from,
)


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    app.command()(grid)
    app.command()(status)


def grid(
    file: Annotated[
        Path, typer.Argument(help="TOML file that lists the choices; docs/grid.md has an example.")
    ],
    out: Annotated[Path, typer.Option(help="Folder that holds the run directories.")] = Path(
        "runs"
    ),
    workers: WorkerCount = 1,
    threads: Threads = None,
    scheduler: Scheduler = None,
    resources: Resources = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the cells and a time estimate, and do nothing."),
    ] = False,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Run only the cells that failed before, and those that depend on them.",
        ),
    ] = False,
    data_dir: DataDir = None,
    device: Device = "cpu",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Train and audit every combination of the choices in a file, each in its run directory.

    Finished cells are not run again: the same command goes on where it was stopped. A cell that
    fails is recorded and the others go on; the exit code is then 4. `attnaudit status` shows the
    cells from another terminal, `attnaudit report` makes pages of the finished ones.

    Example: `attnaudit grid grid.toml --out runs --workers 2`
    """
    from attnaudit.training import grid as run_grid
    from attnaudit.training.grids.costs import ROUGH

    finished = run_grid(
        file,
        out,
        workers=workers_from(workers, threads, scheduler, resources),
        dry_run=dry_run,
        retry_failed=retry_failed,
        data_dir=data_dir,
        device=device,
    )
    if dry_run:
        typer.echo(str(finished))
        if finished.seconds_left is not None:
            typer.echo(f"\n{ROUGH[finished.source]}")
        return
    typer.echo(finished.sentence)
    for cell in finished.failed:
        typer.secho(f"{cell.state}: {cell.label}: {cell.error}", fg="red", err=True)
        if cell.log is not None:
            typer.echo(f"  log: {cell.log}", err=True)
    if finished.failed:
        typer.echo("--retry-failed runs these again.", err=True)
        raise typer.Exit(ExitCode.CELLS_FAILED)


def status(
    out: Annotated[Path, typer.Argument(help="The folder that `attnaudit grid` writes to.")] = Path(
        "runs"
    ),
) -> None:
    """Show the cells of a grid: done, running, failed, interrupted, waiting, and the time left.

    Reads files only, so that it works from another terminal or machine, whether or not the grid
    is running. Exit code 4 if a cell has failed.

    Example: `attnaudit status runs`
    """
    from attnaudit.training.grids.status import status

    cells = status(out)
    typer.echo(str(cells))
    raise typer.Exit(ExitCode.CELLS_FAILED if cells.failed else ExitCode.DONE)
