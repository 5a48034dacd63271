"""Kill a command at random moments, repeat it until it finishes, and compare its values.

    python tools/kill_trials.py --work DIR -- attnaudit run --dataset keyword --out {out}

The command runs once undisturbed, then again and again in new folders: there its whole process
group is killed (SIGKILL) at moments spread over the work of the undisturbed run, and the same
command is given again. What has to hold is checked after every kill and at the end:

- a finished part or run is still there, and unchanged, after the next kill;
- a folder that counts as a finished run is whole by its checksums;
- the last command succeeds, and every values.parquet has the bytes of the undisturbed run;
- no parts are left (drafts go when the next writer of the folder finds them old).

A moment is a place in the work of the undisturbed run, in processor seconds: a command that goes
on from finished files is killed when it should have reached that place. A quarter of the moments
is before the first finished file appeared, a twentieth after the last, the others between them, so
that most kills hit finished work. Prints a table with a line per kill, and ends with exit code 1
if anything did not hold. Given again with the same --work, it goes on with the trial at which it
was stopped. `tools/kill_series.py` does all this for several commands.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from preloaded_commands import PreloadedCommand

from attnaudit.core import temporary
from attnaudit.core.errors import InputError
from attnaudit.results import store
from attnaudit.results.checksums import verify_folder

OUT = "{out}"
ATTNAUDIT = [sys.executable, "-m", "attnaudit"]
VALUES = "values.parquet"
_HOLDS_RESULTS = 2  # exit code
_LOOK_EVERY = 0.1  # seconds


@dataclass
class Trial:
    """One output folder, and what became of it.

    Parameters
    ----------
    command : with `OUT` where the folder goes. One that begins with `ATTNAUDIT` is forked from a
        process with the libraries loaded.
    folder : holds the output folder, and nothing else.
    log : file for what the commands write.
    """

    command: list[str]
    folder: Path
    log: Path
    finished: set[Path] = field(default_factory=set)  # every part and run there has been
    problems: list[str] = field(default_factory=list)
    kept: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def start(self) -> subprocess.Popen[bytes] | PreloadedCommand:
        """Start the command in a process group of its own."""
        self.folder.mkdir(parents=True, exist_ok=True)
        given = [word.replace(OUT, str(self.folder / "out")) for word in self.command]
        if given[:3] == ATTNAUDIT:
            return PreloadedCommand.start(given[3:], self.log)
        with self.log.open("ab") as stream:
            return subprocess.Popen(given, stdout=stream, stderr=stream, start_new_session=True)

    def kill_after(self, seconds: float) -> int | None:
        """Start the command and kill its group; its exit code if it ended before that.

        seconds : of processor time of the group, which other work does not stretch.
        """
        process = self.start()
        while group_seconds(process.pid) < seconds:
            try:
                return process.wait(_LOOK_EVERY)
            except subprocess.TimeoutExpired:
                continue
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None

    def look(self) -> tuple[int, int]:
        """Check what is there now; how many finished parts and runs there are."""
        now = {path: _stamp(path) for path in self.folder.rglob("*.parquet") if _counts(path)}
        self.note_finished()
        for path, stamp in self.kept.items():
            if path.name == VALUES and now.get(path) != stamp:
                self.problems.append(f"{path} was finished, and was made again or lost")
        parts = {path: stamp for path, stamp in now.items() if _is_part(path)}
        for path, stamp in self.kept.items():
            if _is_part(path) and now.get(path, stamp) != stamp:
                self.problems.append(f"{path} was finished, and was made again")
        self.kept = now
        runs = [path.parent for path in now if path.name == VALUES]
        for run in runs:
            self.check(run)
        return len(parts), len(runs)

    def note_finished(self) -> int:
        """How many parts and runs were finished up to now, with those that are gone again."""
        self.finished.update(
            path
            for path in self.folder.rglob("*.parquet")
            if _counts(path) and (path.name == VALUES or _is_part(path))
        )
        return len(self.finished)

    def check(self, run: Path) -> None:
        """A folder that counts as a finished run must be whole."""
        if not store.is_complete(run):
            self.problems.append(f"{run} holds values, but is not complete")
            return
        try:
            said = verify_folder(run)
        except InputError as error:
            said = str(error)
        if not said.startswith("whole"):
            self.problems.append(f"{run}: {said}")

    def values(self) -> dict[str, bytes]:
        """Every values.parquet by its path below the folder."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob(VALUES)
            if _counts(path)
        }

    def finish(self, expected: dict[str, bytes], code: int | None) -> str:
        """Give the command a last time, unless it has ended with a code, and compare."""
        was_finished = self.values() == expected
        code = self.start().wait() if code is None else code
        self.look()
        found = self.values()
        # `attnaudit audit` does not replace results that are there, and says so.
        if code != 0 and not (was_finished and code == _HOLDS_RESULTS):
            self.problems.append(f"the last command ended with exit code {code}, see {self.log}")
        if found.keys() != expected.keys():
            self.problems.append(f"values of {sorted(found)}, expected {sorted(expected)}")
        different = [name for name in found if found[name] != expected.get(name)]
        if different:
            self.problems.append(f"other bytes in {different}")
        left = [path for path in self.folder.rglob("*") if path.name.endswith(".parts")]
        # A draft is removed by the next writer of its folder, once it is old enough.
        if left:
            self.problems.append(f"{left[0]} is left")
        return "same bytes" if not self.problems else "PROBLEM"


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _is_part(path: Path) -> bool:
    return path.name != VALUES and "parts" in (path.parent.name, path.parent.parent.name)


