"""The app with all its commands, and the entry point that prints errors in words."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer

from attnaudit.cli import audit, cite, data, grid, report, reproduce, run, runs, show
from attnaudit.cli.exit_codes import ExitCode
from attnaudit.core import interruption
from attnaudit.core.errors import InputError, NotApplicable, OutputError, WorkError
from attnaudit.core.verbosity import Verbosity, set_verbosity, verbosity

_HELP = (
    "May I show this model's attention as an explanation? Train a model or load your own, run the "
    "tests of the attention-as-explanation debate, and read the answers on one card."
)

app = typer.Typer(
    help=_HELP,
    epilog="Start with `attnaudit run`, which needs no files. `attnaudit list` shows every name "
    "that can be chosen, and `attnaudit COMMAND --help` the options of a command. The "
    "documentation is in the folder docs/ of the project: docs/index.md first, and "
    "docs/audit_your_model.md for your own model.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from attnaudit import __version__

        typer.echo(f"attnaudit {__version__}")
        raise typer.Exit


@app.callback(help=_HELP)
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Options of the app itself."""


def list_choices() -> None:
    """List every name that can be chosen, by kind, with a description.

    Datasets, models, measures, audits, interventions, presets and more.

    Example: `attnaudit list`
    """
    from attnaudit.cli.catalogue import catalogue

    for kind, entries in catalogue().items():
        typer.secho(f"\n{kind}", bold=True)
        for name, text in entries.items():
            typer.echo(f"  {name:26s} {text}")


def check(
    target: Annotated[
        str,
        typer.Argument(
            help="A run directory, the folder of a Hugging Face classifier, "
            "glass:oracle|inert|shifted, or package.module:name of a model."
        ),
    ],
    seed: Annotated[
        int, typer.Option(help="Random seed of the texts and attention weights that are tried.")
    ] = 0,
) -> None:
    """Check that a model keeps the laws that audits rely on.

    Reports which laws are broken and the likely cause; exit code 1 if any is.

    Example: `attnaudit check glass:oracle`
    """
    from attnaudit.cli.check_target import find_target
    from attnaudit.laws.checks import check_model

    verdict = check_model(*find_target(target, seed), seed=seed)
    typer.echo(str(verdict))
    typer.echo(f"\n{verdict.sentence}")
    raise typer.Exit(ExitCode.DONE if verdict.kept else ExitCode.NEGATIVE)


run.register(app)
grid.register(app)
audit.register(app)
show.register(app)
cite.register(app)
runs.register(app)
reproduce.register(app)
report.register(app)
app.command("list")(list_choices)
app.command()(check)
app.add_typer(data.app, name="data")


class _Notices(logging.Handler):
    """Prints the library's messages on the standard error: as many as --quiet, --verbose say."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno < verbosity():
            return
        typer.secho(f"attnaudit: {record.getMessage()}", fg="yellow", err=True)


@cache
def _command() -> Callable[[], Any]:
    """The app as it is called; Typer by itself makes all its commands again at every call."""
    return typer.main.get_command(app)


def main() -> None:
    """Run the command line; errors that a user can fix are printed without a traceback."""
    interruption.watch()
    set_verbosity(Verbosity.NORMAL)
    logger = logging.getLogger("attnaudit")
    logger.handlers = [_Notices()]
    logger.setLevel(logging.INFO)
    try:
        _command()()
    except (InputError, NotApplicable, OutputError) as error:
        typer.secho(f"attnaudit: {error}", fg="red", err=True)
        raise SystemExit(ExitCode.INPUT) from None
    except WorkError as error:
        typer.secho(f"attnaudit: {error}", fg="red", err=True)
        raise SystemExit(ExitCode.CELLS_FAILED) from None
    except interruption.Interrupted as stop:
        typer.secho(f"attnaudit: {stop}", fg="red", err=True)
        raise SystemExit(stop.exit_code) from None
    except Exception:  # whatever else it is, it has the exit code of an internal error
        traceback.print_exc()
        typer.secho(
            "attnaudit: this is an error in attnaudit, or in code of yours that it called; the "
            "last line above says which. Finished results are kept.",
            fg="red",
            err=True,
        )
        raise SystemExit(ExitCode.INTERNAL) from None
