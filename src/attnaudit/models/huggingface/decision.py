"""What a model decides: the class of a text, the next word, or a choice among given words.

Models that make no single decision about a text are rejected here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.errors import InputError
from attnaudit.models.huggingface.labels import class_names

TASKS = ("classification", "lm", "generation")
Verbalisers = Sequence[str] | Mapping[str, str]  # words, or label -> word
_NO_DECISION = {
    "ForTokenClassification": "it decides about every token, not about the text",
    "ForQuestionAnswering": "it decides about a span of the text, not about a class",
    "ForMultipleChoice": "it reads every choice as a text of its own",
    "ForImageClassification": "it reads images",
    "ForPreTraining": "it has several heads at once",
}
CLASSIFIER = "ForSequenceClassification"
LM_HEADS = ("LMHeadModel", "ForCausalLM", "ForMaskedLM", "ForConditionalGeneration")


@dataclass(frozen=True, eq=False)
class Decision:
    """What the model decides, and where its logits are."""

    task: str
    names: tuple[str, ...] | None  # of the classes; None: the whole vocabulary
    choices: Tensor | None = None  # (C,) the token of each verbaliser
    decoder_start: int | None = None  # first token of the decoder, of an encoder–decoder model
    masked: bool = False  # the decision is made at the mask token, not at the end

    def logits(self, out: Tensor, positions: Tensor) -> Tensor:
        """Return the logits (B,C) in the model's output, for a language model at positions (B,)."""
        if self.task == "classification":
            return out
        logits = out[torch.arange(len(out), device=out.device), positions]
        return logits if self.choices is None else logits[:, self.choices.to(logits.device)]


def check_task(task: str) -> None:
    """Reject an unknown task."""
    if task not in ("auto", *TASKS):
        raise InputError(f"There is no task {task!r}. Choose from: auto, {', '.join(TASKS)}.")


def reject_head(name: str) -> None:
    """Reject a model class, by its name, that does not decide about a text as a whole."""
    for ending, reason in _NO_DECISION.items():
        if name.endswith(ending):
            raise InputError(
                f"{name} cannot be audited: {reason}. Expected a text classifier or a language "
                "model."
            )


def find_decision(
    model: Any, tokenizer: Any, task: str, verbalisers: Verbalisers | None
) -> Decision:
    """Return what the model decides; with task="auto" by the class of the model."""
    name, config = type(model).__name__, model.config
    reject_head(name)
    is_lm = name.endswith(LM_HEADS)
    check_task(task)
    if not is_lm and not name.endswith(CLASSIFIER):
        raise InputError(
            f"{name} has no head that makes a decision. Load it as "
            "AutoModelForSequenceClassification, or as a language model."
        )
    if (task == "lm" and not is_lm) or (task == "classification" and is_lm):
        raise InputError(
            f"{name} does not go with task={task!r}. Omit task, or load the model with another "
            "head."
        )
    if is_lm:
        return _language_model(model, tokenizer, verbalisers)
    if verbalisers is not None:
        raise InputError(f"verbalisers are for language models; {name} has classes of its own.")
    if config.problem_type == "multi_label_classification":
        raise InputError(
            f"{name} decides about several labels at once (multi-label). Attention cannot be "
            "audited for all of them together. Train a classifier of one label, or wrap the model "
            "in a class with read and decode whose logits are those of one label: yes or no."
        )
    if config.problem_type == "regression" or config.num_labels < 2:
        raise InputError(
            f"{name} gives a number (regression), not a class; there is no decision that could "
            "flip. Train a classifier of two or more classes, for example of ranges of the number."
        )
    return Decision("classification", class_names(config))


def _language_model(model: Any, tokenizer: Any, verbalisers: Verbalisers | None) -> Decision:
    """Return the decision of a language model: over the vocabulary, or over the verbalisers."""
    names, choices = None, None
    if verbalisers is not None:
        names, words = _labels_and_words(verbalisers)
        choices = torch.tensor([_one_token(tokenizer, word) for word in words])
        if len(choices.unique()) < len(choices):
            raise InputError(
                f"Two of the verbalisers {list(words)} are the same token to this tokenizer."
            )
    start = None
    if model.config.is_encoder_decoder:
        start = model.config.decoder_start_token_id
        if start is None:
            raise InputError(
                "The model's config has no decoder_start_token_id, without which the decoder "
                "cannot start. Set model.config.decoder_start_token_id."
            )
    masked = type(model).__name__.endswith("ForMaskedLM")
    if masked and getattr(tokenizer, "mask_token_id", None) is None:
        raise InputError(
            "A masked language model decides at the mask token, and this tokenizer has none."
        )
    return Decision("lm", names, choices, start, masked)


def _labels_and_words(verbalisers: Verbalisers) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the name of each class and its word; in a sequence, the word is the name."""
    if isinstance(verbalisers, Mapping):
        names, words = tuple(verbalisers), tuple(verbalisers.values())
    elif isinstance(verbalisers, Sequence) and not isinstance(verbalisers, str):
        names = words = tuple(verbalisers)
    else:
        raise InputError(
            "verbalisers must be a list of words, or a dict label -> word such as "
            f'{{"positive": "good", "negative": "bad"}}; got {verbalisers!r}.'
        )
    for text in (*names, *words):
        if not isinstance(text, str) or not text.strip():
            raise InputError(
                f"verbalisers holds {text!r}; expected words and labels that are not empty."
            )
    if len(words) < 2 or len({word.strip() for word in words}) < len(words):
        raise InputError(f"verbalisers needs two or more different words, got {list(words)}.")
    return names, words


def _one_token(tokenizer: Any, word: str) -> int:
    """Return the token id of a word; first tried after a space, as in the middle of a text."""
    for form in (f" {word.strip()}", word):
        ids = tokenizer(form, add_special_tokens=False)["input_ids"]
        if len(ids) == 1 and ids[0] != getattr(tokenizer, "unk_token_id", None):
            return int(ids[0])
    raise InputError(
        f"The verbaliser {word!r} is not one token of this tokenizer. Choose a shorter or more "
        "common word."
    )
