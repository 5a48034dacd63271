"""bAbI tasks 1 to 3 (Weston et al. 2015) from the released files; `babi` simulates them."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from attnaudit.core.errors import InputError
from attnaudit.data.corpora.babi_text import Story, examples, parse_lines
from attnaudit.data.corpora.babi_text import answers as answers_of
from attnaudit.data.corpus_info import About, Download, describes
from attnaudit.data.reading.options import one_of
from attnaudit.data.reading.preprocessing import Preparation, vocabulary_size
from attnaudit.data.reading.rows import lines
from attnaudit.data.reading.sources import files
from attnaudit.data.reading.splitting import Halves, check_share, divide
from attnaudit.data.splits import Example, Splits

TASKS = {
    1: "qa1_single-supporting-fact",
    2: "qa2_two-supporting-facts",
    3: "qa3_three-supporting-facts",
}
FOLDERS = {"10k": "en-10k", "1k": "en"}
SHOWN = 8  # files listed in an error

ABOUT = About(
    title="bAbI tasks 1 to 3, version 1.2",
    task="questions about a story, 6 answers, with supporting facts",
    size="10,000 (or 1,000) / 1,000 questions per task",
    licence="CC BY 3.0",
    home="https://research.facebook.com/downloads/babi/",
    places=(
        "babi",
        "babi/tasks_1-20_v1-2",
        "tasks_1-20_v1-2",
        "babi/*tasks_1-20_v1-2.tar*",
        "*tasks_1-20_v1-2.tar*",
    ),
    holds=("en*/qa[123]_*.txt",),
    downloads=(
        Download(
            "http://www.thespermwhale.com/jaseweston/babi/tasks_1-20_v1-2.tar.gz",
            "sha256:0364ebde659f14d11bc21744516c5ec49d3d06cb692733f66680771244998898",
            "babi/tasks_1-20_v1-2.tar.gz",
        ),
    ),
)


@describes(ABOUT)
def babi_files(
    place: Path,
    *,
    task: int = 1,
    size: str = "10k",
    dev: str = "stories",
    dev_share: float = 0.15,
    answers: str = "occurring",
    seed: int = 0,
    skip_bad: bool = False,
) -> Splits:
    """Questions with one (task=1), two (2) or three (3) supporting facts; size=10k or 1k.

    Dev is dev_share of the training stories, so that it shares no story with train. dev=questions
    takes a share of the questions, as the released code of Jain & Wallace does (seed=16377 gives
    its exact split); a story may then be in both. Classes are the answers that occur; with
    answers=every_word, each word of the training file, full stop included. (The released code takes
    the words of all three tasks, 36 classes.) skip_bad=true skips every story with a bad line.
    """
    if isinstance(task, bool) or task not in TASKS:
        raise InputError(
            f"babi_files: task must be 1, 2 or 3, got {task!r}. "
            "Write for example babi_files:task=2."
        )
    one_of("babi_files", "size", size, tuple(FOLDERS))
    one_of("babi_files", "dev", dev, ("stories", "questions"))
    one_of("babi_files", "answers", answers, ("occurring", "every_word"))
    check_share("babi_files: dev_share", dev_share)
    if dev_share == 1:
        raise InputError("babi_files: dev_share=1 leaves nothing to train on. The default is 0.15.")
    prepare = Preparation(
        "babi_files", tokeniser="blanks", replace_numbers=False, skip_bad=skip_bad
    )
    stories = _stories(place, task, size, prepare)
    classes = _classes(stories, every_word=answers == "every_word")
    examples_of = {
        split: examples(stories[split], classes, split=split) for split in ("train", "test")
    }
    if dev == "stories":
        kept, held_out = _by_story(stories["train"], examples_of["train"], dev_share, seed)
    else:
        kept, held_out = divide(examples_of["train"], dev_share, seed=seed, stratified=False)
    return prepare.finish(
        train=kept,
        dev=held_out,
        test=examples_of["test"],
        classes=classes,
        name=f"babi_files-{task}",
        source=f"bAbI tasks 1.2, {FOLDERS[size]}",
        task=task,
        rule=f"dev is {dev_share:.0%} of the training {dev}, seed {seed}",
        answers=answers,
        vocabulary=vocabulary_size(kept),
    )


def _stories(
    place: Path, task: int, size: str, prepare: Preparation
) -> dict[str, tuple[Story, ...]]:
    wanted = {f"{FOLDERS[size]}/{TASKS[task]}_{split}.txt": split for split in ("train", "test")}
    read: dict[str, tuple[Story, ...]] = {}
    available: list[str] = []
    for file in files(place, f"qa{task}_*.txt"):
        name = "/".join(PurePosixPath(file.name).parts[-2:])
        available.append(name)
        if name in wanted and wanted[name] not in read:
            read[wanted[name]] = parse_lines(lines(file, prepare.bad), prepare.bad)
    missing = [name for name, split in wanted.items() if split not in read]
    if missing:
        raise InputError(
            f"{place}: {' and '.join(missing)} is not in it. Of task {task} there is: "
            f"{', '.join(sorted(available)[:SHOWN]) or 'nothing'}. "
            f"Put the file there, or choose another size ({' or '.join(FOLDERS)}), "
            f"or simulated stories: babi:task={task}."
        )
    return read


def _classes(stories: dict[str, tuple[Story, ...]], *, every_word: bool) -> tuple[str, ...]:
    occurring = answers_of((*stories["train"], *stories["test"]))
    if not every_word:
        return occurring
    train = examples(stories["train"], occurring, split="train")
    words = {word for example in train for word in (*example.tokens, *(example.query or ()))}
    return tuple(sorted(words))


def _by_story(
    stories: tuple[Story, ...], questions: tuple[Example, ...], share: float, seed: int
) -> Halves:
    """Train and dev examples, split by story. `share` is of the stories."""
    story_of = [
        number for number, story in enumerate(stories) for line in story if line.answer is not None
    ]
    # The first question of each story: later entries win, so the zip is reversed.
    first = dict(zip(reversed(story_of), reversed(questions), strict=True))
    _, chosen = divide(
        [first[number] for number in sorted(first)], share, seed=seed, stratified=False
    )
    ids = {example.example_id for example in chosen}
    taken = {number for number, example in first.items() if example.example_id in ids}
    return (
        tuple(
            example
            for number, example in zip(story_of, questions, strict=True)
            if number not in taken
        ),
        tuple(
            example for number, example in zip(story_of, questions, strict=True) if number in taken
        ),
    )
