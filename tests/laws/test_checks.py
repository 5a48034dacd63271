"""The package's own models keep the laws; each broken model breaks the expected one."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from attnaudit.core.contract import Batch, Record
from attnaudit.core.item_deletion import leave_out_by_reading
from attnaudit.laws.checks import check_model
from attnaudit.laws.report import LawReport
from attnaudit.models import Architecture, Attentive, build
from attnaudit.models.glass import KINDS, Glass, Kind, glass_batch

DTYPES = [torch.float32, torch.float64]
BATCH = glass_batch(6)


def with_verdict(report: LawReport, verdict: str) -> list[str]:
    return [law.name.split(":")[0] for law in report.laws if law.verdict == verdict]


def broken(model: object, batch: Batch = BATCH) -> list[str]:
    """The laws the report calls broken; the text names each with its likely cause."""
    report = check_model(model, batch)  # type: ignore[arg-type]
    names = with_verdict(report, "broken")
    assert report.kept == (not names)
    assert str(report).count("likely cause: ") == len(names)
    return names


def text(model: object, batch: Batch = BATCH) -> str:
    return str(check_model(model, batch))  # type: ignore[arg-type]


# Models that keep the laws


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["oracle", "shifted"])
def test_glass_models_keep_every_law_and_every_control_moves(
    kind: Kind, dtype: torch.dtype
) -> None:
    report = check_model(Glass(kind, dtype=dtype), BATCH)
    assert report.kept
    assert with_verdict(report, "kept") == [law.name.split(":")[0] for law in report.laws]


@pytest.mark.parametrize("dtype", DTYPES)
def test_where_attention_cannot_matter_the_laws_about_it_cannot_tell(dtype: torch.dtype) -> None:
    report = check_model(Glass("inert", dtype=dtype), BATCH)
    assert report.kept
    assert with_verdict(report, "cannot tell") == ["1 round trip", "7 readout"]
    assert str(report).count("the control did not change either") == 2


def attentive(dtype: torch.dtype, with_query: bool) -> tuple[Attentive, Batch]:
    """Parameters so large that attention is far from uniform."""
    model = build(
        Architecture(encoder="bilstm:hidden=6", embedding=5),
        words=40,
        classes=4,
        with_query=with_query,
    )
    draw = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.7, generator=draw)
        model.scorer.score.weight.mul_(4)
    length = torch.tensor([[7], [3], [9], [5], [4]])
    mask = torch.arange(9) < length
    tokens = torch.randint(5, 40, (5, 9), generator=draw) * mask
    query_mask = torch.arange(4) < torch.tensor([[4], [2], [1], [3], [2]])
    query = torch.randint(5, 40, (5, 4), generator=draw) * query_mask
    names = tuple("abcde")
    batch = (
        Batch(names, tokens, mask, query, query_mask) if with_query else Batch(names, tokens, mask)
    )
    return model.to(dtype).eval(), batch


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("with_query", [False, True])
def test_an_attentive_model_keeps_every_law(dtype: torch.dtype, with_query: bool) -> None:
    model, batch = attentive(dtype, with_query)
    spread = model.read(batch).alpha.amax(-1) * batch.mask.sum(-1, keepdim=True)
    assert (spread > 1.3).all(), "attention is too even to show anything"
    report = check_model(model, batch)
    assert with_verdict(report, "kept") == [law.name.split(":")[0] for law in report.laws], str(
        report
    )


def test_padding_of_the_query_does_not_reach_an_attentive_model() -> None:
    model, batch = attentive(torch.float64, True)
    assert batch.query is not None
    assert batch.query_mask is not None
    clean = model.read(batch)
    dirty = model.read(replace(batch, query=batch.query.masked_fill(~batch.query_mask, 17)))
    torch.testing.assert_close(dirty.logits, clean.logits, rtol=0, atol=1e-12)
    for at in range(5):
        alone = batch.rows(torch.tensor([at]))
        width = int(batch.query_mask[at].sum())
        short = replace(
            alone,
            query=batch.query[at : at + 1, :width],
            query_mask=batch.query_mask[at : at + 1, :width],
        )
        torch.testing.assert_close(
            model.read(short).logits[0], clean.logits[at], rtol=0, atol=1e-12
        )


def test_the_query_changes_the_answer_of_an_attentive_model() -> None:
    model, batch = attentive(torch.float64, True)
    assert batch.query is not None
    other = model.read(replace(batch, query=batch.query.roll(1, 0)))
    assert (other.logits - model.read(batch).logits).abs().max() > 0.1


# Models that break one


class Wrapped:
    """A model that keeps the laws, to be broken in one place by each class below."""

    def __init__(self, kind: Kind = "oracle") -> None:
        self.inner = Glass(kind, dtype=torch.float64)

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        return self.inner.read(batch, embeddings)

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return self.inner.decode(record, alpha)

    def with_hidden(self, record: Record, hidden: Tensor) -> Record:
        """The record had the items been other vectors."""
        changed = replace(record, hidden=hidden, readout=hidden + self.inner._bias())
        return replace(changed, logits=self.inner.decode(changed, record.alpha))


class NoReadout(Wrapped):
    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        return replace(super().read(batch, embeddings), readout=None)


def test_the_wrapper_itself_keeps_every_law() -> None:
    assert broken(Wrapped()) == broken(NoReadout()) == []


def test_not_a_number_is_found() -> None:
    class Broken(NoReadout):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            return replace(record, logits=record.logits * math.nan)

    assert broken(Broken())[:2] == ["finite", "1 round trip"]
    assert "an empty row or an overflow" in text(Broken())


def test_1_decode_that_starts_elsewhere_than_read() -> None:
    class Broken(NoReadout):
        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            return super().decode(record, alpha) + 1e-6

    assert broken(Broken()) == ["1 round trip"]
    assert "likely cause: decode does not continue from the same place" in text(Broken())


def test_1_decode_that_mixes_up_alternatives() -> None:
    class Broken(NoReadout):
        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            logits = super().decode(record, alpha)
            return logits.flip(1) if alpha.dim() == 4 else logits

    assert broken(Broken()) == ["1 round trip"]
    assert "several alternatives are mixed up" in text(Broken())


def test_1_decode_that_keeps_the_first_alternative_but_mixes_up_the_others() -> None:
    class Broken(NoReadout):
        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            logits = super().decode(record, alpha)
            return (
                torch.cat([logits[:, :1], logits[:, 1:].flip(1)], 1) if alpha.dim() == 4 else logits
            )

    assert broken(Broken()) == ["1 round trip"]


def test_1_decode_that_gives_nan_for_several_alternatives() -> None:
    class Broken(NoReadout):
        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            logits = super().decode(record, alpha)
            return logits * math.nan if alpha.dim() == 4 else logits

    assert broken(Broken()) == ["1 round trip"]


def test_2_rows_that_do_not_sum_to_1() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            alpha = 1.01 * record.alpha
            return replace(record, alpha=alpha, logits=self.decode(record, alpha))

    assert broken(Broken()) == ["2 simplex"]
    assert (
        "likely cause: padding is attended, or what is returned is scores rather than weights"
        in text(Broken())
    )


def test_2_negative_weights() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            shift = torch.zeros_like(record.alpha)
            shift[..., 0], shift[..., 1] = -1.5, 1.5
            return replace(
                record, alpha=record.alpha + shift, logits=self.decode(record, record.alpha + shift)
            )

    assert broken(Broken()) == ["2 simplex"]


def test_2_weight_outside_the_mask() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            mask = record.mask.clone()
            mask[..., 0] = False
            return replace(record, mask=mask, content=mask[:, 0])

    assert broken(Broken()) == ["2 simplex"]


def test_2_content_that_cannot_be_attended() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            return replace(record, content=torch.ones_like(record.content))

    assert broken(Broken()) == ["2 simplex"]


def test_2_a_row_with_an_empty_mask_is_exempt() -> None:
    empty = replace(BATCH, mask=BATCH.mask & (torch.arange(6) != 3)[:, None])
    assert broken(Glass("oracle", dtype=torch.float64), empty) == []


def test_3_decode_that_ignores_alpha() -> None:
    class Broken(NoReadout):
        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            same = super().decode(record, record.alpha)
            return same[:, None].expand(-1, alpha.shape[1], -1) if alpha.dim() == 4 else same

    assert broken(Broken()) == ["3 differentiable in alpha"]
    assert with_verdict(check_model(Broken(), BATCH), "cannot tell") == ["1 round trip", "4 purity"]


def test_3_embeddings_that_are_detached() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            return super().read(batch, None if embeddings is None else embeddings.detach())

    assert broken(Broken()) == ["3 differentiable in embeddings"]
    assert (
        "likely cause: the graph is cut: detach, no_grad or inference_mode, "
        "or embeddings= is not used" in text(Broken())
    )


def test_3_embeddings_that_are_not_used() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            return super().read(batch)

    assert broken(Broken()) == ["3 differentiable in embeddings"]


def test_3_decode_without_a_graph() -> None:
    class Broken(Wrapped):
        @torch.no_grad()
        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            return super().decode(record, alpha)

    assert broken(Broken()) == ["3 differentiable in alpha", "3 differentiable in embeddings"]


def test_3_reading_in_inference_mode() -> None:
    class Broken(Wrapped):
        @torch.inference_mode()
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            return super().read(batch, embeddings)

    assert "3 differentiable in embeddings" in broken(Broken())


class WithModule(Wrapped):
    """Holds a module, whose state the model must leave as found."""

    def __init__(self) -> None:
        super().__init__()
        self.module = nn.Linear(1, 1).eval()


def test_4_a_mode_that_is_changed() -> None:
    class Broken(WithModule):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            self.module.train()
            return super().read(batch, embeddings)

    assert broken(WithModule()) == []
    assert broken(Broken()) == ["4 purity"]
    assert (
        "likely cause: a hook, a mode or an attention implementation is not restored; "
        "use try/finally" in text(Broken())
    )


def test_4_a_hook_left_behind_after_an_exception() -> None:
    class Broken(WithModule):
        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            hook = self.module.register_forward_hook(lambda *_: None)
            logits = super().decode(record, alpha)
            hook.remove()
            return logits

    assert broken(Broken()) == ["4 purity"]


@pytest.mark.parametrize("what", ["gradient", "parameter", "requires_grad"])
def test_4_a_parameter_that_is_touched(what: str) -> None:
    class Broken(WithModule):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            weight = self.module.weight
            if what == "gradient":
                weight.grad = torch.zeros_like(weight)
            elif what == "parameter":
                with torch.no_grad():
                    weight += 1
            else:
                weight.requires_grad_(False)
            return super().read(batch, embeddings)

    assert broken(Broken()) == ["4 purity"]


def test_4_a_module_that_is_the_model_itself_is_watched_too() -> None:
    class Broken(Attentive):
        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            self.train()
            return super().decode(record, alpha)

    model = Broken(
        Architecture(encoder="bilstm:hidden=3", embedding=4), words=50, classes=2, with_query=False
    )
    assert broken(model.double().eval()) == ["4 purity"]


def test_5_logits_that_depend_on_the_width_of_the_batch() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            assert record.hidden is not None
            return self.with_hidden(record, record.hidden * batch.tokens.shape[1])

    assert broken(Broken()) == ["5 padding and batch independence of logits"]
    assert "likely cause: the padding mask does not reach the encoder or the attention" in text(
        Broken()
    )


def test_5_logits_that_depend_on_tokens_in_the_padding() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            assert record.hidden is not None
            leaked = (batch.tokens * ~batch.mask).sum(-1)[:, None, None] * 1e-3
            return self.with_hidden(record, record.hidden + leaked * torch.tensor([1.0, 0.0]))

    assert broken(Broken()) == ["5 padding and batch independence of logits"]


def test_5_a_layer_that_mixes_examples() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            assert record.hidden is not None
            return self.with_hidden(record, record.hidden + record.hidden[:, :3].mean((0, 1)))

    assert broken(Broken()) == ["5 padding and batch independence of logits"]
    assert "a layer mixes examples (batch norm)" in text(Broken())


def test_5_attention_that_depends_on_the_width_of_the_batch() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            alpha = record.alpha ** (batch.tokens.shape[1] / 10)
            return replace(record, alpha=alpha / alpha.sum(-1, keepdim=True))

        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            return super().decode(record, alpha)

    names = broken(Broken())
    assert "5 padding and batch independence of alpha" in names


def test_5_an_example_that_fails_when_it_is_alone() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            return replace(record, logits=record.logits * math.nan) if len(batch) == 1 else record

    assert broken(Broken()) == ["5 padding and batch independence of logits"]


def test_5_padding_of_the_query_counts_as_padding() -> None:
    class Broken(Attentive):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            assert batch.query_mask is not None
            unmasked = replace(batch, query_mask=torch.ones_like(batch.query_mask))
            return replace(super().read(unmasked, embeddings), batch=batch)

    kept, batch = attentive(torch.float64, True)
    model = Broken(kept.architecture, words=40, classes=4, with_query=True).double().eval()
    model.load_state_dict(kept.state_dict())
    names = broken(model, batch)
    assert set(names) == {
        "5 padding and batch independence of logits",
        "5 padding and batch independence of alpha",
    }


def test_6_attention_that_is_never_quite_the_same() -> None:
    class Broken(Wrapped):
        calls = 0

        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            self.calls += 1
            return replace(record, alpha=record.alpha * (1 + self.calls * 1e-13))

    assert broken(Broken()) == ["6 determinism"]
    assert "likely cause: dropout or sampling is on: call eval()" in text(Broken())


def test_6_dropout_left_on() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            assert record.hidden is not None
            return self.with_hidden(record, nn.functional.dropout(record.hidden + 1, 0.5))

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        assert "6 determinism" in broken(Broken())


def test_7_a_readout_that_is_off() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            assert record.readout is not None
            return replace(record, readout=record.readout + 1e-6)

    assert broken(Broken()) == ["7 readout"]
    assert (
        "likely cause: the output is not linear in the attended items; leave readout=None"
        in text(Broken())
    )


def test_7_a_readout_of_an_output_that_is_not_linear() -> None:
    class Broken(Wrapped):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            assert record.readout is not None
            return replace(record, readout=record.readout.tanh(), logits=record.logits.tanh())

        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            return super().decode(record, alpha).tanh()

    assert broken(Broken()) == ["7 readout"]


class LeavesOut(Wrapped):
    def leave_out(self, record: Record) -> Tensor:
        return leave_out_by_reading(self, record)


def test_8_leave_out_that_blanks_the_word_and_does_not_delete_it() -> None:
    class Broken(Wrapped):
        def leave_out(self, record: Record) -> Tensor:
            batch = record.batch
            blanked = [
                self.read(
                    replace(batch, tokens=batch.tokens.index_fill(1, torch.tensor([item]), 0))
                ).logits
                for item in range(batch.tokens.shape[1])
            ]
            return torch.stack(blanked, 1)

    assert broken(LeavesOut()) == []
    assert broken(Broken()) == ["8 leave_out equals reading again without the item"]
    assert "likely cause: leave_out must delete the token and close the gap, not blank it" in text(
        Broken()
    )


def test_8_leave_out_that_gives_no_answer_where_there_is_one() -> None:
    class Broken(LeavesOut):
        def leave_out(self, record: Record) -> Tensor:
            return super().leave_out(record) * math.nan

    assert broken(Broken()) == ["8 leave_out equals reading again without the item"]


def test_8_leave_out_some_that_confuses_its_items() -> None:
    class Some(LeavesOut):
        def leave_out_some(self, record: Record, wanted: Tensor) -> Tensor | None:
            return self.leave_out(record).masked_fill(~wanted[..., None], math.nan)

    class NeedsReading(LeavesOut):
        def leave_out_some(self, record: Record, wanted: Tensor) -> Tensor | None:
            return None

    class Broken(LeavesOut):
        def leave_out_some(self, record: Record, wanted: Tensor) -> Tensor | None:
            return self.leave_out(record).roll(1, 1)

    assert broken(Some()) == []
    assert broken(NeedsReading()) == []
    assert broken(Broken()) == ["8 leave_out equals reading again without the item"]


def test_8_cannot_tell_where_no_word_matters() -> None:
    model = LeavesOut()
    model.inner = Glass("oracle", strength=0.0, dtype=torch.float64)
    assert "8 leave_out equals reading again without the item" in with_verdict(
        check_model(model, BATCH), "cannot tell"
    )


def test_8_cannot_tell_where_every_text_is_one_word() -> None:
    one = Batch(("a", "b"), torch.tensor([[1], [2]]), torch.ones(2, 1, dtype=torch.bool))
    assert "8 leave_out equals reading again without the item" in with_verdict(
        check_model(LeavesOut(), one), "cannot tell"
    )


def test_all_glass_kinds_are_tried_here() -> None:
    assert KINDS == ("oracle", "inert", "shifted")
