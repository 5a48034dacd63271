"""Kill a command at random moments, repeat it until it finishes, and compare its values.

    python tools/kill_trials.py --work DIR -- attnaudit run --dataset keyword --out {out}

The command runs once undisturbed, then again and again in new folders: there its whole process
group is killed (SIGKILL) at moments spread over the length of the undisturbed run, and the same
command is given again. What has to hold is checked after every kill and at the end:

- a finished part or run is still there, and unchanged, after the next kill;
- a folder that counts as a finished run is whole by its checksums;
- the last command succeeds, and every values.parquet has the bytes of the undisturbed run;
- no parts are left (drafts go when the next writer of the folder finds them old).

Prints a table with a line per kill, and ends with exit code 1 if anything did not hold.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from attnaudit.core import temporary
from attnaudit.core.errors import InputError
from attnaudit.results import store
from attnaudit.results.checksums import verify_folder

OUT = "{out}"
VALUES = "values.parquet"


@dataclass
class Trial:
    """One output folder, and what became of it.

    Parameters
    ----------
    command : with `OUT` where the folder goes.
    folder : holds the output folder, and nothing else.
    log : file for what the commands write.
    """

    command: list[str]
    folder: Path
    log: Path
    problems: list[str] = field(default_factory=list)
    kept: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def start(self) -> subprocess.Popen[bytes]:
        """Start the command in a process group of its own."""
        self.folder.mkdir(parents=True, exist_ok=True)
        given = [word.replace(OUT, str(self.folder / "out")) for word in self.command]
        with self.log.open("ab") as stream:
            return subprocess.Popen(given, stdout=stream, stderr=stream, start_new_session=True)

    def kill_after(self, seconds: float) -> int | None:
        """Start the command and kill its group; its exit code if it ended before that."""
        process = self.start()
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None

    def look(self) -> str:
        """Check what is there now; a text that counts it."""
        now = {path: _stamp(path) for path in self.folder.rglob("*.parquet") if _counts(path)}
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
        return f"{len(parts):5d} {len(runs):5d}"

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
        code = self.start().wait() if code is None else code
        self.look()
        found = self.values()
        if code != 0:
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


def moments(count: int, length: float, draw: random.Random) -> list[float]:
    """Random moments in a random order, one in each of `count` equal pieces of the length.

    >>> sorted(int(each) for each in moments(4, 4.0, random.Random(0)))
    [0, 1, 2, 3]
    """
    found = [length * (piece + draw.random()) / count for piece in range(count)]
    draw.shuffle(found)
    return found


def undisturbed(trial: Trial) -> tuple[dict[str, bytes], float]:
    """The values, and the seconds, of a command that nobody kills."""
    started = time.monotonic()
    code = trial.start().wait()
    if code != 0:
        raise SystemExit(f"The undisturbed command ended with exit code {code}, see {trial.log}.")
    return trial.values(), time.monotonic() - started


def main() -> None:
    """Read the arguments, run the trials, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--work", type=Path, required=True, help="new folder for all outputs")
    parser.add_argument("--kills", type=int, default=20, help="in all")
    parser.add_argument("--per-trial", type=int, default=4, help="kills of one output folder")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("command", nargs="+", help=f"with {OUT} for the output folder")
    given = parser.parse_args()
    given.work.mkdir(parents=True)
    log = given.work / "commands.log"
    expected, length = undisturbed(Trial(given.command, given.work / "undisturbed", log))
    print(f"undisturbed: {length:.1f} s, {len(expected)} values.parquet")
    print(f"{'trial':>5} {'kill':>4} {'moment':>8} {'parts':>5} {'runs':>5}  outcome", flush=True)
    waiting = moments(given.kills, length, random.Random(given.seed))
    number = kills = bad = 0
    while waiting:
        number += 1
        trial = Trial(given.command, given.work / f"trial-{number}", log)
        code = None
        for _ in range(given.per_trial):
            if not waiting:
                break
            code = trial.kill_after(waiting[-1])
            if code is not None:  # it was faster than the undisturbed run: a new folder
                break
            kills += 1
            moment = waiting.pop()
            print(f"{number:5d} {kills:4d} {moment:7.1f}s {trial.look()}  killed", flush=True)
        outcome = trial.finish(expected, code)
        print(f"{number:5d} {'':4} {'':8} {'':11}  finished: {outcome}", flush=True)
        for problem in trial.problems:
            print(f"      {problem}", flush=True)
        bad += bool(trial.problems)
    print(f"{kills} kills in {number} trials; {bad} with problems")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
