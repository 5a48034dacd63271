"""Damaged model folders are audited or rejected, without a traceback, a hang or much memory.

Run more with ATTNAUDIT_FUZZ_FOLDERS=300 (the default is a quick 40).
"""

from __future__ import annotations

import json
import os
import random
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import attnaudit
from attnaudit import InputError
from attnaudit.models.huggingface import from_huggingface
from tiny_transformers import TEXTS, tiny

FOLDERS = int(os.environ.get("ATTNAUDIT_FUZZ_FOLDERS", "40"))
Files = dict[str, bytes]

VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    7,
    2**31,
    2**63,
    10**9,
    10**12,
    10**30,
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "a",
    "0",
    "../../etc/passwd",
    "\x1b[31mred",
    "né\u0000",
    [],
    [0],
    ["a", None],
    [[[]]],
    {},
    {"0": None},
    {"a": "b"},
    {"0": "x"},
    "gpt2",
    "bert",
    "float16",
    "int8",
    "no_such_thing",
    "relu",
    "user/kernel",
    3.0,
    [1, 2, 3],
    {"__type": "AddedToken"},
]
ADDED = [
    "auto_map",
    "quantization_config",
    "transformers_weights",
    "configuration_files",
    "attn_implementation",
    "_attn_implementation",
    "num_labels",
    "_num_labels",
    "problem_type",
    "is_decoder",
    "is_encoder_decoder",
    "pad_token_id",
    "text_config",
    "dtype",
    "torch_dtype",
    "tokenizer_class",
    "vocab_file",
    "output_attentions",
    "use_cache",
    "pruned_heads",
    "tie_word_embeddings",
    "rope_scaling",
    "per_layer_config",
    "layer_types",
    "chunk_size_feed_forward",
    "return_dict",
    "model_max_length",
    "padding_side",
    "truncation_side",
    "added_tokens_decoder",
    "extra_special_tokens",
    "chat_template",
    "clean_up_tokenization_spaces",
    "name_or_path",
    "fusion_config",
]
LABEL_MAPS: list[Any] = [
    {"0": "a", "2": "b", "3": "c"},
    {"0": "a", "1": "a", "2": "b"},
    {"0": None, "1": "b", "2": "c"},
    {"0": 1, "1": 2, "2": 3},
    {"0": "a"},
    {"x": "a", "y": "b", "z": "c"},
    ["a", "b", "c"],
    "abc",
    3,
    {str(at): f"n{at}" for at in range(9)},
    {"0": [], "1": {}, "2": 1},
    {"-1": "a", "0": "b", "1": "c"},
    {"00": "a", "1": "b", "2": "c"},
    {"0": "all", "1": "b", "2": "c"},
    {"0": "", "1": " ", "2": "c"},
]


