"""The outcome of a check of the laws, in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Law:
    """The outcome of one law.

    Attributes
    ----------
    name : str
    error : float
        How far the model is from keeping the law.
    tolerance : float
        The largest error that counts as kept.
    control : float, optional
        A difference that must exceed the tolerance for the law to be able to fail.
    hint : str
        The likely cause, if it is broken.

    Examples
    --------
    >>> Law("determinism", error=0.0, tolerance=0.0).verdict
    'kept'
    >>> Law("round trip", error=0.0, tolerance=1e-10, control=0.0).verdict
    'cannot tell'
    """

    name: str
    error: float
    tolerance: float
    control: float | None = None
    hint: str = ""

    @property
    def verdict(self) -> str:
        """kept, broken or cannot tell."""
        if not self.error <= self.tolerance:  # so that NaN fails
            return "broken"
        if self.control is not None and not self.control > self.tolerance:
            return "cannot tell"
        return "kept"


@dataclass(frozen=True)
class LawReport:
    """The outcomes of all laws; printed one per line."""

    laws: tuple[Law, ...]

    @property
    def kept(self) -> bool:
        """Is no law broken?"""
        return all(law.verdict != "broken" for law in self.laws)

    @property
    def sentence(self) -> str:
        """The report in one sentence."""
        if not self.kept:
            return "Some laws are broken: audits of this model would mislead."
        if any(law.verdict == "cannot tell" for law in self.laws):
            return "No law is broken; some could not be checked: nothing changed on this model."
        return "All laws are kept."

    def __str__(self) -> str:
        lines = []
        for law in self.laws:
            lines.append(
                f"{law.verdict:12s} {law.name}: error {law.error:.1e} (at most {law.tolerance:.0e})"
            )
            if law.verdict == "broken":
                lines.append(f"{'':13s}likely cause: {law.hint}")
            if law.verdict == "cannot tell":
                lines.append(
                    f"{'':13s}the control did not change either: the law could not have failed"
                )
        return "\n".join(lines)
