"""Audit the citations of a saved language model on a file of questions with sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch

from attnaudit.auditing.citation_answers import answered_questions
from attnaudit.auditing.citation_choices import citation_choices
from attnaudit.auditing.citation_job import run_citation_job
from attnaudit.auditing.jobs.citation_worker import SavedReader
from attnaudit.auditing.jobs.leftovers import remove_leftovers
from attnaudit.auditing.jobs.worker_choices import reject_functions
from attnaudit.auditing.report_file import check_report, write_report
from attnaudit.auditing.selection import Choice
from attnaudit.core.devices import check_device
from attnaudit.core.output_files import check_file
from attnaudit.core.output_folders import check_folder
from attnaudit.core.tasks import Workers, as_workers
from attnaudit.data.citations import BOTH, read_citations
from attnaudit.data.reading.option_names import Spelling, in_python
from attnaudit.data.sampling import sampled
from attnaudit.results.results import Results
from attnaudit.results.run_log import recording
from attnaudit.results.store import versions


def cite_files(
    model_dir: str | Path,
    data: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    level: str = "paragraph",
    layers: str | Sequence[int] = "all",
    heads: str | Sequence[int] = "all",
    choose: int = 0,
    held_out: float = 0.2,
    items: str = "sources",
    instruction: str | None = None,
    chat: bool | None = None,
    sample: int | None = None,
    audits: Sequence[Choice] | None = None,
    measures: Sequence[Choice] | None = None,
    word_measures: Sequence[Choice] | None = None,
    max_length: int | None = None,
    max_new_tokens: int = 32,
    skip_bad: bool = False,
    seed: int = 0,
    device: str = "cpu",
    dtype: str = "float32",
    out: str | Path | None = None,
    force: bool = False,
    workers: Workers | int = 1,
    parts: str | None = None,
    tokens_per_shard: int | None = None,
    on_message: Callable[[str], None] | None = None,
    spell: Spelling = in_python,
) -> Results:
    """Audit a saved language model on a file of questions, and save the results with a page.

    Does what `attnaudit cite` does. Nothing is downloaded. An interrupted audit goes on where it
    stopped when it is called again with the same arguments.

    Parameters
    ----------
    model_dir : folder with config.json, model.safetensors and the tokenizer.
    data : file that `attnaudit.data.citations.read_citations` reads.
    columns, level, skip_bad : as for `read_citations`.
    layers, heads : "all" or numbers from 0; those whose mean is the attention that is shown.
    choose, held_out : as for `cite`: heads chosen on held-out questions.
    items : "sources", "words" to audit every word of the sources instead, or "both" to audit the
        sources, and the words inside them.
    instruction, chat : of the prompt, as for `from_huggingface`.
    sample : number of questions to audit; None for all.
    audits, measures, word_measures : names or functions; None for the defaults.
    max_length : maximum number of tokens; None for the limit of the model.
    max_new_tokens : of an answer that the model generates.
    device, dtype : "cpu" or "cuda"; "float32" or "bfloat16".
    out : folder for the results and report.html; None to save nothing.
    force : replace results that are in the folder already.
    workers : how many processes share the work, or `Workers` for more choices, such as a cluster.
        Missing answers are generated, and heads chosen, by this process alone.
    parts : where the parts of the unfinished audit are kept, by default OUT.parts: a folder that
        all workers can write to, or an address that fsspec knows, such as s3://bucket/job.
    tokens_per_shard : size of a part, in tokens.
    on_message : called with what was read from the file, and with an estimate of the time.
    spell : how error messages write options; for the command line.

    Examples
    --------
    >>> results = cite_files("my-model", "qa.jsonl", sample=100)  # doctest: +SKIP
    >>> print(results.card())  # doctest: +SKIP
    """
    model_dir, data = Path(model_dir), Path(data)
    check_device(device)
    workers = as_workers(workers)
    if not workers.in_this_process:
        chosen_parts = {"audits": audits, "measures": measures, "word_measures": word_measures}
        reject_functions(chosen_parts)
    citation_choices(audits, measures, word_measures, both_levels=items == BOTH)
    if out is not None:
        if not force:
            check_report(Path(out))
        remove_leftovers(Path(out))
        check_folder(Path(out), replace=force, protected=[model_dir, data])
        check_file(Path(out) / "report.html")
    named = dict(columns or {})
    examples, bad = read_citations(data, columns=named, level=level, skip_bad=skip_bad, spell=spell)
    chosen = list(sampled(examples, sample, seed))
    if on_message is not None:
        gold = sum(example.gold is not None for example in chosen)
        generated = sum(not example.answer for example in chosen)
        on_message(
            f"Read {data.name}: {len(examples):,} questions, {len(chosen):,} of them audited; "
            f"{gold:,} with known sources, {generated:,} without an answer."
        )
    options = {
        "layers": layers,
        "heads": heads,
        "instruction": instruction,
        "chat": chat,
        "items": items,
        "max_length": max_length,
        "device": device,
        "dtype": dtype,
    }
    reader = SavedReader(str(model_dir), options, audits, measures, seed, word_measures)
    with recording() as log:
        log.phase("loading the model")
        model = reader.load()
        log.phase("answers and heads")
        answered, listed = answered_questions(
            model,
            chosen,
            measures,
            choose=choose,
            held_out=held_out,
            max_new_tokens=max_new_tokens,
            seed=seed,
            show_progress=True,
        )
        reader = reader._replace(measures=listed)
        about = {
            "file": data.name,
            "model": model_dir.resolve().name,
            "read": len(examples),
            "skipped": bad.note(),
            "labelled": False,
        }

        def log_text() -> str:
            log.phase("writing")
            choices = {**options, "choose": choose, "sample": sample, "seed": seed}
            title = f"citations of {about['model']} on {about['file']}"
            return log.text(title, choices, versions(), torch.get_num_threads())

        log.phase("audit")
        results = run_citation_job(
            reader.battery(model),
            answered,
            out=out,
            parts=parts,
            force=force,
            tokens_per_shard=tokens_per_shard,
            workers=workers,
            task=reader.task,
            texts=about,
            on_message=on_message,
            log=log_text,
        )
    if out is not None:
        write_report(results, Path(out))
    return results
