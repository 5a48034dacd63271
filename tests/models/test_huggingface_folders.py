"""Folders of saved models: their code is not run, and bad ones are rejected before any audit."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from huggingface_hub import constants
from transformers import dynamic_module_utils
from typer.testing import CliRunner

import attnaudit
from attnaudit import InputError
from attnaudit.cli import app
from attnaudit.cli.check_target import find_target
from attnaudit.models.huggingface import from_huggingface
from tiny_transformers import FAMILIES, TEXTS, drawn, texts_for, tiny, tiny_tokenizer

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 120\n"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a tiny BERT classifier."""
    folder = tmp_path_factory.mktemp("model")
    return files_of(saved_to(folder, *tiny("bert")))


def saved_to(folder: Path, model: Any, tokenizer: Any, **options: Any) -> Path:
    model.float().save_pretrained(folder, **options)
    tokenizer.save_pretrained(folder)
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def written(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def changed(files: dict[str, bytes], name: str = "config.json", **values: Any) -> dict[str, bytes]:
    """The files with other values in one of the JSON files."""
    return {**files, name: json.dumps({**json.loads(files[name]), **values}).encode()}


def rejected(folder: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        from_huggingface(folder, **options)
    words = str(caught.value)
    assert words.isprintable()
    return words


# Code --------------------------------------------------------------------------------------------

CODE = """
from pathlib import Path
Path({marker!r}).touch()
from transformers import {base}
class Own({base}):
    model_type = "of_its_own"
def generate(model, **options):
    return None
"""


def with_code(saved: dict[str, bytes], marker: Path, base: str) -> dict[str, bytes]:
    return {**saved, "own.py": CODE.format(marker=str(marker), base=base).encode()}


def code_folders(tmp_path: Path, saved: dict[str, bytes], marker: Path) -> dict[str, Path]:
    """Each names code that would create the marker."""
    own = with_code(saved, marker, "BertConfig")
    model = with_code(saved, marker, "BertForSequenceClassification")
    tokenizer = with_code(saved, marker, "BertTokenizer")
    every = dict.fromkeys(
        ("AutoConfig", "AutoModelForSequenceClassification", "AutoModel"), "own.Own"
    )
    generating = files_of(saved_to(tmp_path / "gpt2", *tiny("gpt2_lm")))
    adapter = {
        "peft_type": "LORA",
        "base_model_name_or_path": "bert-base-uncased",
        "auto_map": {"base": "own.Own"},
    }
    made = {
        "config": changed(own, model_type="of_its_own", auto_map=every),
        "model": changed(
            model, model_type="fnet", auto_map={"AutoModelForSequenceClassification": "own.Own"}
        ),
        "model without a local class": changed(model, model_type="clip", auto_map=every),
        "nested": changed(own, text_config={"model_type": "of_its_own", "auto_map": every}),
        "tokenizer": changed(
            tokenizer,
            "tokenizer_config.json",
            auto_map={"AutoTokenizer": ["own.Own", "own.Own"]},
            tokenizer_class="Own",
        ),
        "tokenizer, a list": changed(
            tokenizer,
            "tokenizer_config.json",
            auto_map=["own.Own", "own.Own"],
            tokenizer_class="Own",
        ),
        "both": changed(
            changed(tokenizer, model_type="of_its_own", auto_map=every),
            "tokenizer_config.json",
            auto_map={"AutoTokenizer": ["own.Own", None]},
        ),
        "generation": {**generating, "custom_generate/generate.py": own["own.py"]},
        "adapter": {**own, "adapter_config.json": json.dumps(adapter).encode()},
        "quantised": changed(own, quantization_config={"quant_method": "own.Own"}),
        "kernel": changed(own, _attn_implementation="somebody/kernel:own"),
        "pipeline": changed(
            own, custom_pipelines={"text-classification": {"impl": "own.Own", "pt": ["AutoModel"]}}
        ),
    }
    return {name: written(tmp_path / name, files) for name, files in made.items()}


def tried(folder: Path) -> str:
    try:
        from_huggingface(folder)
    except InputError as error:
        return str(error)
    return "loaded"


def test_a_folders_code_is_never_run(
    tmp_path: Path,
    saved: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    marker = tmp_path / "the code was run"
    folders = code_folders(tmp_path, saved, marker)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    # Code that is run is copied there first, and imported from there.
    monkeypatch.setattr(dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 40))
    said = {name: tried(folder) for name, folder in folders.items()}
    assert not marker.exists()
    assert "[y/N]" not in "".join(capfd.readouterr())  # nothing was asked
    for name in ("config", "nested", "both"):
        assert "brings code of its own (auto_map), which is not run" in said[name]
        assert "attnaudit.from_huggingface(model, tokenizer)" in said[name]
    assert "model.merge_and_unload()" in said["adapter"]
    assert "quantised weights" in said["quantised"]
    # transformers has classes of its own for these, and the folder's code is not needed
    assert [said[name] for name in ("generation", "kernel", "pipeline")] == ["loaded"] * 3


def test_code_that_is_not_needed_is_ignored(tmp_path: Path, saved: dict[str, bytes]) -> None:
    files = changed(
        saved, auto_map={"AutoConfig": "own.Own", "AutoModelForSequenceClassification": "own.Own"}
    )
    plain = from_huggingface(written(tmp_path / "plain", saved))
    model = from_huggingface(written(tmp_path / "model", files))
    (batch,) = plain.batches(TEXTS)
    assert torch.equal(model.read(batch).logits, plain.read(batch).logits)


def test_the_command_does_not_ask_to_run_code(tmp_path: Path, saved: dict[str, bytes]) -> None:
    marker = tmp_path / "the code was run"
    files = with_code(saved, marker, "BertConfig")
    folder = written(
        tmp_path / "model",
        changed(files, model_type="of_its_own", auto_map={"AutoConfig": "own.Own"}),
    )
    (tmp_path / "own.csv").write_text("text\na film\n")
    result = CliRunner().invoke(
        app,
        ["audit", str(folder), "--data", str(tmp_path / "own.csv"), "--out", str(tmp_path / "out")],
        input="y\n",
    )
    assert isinstance(result.exception, InputError)
    assert "brings code of its own" in str(result.exception)
    assert not marker.exists()


# Weights -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sharded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("sharded")
    files = files_of(saved_to(folder, *tiny("bert"), max_shard_size="8KB"))
    assert sum(name.endswith(".safetensors") for name in files) > 2
    return files


def test_incomplete_weights_are_rejected(tmp_path: Path, saved: dict[str, bytes]) -> None:
    whole = saved["model.safetensors"]
    for number, (content, said) in enumerate(
        [
            (POINTER, "git lfs pull"),
            (whole[:-100], "cut off or damaged"),
            (whole[:100], "cut off or damaged"),
            (b"", "cut off or damaged"),
            (bytes(4000), "cut off or damaged"),
        ]
    ):
        words = rejected(written(tmp_path / str(number), {**saved, "model.safetensors": content}))
        assert said in words
        assert "model.safetensors" in words


def test_sharded_weights_load_and_damaged_ones_are_rejected(
    tmp_path: Path, sharded: dict[str, bytes]
) -> None:
    index = "model.safetensors.index.json"
    shards = sorted(name for name in sharded if name.endswith(".safetensors"))
    from_huggingface(written(tmp_path / "whole", sharded))
    without = {name: content for name, content in sharded.items() if name != shards[1]}
    words = rejected(written(tmp_path / "missing", without))
    assert f"lacks 1 of {len(shards)} files of weights: {shards[1]}" in words
    cut = {**sharded, shards[1]: sharded[shards[1]][:-10]}
    assert "cut off or damaged" in rejected(written(tmp_path / "cut", cut))
    pointer = {**sharded, shards[0]: POINTER}
    assert "git lfs pull" in rejected(written(tmp_path / "pointer", pointer))
    places = json.loads(sharded[index])["weight_map"]
    for number, outside in enumerate(
        ("../whole/" + shards[0], str(tmp_path / "whole" / shards[0]), "weights.bin")
    ):
        other = changed(sharded, index, weight_map={**places, next(iter(places)): outside})
        assert "files in the same folder" in rejected(written(tmp_path / f"outside{number}", other))
    for number, wrong in enumerate((None, [], {}, "model.safetensors")):
        words = rejected(
            written(tmp_path / f"wrong{number}", changed(sharded, index, weight_map=wrong))
        )
        assert "weight_map" in words


def test_files_of_other_formats_are_not_read(tmp_path: Path, saved: dict[str, bytes]) -> None:
    rest = {name: content for name, content in saved.items() if name != "model.safetensors"}
    assert "holds no *.safetensors" in rejected(written(tmp_path / "none", rest))
    renamed = {**rest, "weights.safetensors": saved["model.safetensors"]}
    assert "only 'weights.safetensors'" in rejected(written(tmp_path / "renamed", renamed))
    distributed = {
        **saved,
        "shard-00000-model-00001-of-00001.safetensors": saved["model.safetensors"],
    }
    assert "distributed checkpoint" in rejected(written(tmp_path / "distributed", distributed))


# Configs and label maps --------------------------------------------------------------------------

CONFIGS: list[tuple[dict[str, Any], str]] = [
    ({"model_type": None}, 'expected "model_type"'),
    ({"model_type": "no_such_kind"}, "does not recognize this architecture"),
    ({"vocab_size": 10**12}, "describes a model of"),
    ({"max_position_embeddings": 10**11}, "describes a model of"),
    ({"vocab_size": -1}, "transformers cannot load it"),
    ({"hidden_size": 0}, "transformers cannot load it"),
    ({"hidden_size": 32}, "config.json does not describe its weights"),
    ({"hidden_size": "sixteen"}, "transformers cannot load it"),
    ({"num_hidden_layers": 10**9}, "'num_hidden_layers' is 1000000000; expected at most 1000"),
    ({"num_labels": 10**9, "id2label": None}, "num_labels must be a number of classes"),
    ({"num_labels": "two"}, "num_labels must be a number of classes"),
    ({"id2label": {"0": "a", "2": "b", "3": "c"}}, "without gaps"),
    ({"id2label": {"a": "0", "b": "1", "c": "2"}}, "without gaps"),
    ({"id2label": {"0": "a", "1": "a", "2": "b"}}, "calls two classes 'a'"),
    ({"id2label": {"0": "a", "1": None, "2": "b"}}, "calls class 1 None"),
    ({"id2label": {"0": "a", "1": ["b"], "2": "c"}}, "calls class 1"),
    ({"id2label": {"0": "a", "1": " ", "2": "c"}}, "calls class 1"),
    ({"id2label": {"0": "a", "1": "b"}}, "config.json does not describe its weights: classifier"),
    ({"id2label": ["a", "b", "c"]}, "id2label must be an object"),
    ({"id2label": {}}, "id2label must be an object"),
    ({"architectures": "BertForSequenceClassification"}, "architectures must be a list"),
    ({"architectures": [3]}, "architectures must be a list"),
    (
        {"configuration_files": ["config.4.0.0.json"]},
        "names other files to load (configuration_files)",
    ),
    (
        {"transformers_weights": "adapter_model.bin"},
        "names other files to load (transformers_weights)",
    ),
]


@pytest.mark.parametrize(("values", "said"), CONFIGS)
def test_impossible_configs_are_rejected(
    tmp_path: Path,
    saved: dict[str, bytes],
    values: dict[str, Any],
    said: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert said in rejected(written(tmp_path / "model", changed(saved, **values)))
    assert capfd.readouterr() == ("", "")  # the words are all there is: no warnings and no bars


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not a JSON file"),
        (b'{"a": ', "is not a JSON file"),
        (b"\xff\xfe", "is not a JSON file"),
        (b"[" * 100_000, "is not a JSON file"),
        (b"[]", "must hold a JSON object, got a list"),
        (b"null", "must hold a JSON object, got null"),
        (POINTER, "git lfs pull"),
    ],
)
def test_json_files_without_an_object_are_rejected(
    tmp_path: Path, saved: dict[str, bytes], name: str, content: bytes, said: str
) -> None:
    words = rejected(written(tmp_path / "model", {**saved, name: content}))
    assert said in words
    assert name in words


@pytest.mark.parametrize("value", [{"type": "NoSuchModel"}, None, 3])
def test_a_tokenizer_that_cannot_be_parsed_is_rejected(
    tmp_path: Path, saved: dict[str, bytes], value: Any
) -> None:
    files = changed(saved, "tokenizer.json", model=value)
    assert "transformers cannot load its tokenizer" in rejected(written(tmp_path / "model", files))


def test_numbers_in_id2label_are_read_as_names(tmp_path: Path, saved: dict[str, bytes]) -> None:
    folder = written(
        tmp_path / "model", changed(saved, id2label={"0": 5, "1": 6, "2": 7}, label2id=None)
    )
    assert from_huggingface(folder).class_names == ["5", "6", "7"]


def test_classes_that_differ_only_in_case_stay_distinct() -> None:
    model = from_huggingface(*tiny("bert", id2label={0: "us", 1: "US", 2: "other"}))
    (batch,) = model.batches(["a film", "a film", "a film"], ["us", "US", "OTHER"])
    assert batch.labels is not None
    assert batch.labels.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="'Us' is not a class"):
        model.batches(["a film"], ["Us"])


