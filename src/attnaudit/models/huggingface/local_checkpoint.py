"""Load a saved model and its tokenizer from a local folder.

Nothing is downloaded, and none of the folder's code is run.
"""

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
from attnaudit.models.huggingface.task_head import loader_of
from attnaudit.models.huggingface.weight_files import stored_numbers

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
# What transformers, its config classes and torch raise if a folder's files do not fit together.
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
_SPARE = 2**26  # values that a model may have beyond those in its files, in buffers


def load_saved(
    folder: Path, task: str, dtype: str | torch.dtype | None, device: str | None
) -> tuple[Any, Any]:
    """Return model and tokenizer as save_pretrained wrote them; pickled weights are not read."""
    try:
        import transformers
    except ImportError as error:
        raise InputError(
            "Auditing a saved model needs transformers. Run pip install 'attnaudit[hf]'."
        ) from error
    torch_dtype = _torch_dtype(dtype)
    if torch_dtype == torch.float16 and not str(device or "cpu").startswith("cuda"):
        raise InputError(
            "float16 is for CUDA devices; on a CPU it takes minutes for seconds of work. Use "
            "bfloat16 or float32."
        )
    _check_folder(folder)
    settings = read_config(folder)
    loader = getattr(transformers, loader_of(folder, settings, task))
    stored = stored_numbers(folder)
    local = {"local_files_only": True, "trust_remote_code": False}
    with rejecting(folder, "transformers cannot load it"), _quiet():
        config = transformers.AutoConfig.from_pretrained(folder, **local)
        # A folder may name an attention kernel to download and run: use the default instead.
        config._attn_implementation = None
        _check_size(folder, loader, config, stored)
        model, loading = loader.from_pretrained(
            folder,
            config=config,
            use_safetensors=True,
            dtype=torch_dtype,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # rejected below, with their names
            **local,
        )
    _check_complete(folder, loading, task)
    return _to_device(model, device).eval(), _tokenizer(folder, config, local)


def _check_folder(folder: Path) -> None:
    """Reject a path that is not a folder with a config and a tokenizer."""
    written = "the folder that model.save_pretrained and tokenizer.save_pretrained wrote"
    if not folder.exists():
        advice = f"Give {written}."
        if _HUB_NAME.fullmatch(str(folder)):
            advice = (
                "Models on the Hugging Face hub are not downloaded. Save the model and its "
                "tokenizer to a folder first: AutoModelForSequenceClassification."
                f'from_pretrained("{folder}").save_pretrained("my_model") and '
                f'AutoTokenizer.from_pretrained("{folder}").save_pretrained("my_model"); '
                "then give my_model."
            )
        raise InputError(f"There is no folder {str(folder)!r}. {advice}")
    if not folder.is_dir():
        raise InputError(
            f"{folder} is a file; expected the folder that holds config.json, model.safetensors "
            f"and the tokenizer. Give the folder: {folder.parent}."
        )
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder} holds no config.json. Give {written}.")
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise InputError(
            f"{folder} holds no tokenizer. Save it there too: tokenizer.save_pretrained(folder)."
        )


def _check_size(folder: Path, loader: Any, config: Any, stored: int) -> None:
    """Reject a config.json that describes a far larger model than the weights hold.

    This comes before memory is allocated for it.
    """
    with torch.device("meta"):
        model = loader.from_config(config, trust_remote_code=False)
    described = sum(tensor.numel() for tensor in (*model.parameters(), *model.buffers()))
    if described > 2 * stored + _SPARE:
        raise InputError(
            f"{folder / 'config.json'} describes a model of {described:,} values, but the weights "
            f"hold {stored:,}: they do not belong together. {SAVE_AGAIN}"
        )


def _check_complete(folder: Path, loading: dict[str, Any], task: str) -> None:
    """Reject missing weights and weights of another size, which transformers draws at random."""
    if wrong := sorted(loading["mismatched_keys"]):
        name, stored, described = wrong[0]
        others = f", and {len(wrong) - 1} more differ" if len(wrong) > 1 else ""
        raise InputError(
            f"{folder}: config.json does not describe its weights: {in_one_line(name)} is "
            f"{tuple(stored)} in the file, {tuple(described)} by the config{others}. {SAVE_AGAIN}"
        )
    if missing := sorted(loading["missing_keys"]):
        raise InputError(
            f"{folder} lacks weights of the {'language model' if task == 'lm' else 'classifier'}: "
            f"{', '.join(missing[:4])}{' …' if len(missing) > 4 else ''}. "
            "Is it an encoder that was not fine-tuned? Save the fine-tuned model."
        )


def _tokenizer(folder: Path, config: Any, local: dict[str, Any]) -> Any:
    """Load the tokenizer of a folder."""
    from transformers import AutoTokenizer

    with rejecting(folder, "transformers cannot load its tokenizer"), _quiet():
        try:
            return AutoTokenizer.from_pretrained(folder, config=config, **local)
        except MALFORMED:
            raise
        # The tokenizers library raises bare Exceptions for whatever it cannot parse.
        except Exception as error:
            raise ValueError(str(error)) from error


@contextmanager
def rejecting(folder: Path, what: str) -> Iterator[None]:
    """Turn what a library raises for a malformed folder into an InputError of one line."""
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
    """Silence the progress bars and warnings of transformers inside the context.

    What matters of them is raised as an error here.
    """
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


def _to_device(model: Any, device: str | None) -> Any:
    """Move a model to a device; the CPU if omitted."""
    try:
        return model.to(device or "cpu")
    # PyTorch raises an AssertionError if it was built without the device.
    except (RuntimeError, AssertionError) as error:
        raise InputError(
            f"The model cannot be moved to device {device!r}: {in_one_line(error)}."
        ) from error


def _torch_dtype(dtype: str | torch.dtype | None) -> torch.dtype:
    """Return the dtype of a name; float32 if omitted."""
    if dtype is None:
        return torch.float32
    if isinstance(dtype, torch.dtype):
        return dtype
    if dtype not in DTYPES:
        raise InputError(f"There is no dtype {dtype!r}. Choose from: {', '.join(DTYPES)}.")
    return DTYPES[dtype]
