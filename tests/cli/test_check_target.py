"""What `attnaudit check` can be given."""

from __future__ import annotations

from pathlib import Path

from attnaudit.cli.check_target import find_target
from tiny_transformers import tiny


def test_the_folder_of_a_classifier_is_a_target(tmp_path: Path) -> None:
    model, tokenizer = tiny("bert")
    model.float().save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    classifier, batch = find_target(str(tmp_path), 0)
    assert len(batch) == 3
    assert classifier.read(batch).alpha.shape[0] == 3
