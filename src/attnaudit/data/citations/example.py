"""One question with the sources that a model is given, and its answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from attnaudit.core.errors import InputError


@dataclass(frozen=True)
class CitationExample:
    """A question, the sources to answer it from, and the answer.

    Parameters
    ----------
    example_id : str
        A name; random draws and results are keyed by it.
    sources : tuple of str
        Sentences or longer passages, in the order in which the model reads them.
    question : str
    answer : str
        Empty if the model is to generate it.
    gold : tuple of int, optional
        The sources that are needed, counted from 0; None if that is unknown.
    span : str
        The part of the answer that is asked about; the whole answer if empty.
    where : str
        File and line, for errors.

    Examples
    --------
    >>> example = CitationExample("a", ("Mia lives in Rome.", "Bo lives in Oslo."), "Where is Bo?",
    ...                           "Oslo", gold=(1,))
    >>> example.reordered((1, 0)).gold
    (0,)
    """

    example_id: str
    sources: tuple[str, ...]
    question: str
    answer: str = ""
    gold: tuple[int, ...] | None = None
    span: str = ""
    where: str = ""

    def __post_init__(self) -> None:
        where = self.where or f"example {self.example_id!r}"
        if not self.sources or not all(
            isinstance(text, str) and text.strip() for text in self.sources
        ):
            raise InputError(
                f"{where}: sources must be one or more texts that are not empty, got "
                f"{str(self.sources)[:80]}."
            )
        if not self.question.strip():
            raise InputError(f"{where}: the question is empty.")
        if self.gold is not None and not all(0 <= n < len(self.sources) for n in self.gold):
            raise InputError(
                f"{where}: gold must hold numbers of sources from 0 to {len(self.sources) - 1}, "
                f"got {list(self.gold)}."
            )
        if self.span and self.span not in self.answer:
            raise InputError(
                f"{where}: span must be a part of the answer {self.answer[:60]!r}, got "
                f"{self.span[:60]!r}."
            )

    @property
    def label(self) -> None:
        """None: questions have no classes to draw samples by."""
        return None

    def reordered(self, order: tuple[int, ...]) -> CitationExample:
        """The same question with source order[i] at place i."""
        place = {source: index for index, source in enumerate(order)}
        gold = None if self.gold is None else tuple(sorted(place[n] for n in self.gold))
        return replace(self, sources=tuple(self.sources[n] for n in order), gold=gold)
