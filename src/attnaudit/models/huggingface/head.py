"""Which head does a saved model have, and which class of transformers loads it? By `architectures` in config.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.models.huggingface.decision import CLASSIFIER, LM_HEADS, check_task, reject_head
from attnaudit.models.huggingface.folder_files import SAVE_AGAIN, in_one_line

_CLASSIFIER_LOADER = "AutoModelForSequenceClassification"
_LM_LOADERS = {
    "LMHeadModel": "AutoModelForCausalLM",
    "ForCausalLM": "AutoModelForCausalLM",
    "ForMaskedLM": "AutoModelForMaskedLM",
    "ForConditionalGeneration": "AutoModelForSeq2SeqLM",
}


def loader_of(folder: Path, config: dict[str, Any], task: str) -> str:
    """The name of the Auto class; a folder whose head does not go with the task is rejected."""
    check_task(task)
    name = _architecture(folder, config)
    try:
        reject_head(name)
    except InputError as error:
        raise InputError(f"{folder}: {error}") from error
    if name.endswith(LM_HEADS):
        if task == "classification":
            raise InputError(
                f"{folder} holds a language model ({name}), not a classifier. In Python its choice among words can be audited: "
                f'attnaudit.from_huggingface({str(folder)!r}, task="lm", verbalisers={{"positive": "good", "negative": "bad"}}).'
            )
        return next(loader for ending, loader in _LM_LOADERS.items() if name.endswith(ending))
    if task == "lm":
        held = "a text classifier" if name.endswith(CLASSIFIER) else "no language model"
        said = f"architectures: {name}" if name else "config.json names no architecture"
        raise InputError(
            f"{folder} holds {held} ({said}). Leave task out, or load the model with its language-model head yourself and pass it: "
            "attnaudit.from_huggingface(model, tokenizer)."
        )
    return _CLASSIFIER_LOADER


def _architecture(folder: Path, config: dict[str, Any]) -> str:
    """Such as BertForSequenceClassification; "" if config.json does not say."""
    named = config.get("architectures")
    if named is None or named == []:
        return ""
    if not isinstance(named, list) or not all(isinstance(each, str) for each in named):
        raise InputError(
            f"{folder / 'config.json'}: architectures must be a list of class names, such as "
            f'["BertForSequenceClassification"]; got {str(named)[:80]!r}. {SAVE_AGAIN}'
        )
    return in_one_line(named[0])[:80]