def test_errors_hold_no_control_characters_of_a_folder(
    tmp_path: Path, saved: dict[str, bytes]
) -> None:
    for number, values in enumerate(
        (
            {"model_type": "\x1b[2J"},
            {"architectures": ["\x1b[2JForTokenClassification"]},
            {"\x1b[2Jlayers": 10**9},
        )
    ):
        rejected(
            written(tmp_path / str(number), changed(saved, **values))
        )  # which looks for control characters


# What is given in place of a folder --------------------------------------------------------------


@pytest.mark.parametrize("name", ["bert-base-uncased", "google-bert/bert-base-uncased"])
def test_models_on_the_hub_are_not_downloaded(name: str, tmp_path: Path) -> None:
    words = rejected(Path(name))
    assert "hub are not downloaded" in words
    assert f'from_pretrained("{name}").save_pretrained("my_model")' in words
    (tmp_path / "own.csv").write_text("text\na film\n")
    result = CliRunner().invoke(
        app, ["audit", name, "--data", str(tmp_path / "own.csv"), "--out", str(tmp_path / "out")]
    )
    assert "hub are not downloaded" in str(result.exception)


def test_a_file_or_a_missing_folder_is_rejected(tmp_path: Path, saved: dict[str, bytes]) -> None:
    folder = written(tmp_path / "model", saved)
    assert f"Give the folder: {folder}." in rejected(folder / "model.safetensors")
    words = rejected(tmp_path / "no such folder")
    assert "There is no folder" in words
    assert "hub" not in words


