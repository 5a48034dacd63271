"""The class to write where hooks cannot help. The errors show it, and a test runs it as it stands here."""

from __future__ import annotations

from attnaudit.core.errors import InputError

OWN_CLASS = """\
class Mine(torch.nn.Module):  # embed, encode, attend (weights, (B,N)) and output are the parts of your model
    def __init__(self, embed, encode, attend, output):
        super().__init__()
        self.embed, self.encode, self.attend, self.output = embed, encode, attend, output

    def read(self, batch, embeddings=None):
        words = self.embed(batch.tokens) if embeddings is None else embeddings
        hidden = self.encode(words, batch.mask)
        alpha = self.attend(hidden, batch.mask)[:, None]
        item = torch.arange(words.shape[1], device=words.device).where(batch.mask, -1)
        logits = self.output(alpha @ hidden)[:, 0]
        return attnaudit.Record(batch, words, hidden, alpha, batch.mask[:, None], batch.mask, item, logits)

    def decode(self, record, alpha):  # alpha (B,1,N) gives (B,C); several at once, (B,K,1,N), give (B,K,C)
        hidden = record.hidden if alpha.dim() == 3 else record.hidden[:, None]
        return self.output(alpha @ hidden).squeeze(-2)
"""


class Refused(InputError):
    """Hooks cannot serve, for the reason given; the text goes on to show the class."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"{reason}\nWhere no module gives the weights, write this class around your model's parts, and try it with "
            f"`attnaudit check module:name`:\n\n{OWN_CLASS}"
        )
