"""The prompt of a question with sources, in parts that are tokenised one by one.

Each source is a line of its own and is tokenised by itself, so that leaving it out changes nothing
else: the prompt without a source is the prompt without its tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.citations import (
    BOTH,
    FIRST_SOURCE,
    MARKS,
    REST,
    SOURCES,
    START,
    WORDS,
    CitationExample,
)
from attnaudit.data.citations.batch import EncodedPrompt
from attnaudit.models.huggingface.generation.word_items import MOST_WORDS, words_of_tokens

INSTRUCTION = "Answer the question with a few words from the sources."
_SLOT = "SOURCES_AND_QUESTION"  # where they stand in a rendered chat template


@dataclass(frozen=True)
class Prompt:
    """How sources and a question become a prompt.

    Parameters
    ----------
    tokenizer
        Of the model.
    is_encoder
        The prompt is read by an encoder, and the answer begins the decoder's text.
    instruction
        Its first line.
    uses_chat
        Whether to use the tokenizer's chat template.
    items
        "sources", "words" (every word of a source is an item), or "both" (sources are items, and
        the item of each token as a word is kept, too).
    """

    tokenizer: Any
    is_encoder: bool
    instruction: str = INSTRUCTION
    uses_chat: bool = False
    items: str = SOURCES

    @classmethod
    def of(
        cls,
        tokenizer: Any,
        *,
        is_encoder: bool,
        instruction: str,
        chat: bool | None,
        items: str = SOURCES,
    ) -> Prompt:
        """With the chat template if the tokenizer has one, unless `chat` says otherwise."""
        has_template = bool(getattr(tokenizer, "chat_template", None))
        if chat and not has_template:
            raise InputError("chat=True needs a tokenizer with a chat template; this one has none.")
        if items not in (SOURCES, WORDS, BOTH):
            raise InputError(f'items must be "{SOURCES}", "{WORDS}" or "{BOTH}", got {items!r}.')
        if items != SOURCES and not getattr(tokenizer, "is_fast", False):
            raise InputError(
                f'items="{items}" needs a fast tokenizer, which says where its tokens stand in a '
                "text."
            )
        uses_chat = has_template if chat is None else chat
        return cls(tokenizer, is_encoder, instruction, uses_chat, items)

    def encode(self, example: CitationExample, *, with_question: bool = True) -> EncodedPrompt:
        """The tokens of an example; without the question, its line is there but empty."""
        before, after = self._frame()
        ids, items = self._trusted(before, first=True)
        sources, words = [-1] * len(ids), list(items)
        next_word = FIRST_SOURCE
        for number, source in enumerate(example.sources):
            line, word_of = self._source(f"{source.strip()}\n")
            ids += line
            items += [FIRST_SOURCE + number] * len(line)
            words += [REST if word < 0 else next_word + word for word in word_of]
            sources += [number] * len(line)
            next_word += len(source.split())
        self._check_words(example, next_word - FIRST_SOURCE)
        question = f" {example.question.strip()}" if with_question else ""
        for part in (
            self._trusted("\nQuestion:"),
            _rest(self._text(question)),
            self._trusted(after),
        ):
            ids, items, words = ids + part[0], items + part[1], words + part[1]
        if self.is_encoder and (end := getattr(self.tokenizer, "eos_token_id", None)) is not None:
            ids, items, words = [*ids, end], [*items, MARKS], [*words, MARKS]
        for level in (items, words):
            level[0] = START if level[0] < FIRST_SOURCE else level[0]
        sources += [-1] * (len(ids) - len(sources))
        return EncodedPrompt(
            ids,
            words if self.items == WORDS else items,
            sources,
            *self._answer(example),
            words=words if self.items == BOTH else None,
        )

    def spell(self, example: CitationExample) -> list[str]:
        """The text of each source, or of each of their words."""
        if self.items != WORDS:
            return list(example.sources)
        return [word for source in example.sources for word in source.split()]

    def _source(self, line: str) -> tuple[list[int], list[int]]:
        """Tokens of a source, and the word of each, from 0; -1 for the end of the line."""
        if self.items == SOURCES:
            ids = self._text(line)
            return ids, [0] * len(ids)
        encoded = self.tokenizer(
            line, add_special_tokens=False, split_special_tokens=True, return_offsets_mapping=True
        )
        marks = self._marks()
        words = words_of_tokens(line, encoded["offset_mapping"])
        pairs = [
            (token, word)
            for token, word in zip(encoded["input_ids"], words, strict=True)
            if token not in marks
        ]
        return [token for token, _ in pairs], [word for _, word in pairs]

    def _check_words(self, example: CitationExample, count: int) -> None:
        if self.items != SOURCES and count > MOST_WORDS:
            raise InputError(
                f"{example.where or example.example_id}: the sources have {count:,} words, and "
                f"every word is left out once: at most {MOST_WORDS} can be audited. Audit the "
                "sources first (items='sources'), then the words of those that were used."
            )

    def _frame(self) -> tuple[str, str]:
        """The trusted text before the sources and after the question."""
        if not self.uses_chat:
            return f"{self.instruction}\n\n", "" if self.is_encoder else "\nAnswer:"
        message = {"role": "user", "content": f"{self.instruction}\n\n{_SLOT}"}
        rendered = self.tokenizer.apply_chat_template(
            [message], tokenize=False, add_generation_prompt=True
        )
        before, slot, after = rendered.partition(_SLOT)
        if not slot or _SLOT in after:
            raise InputError(
                "The tokenizer's chat template does not show the user's message once and as it is. "
                "Use chat=False for a plain prompt."
            )
        return before, after

    def _answer(self, example: CitationExample) -> tuple[list[int], list[bool]]:
        """Tokens of the answer; those of its span are the target."""
        space = "" if self.uses_chat or self.is_encoder else " "
        answer = example.answer.strip()
        head, span, tail = answer.partition(example.span) if example.span else ("", answer, "")
        if head:
            head = f"{space}{head.rstrip()}"
            span = f" {span}" if example.answer[len(head) - len(space) :][:1] == " " else span
        else:
            span = f"{space}{span}"
        parts = [self._text(part) for part in (head, span, tail)]
        target = [place == 1 for place, part in enumerate(parts) for _ in part]
        return [token for part in parts for token in part], target

    def _trusted(self, text: str, *, first: bool = False) -> tuple[list[int], list[int]]:
        """Tokens of our own text, in which a chat template names special tokens."""
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"] if text else []
        start = getattr(self.tokenizer, "bos_token_id", None)
        if first and start is not None and not self.is_encoder and ids[:1] != [start]:
            ids = [start, *ids]  # without it, attention sinks into a word
        marks = self._marks()
        return ids, [MARKS if token in marks else REST for token in ids]

    def _text(self, text: str) -> list[int]:
        """Tokens of a text from outside, which cannot name special tokens."""
        if not text:
            return []
        options = {"split_special_tokens": True} if _can_split(self.tokenizer) else {}
        ids = self.tokenizer(text, add_special_tokens=False, **options)["input_ids"]
        marks = self._marks()
        return [token for token in ids if token not in marks]

    def _marks(self) -> set[int]:
        """The special tokens; an unknown word is a word."""
        return {*self.tokenizer.all_special_ids} - {getattr(self.tokenizer, "unk_token_id", None)}


def _can_split(tokenizer: Any) -> bool:
    """Whether special tokens in a text can be read as plain text."""
    return bool(getattr(tokenizer, "is_fast", False))


def _rest(ids: list[int]) -> tuple[list[int], list[int]]:
    return ids, [REST] * len(ids)
