"""A saved classifier and its tokenizer, from a folder on this machine only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from attnaudit.errors import InputError

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_TOKENIZERS = (
    "tokenizer.json",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "vocab.txt",
    "vocab.json",
    "spm.model",
)


def load_saved(folder: Path, dtype: str | torch.dtype | None, device: str | None) -> tuple[Any, Any]:
    """Model and tokenizer as save_pretrained wrote them; nothing is downloaded, and pickled weights are not read."""
    try:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    except ImportError as error:
        raise InputError(
            "Auditing a saved model needs transformers. Run pip install 'attnaudit[hf]'."
        ) from error
    kind = _known_dtype(dtype)
    if kind == torch.float16 and not str(device or "cpu").startswith("cuda"):
        raise InputError(
            "float16 is for CUDA devices; on a CPU it takes minutes for seconds of work. Use bfloat16 or float32."
        )
    if not (folder / "config.json").is_file():
        raise InputError(
            f"{folder} holds no config.json. Give the folder that model.save_pretrained and tokenizer.save_pretrained wrote."
        )
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise InputError(
            f"{folder} holds no tokenizer. Save it there too: tokenizer.save_pretrained(folder)."
        )
    if not any(folder.glob("*.safetensors")):
        raise InputError(
            f"{folder} holds no *.safetensors weights; pickled ones (.bin) may run code and are not read. "
            "Save the model again with model.save_pretrained(folder, safe_serialization=True)."
        )
    try:
        with _without_bars():
            model, loading = AutoModelForSequenceClassification.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, dtype=kind, output_loading_info=True
            )
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{folder}: transformers cannot load it ({str(error)[:300]}).") from error
    if missing := sorted(loading["missing_keys"]):  # transformers draws these at random
        raise InputError(
            f"{folder} lacks weights of the classifier: {', '.join(missing[:4])}{' …' if len(missing) > 4 else ''}. "
            "Is it an encoder that was not fine-tuned? Save the model that was."
        )
    return model.to(device or "cpu").eval(), tokenizer


@contextmanager
def _without_bars() -> Iterator[None]:
    """transformers draws a bar for each file it loads; whether it does is a setting of the whole process, put back after."""
    from transformers.utils import logging

    before = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if before:
            logging.enable_progress_bar()


def _known_dtype(dtype: str | torch.dtype | None) -> torch.dtype:
    if dtype is None:
        return torch.float32
    if isinstance(dtype, torch.dtype):
        return dtype
    if dtype not in DTYPES:
        raise InputError(f"There is no dtype {dtype!r}. Choose from: {', '.join(DTYPES)}.")
    return DTYPES[dtype]
