"""Measure the rows, print the table, and write JSON and a picture."""

from __future__ import annotations

import argparse
import json
import platform
from dataclasses import asdict
from pathlib import Path

import torch
from benchmarks.speed.choice import matching
from benchmarks.speed.machine import Machine, measure_machine
from benchmarks.speed.row import Outcome, measured
from benchmarks.speed.rows import TEXTS, WORK, rows

HEAD = (
    f"{'work':48} {'ours':>9} {'other':>9} {'ratio':>7} {'aim':>5} {'at best':>7} {'cores':>7} "
    f"{'limit':>9} {'from it':>7} {'spread':>11} {'differ':>8}"
)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help=f"part of a name: {', '.join(WORK)}")
    parser.add_argument("--quick", action="store_true", help="fewer texts and repeats")
    parser.add_argument("--corpora", nargs="+", choices=list(TEXTS), default=list(TEXTS))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--one-thread", action="store_true", help="no wall times on all cores")
    parser.add_argument("--repeats", type=int, help="by default 3, with --quick 2")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path, help="a PNG or SVG file")
    given = parser.parse_args()
    matching(given.only, WORK)  # an error before anything is measured
    if given.repeats is not None and given.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {given.repeats}")
    device = torch.device(given.device)
    torch.set_num_threads(1)
    machine = measure_machine(device)
    print(_described(machine, device))
    print(HEAD)
    outcomes: list[Outcome] = []
    failed: list[str] = []
    for row in rows(given.only, given.corpora, device, quick=given.quick):
        repeats = given.repeats or (2 if given.quick else 3)
        try:
            outcome = measured(row, machine, device, repeats, cores=not given.one_thread)
        except (RuntimeError, NotImplementedError) as error:  # what this device cannot do
            failed.append(f"{row.name}: {error}")
            print(f"{row.name:48} failed: {error}", flush=True)
            continue
        outcomes.append(outcome)
        print(line(outcome), flush=True)
        _write(outcomes, failed, machine, given.json)  # whatever becomes of the next row
    if given.picture is not None and outcomes:
        from benchmarks.speed.picture import draw

        draw([as_dict(outcome) for outcome in outcomes], given.picture)
    wrong = [outcome.row.name for outcome in outcomes if not outcome.equal]
    if wrong:
        raise SystemExit(f"The two sides gave different numbers: {'; '.join(wrong)}.")
    if failed:
        raise SystemExit(f"Failed: {'; '.join(failed)}")


def _write(outcomes: list[Outcome], failed: list[str], machine: Machine, path: Path | None) -> None:
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    rows_of = [as_dict(outcome) for outcome in outcomes]
    report = {"machine": asdict(machine), "rows": rows_of, "failed": failed}
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _described(machine: Machine, device: torch.device) -> str:
    return (
        f"{platform.processor() or platform.machine()}, {device}, torch {torch.__version__}, one "
        f"thread: {machine.operations / 1e9:.0f}·10⁹ operations/s of matrix products, "
        f"{machine.functions / 1e9:.1f}·10⁹ σ/s, {machine.bytes / 1e9:.0f} GB/s of copies in "
        f"the cache, {machine.draws / 1e6:.0f}·10⁶ random integers/s, "
        f"{machine.sorts / 1e6:.0f}·10⁶ sorted/s.\n"
        "Seconds of processor time on one thread, the least of some repeats; `at best`: the ratio "
        "if all but the essential parts took no time; `cores`: ratio of wall times on all cores; "
        "`from it`: ours over the limit."
    )


def line(outcome: Outcome) -> str:
    """One line of the table."""
    row = outcome.row

    def shown(value: float | None, form: str = "9.3f") -> str:
        return f"{value:{form}}" if value is not None else "-".rjust(int(form.split(".")[0]))

    spreads = f"{outcome.ours.spread:.0%}/{outcome.theirs.spread:.0%}"
    return (
        f"{row.name:48} {outcome.ours.least:9.3f} {outcome.theirs.least:9.3f} "
        f"{outcome.ratio:7.1f} {shown(row.least, '5.3g')} "
        f"{shown(outcome.best_ratio, '7.1f')} {shown(outcome.wall_ratio, '7.1f')} "
        f"{shown(outcome.limit, '9.2g')} {shown(outcome.from_limit, '7.1f')} {spreads:>11} "
        f"{outcome.difference:8.0e}{'' if outcome.equal else ' DIFFERENT'}"
    )


def as_dict(outcome: Outcome) -> dict[str, object]:
    """As written to the JSON file; seconds."""
    row = outcome.row
    return {
        "name": row.name,
        "against": row.against,
        "aim": row.least,
        "ratio": outcome.ratio,
        "best_ratio": outcome.best_ratio,
        "wall_ratio": outcome.wall_ratio,
        "ours": asdict(outcome.ours),
        "other": asdict(outcome.theirs),
        "essential": None if outcome.essential is None else asdict(outcome.essential),
        "ours_wall": None if outcome.ours_wall is None else asdict(outcome.ours_wall),
        "limit": outcome.limit,
        "from_limit": outcome.from_limit,
        "difference": outcome.difference,
        "equal": outcome.equal,
    }


if __name__ == "__main__":
    main()