def _counts(path: Path) -> bool:
    """Whether a file has its final name: no folder above it is a draft."""
    return not any(temporary.is_temporary(each) for each in (path, *path.parents))


class Undisturbed(NamedTuple):
    """A run that nobody killed, in processor seconds.

    begin : when it had begun its output folder.
    finished : when each part or run was finished.
    length : its end.
    """

    begin: float
    finished: list[float]
    length: float

    def moments(self, count: int, draw: random.Random) -> list[float]:
        """Random moments in a random order, one in each of `count` pieces of the run.

        A quarter before the first finished file, a twentieth after the last, others between them.

        >>> whole = Undisturbed(0.5, [1.0, 2.0, 3.0], 4.0)
        >>> sorted(int(each) for each in whole.moments(4, random.Random(0)))
        [0, 1, 1, 2]
        """
        early, late = count // 4, count // 20
        spans = (
            (early, 0.0, self.finished[0]),
            (count - early - late, self.finished[0], self.finished[-1]),
            (late, self.finished[-1], self.length),
        )
        found = [
            low + (high - low) * (piece + draw.random()) / pieces
            for pieces, low, high in spans
            for piece in range(pieces)
        ]
        draw.shuffle(found)
        return found

    def seconds_to(self, moment: float, finished: int) -> float:
        """What a command that goes on needs to come to a moment of this run.

        finished : the parts and runs that are there.

        >>> whole = Undisturbed(0.5, [1.0, 2.0, 3.0], 4.0)
        >>> whole.seconds_to(2.25, 0), whole.seconds_to(2.25, 2), whole.seconds_to(1.5, 2)
        (2.25, 0.75, 0.5)
        """
        if finished == 0:
            return moment
        reached = self.finished[min(finished, len(self.finished)) - 1]
        return self.begin + max(0.0, moment - reached)


