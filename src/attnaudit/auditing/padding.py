"""Reject, before an audit, a model whose answers depend on how texts are padded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from attnaudit.auditing.battery import Battery
from attnaudit.audits.declaration import declaration_of
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.errors import InputError
from attnaudit.laws.padding_effect import PaddingEffect, is_padded, padding_effect, shortened_pair

_CURE = (
    "Pass the mask to every layer that mixes tokens, and pack what a recurrent network reads "
    "(nn.utils.rnn.pack_padded_sequence); attnaudit.check_model(model, batch) then reports law 5 "
    "as kept."
)


def check_padding(battery: Battery, batches: Iterable[Batch]) -> None:
    """Read some texts of the first padded batch without their padding: nothing may change.

    If no batch is padded, but an audit leaves out different numbers of words, a text without some
    of its words is read next to itself instead, as that audit will.

    Parameters
    ----------
    battery : its models are in evaluation mode and on its device.
    batches : of the audit; gone through up to the first that is padded.
    """
    shortening = [
        name for name, audit in battery.audits.items() if declaration_of(audit).shortens_texts
    ]
    batch, is_given = _padded_batch(batches, shorten=bool(shortening))
    if batch is None:
        return
    if battery.device is not None:
        batch = batch.to(battery.device)
    models: dict[str, AttentionModel] = {"the model": battery.model}
    models |= {f"other_models[{index}]": each for index, each in enumerate(battery.other_models)}
    for name, model in models.items():
        effect = padding_effect(model, batch)
        if effect is not None:
            raise InputError(_message(name, effect, shortening, is_given=is_given))


def _padded_batch(batches: Iterable[Batch], *, shorten: bool) -> tuple[Batch | None, bool]:
    """The first padded batch, and whether it is one of those given; or a shortened pair."""
    made = None
    for batch in batches:
        if is_padded(batch):
            return batch, True
        if shorten and made is None:
            made = shortened_pair(batch)
    return made, False


def _message(
    model: str, effect: PaddingEffect, shortening: Sequence[str], *, is_given: bool
) -> str:
    """What changed, what was expected, and what to do."""
    changes = [f"its class probabilities change by up to {effect.probability:.2g}"]
    if math.isfinite(effect.weight):
        changes.append(f"its attention weights by up to {effect.weight:.2g}")
    change = f"{' and '.join(changes)}; expected no change beyond rounding"
    if effect.by_other_texts:
        return (
            f"What {model} says of a text depends on the other texts of its batch: when "
            f"{effect.example_id} is read alone, {change}. The numbers of an audit would depend on "
            "how texts are batched. Let no layer mix texts, such as a recurrent network that "
            "takes the texts of a batch for the tokens of one text (batch_first=True)."
        )
    names = ", ".join(shortening)
    if not is_given:
        return (
            f"What {model} says of a text depends on its padding. No text is padded here, but some "
            f"audits ({names}) read texts without some of their words next to longer ones: when "
            f"the padding of such a part of {effect.example_id} is cut off, {change}. {_CURE} "
            f"Or audit without {names} (audits=[…])."
        )
    without = f", without the audits that shorten texts ({names})" if shortening else ""
    return (
        f"What {model} says of a text depends on its padding: when the padding of "
        f"{effect.example_id} is cut off, {change}. The numbers of an audit would depend on how "
        f"texts are batched. {_CURE} A model that cannot be changed can be audited in batches of "
        f"texts of equal length, such as one text each{without}."
    )
