"""The class to write for a model that hooks cannot serve. Errors show it, and a test runs it."""

from __future__ import annotations

from attnaudit.core.errors import InputError

CUSTOM_MODEL_TEMPLATE = """\
class Mine(torch.nn.Module):  # around the parts of your model
    # embed(tokens) -> (B,N,E), encode(words, mask) -> (B,N,H), attend(hidden, mask) -> (B,N)
    def __init__(self, embed, encode, attend, output):
        super().__init__()
        self.embed, self.encode, self.attend, self.output = embed, encode, attend, output

    def read(self, batch, embeddings=None):
        words = self.embed(batch.tokens) if embeddings is None else embeddings
        hidden = self.encode(words, batch.mask)
        alpha, mask = self.attend(hidden, batch.mask)[:, None], batch.mask
        item = torch.arange(words.shape[1], device=words.device).where(mask, -1)
        logits = self.output(alpha @ hidden)[:, 0]
        return attnaudit.Record(batch, words, hidden, alpha, mask[:, None], mask, item, logits)

    def decode(self, record, alpha):  # (B,1,N) -> (B,C); K alternatives: (B,K,1,N) -> (B,K,C)
        hidden = record.hidden if alpha.dim() == 3 else record.hidden[:, None]
        return self.output(alpha @ hidden).squeeze(-2)
"""


class HookError(InputError):
    """Hooks cannot serve this model, for the given reason; the message shows the template."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"{reason}\nIf no module gives the weights, write this class around the parts of your "
            "model and check it with `attnaudit check module:name`:\n\n"
            f"{CUSTOM_MODEL_TEMPLATE}"
        )