def group_seconds(group: int) -> float:
    """Processor seconds of all processes of a group, and of their children that have ended."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[2]) == group:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def undisturbed(trial: Trial) -> Undisturbed:
    """Run a command that nobody kills."""
    process = trial.start()
    begin, length = None, 0.0
    finished: list[float] = []
    while process.poll() is None:
        time.sleep(_LOOK_EVERY)
        length = max(length, group_seconds(process.pid))
        if begin is None and any(trial.folder.iterdir()):
            begin = length
        finished += [length] * (trial.note_finished() - len(finished))
    if process.returncode != 0:
        raise SystemExit(
            f"The undisturbed command ended with exit code {process.returncode}, see {trial.log}."
        )
    return Undisturbed(begin or 0.0, finished or [length], length)


def run_trials(
    command: Sequence[str],
    work: Path,
    *,
    kills: int = 20,
    per_trial: int = 5,
    seed: int = 0,
    most: int | None = None,
) -> dict[str, Any]:
    """Kill a command in new folders until it was killed often enough, and compare its values.

    Parameters
    ----------
    command : with `OUT` where the output folder goes.
    work : folder for all outputs, and for `trials.json`, from which a stopped call goes on.
    kills : in all.
    per_trial : kills of one output folder.
    seed : of the moments.
    most : trials of this call; the next one goes on.

    Returns
    -------
    `undisturbed` and the number of its `values`; `trials`, each with its `kills`
    (`moment`, and `parts` and `runs` finished by then), `finished` and `problems`.
    """
    work.mkdir(parents=True, exist_ok=True)
    log, state = work / "commands.log", work / "trials.json"
    whole = Trial(list(command), work / "undisturbed", log)
    if state.is_file():
        done = json.loads(state.read_text(encoding="utf-8"))
    else:
        shutil.rmtree(whole.folder, ignore_errors=True)
        measured = undisturbed(whole)
        done = {"command": list(command), "undisturbed": measured, "trials": []}
        done["waiting"] = measured.moments(kills, random.Random(seed))
        done["values"] = len(whole.values())
    clock = Undisturbed(*done["undisturbed"])
    print(f"undisturbed: {clock.length:.1f} s, {done['values']} values.parquet")
    print(f"{'trial':>5} {'kill':>4} {'moment':>8} {'parts':>5} {'runs':>5}  outcome", flush=True)
    last = None if most is None else len(done["trials"]) + most
    while done["waiting"] and len(done["trials"]) != last:
        number = len(done["trials"]) + 1
        trial = Trial(list(command), work / f"trial-{number}", log)
        shutil.rmtree(trial.folder, ignore_errors=True)  # of a series that was stopped
        killed: list[dict[str, Any]] = []
        code = None
        planned, later = sorted(done["waiting"][:per_trial]), done["waiting"][per_trial:]
        for moment in planned:
            code = trial.kill_after(clock.seconds_to(moment, trial.note_finished()))
            if code is not None:  # it was faster than the undisturbed run: a new folder
                break
            parts, runs = trial.look()
            killed.append({"moment": round(moment, 2), "parts": parts, "runs": runs})
            shown = f"{number:5d} {len(killed):4d} {moment:7.1f}s {parts:5d} {runs:5d}"
            print(f"{shown}  killed", flush=True)
        outcome = trial.finish(whole.values(), code)
        print(f"{number:5d} {'':4} {'':8} {'':11}  finished: {outcome}", flush=True)
        for problem in trial.problems:
            print(f"      {problem}", flush=True)
        done["trials"].append({"kills": killed, "finished": outcome, "problems": trial.problems})
        missed = planned[len(killed) :]  # it ended before these moments
        done["waiting"] = [*later, *(0.95 * moment for moment in missed)]
        if not trial.problems:
            shutil.rmtree(trial.folder)
        state.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    return done


def main() -> None:
    """Read the arguments, run the trials, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for all outputs")
    parser.add_argument("--kills", type=int, default=20, help="in all")
    parser.add_argument("--per-trial", type=int, default=5, help="kills of one output folder")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("command", nargs="+", help=f"with {OUT} for the output folder")
    given = parser.parse_args()
    done = run_trials(
        given.command, given.work, kills=given.kills, per_trial=given.per_trial, seed=given.seed
    )
    bad = sum(bool(trial["problems"]) for trial in done["trials"])
    kills = sum(len(trial["kills"]) for trial in done["trials"])
    print(f"{kills} kills in {len(done['trials'])} trials; {bad} with problems")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
