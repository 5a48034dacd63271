"""The safetensors files of a model folder: complete, inside the folder, and how many numbers they hold."""

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
    """How many numbers the weights have; rejected unless every file is complete."""
    if any(folder.glob("shard-*-model-*-of-*.safetensors")):
        raise InputError(
            f"{folder} holds a distributed checkpoint (shard-…), which is not read. {SAVE_AGAIN}"
        )
    if (folder / _WHOLE).is_file():
        return _numbers(folder / _WHOLE)
    if (folder / _INDEX).is_file():
        return sum(_numbers(folder / shard) for shard in _shards(folder))
    if any(folder.glob("*.safetensors")):
        names = ", ".join(repr(each.name) for each in sorted(folder.glob("*.safetensors"))[:4])
        raise InputError(
            f"{folder} holds neither {_WHOLE} nor {_INDEX}, only {names}. {SAVE_AGAIN}"
        )
    pickled = any(True for pattern in _PICKLED for _ in folder.glob(pattern))
    because = "; pickled ones (.bin) may run code and are not read" if pickled else ""
    raise InputError(
        f"{folder} holds no *.safetensors weights{because}. "
        "Save the model again with model.save_pretrained(folder, safe_serialization=True)."
    )


def _shards(folder: Path) -> list[str]:
    index = folder / _INDEX
    places = read_object(index).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise InputError(
            f'{index} must hold a "weight_map", tensor name -> file name. {SAVE_AGAIN}'
        )
    shards = sorted({str(name) for name in places.values()})
    for name in shards:
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise InputError(
                f"{index} names {name[:80]!r} as a file of weights; expected *.safetensors files in the same folder. {SAVE_AGAIN}"
            )
    if missing := [name for name in shards if not (folder / name).is_file()]:
        raise InputError(
            f"{folder} lacks {len(missing)} of {len(shards)} files of weights: {', '.join(missing[:4])}. "
            "Copy or download them too, or save the model again."
        )
    return shards


def _numbers(file: Path) -> int:
    from safetensors import SafetensorError, safe_open

    reject_pointer(file)
    try:
        with safe_open(file, framework="pt") as tensors:
            return sum(prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(
            f"{file} cannot be read as safetensors ({in_one_line(error)}; {file.stat().st_size} bytes): it is cut off or damaged. "
            "Copy or download it again, or save the model again."
        ) from error