# Heads -------------------------------------------------------------------------------------------


def of_kind(kind: str, **options: Any) -> Callable[[], Any]:
    return lambda: drawn(getattr(hf, kind)(hf.BertConfig(**(FAMILIES["bert"][2] | options))))


HEADS: dict[str, tuple[Callable[[], Any], str]] = {
    "causal": (lambda: tiny("gpt2_lm")[0], "holds a language model (GPT2LMHeadModel)"),
    "masked": (of_kind("BertForMaskedLM"), "holds a language model (BertForMaskedLM)"),
    "tokens": (
        of_kind("BertForTokenClassification"),
        "model: BertForTokenClassification cannot be audited: it decides about every token",
    ),
    "span": (of_kind("BertForQuestionAnswering"), "it decides about a span of the text"),
    "number": (
        of_kind("BertForSequenceClassification", num_labels=1),
        "gives a number (regression)",
    ),
    "regression": (
        of_kind("BertForSequenceClassification", problem_type="regression"),
        "gives a number (regression)",
    ),
    "several": (
        of_kind("BertForSequenceClassification", problem_type="multi_label_classification"),
        "multi-label",
    ),
    "none": (of_kind("BertModel"), "lacks weights of the classifier"),
}


@pytest.mark.parametrize("head", HEADS)
def test_the_command_rejects_a_folder_without_a_classifier(head: str, tmp_path: Path) -> None:
    make, said = HEADS[head]
    folder = saved_to(
        tmp_path / "model", make(), tiny_tokenizer("decoder" if head == "causal" else "bert")
    )
    (tmp_path / "own.csv").write_text("text\na film\n")
    result = CliRunner().invoke(
        app,
        ["audit", str(folder), "--data", str(tmp_path / "own.csv"), "--out", str(tmp_path / "out")],
    )
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)
    if head in ("causal", "masked"):
        assert f"from_huggingface('{folder}', task=\"lm\", verbalisers=" in str(result.exception)


