"""Language models that answer a question from sources: attention as a citation.

Reading order: `loading` wraps a model for task="generation"; `prompt` puts sources, question and
answer into tokens, `prompt_batches` makes batches of them; `model` is what audits use (`read`,
`decode`, `keep_only` …); `answer_passes` runs plain forward passes for the log-probability of
answers, `shared_prefixes` many similar ones; `source_attention` reads and replaces the attention
from answer tokens to sources in bounded memory; `answers` generates answers.
"""

from attnaudit.models.huggingface.generation.loading import wrap_generation
from attnaudit.models.huggingface.generation.model import GenerationModel

__all__ = ["GenerationModel", "wrap_generation"]
