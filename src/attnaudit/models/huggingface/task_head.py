"""The head of a saved model, by `architectures` in config.json, and the class that loads it."""

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
    """Return the name of the Auto class; reject a head that does not fit the task."""
    check_task(task)
    name = _architecture(folder, config)
    try:
        reject_head(name)
    except InputError as error:
        raise InputError(f"{folder}: {error}") from error
    if name.endswith(LM_HEADS):
        if task == "classification":
            raise InputError(
                f"{folder} holds a language model ({name}), not a classifier. Its choice among "
                "words can be audited: --task lm --verbalisers good,bad; in Python "
                f"attnaudit.from_huggingface({str(folder)!r}, "
                'task="lm", verbalisers={"positive": "good", "negative": "bad"}). Its citations: '
                "attnaudit cite."
            )
        return next(loader for ending, loader in _LM_LOADERS.items() if name.endswith(ending))
    if task == "lm":
        content = "a text classifier" if name.endswith(CLASSIFIER) else "no language model"
        reason = f"architectures: {name}" if name else "config.json names no architecture"
        raise InputError(
            f"{folder} holds {content} ({reason}). Omit task, or load the model with its "
            "language-model head yourself and pass it: "
            "attnaudit.from_huggingface(model, tokenizer)."
        )
    return _CLASSIFIER_LOADER


def _architecture(folder: Path, config: dict[str, Any]) -> str:
    """Return the class name, such as BertForSequenceClassification; "" if there is none."""
    names = config.get("architectures")
    if names is None or names == []:
        return ""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"{folder / 'config.json'}: architectures must be a list of class names, such as "
            f'["BertForSequenceClassification"]; got {str(names)[:80]!r}. {SAVE_AGAIN}'
        )
    return in_one_line(names[0])[:80]