@pytest.mark.parametrize("name", ["gpt2_lm", "bert_lm", "t5_lm", "bart_lm"])
def test_a_language_model_from_its_folder(name: str, tmp_path: Path) -> None:
    hugging, tokenizer = tiny(name)
    folder = saved_to(tmp_path / "model", hugging, tokenizer)
    verbalisers = {"positive": "it", "negative": " we"}
    model = from_huggingface(folder, task="lm", verbalisers=verbalisers)
    given = from_huggingface(hugging, tokenizer, task="lm", verbalisers=["it", "we"])
    assert type(model.model) is type(hugging)
    assert model.class_names == ["positive", "negative"]
    (batch,) = model.batches(texts_for(name), ["Negative", "positive", "positive"])
    assert batch.labels is not None
    assert sorted(batch.labels.tolist()) == [0, 0, 1]
    torch.testing.assert_close(
        model.read(batch).logits, given.read(batch).logits, rtol=1e-5, atol=1e-5
    )
    results = attnaudit.audit(
        model,
        texts_for(name),
        ["negative", "positive", "positive"],
        audits=["uniform_attention"],
        show_progress=False,
    )
    assert results.about["classes"] == ["positive", "negative"]
    assert "holds a language model" in rejected(folder, task="classification")


def test_a_classifier_is_rejected_as_a_language_model(
    tmp_path: Path, saved: dict[str, bytes]
) -> None:
    folder = written(tmp_path / "model", saved)
    assert "holds a text classifier (architectures: BertForSequenceClassification)" in rejected(
        folder, task="lm"
    )
    unnamed = written(tmp_path / "unnamed", changed(saved, architectures=None))
    assert "names no architecture" in rejected(unnamed, task="lm")
    assert from_huggingface(unnamed).about["task"] == "classification"
    assert "no task 'what'" in rejected(folder, task="what")


