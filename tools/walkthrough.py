"""Walk through the product as a new user would: build the wheel, install it, try everything.

    python tools/walkthrough.py [FOLDER]

Every step, what people do and what goes wrong, is a command with the exit code and the words it
must answer with; the folder keeps what was written. A step that ends in a traceback, or touches a
file that is not its own, fails the walk. Needs the package index for the installation into a fresh
environment, nothing else.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
FAST = ["--audits", "permutation,uniform_attention", "--measures", "gradient"]
MAKE_MODELS = """
import sys; sys.path.insert(0, sys.argv[1])
from tiny_transformers import tiny
for name, kind in (("classifier", "bert"), ("other", "bert")):
    for part in tiny(kind, num_labels=2):
        part.save_pretrained(name)
for part in tiny("gpt2_lm"):
    part.save_pretrained("language_model")
"""


@dataclass
class Walk:
    folder: Path
    bin: Path
    failed: list[str] = field(default_factory=list)
    steps: int = 0

    def step(
        self, what: str, *arguments: object, code: int = 0, says: str = "", stdin: str = ""
    ) -> str:
        """Run `attnaudit ARGUMENTS` and compare its exit code and words."""
        done = subprocess.run(
            [self.bin / "attnaudit", *map(str, arguments)],
            cwd=self.folder, capture_output=True, text=True, input=stdin, timeout=600, check=False,
            env={**os.environ, "OMP_NUM_THREADS": "2", "COLUMNS": "200"},
        )  # fmt: skip
        printed = done.stdout + done.stderr
        wrong = []
        if done.returncode != code:
            wrong.append(f"exit code {done.returncode}, expected {code}")
        if says not in printed:
            wrong.append(f"does not say {says!r}")
        if "Traceback" in printed:
            wrong.append("a traceback")
        self.note(what, not wrong, f"{'; '.join(wrong)}\n{printed[-1500:]}")
        return printed

    def note(self, what: str, good: bool, detail: str = "") -> None:
        self.steps += 1
        print(
            f"{'ok  ' if good else 'FAIL'} {what}" + ("" if good else f"\n     {detail}"),
            flush=True,
        )
        if not good:
            self.failed.append(what)


def main() -> None:
    folder = Path(
        sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="attnaudit-walk-")
    ).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    walk = Walk(folder / "work", install(folder))
    walk.folder.mkdir(exist_ok=True)
    python = walk.bin / "python"
    subprocess.run([python, "-c", MAKE_MODELS, ROOT / "tests"], cwd=walk.folder, check=True)
    write_data(walk.folder)
    for part in (outputs, security, reading, models, results_that_can_be_trusted, words):
        print(f"\n{part.__name__.replace('_', ' ')}")
        part(walk)
    print(f"\n{walk.steps - len(walk.failed)} passed, {len(walk.failed)} failed")
    raise SystemExit(1 if walk.failed else 0)


def install(folder: Path) -> Path:
    """The wheel in a fresh environment; its bin folder."""
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", folder / "dist", ROOT],
        check=True,
        capture_output=True,
    )
    (wheel,) = (folder / "dist").glob("*.whl")
    place = folder / "env"
    if not place.exists():
        venv.create(place, with_pip=True)
    pip = [
        place / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--constraint",
        ROOT / "constraints.txt",
    ]
    subprocess.run([*pip, "--force-reinstall", "--no-deps", wheel], check=True)
    subprocess.run([*pip, f"{wheel}[hf]"], check=True)
    return place / "bin"


def write_data(folder: Path) -> None:
    rows = [
        ("we liked it very much", "good film"),
        ("a dull film", "it was bad"),
        ("not good at all", "the film was very good"),
    ] * 8
    labels = [number % 2 for number in range(len(rows))]
    lines = list(zip(rows, labels, strict=True))

    def write(name: str, text: str, encoding: str = "utf-8") -> None:
        (folder / name).write_text(text, encoding=encoding)

    write(
        "reviews.csv",
        "\n".join(["text,label", *(f"{first},{label}" for (first, _), label in lines)]),
    )
    write(
        "semicolons.csv",
        "\n".join(["text;label", *(f"{first};{label}" for (first, _), label in lines)]),
    )
    write(
        "utf16.csv",
        "\n".join(["text,label", *(f"{first},{label}" for (first, _), label in lines)]),
        encoding="utf-16",
    )
    write(
        "pairs.csv",
        "\n".join(
            [
                "premise,hypothesis,label",
                *(f"{first},{second},{label}" for (first, second), label in lines),
            ]
        ),
    )
    write("gaps.csv", "text,label\ngood film,1\nbad film,\n,0\ndull film,0\n")
    with gzip.open(folder / "bomb.csv.gz", "wb", compresslevel=9) as stream:
        stream.write(b"text,label\n")
        for _ in range(3000):
            stream.write(b"a" * (1 << 20))


def outputs(walk: Walk) -> None:
    mine = walk.folder / "mine"
    shutil.rmtree(mine, ignore_errors=True)
    mine.mkdir()
    for name in ("thesis.tex", "report.html", "index.html"):
        (mine / name).write_text("three years of work", encoding="utf-8")
    before = {path: path.read_bytes() for path in mine.iterdir()}
    audit = ["audit", "classifier", "--data", "reviews.csv", *FAST]
    for place in ("mine", ".", "..", "classifier", "reviews.csv", "/dev/full"):
        walk.step(f"audit --out {place} is rejected", *audit, "--out", place, code=2)
        walk.step(f"audit --out {place} --force too", *audit, "--out", place, "--force", code=2)
    walk.step("audit into a new folder", *audit, "--out", "out", says="does it matter?")
    walk.step("a second time is rejected", *audit, "--out", "out", code=2, says="--force")
    (walk.folder / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    walk.step("with --force it is replaced", *audit, "--out", "out", "--force")
    walk.note("and a note in it is kept", (walk.folder / "out" / "notes.txt").read_text() == "mine")
    walk.step(
        "report over a thesis is rejected",
        "report",
        "out",
        "--out",
        "mine/thesis.tex",
        code=2,
        says="not written by attnaudit",
    )
    walk.step(
        "report into a folder is rejected",
        "report",
        "out",
        "--out",
        "mine",
        code=2,
        says="is a folder",
    )
    walk.step("report to a device is rejected", "report", "out", "--out", "/dev/full", code=2)
    walk.step("site over another site is rejected", "report", "out", "--site", "mine", code=2)
    walk.step("lesson over a page is rejected", "lesson", "--out", "mine/index.html", code=2)
    walk.note(
        "nothing of mine was touched",
        {path: path.read_bytes() for path in mine.iterdir()} == before,
    )


def security(walk: Walk) -> None:
    run = [
        "run",
        "--dataset",
        "keyword:train=60,dev=10,test=20",
        "--encoder",
        "average",
        "--epochs",
        "1",
        *FAST,
        "--out",
        "runs",
    ]
    walk.step("run", *run, says="Test accuracy")
    folder = next(
        path for path in (walk.folder / "runs").iterdir() if (path / "run.json").is_file()
    )
    evil = walk.folder / "evil_run"
    shutil.rmtree(evil, ignore_errors=True)
    shutil.copytree(folder, evil)
    details = json.loads((evil / "run.json").read_text(encoding="utf-8"))
    details["model"]["encoder"] = "evil:make"
    del details["files"], details["checksum"]
    (evil / "run.json").write_text(json.dumps(details), encoding="utf-8")
    (walk.folder / "evil.py").write_text("open('pwned', 'w')\n", encoding="utf-8")
    (walk.folder / "evil:make").touch()
    for command in ("check", "corpus-audit"):
        walk.step(
            f"{command} of a run that names code",
            command,
            "evil_run",
            code=2,
            says="code from outside",
        )
    remote = walk.folder / "remote_code"
    shutil.rmtree(remote, ignore_errors=True)
    shutil.copytree(walk.folder / "classifier", remote)
    config = json.loads((remote / "config.json").read_text(encoding="utf-8"))
    config |= {
        "model_type": "evil",
        "auto_map": {
            "AutoConfig": "code.Config",
            "AutoModelForSequenceClassification": "code.Model",
        },
    }
    (remote / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (remote / "code.py").write_text("open('pwned', 'w')\n", encoding="utf-8")
    walk.step(
        "a model that brings code, and a piped y",
        "audit",
        "remote_code",
        "--data",
        "reviews.csv",
        "--out",
        "x",
        code=2,
        stdin="y\n" * 5,
    )
    walk.note("no code ran", not (walk.folder / "pwned").exists())


def reading(walk: Walk) -> None:
    audit = ["audit", "classifier", *FAST, "--force"]
    walk.step(
        "it says what it read", *audit, "--data", "reviews.csv", "--out", "a", says="text = text"
    )
    walk.step(
        "pairs are found", *audit, "--data", "pairs.csv", "--out", "b", says="pair = hypothesis"
    )
    walk.step(
        "semicolons are found", *audit, "--data", "semicolons.csv", "--out", "c", says="delimiter ;"
    )
    walk.step("UTF-16 is read", *audit, "--data", "utf16.csv", "--out", "d", says="24 rows")
    walk.step(
        "a gap has its line", *audit, "--data", "gaps.csv", "--out", "e", code=2, says="line 3"
    )
    walk.step(
        "gaps are skipped and counted",
        *audit,
        "--data",
        "gaps.csv",
        "--out",
        "e",
        "--skip-bad",
        says="2 rows",
    )
    walk.step("a bomb is rejected", *audit, "--data", "bomb.csv.gz", "--out", "f", code=2)
    walk.step("a folder as data", *audit, "--data", ".", "--out", "g", code=2)


def models(walk: Walk) -> None:
    walk.step(
        "a hub name",
        "audit",
        "bert-base-uncased",
        "--data",
        "reviews.csv",
        "--out",
        "h",
        code=2,
        says="not downloaded",
    )
    walk.step(
        "a language model",
        "audit",
        "language_model",
        "--data",
        "reviews.csv",
        "--out",
        "h",
        code=2,
        says="language model",
    )
    broken = walk.folder / "broken"
    shutil.rmtree(broken, ignore_errors=True)
    shutil.copytree(walk.folder / "classifier", broken)
    (broken / "model.safetensors").write_text(
        "version https://git-lfs.github.com/spec/v1\n", encoding="utf-8"
    )
    walk.step(
        "a git-lfs pointer",
        "audit",
        "broken",
        "--data",
        "reviews.csv",
        "--out",
        "h",
        code=2,
        says="git lfs",
    )
    (broken / "config.json").write_text("[1, 2", encoding="utf-8")
    walk.step(
        "a malformed config",
        "audit",
        "broken",
        "--data",
        "reviews.csv",
        "--out",
        "h",
        code=2,
        says="config.json",
    )
    for option in (["--encoder", "bilstm:hidden=0"], ["--embedding", "0"], ["--patience", "-1"]):
        walk.step(
            f"{' '.join(option)}",
            "run",
            "--dataset",
            "keyword:train=60,dev=10,test=20",
            *option,
            "--out",
            "runs",
            code=2,
        )


def results_that_can_be_trusted(walk: Walk) -> None:
    runs = walk.folder / "runs"
    folder = next(path for path in runs.iterdir() if (path / "run.json").is_file())
    walk.step("verify", "verify", "runs", says="whole")
    damaged = runs / "damaged"
    shutil.rmtree(damaged, ignore_errors=True)
    shutil.copytree(folder, damaged)
    content = bytearray((damaged / "values.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (damaged / "values.parquet").write_bytes(content)
    walk.step("verify finds a flipped bit", "verify", "runs", code=1, says="values.parquet")
    walk.step(
        "a report names and leaves out the damaged run",
        "report",
        "runs",
        "--out",
        "all.html",
        says="left out",
    )
    walk.step("a gate on it is an error", "gate", damaged, code=2, says="damaged")
    shutil.rmtree(damaged)


def words(walk: Walk) -> None:
    walk.step("help names the documentation", "--help", says="doc")
    small = ("--dataset", "keyword:train=60,dev=10,test=20", "--encoder", "average")
    options = (*small, "--epochs", "1", *FAST, "--intervention", "uniform", "--out", "runs")
    walk.step("an intervention answers in words", "run", *options, says="accuracy")
    walk.step("lesson", "lesson", "--out", "lesson.html", says="lesson.html")
    walk.step("list", "list", says="furthest")


if __name__ == "__main__":
    main()
