"""How much does each word contribute, layer by layer? (Shrikumar et al. 2017; by Captum)"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.core.module_state import modules_of
from attnaudit.core.option_limits import Number, limits
from attnaudit.measures import attribution

_SET_BY_CAPTUM = ("input", "output", "input_ref")


@limits(tolerance=Number(above=0))
def deeplift(
    model: AttentionModel,
    record: Record,
    seed: int,
    *,
    hold_attention: bool = False,
    tolerance: float = 0.01,
    signed: bool = False,
) -> Tensor:
    """Contributions to f, the logit of the predicted class minus the mean over the candidates.

    Captum has rules for activations that are modules and for nothing else. If the contributions do
    not add up to f(x) - f(baseline), as with recurrent layers or attention computed from the text,
    the measure does not apply to the batch.

    Parameters
    ----------
    hold_attention : bool, default False
        Keep the attention fixed and explain the rest.
    tolerance : float, default 0.01
        Largest gap allowed, relative to Σ|contributions| + |f(x) - f(baseline)|.
    signed : bool, default False
        Keep the sign.

    Returns
    -------
    Tensor (B,N)
        |contribution|; NaN for items that do not count.
    """
    from captum.attr import DeepLift

    words, empty = record.embeddings.detach(), attribution.baseline(record)
    examples = torch.arange(len(words), device=words.device)
    explained = _Contrast(model, record, hold_attention)
    try:
        with _clean(model), differentiating(), attribution.quietly():
            contributions, gap = DeepLift(explained).attribute(
                words.requires_grad_(),
                baselines=empty,
                additional_forward_args=(examples,),
                return_convergence_delta=True,
            )
    except RuntimeError as error:
        if "more than once" not in str(error):
            raise
        raise NotApplicable(
            "the model uses one activation module twice, which Captum's DeepLIFT cannot follow"
        ) from error
    per_token, gap = contributions.detach().sum(-1), gap.detach()
    difference = (per_token.sum(-1) - gap).abs()
    bound = tolerance * (per_token.abs().sum(-1) + difference) + 64 * torch.finfo(words.dtype).eps
    gap = gap.abs()
    if (gap > bound).any():
        worst = int((gap - bound).argmax())
        raise NotApplicable(
            f"the contributions do not add up: in {int((gap > bound).sum())} of {len(gap)} texts, "
            f"by up to {float(gap[worst]):.2g} where they sum to "
            f"{float(per_token[worst].sum()):.2g}. Captum's DeepLIFT has no rule for some "
            "operation of this model, such as a recurrent layer or attention computed from the text"
            + ("" if hold_attention else "; deeplift:hold_attention=true leaves the latter out")
        )
    return attribution.to_scores(per_token, record, signed)


class _Contrast(nn.Module):
    """f (M,) of embeddings (M,T,E), as a module on which Captum can set its hooks."""

    def __init__(self, model: AttentionModel, record: Record, hold_attention: bool) -> None:
        super().__init__()
        # Leaves only, each once: Captum sets its hooks again whenever it finds a module again.
        leaves = [module for module in modules_of(model) if not any(module.children())]
        self.parts = nn.ModuleList(dict.fromkeys(leaves))
        self.read, self.decode, self.record, self.hold = (
            model.read,
            model.decode,
            record,
            hold_attention,
        )

    def forward(self, embeddings: Tensor, examples: Tensor) -> Tensor:
        batch = self.record.batch.rows(examples)
        fresh = self.read(batch, embeddings)
        logits = self.decode(fresh, self.record.alpha[examples]) if self.hold else fresh.logits
        allowed = (
            torch.ones_like(logits, dtype=torch.bool) if batch.classes is None else batch.classes
        )
        chosen = logits.gather(1, self.record.predicted[examples, None])[:, 0]
        return chosen - masking.mean(logits, allowed)


class _clean:
    """Remove the attributes that Captum leaves on modules which the gradient never reached."""

    def __init__(self, model: object) -> None:
        self.attributes = [
            (module, {name: module.__dict__.get(name, self) for name in _SET_BY_CAPTUM})
            for module in modules_of(model)
        ]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        for module, before in self.attributes:
            for name, value in before.items():
                if value is not self:
                    module.__dict__[name] = value
                else:
                    module.__dict__.pop(name, None)