# Verbalisers -------------------------------------------------------------------------------------


def test_the_words_of_a_verbaliser_dict_are_its_values() -> None:
    hugging, tokenizer = tiny("gpt2_lm")
    # The keys are tokens too: taken for the words, they would give other logits.
    named = from_huggingface(hugging, tokenizer, verbalisers={"a": "it", "one": "we"})
    listed = from_huggingface(hugging, tokenizer, verbalisers=["it", "we"])
    (batch,) = named.batches(TEXTS, ["one", "a", "one"])
    assert torch.equal(named.read(batch).logits, listed.read(batch).logits)
    assert named.class_names == ["a", "one"]
    with pytest.raises(InputError, match="not a class of the model"):
        named.batches(TEXTS, ["we", "it", "we"])


@pytest.mark.parametrize(
    ("verbalisers", "said"),
    [
        ({"a": "it"}, "two or more different words"),
        ({"a": "it", "b": "it"}, "two or more different words"),
        ({"a": "it", "b": " it"}, "two or more different words"),
        ({"a": "it", "b": "liked"}, "'liked' is not one token"),
        ({"a": "it", "b": ""}, "holds ''"),
        ({"": "it", "b": "we"}, "holds ''"),
        ({"a": "it", "b": 3}, "holds 3"),
        (["it", " "], "holds ' '"),
        ("it", "a list of words, or a dict label -> word"),
        (3, "a list of words, or a dict label -> word"),
    ],
)
def test_wrong_verbalisers_are_rejected(verbalisers: Any, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        from_huggingface(*tiny("gpt2_lm"), verbalisers=verbalisers)


# What is given in place of a model ---------------------------------------------------------------


def test_an_unwrapped_model_is_rejected_with_the_call_to_write() -> None:
    hugging, tokenizer = tiny("bert")
    pipeline = hf.pipeline("text-classification", model=hugging, tokenizer=tokenizer)
    call = "attnaudit.audit(attnaudit.from_huggingface(model, tokenizer), texts)"
    for give, said in (
        (lambda: from_huggingface(hugging), call),
        (
            lambda: from_huggingface(tiny("bart")[0]),
            call,
        ),  # it holds a .model of its own, as a pipeline does
        (lambda: attnaudit.audit(hugging, TEXTS), call),
        (
            lambda: attnaudit.audit(pipeline, TEXTS),
            "attnaudit.audit(attnaudit.from_huggingface(pipeline), texts)",
        ),
        (
            lambda: attnaudit.audit("my_model", TEXTS),
            "attnaudit.audit(attnaudit.from_huggingface(folder), texts)",
        ),  # type: ignore[arg-type]
        (
            lambda: attnaudit.audit(torch.nn.Linear(2, 2), TEXTS),
            "attnaudit.from_hooks(model, alpha=",
        ),
        (lambda: from_huggingface(torch.nn.Linear(2, 2)), "attnaudit.from_hooks(model, alpha="),
        (lambda: attnaudit.audit(TEXTS, hugging), "The order is audit(model, data)"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError, match=re.escape(said)):
            give()


# Other models ------------------------------------------------------------------------------------


def other_tokenizer() -> Any:
    tokenizer = tiny_tokenizer("bert")
    tokenizer.add_tokens(["unforgettable"])
    return tokenizer


OTHERS: dict[str, tuple[Callable[[], tuple[Any, Any]], dict[str, Any], str]] = {
    "count": (lambda: tiny("bert", num_labels=2), {}, "other classes"),
    "names": (
        lambda: tiny("bert", id2label={0: "a", 1: "b", 2: "c"}),
        {},
        "other classes ('a', 'b', 'c')",
    ),
    "order": (
        lambda: tiny("bert", id2label={0: "LABEL_1", 1: "LABEL_0", 2: "LABEL_2"}),
        {},
        "other classes",
    ),
    "vocabulary": (lambda: (tiny("bert")[0], other_tokenizer()), {}, "another tokenizer"),
    "rows": (lambda: tiny("bert"), {"heads": [0, 1]}, "attends with 2 rows"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_models_that_cannot_be_compared_are_rejected_before_the_audit(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, options, said = OTHERS[kind]
    model, other = from_huggingface(*tiny("bert")), from_huggingface(*make(), **options)

    def never(*_: Any) -> Any:
        raise AssertionError("the audit has begun")

    with pytest.raises(InputError, match=re.escape(said)):
        attnaudit.audit(
            model,
            TEXTS,
            audits=[never],
            measures=[],
            other_models=[model, other],
            show_progress=False,
        )


def test_the_command_rejects_other_models_before_it_audits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = saved_to(tmp_path / "model", *tiny("bert"))
    other = saved_to(tmp_path / "other", *tiny("bert", num_labels=2))
    # So many that the time is estimated first, by auditing a few.
    (tmp_path / "own.csv").write_text("text\n" + "a dull film\n" * 70)
    monkeypatch.setattr("attnaudit.auditing.audit.audit", None)
    arguments = [
        "--data",
        str(tmp_path / "own.csv"),
        "--out",
        str(tmp_path / "out"),
        "--other-models",
        str(other),
    ]
    result = CliRunner().invoke(app, ["audit", str(folder), *arguments])
    assert isinstance(result.exception, InputError)
    assert "other_models[0] has other classes" in str(result.exception)


def test_a_folder_without_a_tokenizer_and_float16_on_a_cpu_are_rejected(
    tmp_path: Path,
) -> None:
    model, tokenizer = tiny("bert")
    model.float().save_pretrained(tmp_path)
    with pytest.raises(InputError, match="holds no tokenizer"):
        from_huggingface(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(InputError, match="float16 is for CUDA"):
        from_huggingface(tmp_path, dtype="float16")
    kept, batch = find_target(str(tmp_path), 0)
    assert len(batch) == 3
    assert kept.read(batch).alpha.shape[0] == 3
