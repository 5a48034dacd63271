"""Data and scripts inside a page.

Nothing in the data can end its element, and the policy lets only our scripts run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

import numpy as np
from markupsafe import Markup

# Allowed in a JSON string, but not in an HTML script element; U+2028/9 end a line of JavaScript.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
# Turn the writing direction of everything after them, numbers of ours included.
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
# Between these, the powers of ten by which a number is scaled are exact.
_LEAST_SCALED, _MOST_SCALED = 1e-12, 1e12
_NEAR_HALF = 1e-6  # of a step: far more than the scaling can err
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


def as_json(content: Any) -> Markup:
    """Compact JSON for a `<script type="application/json">`; NaN becomes null."""
    try:
        text = _dumps(content)
    except (TypeError, ValueError):  # NaN, infinity or numpy in it
        text = _dumps(_plain(content))
    if text.isascii():  # known without looking, and three searches are quicker than the pattern
        for character in "<>&":
            text = text.replace(character, f"\\u{ord(character):04x}")
        return Markup(text)
    return Markup(_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


# Made once: `json.dumps` makes one for every call that has options.
_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def with_visible_turns(value: Any) -> Any:
    """A text with characters that turn the writing direction as escapes; all else unchanged.

    Examples
    --------
    >>> with_visible_turns("data\u202egnp.csv: 0.25")
    'data\\\\u202egnp.csv: 0.25'
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _TURNING.sub(lambda match: f"\\u{ord(match[0]):04x}", value)


def static(name: str) -> Markup:
    """One of our own scripts as text; name: its path below static/."""
    return Markup(files("attnaudit.report").joinpath("static", name).read_text(encoding="utf-8"))


def policy(scripts: Iterable[str]) -> Markup:
    """The Content-Security-Policy under which these inline scripts run, and nothing else."""
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return Markup(_POLICY.format(scripts=allowed or "'none'"))


def packed(values: Any, dtype: str = "<f4") -> str:
    """Numbers as base64 of their bytes: a third of the length of their digits, without loss."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode("ascii")


def rounded(value: Any, digits: int = 4) -> float | None:
    """The value with so many significant digits; None for NaN and infinity, which JSON lacks.

    Examples
    --------
    >>> rounded(0.123456), rounded(float("nan"))
    (0.1235, None)
    """
    number = float(value)
    return float(f"{number:.{digits}g}") if math.isfinite(number) else None


def rounded_all(values: np.ndarray, digits: int = 4) -> list[float | None]:
    """`rounded` of each of many numbers: the same in less time.

    A number is scaled to an integer of so many digits, and divided again. Both integers are exact
    and the division rounds correctly, as reading the digits does; the few numbers for which the
    scaling could round to the other side are rounded one by one.

    Parameters
    ----------
    values : (n,)
    digits : significant digits, at most 9.

    Examples
    --------
    >>> rounded_all(np.array([0.123456, np.nan, -2.00005e7, 0.0]))
    [0.1235, None, -20000000.0, 0.0]
    """
    numbers = np.asarray(values, dtype=float)
    sizes = np.abs(numbers)
    simple = (sizes > _LEAST_SCALED) & (sizes < _MOST_SCALED)  # not for NaN
    scaled = np.where(simple, sizes, 1.0)
    places = digits - 1 - np.floor(np.log10(scaled)).astype(int)
    up, down = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)
    scaled = scaled * up / down
    whole = np.rint(scaled)
    simple &= np.abs(scaled - np.floor(scaled) - 0.5) > _NEAR_HALF
    simple &= (scaled >= 10 ** (digits - 1)) & (scaled < 10**digits)
    result: list[float | None] = np.copysign(
        np.where(sizes, whole * down / up, 0), numbers
    ).tolist()
    for index in np.flatnonzero(~simple & (sizes != 0)).tolist():
        result[index] = rounded(numbers[index], digits)
    return result


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _plain(content: Any) -> Any:
    if isinstance(content, dict):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    if isinstance(content, np.ndarray):
        return _plain(content.tolist())
    if isinstance(content, np.generic):
        return _plain(content.item())
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content
