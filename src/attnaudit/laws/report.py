"""What came of the laws of a model, in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Law:
    """One law's outcome. `control` is a difference that must be there for the law to have been able to fail."""

    name: str
    error: float
    tolerance: float
    control: float | None = None
    hint: str = ""

    @property
    def verdict(self) -> str:
        if not self.error <= self.tolerance:  # so that NaN fails
            return "broken"
        if self.control is not None and not self.control > self.tolerance:
            return "cannot tell"
        return "kept"


@dataclass(frozen=True)
class LawReport:
    laws: tuple[Law, ...]

    @property
    def kept(self) -> bool:
        """True when no law is broken."""
        return all(law.verdict != "broken" for law in self.laws)

    @property
    def sentence(self) -> str:
        if not self.kept:
            return "Some laws are broken: audits of this model would mislead."
        if any(law.verdict == "cannot tell" for law in self.laws):
            return "No law is broken; some could not be tried on this model, because nothing moved."
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
                    f"{'':13s}the control did not move either, so the law could not have failed"
                )
        return "\n".join(lines)
