"""Embedding, encoder, attention over its states, output layer: the model of the papers, in interchangeable parts."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from attnaudit import choices
from attnaudit.contract import Batch, Record
from attnaudit.encoders import ENCODERS
from attnaudit.outputs import OUTPUTS
from attnaudit.projections import PROJECTIONS
from attnaudit.scorers import SCORERS
from attnaudit.vocabulary import END, PAD


@dataclass(frozen=True)
class Architecture:
    """The choices that make an attentive model, as strings, recorded verbatim with every run."""

    encoder: str = "bilstm"
    scorer: str = "additive"
    projection: str = "softmax"
    output: str = "linear_query"
    embedding: int = 300

    def check(self) -> None:
        """Every name is known."""
        choices.find(ENCODERS, self.encoder, "encoder")
        choices.find(SCORERS, self.scorer, "scorer")
        choices.find(PROJECTIONS, self.projection, "projection")
        choices.find(OUTPUTS, self.output, "output")

    def as_dict(self) -> dict[str, str | int]:
        return asdict(self)


class Attentive(nn.Module):
    """One row of attention over the tokens; padding, start and end are never attended."""

    def __init__(self, architecture: Architecture, *, words: int, classes: int, with_query: bool) -> None:
        super().__init__()
        self.architecture = architecture
        self.embedding = nn.Embedding(words, architecture.embedding, padding_idx=PAD)
        make_encoder = choices.find(ENCODERS, architecture.encoder, "encoder")
        self.encoder = make_encoder(architecture.embedding)
        self.query_encoder = make_encoder(architecture.embedding) if with_query else None
        size = self.encoder.size
        query_size = size if with_query else None
        self.scorer = choices.find(SCORERS, architecture.scorer, "scorer")(size, query_size)
        self.projection = choices.find(PROJECTIONS, architecture.projection, "projection")()
        self.output = choices.find(OUTPUTS, architecture.output, "output")(size, query_size, classes)

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        if embeddings is None:
            embeddings = self.embedding(batch.tokens)
        hidden = self.encoder(embeddings, batch.mask)
        query = self._query(batch)
        attended = batch.mask & (batch.tokens > END)
        alpha = self.projection(self.scorer(hidden, query), attended)[:, None]
        readout = self.output(hidden, query) if self.output.is_linear else None
        item = torch.arange(batch.tokens.shape[1], device=batch.tokens.device).expand_as(batch.tokens)
        return Record(
            batch=batch,
            embeddings=embeddings,
            hidden=hidden,
            alpha=alpha,
            mask=attended[:, None],
            content=attended,
            item_of_token=item.masked_fill(~attended, -1),
            logits=self._logits(alpha, hidden, query),
            readout=readout,
            state=query,
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        assert record.hidden is not None  # read() always sets it
        return self._logits(alpha, record.hidden, record.state)

    def _logits(self, alpha: Tensor, hidden: Tensor, query: Tensor | None) -> Tensor:
        """alpha (B,1,N) or (B,K,1,N)."""
        context = alpha.squeeze(-2) if alpha.dim() == 4 else alpha
        logits = self.output(context @ hidden, query)
        return logits if alpha.dim() == 4 else logits[:, 0]

    def _query(self, batch: Batch) -> Tensor | None:
        if self.query_encoder is None or batch.query is None or batch.query_mask is None:
            return None
        hidden = self.query_encoder(self.embedding(batch.query), batch.query_mask)
        return self.query_encoder.summary(hidden, batch.query_mask)


def build(
    architecture: Architecture,
    *,
    words: int,
    classes: int,
    with_query: bool,
    seed: int = 0,
    vectors: Tensor | None = None,
) -> Attentive:
    """A freshly initialised model: the same seed, the same parameters; the global random state is left as found."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Attentive(architecture, words=words, classes=classes, with_query=with_query)
    if vectors is not None:
        with torch.no_grad():
            model.embedding.weight.copy_(vectors)
    return model
