"""A saved model and its tokenizer, from a folder on this machine only. Nothing is downloaded and none of the folder's code is run."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from attnaudit.core.errors import InputError
from attnaudit.models.huggingface.config_check import brings_code, code_not_run, read_config
from attnaudit.models.huggingface.folder_files import SAVE_AGAIN, in_one_line
from attnaudit.models.huggingface.head import loader_of
from attnaudit.models.huggingface.weight_files import stored_numbers

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
# What transformers, its config classes and torch raise for a folder whose files do not fit together.
MALFORMED = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,
    ArithmeticError,
    ImportError,
    AssertionError,
    MemoryError,
)
_TOKENIZERS = (
    "tokenizer.json",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "vocab.txt",
    "vocab.json",
    "spm.model",
)
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_SPARE = 2**26  # numbers that a model may have beyond those in its files, in buffers


def load_saved(
    folder: Path, task: str, dtype: str | torch.dtype | None, device: str | None
) -> tuple[Any, Any]:
    """Model and tokenizer as save_pretrained wrote them; pickled weights are not read."""
    try:
        import transformers
    except ImportError as error:
        raise InputError(
            "Auditing a saved model needs transformers. Run pip install 'attnaudit[hf]'."
        ) from error
    kind = _known_dtype(dtype)
    if kind == torch.float16 and not str(device or "cpu").startswith("cuda"):
        raise InputError(
            "float16 is for CUDA devices; on a CPU it takes minutes for seconds of work. Use bfloat16 or float32."
        )
    _check_folder(folder)
    said = read_config(folder)
    loader = getattr(transformers, loader_of(folder, said, task))
    stored = stored_numbers(folder)
    local = {"local_files_only": True, "trust_remote_code": False}
    with rejecting(folder, "transformers cannot load it"), _quiet():
        config = transformers.AutoConfig.from_pretrained(folder, **local)
        # A folder may name a kernel to fetch and run as its attention; the usual function is used instead.
        config._attn_implementation = None
        _check_size(folder, loader, config, stored)
        model, loading = loader.from_pretrained(
            folder,
            config=config,
            use_safetensors=True,
            dtype=kind,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # rejected below, with their names
            **local,
        )
    _check_complete(folder, loading, task)
    return _moved(model, device).eval(), _tokenizer(folder, config, local)


def _check_folder(folder: Path) -> None:
    if not folder.exists():
        hub = _HUB_NAME.fullmatch(str(folder))
        raise InputError(
            f"There is no folder {str(folder)!r}."
            + (
                " Names of models on the Hugging Face hub are not downloaded. Save the model and its tokenizer to a folder first: "
                f'AutoModelForSequenceClassification.from_pretrained("{folder}").save_pretrained("my_model") and '
                f'AutoTokenizer.from_pretrained("{folder}").save_pretrained("my_model"); then give my_model.'
                if hub
                else " Give the folder that model.save_pretrained and tokenizer.save_pretrained wrote."
            )
        )
    if not folder.is_dir():
        raise InputError(
            f"{folder} is a file; expected the folder that holds config.json, model.safetensors and the tokenizer. "
            f"Give the folder: {folder.parent}."
        )
    if not (folder / "config.json").is_file():
        raise InputError(
            f"{folder} holds no config.json. Give the folder that model.save_pretrained and tokenizer.save_pretrained wrote."
        )
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise InputError(
            f"{folder} holds no tokenizer. Save it there too: tokenizer.save_pretrained(folder)."
        )


def _check_size(folder: Path, loader: Any, config: Any, stored: int) -> None:
    """Reject a config.json that describes a far larger model than the weights, before memory is taken for it."""
    with torch.device("meta"):
        model = loader.from_config(config, trust_remote_code=False)
    described = sum(each.numel() for each in (*model.parameters(), *model.buffers()))
    if described > 2 * stored + _SPARE:
        raise InputError(
            f"{folder / 'config.json'} describes a model of {described:,} numbers, but the weights hold {stored:,}: "
            f"they do not belong together. {SAVE_AGAIN}"
        )


def _check_complete(folder: Path, loading: dict[str, Any], task: str) -> None:
    """Reject weights that are missing or of another size: transformers draws these at random."""
    if wrong := sorted(loading["mismatched_keys"]):
        name, stored, described = wrong[0]
        raise InputError(
            f"{folder}: config.json does not describe its weights: {in_one_line(name)} is {tuple(stored)} in the file, "
            f"{tuple(described)} by the config{f', and {len(wrong) - 1} more differ' if len(wrong) > 1 else ''}. {SAVE_AGAIN}"
        )
    if missing := sorted(loading["missing_keys"]):
        raise InputError(
            f"{folder} lacks weights of the {'language model' if task == 'lm' else 'classifier'}: "
            f"{', '.join(missing[:4])}{' …' if len(missing) > 4 else ''}. "
            "Is it an encoder that was not fine-tuned? Save the model that was."
        )


def _tokenizer(folder: Path, config: Any, local: dict[str, Any]) -> Any:
    from transformers import AutoTokenizer

    with rejecting(folder, "transformers cannot load its tokenizer"), _quiet():
        try:
            return AutoTokenizer.from_pretrained(folder, config=config, **local)
        except MALFORMED:
            raise
        except (
            Exception
        ) as error:  # the tokenizers library raises bare Exceptions for all it cannot parse
            raise ValueError(str(error)) from error


@contextmanager
def rejecting(folder: Path, what: str) -> Iterator[None]:
    """What a library raises for a malformed folder, as one line and without a traceback."""
    from huggingface_hub.errors import StrictDataclassError
    from safetensors import SafetensorError

    try:
        yield
    except InputError:
        raise
    except (*MALFORMED, StrictDataclassError, SafetensorError) as error:
        if brings_code(folder):
            raise code_not_run(folder) from error
        raise InputError(
            f"{folder}: {what} ({type(error).__name__}: {in_one_line(error)}). {SAVE_AGAIN}"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """No bars and no warnings of transformers: what matters of them is an error here. Settings of the whole process, put back after."""
    from transformers.utils import logging

    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _moved(model: Any, device: str | None) -> Any:
    try:
        return model.to(device or "cpu")
    except (
        RuntimeError,
        AssertionError,
    ) as error:  # torch asserts that it was built for the device
        raise InputError(
            f"The model cannot be moved to device {device!r}: {in_one_line(error)}."
        ) from error


def _known_dtype(dtype: str | torch.dtype | None) -> torch.dtype:
    if dtype is None:
        return torch.float32
    if isinstance(dtype, torch.dtype):
        return dtype
    if dtype not in DTYPES:
        raise InputError(f"There is no dtype {dtype!r}. Choose from: {', '.join(DTYPES)}.")
    return DTYPES[dtype]
