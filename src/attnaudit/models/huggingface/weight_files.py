"""Check that the safetensors files of a model folder are complete, and count their values."""

from __future__ import annotations

from math import prod
from pathlib import Path

from attnaudit.core.errors import InputError
from attnaudit.models.huggingface.folder_files import (
    SAVE_AGAIN,
    in_one_line,
    read_object,
    reject_pointer,
)

_WHOLE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt", "*.h5", "*.msgpack")


def stored_numbers(folder: Path) -> int:
    """Return the number of values in the weights; reject incomplete files."""
    if any(folder.glob("shard-*-model-*-of-*.safetensors")):
        raise InputError(
            f"{folder} holds a distributed checkpoint (shard-…), which is not read. {SAVE_AGAIN}"
        )
    if (folder / _WHOLE).is_file():
        return _count_values(folder / _WHOLE)
    if (folder / _INDEX).is_file():
        return sum(_count_values(folder / shard) for shard in _shards(folder))
    if any(folder.glob("*.safetensors")):
        names = ", ".join(repr(path.name) for path in sorted(folder.glob("*.safetensors"))[:4])
        raise InputError(
            f"{folder} holds neither {_WHOLE} nor {_INDEX}, only {names}. {SAVE_AGAIN}"
        )
    pickled = any(True for pattern in _PICKLED for _ in folder.glob(pattern))
    reason = "; pickled ones (.bin) may run code and are not read" if pickled else ""
    raise InputError(
        f"{folder} holds no *.safetensors weights{reason}. "
        "Save the model again with model.save_pretrained(folder, safe_serialization=True)."
    )


def _shards(folder: Path) -> list[str]:
    """Return the names of the weight files in the index; reject missing ones."""
    index = folder / _INDEX
    files = read_object(index).get("weight_map")
    if not isinstance(files, dict) or not files:
        raise InputError(
            f'{index} must hold a "weight_map", tensor name -> file name. {SAVE_AGAIN}'
        )
    shards = sorted({str(name) for name in files.values()})
    for name in shards:
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise InputError(
                f"{index} names {name[:80]!r} as a file of weights; expected *.safetensors files "
                f"in the same folder. {SAVE_AGAIN}"
            )
    if missing := [name for name in shards if not (folder / name).is_file()]:
        raise InputError(
            f"{folder} lacks {len(missing)} of {len(shards)} files of weights: "
            f"{', '.join(missing[:4])}. Copy or download them too, or save the model again."
        )
    return shards


def _count_values(file: Path) -> int:
    """Return the number of values in a safetensors file; reject a damaged one."""
    from safetensors import SafetensorError, safe_open

    reject_pointer(file)
    try:
        with safe_open(file, framework="pt") as tensors:
            return sum(prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(
            f"{file} cannot be read as safetensors ({in_one_line(error)}; {file.stat().st_size} "
            "bytes): it is cut off or damaged. Copy or download it again, or save the model again."
        ) from error
