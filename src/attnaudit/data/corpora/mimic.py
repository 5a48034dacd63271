"""Discharge summaries of MIMIC-III (Johnson et al. 2016): diabetes, or acute or chronic anemia."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.corpora.mimic_notes import (
    DEIDENTIFIED,
    DIAGNOSES,
    LISTS,
    NOTES,
    Note,
    Stay,
    admission_lists,
    discharge_notes,
    joined,
    read_stays,
    words,
)
from attnaudit.data.corpus_info import About, describes
from attnaudit.data.reading.options import one_of, whole_number
from attnaudit.data.reading.preprocessing import Preparation, Text, vocabulary_size
from attnaudit.data.reading.splitting import check_share, divide
from attnaudit.data.splits import SPLITS, Example, Splits

DIABETES = "25000"  # 250.00
ACUTE, CHRONIC = "2851", "2852"  # 285.1; 285.21, 285.22 and 285.29
CLASSES = {
    ("diabetes", "acute"): ("no diabetes", "diabetes"),
    ("diabetes", "chronic"): ("no diabetes", "diabetes"),
    ("anemia", "acute"): ("chronic", "acute"),
    ("anemia", "chronic"): ("acute", "chronic"),
}

ABOUT = About(
    title="MIMIC-III 1.4, discharge summaries",
    task="diabetes, or acute against chronic anemia, from discharge summaries, 2 classes",
    size="about 53,000 admissions with a discharge summary; "
    "11,371 for diabetes and 6,845 for anemia in Jain & Wallace",
    licence="PhysioNet Credentialed Health Data License 1.5.0; must not be redistributed",
    home="https://physionet.org/content/mimiciii/1.4/",
    places=(
        "mimic",
        "mimiciii",
        "mimic-iii*",
        "mimic/mimic-iii*",
        "physionet.org/files/mimiciii/1.4",
        ".",
    ),
    holds=(NOTES, DIAGNOSES),
    steps=(
        "Patient records are not public: open an account at https://physionet.org, become a "
        "credentialed user (which includes a course on research with human subjects), sign the "
        "data use agreement of https://physionet.org/content/mimiciii/1.4/, and put "
        f"{NOTES}.gz and {DIAGNOSES}.gz into the folder mimic of the data folder. "
        f"For the diabetes splits of Jain & Wallace add {', '.join(LISTS.values())} from the "
        "folder preprocess/MIMIC of https://github.com/successar/AttentionExplanation "
        "(numbers of admissions only)."
    ),
)


@describes(ABOUT)
def mimic(
    place: Path,
    *,
    task: str = "diabetes",
    positive: str = "acute",
    splits: str = "auto",
    frequent: int = 50,
    tokeniser: str = "auto",
    replace_numbers: bool = True,
    more_than: int | str | None = "released",
    fewer_than: int | None = 4000,
    test_share: float = 0.2,
    dev_share: float = 0.15,
    min_count: int = 5,
    test_seed: int = 12939,
    seed: int = 0,
    skip_bad: bool = False,
) -> Splits:
    """One text per admission: the discharge summary and its addenda, fewer than 4,000 tokens.

    task=diabetes: code 250.00 or not, among the admissions of three published lists, which are the
    splits; without the lists (or with splits=seeded), among those with one of the `frequent` most
    frequent diagnosis codes. task=anemia: 285.1 only (acute) against 285.2 only. Label 1 is acute
    in the released code of Jain & Wallace (2019) and chronic in the paper (positive=chronic).
    Seeded splits are stratified; test_seed is that of the released code, dev depends on `seed`.
    more_than=released is 6 for diabetes; for anemia, where the released code gives no bound, it is
    the length of the shortest text in each split.
    """
    one_of("mimic", "task", task, ("diabetes", "anemia"))
    one_of("mimic", "positive", positive, ("acute", "chronic"))
    one_of("mimic", "splits", splits, ("auto", "released", "seeded"))
    check_share("mimic: test_share", test_share)
    check_share("mimic: dev_share", dev_share)
    for name, number in {"frequent": frequent, "min_count": min_count}.items():
        whole_number("mimic", name, number, least=1)
    for name, number in {"test_seed": test_seed, "seed": seed}.items():
        whole_number("mimic", name, number, least=0)
    shortest = task == "anemia" and more_than == "released"
    prepare = Preparation(
        "mimic",
        tokeniser=tokeniser,
        replace_numbers=replace_numbers,
        more_than=_bound(more_than, task),
        fewer_than=fewer_than,
        drop_empty=True,
        skip_bad=skip_bad,
    )
    # The only word that keeps its capitals, so that no text can contain it.
    prepare.cleaner[DEIDENTIFIED] = DEIDENTIFIED
    stays = read_stays(place, prepare)
    split_of = admission_lists(place, prepare) if task == "diabetes" and splits != "seeded" else {}
    if splits == "released" and task == "diabetes" and not split_of:
        raise InputError(f"{place}: {', '.join(LISTS.values())} are not in it. {ABOUT.steps}")
    labels = (
        _anemia(stays, prepare)
        if task == "anemia"
        else _diabetes(stays, split_of, frequent, prepare)
    )
    read = prepare.examples(_texts(place, labels, stays, prepare))
    if not read:
        raise InputError(
            f"{place}: there is no discharge summary of the {len(labels)} admissions for {task}."
        )
    if split_of:
        parts = {
            split: tuple(example for example in read if split_of[_admission(example)] == split)
            for split in SPLITS
        }
        rule = f"the admissions of {', '.join(LISTS.values())}"
    else:
        rest, test = divide(read, test_share, seed=test_seed)
        train, dev = divide(rest, dev_share, seed=seed)
        parts = {"train": train, "dev": dev, "test": test}
        rule = (
            f"test is {test_share:.0%} (seed {test_seed}), "
            f"dev {dev_share:.0%} of the rest (seed {seed}), stratified"
        )
    kept: dict[str, Sequence[Example]] = {}
    for split, examples in parts.items():
        if shortest:
            prepare.more_than = min((len(example.tokens) for example in examples), default=0)
        kept[split] = prepare.within_length(examples, split)
        # Labels are swapped after splitting, so that the splits do not depend on it.
        if task == "anemia" and positive == "chronic":
            kept[split] = tuple(
                replace(example, label=1 - (example.label or 0)) for example in kept[split]
            )
    return prepare.finish(
        name=f"mimic-{task}",
        train=kept["train"],
        dev=kept["dev"],
        test=kept["test"],
        classes=CLASSES[task, positive],
        min_count=min_count,
        source="MIMIC-III, discharge summaries with addenda",
        rule=rule,
        labels=_label_note(task, positive, frequent, listed=bool(split_of)),
        # Splits are by admission in the released code: a patient may be in train and in test.
        test_admissions_of_patients_in_train=_shared_patients(stays, kept["train"], kept["test"]),
        vocabulary_before_length_filter=vocabulary_size(parts["train"], min_count=min_count),
    )


def _bound(more_than: Any, task: str) -> Any:
    """The lower bound on the length; other values are checked by `Preparation`."""
    if more_than != "released":
        return more_than
    return 6 if task == "diabetes" else None


def _anemia(stays: dict[int, Stay], prepare: Preparation) -> dict[int, int]:
    labels: dict[int, int] = {}
    for admission, stay in stays.items():
        acute, chronic = (
            any(code.startswith(kind) for code in stay.codes) for kind in (ACUTE, CHRONIC)
        )
        if acute and chronic:
            prepare.dropped["admissions with acute and chronic anemia"] += 1
        elif acute or chronic:
            labels[admission] = int(acute)
    return labels


def _diabetes(
    stays: dict[int, Stay], split_of: dict[int, str], frequent: int, prepare: Preparation
) -> dict[int, int]:
    if split_of:
        chosen = [admission for admission in split_of if admission in stays]
        _count(prepare, "listed admissions without a diagnosis", len(split_of) - len(chosen))
    else:
        counts = Counter(code for stay in stays.values() for code in stay.codes)
        ranked = sorted(counts, key=lambda code: (-counts[code], code))
        top = set(ranked[:frequent])
        chosen = [admission for admission, stay in stays.items() if not top.isdisjoint(stay.codes)]
    return {admission: int(DIABETES in stays[admission].codes) for admission in chosen}


def _texts(
    place: Path, labels: dict[int, int], stays: dict[int, Stay], prepare: Preparation
) -> Iterator[Text]:
    """By patient and admission, as in the released code; its seeded split depends on this order."""
    notes: defaultdict[int, list[Note]] = defaultdict(list)
    for note in discharge_notes(place, labels, prepare):
        notes[note.admission].append(note)
    _count(prepare, "admissions without a discharge summary", len(labels) - len(notes))
    for admission in sorted(notes, key=lambda number: (stays[number].patient, number)):
        parts = notes.pop(admission)  # popped to free memory
        tokens = words(joined(parts), prepare.tokeniser.split)
        yield Text(f"admission/{admission}", parts[0].where, tokens, labels[admission])


def _count(prepare: Preparation, reason: str, number: int) -> None:
    if number:
        prepare.dropped[reason] += number


def _admission(example: Example) -> int:
    return int(example.example_id.removeprefix("admission/"))


def _shared_patients(
    stays: dict[int, Stay], train: Sequence[Example], test: Sequence[Example]
) -> int:
    """Number of test admissions whose patient is in train too."""
    known = {stays[_admission(example)].patient for example in train}
    return sum(stays[_admission(example)].patient in known for example in test)


def _label_note(task: str, positive: str, frequent: int, *, listed: bool) -> str:
    if task == "anemia":
        return (
            f"1 is {positive}; "
            "acute in the released code of Jain & Wallace, chronic in the paper's text"
        )
    among = (
        "the listed admissions"
        if listed
        else f"admissions with one of the {frequent} most frequent codes"
    )
    return f"1 is a diagnosis 250.00, among {among}"