def files_of(name: str, folder: Path) -> Files:
    model, tokenizer = tiny(name, id2label={0: "Bad", 1: "Fair", 2: "Good"})
    model.float().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a JSON value."""
    found: list[tuple[Any, Any]] = []
    keys = (
        list(value)
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else []
    )
    for key in keys:
        found += [(value, key), *places_in(value[key])]
    return found


def replaced_value(draw: random.Random, files: Files, name: str) -> None:
    whole = json.loads(files[name])
    # Most of tokenizer.json is vocabulary; a place near the top is as likely as one in it.
    near = [(whole, key) for key in whole]
    container, key = draw.choice(draw.choice([near, places_in(whole)]))
    container[key] = draw.choice(VALUES)
    files[name] = as_json(whole)


def removed_key(draw: random.Random, files: Files, name: str) -> None:
    whole = json.loads(files[name])
    del whole[draw.choice(list(whole))]
    files[name] = as_json(whole)


def added_key(draw: random.Random, files: Files, name: str) -> None:
    whole = json.loads(files[name])
    whole[draw.choice(ADDED)] = draw.choice(VALUES)
    files[name] = as_json(whole)


def other_top(draw: random.Random, files: Files, name: str) -> None:
    files[name] = as_json(draw.choice(VALUES))


def cut_off(draw: random.Random, files: Files, name: str) -> None:
    files[name] = files[name][: draw.randrange(len(files[name]))]


def flipped(draw: random.Random, files: Files, name: str) -> None:
    damaged = bytearray(files[name])
    for _ in range(draw.choice([1, 3, 20])):
        damaged[draw.randrange(min(len(damaged), 4000))] = draw.randrange(256)
    files[name] = bytes(damaged)


def nonsense(draw: random.Random, files: Files, name: str) -> None:
    files[name] = draw.choice(
        [
            b"",
            b"\xff\xfe\x00",
            b"[" * 100_000,
            b"version https://git-lfs.github.com/spec/v1\n",
            b"\xef\xbb\xbf{}",
            bytes(64),
        ]
    )


def removed(draw: random.Random, files: Files, name: str) -> None:
    del files[name]


def label_map(draw: random.Random, files: Files, name: str) -> None:
    whole = json.loads(files["config.json"])
    whole["id2label"] = draw.choice(LABEL_MAPS)
    if draw.random() < 0.5:
        whole.pop("label2id", None)
    files["config.json"] = as_json(whole)


def further_file(draw: random.Random, files: Files, name: str) -> None:
    new = draw.choice(
        [
            "special_tokens_map.json",
            "added_tokens.json",
            "generation_config.json",
            "vocab.json",
            "merges.txt",
            "adapter_config.json",
            "chat_template.jinja",
            "vocab.txt",
            "tokenizer.model",
            "preprocessor_config.json",
        ]
    )
    content = {
        draw.choice(["pad_token", "cls_token", "unk_token", "[CLS]", "x"]): draw.choice(VALUES)
    }
    files[new] = draw.choice([as_json(content), as_json(draw.choice(VALUES)), b"", b"\xff"])


JSON = ("config.json", "tokenizer.json", "tokenizer_config.json")
DAMAGES: list[tuple[int, Callable[[random.Random, Files, str], None], tuple[str, ...]]] = [
    (8, replaced_value, JSON),
    (2, removed_key, JSON),
    (3, added_key, JSON[:1] + JSON[2:]),
    (1, other_top, JSON),
    (1, cut_off, (*JSON, "model.safetensors")),
    (2, flipped, (*JSON, "model.safetensors")),
    (1, nonsense, (*JSON, "model.safetensors")),
    (1, removed, (*JSON, "model.safetensors")),
    (2, label_map, ("config.json",)),
    (2, further_file, ("config.json",)),
]


def damaged(files: Files, number: int) -> tuple[str, Files]:
    draw = random.Random(number)
    files = dict(files)
    done = []
    for _ in range(draw.choice([1, 1, 1, 2])):
        (_, damage, names) = draw.choices(DAMAGES, weights=[weight for weight, _, _ in DAMAGES])[0]
        name = draw.choice(names)
        if name in files:
            try:
                damage(draw, files, name)
            except (
                ValueError,
                TypeError,
                IndexError,
                RecursionError,
            ):  # an earlier damage left nothing to damage in this way
                continue
            done.append(f"{damage.__name__} {name}")
    return ", ".join(done), files


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # gigabytes


@pytest.mark.filterwarnings("ignore")
def test_damaged_folders_are_audited_or_rejected_with_a_readable_error(tmp_path: Path) -> None:
    bases = [files_of(name, tmp_path / name) for name in ("bert", "gpt2")]
    failures, rejected = [], 0
    for number in range(FOLDERS):
        what, files = damaged(bases[number % 2], number)
        folder = tmp_path / f"model{number}"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        before, started, error = memory(), time.monotonic(), None
        try:
            model = from_huggingface(folder)
            attnaudit.audit(
                model,
                TEXTS[:1],
                audits=["uniform_attention"],
                measures=["gradient"],
                show_progress=False,
            )
        except InputError as reason:
            rejected += 1
            if not str(reason).isprintable() or len(str(reason)) > 2000:
                error = f"words that cannot be shown: {str(reason)[:300]!r}"
        except (
            BaseException
        ) as reason:  # what is looked for: anything else, also a panic of a compiled library
            if isinstance(reason, KeyboardInterrupt):
                raise
            error = f"{type(reason).__name__}: {str(reason)[:200]}"
        seconds, taken = time.monotonic() - started, memory() - before
        if error or seconds > 20 or taken > 2:
            failures.append(f"{number} ({what}): {error}; {seconds:.0f} s, {taken:.1f} GB")
    assert failures == [], "\n".join(failures)
    assert FOLDERS / 4 < rejected < FOLDERS  # the damage is neither harmless nor always deadly
