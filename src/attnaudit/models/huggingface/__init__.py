"""Hugging Face transformers as models to audit."""

from attnaudit.models.huggingface.loading import from_huggingface
from attnaudit.models.huggingface.text_batch import TextBatch, text_batches

__all__ = ["TextBatch", "from_huggingface", "text_batches"]
