"""What `hooked` and `huggingface` share to read and override attention in a forward pass.

Temporary patches of modules, a tap on softmax, a hook on the embedding module, and the rules for
the query position.
"""

from attnaudit.models.interception.embedding_hook import embeddings_captured
from attnaudit.models.interception.linear_products import linear_by_onednn
from attnaudit.models.interception.query_position import (
    class_weighted_sum,
    last_position,
    mark_positions,
    position_by_rule,
)
from attnaudit.models.interception.softmax_tap import SoftmaxTap
from attnaudit.models.interception.temporary_patches import forward_wrapped

__all__ = [
    "SoftmaxTap",
    "class_weighted_sum",
    "embeddings_captured",
    "forward_wrapped",
    "last_position",
    "linear_by_onednn",
    "mark_positions",
    "position_by_rule",
]
