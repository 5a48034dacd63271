"""What does the model decide? The class of a text, the next word, or a choice among given words; and what is no decision of that kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.errors import InputError
from attnaudit.models.huggingface.labels import class_names

TASKS = ("classification", "lm")
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
    """The logits (B,C) out of what the model returns."""

    task: str
    names: tuple[str, ...] | None  # of the classes; None: the whole vocabulary
    choices: Tensor | None = None  # (C,) the token of each verbaliser
    decoder_start: int | None = (
        None  # the first token of the decoder, where it decides about the first word it says
    )
    masked: bool = False  # at the mask token, not at the end

    def logits(self, out: Tensor, positions: Tensor) -> Tensor:
        if self.task == "classification":
            return out
        at = out[torch.arange(len(out), device=out.device), positions]
        return at if self.choices is None else at[:, self.choices.to(at.device)]


def check_task(task: str) -> None:
    if task not in ("auto", *TASKS):
        raise InputError(f"There is no task {task!r}. Choose from: auto, {', '.join(TASKS)}.")


def reject_head(name: str) -> None:
    """Reject a class of model, by its name, that does not decide about a text as a whole."""
    for ending, reason in _NO_DECISION.items():
        if name.endswith(ending):
            raise InputError(
                f"{name} cannot be audited: {reason}. Expected a text classifier or a language model."
            )


def find_decision(
    model: Any, tokenizer: Any, task: str, verbalisers: Verbalisers | None
) -> Decision:
    """The task by the model's class where it is "auto"; refused in words where there is no single decision about a text."""
    name, config = type(model).__name__, model.config
    reject_head(name)
    speaks = name.endswith(LM_HEADS)
    check_task(task)
    if not speaks and not name.endswith(CLASSIFIER):
        raise InputError(
            f"{name} has no head that decides anything. Load it as AutoModelForSequenceClassification, or as a language model."
        )
    if (task == "lm" and not speaks) or (task == "classification" and speaks):
        raise InputError(
            f"{name} does not go with task={task!r}. Leave task out, or load the model with another head."
        )
    if speaks:
        return _language_model(model, tokenizer, verbalisers)
    if verbalisers is not None:
        raise InputError(f"verbalisers are for language models; {name} has classes of its own.")
    if config.problem_type == "multi_label_classification":
        raise InputError(
            f"{name} decides about several labels at once (multi-label). Attention cannot be audited for all of them "
            "together; train a classifier of one label, or wrap the model in a class with read and decode whose logits are those of one label: yes or no."
        )
    if config.problem_type == "regression" or config.num_labels < 2:
        raise InputError(
            f"{name} gives a number (regression), not a class; there is no decision that could flip. Train a classifier of two or "
            "more classes, for example of the number cut into ranges."
        )
    return Decision("classification", class_names(config))


def _language_model(model: Any, tokenizer: Any, verbalisers: Verbalisers | None) -> Decision:
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
                "The model's config has no decoder_start_token_id; set it, or the decoder cannot start."
            )
    masked = type(model).__name__.endswith("ForMaskedLM")
    if masked and getattr(tokenizer, "mask_token_id", None) is None:
        raise InputError(
            "A masked language model decides at the mask token, and this tokenizer has none."
        )
    return Decision("lm", names, choices, start, masked)


def _labels_and_words(verbalisers: Verbalisers) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The name of each class and the word that stands for it; in a sequence, the word is the name."""
    if isinstance(verbalisers, Mapping):
        names, words = tuple(verbalisers), tuple(verbalisers.values())
    elif isinstance(verbalisers, Sequence) and not isinstance(verbalisers, str):
        names = words = tuple(verbalisers)
    else:
        raise InputError(
            f'verbalisers is a list of words, or a dict label -> word such as {{"positive": "good", "negative": "bad"}}; '
            f"got {verbalisers!r}."
        )
    for each in (*names, *words):
        if not isinstance(each, str) or not each.strip():
            raise InputError(
                f"verbalisers holds {each!r}; expected words and labels that are not empty."
            )
    if len(words) < 2 or len({word.strip() for word in words}) < len(words):
        raise InputError(f"verbalisers needs two or more different words, got {list(words)}.")
    return names, words


def _one_token(tokenizer: Any, word: str) -> int:
    """In the middle of a text a word mostly comes after a space, so that form goes first."""
    for form in (f" {word.strip()}", word):
        ids = tokenizer(form, add_special_tokens=False)["input_ids"]
        if len(ids) == 1 and ids[0] != getattr(tokenizer, "unk_token_id", None):
            return int(ids[0])
    raise InputError(
        f"The verbaliser {word!r} is not one token of this tokenizer. Choose a shorter or commoner word."
    )
