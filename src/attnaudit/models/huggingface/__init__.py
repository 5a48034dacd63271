"""Hugging Face transformers as models to audit.

There is no file per family: `probing` finds out by trial passes how a model is put together, so a
family that keeps to the conventions of transformers needs no code. To support a new one, add a tiny
model of it to `FAMILIES` in `tests/tiny_transformers.py`; every test of families then runs on it.
If they fail: `attention_tape` intercepts attention, `probing` finds calls, layers and embeddings.

Reading order:

1. `loading` is `from_huggingface`; `model` is what it returns, with `read` and `decode`.
2. `probing` finds the attention calls, the layers and the embedding (`passes.Wiring`), `position`
   the token that the head reads, `decision` what the model decides.
3. `passes` runs one forward pass, with `attention_tape` (which attention is read and replaced),
   `layers` and `config_patches`; `decode_paths` chooses the cheapest way to the logits under other
   attention.
4. `rollout`, `attended_norms`, `value_zeroing` and `plain_logits` are measures that need to look
   inside the model.
5. `text_batch`, `encoded_texts`, `words`, `subwords`, `labels` and `own_batches` turn texts into
   batches, and tokens into words.
6. `generation` is for language models that answer from sources, `attnaudit.cite`.
7. `local_checkpoint` loads a folder, after `config_check`, `folder_files`, `weight_files` and
   `task_head` have looked at its files.
"""

from attnaudit.models.huggingface.loading import from_huggingface
from attnaudit.models.huggingface.text_batch import TextBatch, text_batches

__all__ = ["TextBatch", "from_huggingface", "text_batches"]
