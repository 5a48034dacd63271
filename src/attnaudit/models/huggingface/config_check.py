"""Reject model folders whose JSON files name code, quantised weights or absurd sizes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.models.huggingface.folder_files import SAVE_AGAIN, read_object, values_of

_OBJECTS = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "generation_config.json",
    "tokenizer.json",
    "vocab.json",
)
_LOAD_YOURSELF = (
    "Load the model yourself and pass it: attnaudit.from_huggingface(model, tokenizer)."
)
# Each of these is the length of a Python loop that runs before any weight is read.
_REPEATED = re.compile(r"(layers?|blocks?|groups?|group_num|experts)$")
_MOST_REPEATED = 1000
_MOST_CLASSES = 100_000
_OTHER_FILES = ("configuration_files", "transformers_weights")


def read_config(folder: Path) -> dict[str, Any]:
    """Return config.json as a dict, after rejecting whatever transformers must not act on."""
    config = read_object(folder / "config.json")
    for name in _OBJECTS:
        read_object(folder / name)
    _reject_code(folder, config)
    if (folder / "adapter_config.json").exists():
        raise InputError(
            f"{folder} holds an adapter (adapter_config.json), which may name another model. "
            "Merge it, model.merge_and_unload(), and save the whole model with save_pretrained."
        )
    if values_of(config, "quantization_config"):
        raise InputError(
            f"{folder} holds quantised weights (quantization_config in config.json), which need "
            f"further packages. {_LOAD_YOURSELF}"
        )
    for key in _OTHER_FILES:
        if values_of(config, key):
            raise InputError(
                f"{folder / 'config.json'} names other files to load ({key}), which is not "
                f"followed. {SAVE_AGAIN}"
            )
    if not isinstance(config.get("model_type"), str):
        raise InputError(
            f"{folder / 'config.json'} does not say what kind of model it is: expected "
            f'"model_type", such as "bert". {SAVE_AGAIN}'
        )
    _check_sizes(folder, config)
    _check_label_map(folder, config)
    return config


def brings_code(folder: Path) -> bool:
    """Return whether the folder names Python code of its own."""
    return any(
        "auto_map" in read_object(folder / name)
        for name in ("config.json", "tokenizer_config.json")
    )


def code_not_run(folder: Path) -> InputError:
    """Return the error for a folder that needs its own code."""
    return InputError(
        f"{folder} brings code of its own (auto_map), which is not run, and transformers has no "
        f"class for it. {_LOAD_YOURSELF}"
    )


def _reject_code(folder: Path, config: dict[str, Any]) -> None:
    """Reject a folder that needs its own code: transformers does not know its model type."""
    from transformers import CONFIG_MAPPING

    nested = any(values_of(part, "auto_map") for part in config.values())
    unknown = "auto_map" in config and config.get("model_type") not in list(CONFIG_MAPPING)
    if nested or unknown:
        raise code_not_run(folder)


def _check_sizes(folder: Path, config: dict[str, Any]) -> None:
    """Reject absurd numbers of layers, at any depth of the config."""
    pending = [config]
    while pending:
        part = pending.pop()
        for key, value in part.items():
            if isinstance(value, dict):
                pending.append(value)
            elif _REPEATED.search(key) and isinstance(value, int) and value > _MOST_REPEATED:
                raise InputError(
                    f"{folder / 'config.json'}: {key[:40]!r} is {str(value)[:20]}; expected at "
                    f"most {_MOST_REPEATED}. {SAVE_AGAIN}"
                )


def _check_label_map(folder: Path, config: dict[str, Any]) -> None:
    """Reject an id2label that does not map the class numbers, from 0 without gaps, to names."""
    where = folder / "config.json"
    for key in ("num_labels", "_num_labels"):
        count = config.get(key)
        if count is not None and (type(count) is not int or not 0 <= count <= _MOST_CLASSES):
            raise InputError(
                f"{where}: {key} must be a number of classes, at most {_MOST_CLASSES}, got "
                f"{str(count)[:40]!r}. {SAVE_AGAIN}"
            )
    names = config.get("id2label")
    if names is None:
        return
    if not isinstance(names, dict) or not names:
        raise InputError(
            f"{where}: id2label must be an object, class number -> name, such as "
            f'{{"0": "negative", "1": "positive"}}; got {str(names)[:80]!r}.'
        )
    if len(names) > _MOST_CLASSES:
        raise InputError(
            f"{where}: id2label has {len(names)} classes; expected at most {_MOST_CLASSES}."
        )
    if sorted(names) != sorted(str(number) for number in range(len(names))):
        raise InputError(
            f"{where}: id2label must number the classes 0 to {len(names) - 1} without gaps, got "
            f"{', '.join(repr(key[:20]) for key in list(names)[:8])}."
        )
    if config.get("label2id") is not None and not isinstance(config["label2id"], dict):
        raise InputError(f"{where}: label2id must be an object, class name -> number.")
