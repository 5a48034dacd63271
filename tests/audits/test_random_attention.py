"""Random attention: its draws decoded one by one, independent rows, marks held."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from attnaudit.audits.random_attention import random_attention
from attnaudit.core.simplex import random_alphas_by_example
from attnaudit.models.glass import Glass, glass_batch
from bilstm_cases import bilstm_case, run_audit
from cancelling_heads import CancellingHeads, one_text


def test_the_change_under_random_attention_equals_that_of_its_draws() -> None:
    model, record, _ = bilstm_case()
    found = run_audit("random_attention", draws=9)
    draws = random_alphas_by_example(record.mask, 9, 0, "random attention", record.batch.example_id)
    with torch.no_grad():
        each = torch.stack([model.decode(record, draws[:, k]) for k in range(9)], 1)  # type: ignore[attr-defined]
    probs = each.softmax(-1)
    moved = (probs - record.probs[:, None]).abs().sum(-1) / 2
    torch.testing.assert_close(found["", "tvd_mean"], moved.mean(1))
    np.testing.assert_allclose(found["", "tvd_median"], np.median(moved.numpy(), 1))
    np.testing.assert_allclose(
        found["", "tvd_mean_error"], np.std(moved.numpy(), 1, ddof=1) / 3, atol=1e-12
    )
    changed = (each.argmax(-1) != record.predicted[:, None]).double().mean(1)
    torch.testing.assert_close(found["", "flipped"], changed)
    sign = 1 - 2 * record.predicted[:, None]  # two classes: the odds are a difference of logits
    margin = sign * (each[..., 0] - each[..., 1])
    own = sign[:, 0] * (record.logits[:, 0] - record.logits[:, 1])
    torch.testing.assert_close(found["", "log_odds_mean"], (margin - own[:, None]).abs().mean(1))


def test_rows_are_drawn_independently() -> None:
    """Heads with opposite values cancel only as long as they attend alike."""
    model, batch = CancellingHeads(), one_text(9)
    found = random_attention(model, model.read(batch), {}, 0, draws=200)
    assert found["", "tvd_mean"] > 0.1


def test_weights_on_marks_stay_and_the_words_share_the_rest() -> None:
    record = Glass("oracle", dtype=torch.float64).read(glass_batch(6))
    content = record.content.clone()
    content[:, :2] = False  # the first two items are marks
    marked = replace(record, content=content, readout=None)
    seen: list[torch.Tensor] = []

    class Watched(Glass):
        def decode(self, record, alpha):  # type: ignore[no-untyped-def]
            seen.append(alpha)
            return super().decode(record, alpha)

    random_attention(Watched("oracle", dtype=torch.float64), marked, {}, 0, draws=5)
    drawn = torch.cat(seen, 1)
    assert drawn.shape[1] == 5
    own = record.alpha[:, None].expand_as(drawn)
    torch.testing.assert_close(drawn[..., :2], own[..., :2], rtol=0, atol=0)
    torch.testing.assert_close(drawn.sum(-1), own.sum(-1))
    assert (drawn[..., 2:8] != own[..., 2:8]).all()
