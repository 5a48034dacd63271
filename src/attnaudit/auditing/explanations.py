"""Which explanations are compared, and the audits that judge them as they judge attention."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from attnaudit.auditing.given_explanation import GivenExplanation
from attnaudit.auditing.selection import Choice, choice_name
from attnaudit.audits import AUDITS
from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.data.given_scores import read_given_scores
from attnaudit.measures import EXPLANATIONS, MEASURES
from attnaudit.results.audit_names import resolve_audit_name

Functions = dict[str, Callable[..., Any]]
ExplanationChoice = str | Sequence[Choice] | Mapping[str, Any] | None
ALWAYS = ("attention", "random")
RANKED_BY = ("top_words", "polarity")  # audits with the option `rankings`
AGREEMENT = "agreement:of=leave_one_out"


def find_explanations(choices: ExplanationChoice) -> Functions:
    """Name -> measure of each explanation to compare; attention and random are always among them.

    Parameters
    ----------
    choices : "all" for `measures.EXPLANATIONS`; names of measures, or functions, of which "all" may
        be one; a mapping of names to measures, in which "all" may be a name; None for none.

    Examples
    --------
    >>> list(find_explanations(["leave_one_out"]))
    ['attention', 'leave_one_out', 'random']
    """
    if choices is None:
        return {}
    found: Functions = {"attention": MEASURES["attention"]}
    for name, choice in _named(choices):
        if "+" in name:
            raise InputError(
                f"The name of an explanation cannot hold a +, got {name!r}. Choose another name."
            )
        if name in found and found[name] is not choice and name not in MEASURES:
            raise InputError(f"There are two explanations {name!r}. Give each a name of its own.")
        if callable(choice) and name in MEASURES and MEASURES[name] is not choice:
            raise InputError(
                f"{name!r} is the name of a measure of attnaudit. Give yours another name."
            )
        found.setdefault(name, registry.find(MEASURES, choice, "explanation"))
    found.setdefault("random", MEASURES["random"])
    return found


def check_explanations(choices: ExplanationChoice) -> None:
    """Reject wrong names before any work; scores are checked when the texts are known."""
    if isinstance(choices, Mapping):
        choices = {
            name: choice
            for name, choice in choices.items()
            if name == "all" or not _is_scores(choice)
        }
    find_explanations(choices)


def with_given_scores(
    choices: ExplanationChoice, ids: Sequence[str], texts: Sequence[Any]
) -> ExplanationChoice:
    """The choices, with scores from elsewhere as measures.

    Parameters
    ----------
    choices : as for `find_explanations`; of a mapping, any scores that `read_given_scores` reads.
    ids, texts : of all examples, in the order of the scores.
    """
    if not isinstance(choices, Mapping):
        return choices
    return {
        name: GivenExplanation(name, read_given_scores(choice, name), ids, texts)
        if name != "all" and _is_scores(choice)
        else choice
        for name, choice in choices.items()
    }


def join_explanations(choices: ExplanationChoice, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The chosen explanations and those given, by name."""
    if isinstance(choices, Mapping):
        return {**choices, **given}
    listed = () if choices is None else (choices,) if isinstance(choices, str) else choices
    return {**{choice_name(choice): choice for choice in listed}, **given}


def _is_scores(choice: Any) -> bool:
    """Whether a choice holds scores, rather than naming a measure or computing them."""
    is_file = isinstance(choice, str) and choice.endswith((".jsonl", ".json"))
    is_measure = isinstance(choice, str) or (callable(choice) and not hasattr(choice, "values"))
    return is_file or not is_measure


def _named(choices: str | Sequence[Choice] | Mapping[str, Any]) -> list[tuple[str, Choice]]:
    if isinstance(choices, Mapping):
        listed_names = {str(name): choice for name, choice in choices.items() if name != "all"}
        every = [(name, name) for name in EXPLANATIONS] if "all" in choices else []
        return [*every, *listed_names.items()]
    listed = [choices] if isinstance(choices, str) or callable(choices) else list(choices)
    named: list[tuple[str, Choice]] = []
    for choice in listed:
        if choice == "all":
            named += [(name, name) for name in EXPLANATIONS]
        else:
            named.append((choice_name(choice), choice))
    return named


def with_explanations(
    audits: Functions, measures: Functions, explanations: Functions
) -> tuple[Functions, Functions]:
    """The audits and measures, with those that explanations are compared by.

    `top_words` and `polarity` then rank by every explanation, next to what they rank by anyway, and
    `explanation_stability` is added. Without explanations, both are unchanged.
    """
    if not explanations:
        return audits, measures
    measures = {**measures, **{name: explanations[name] for name in explanations}}
    audits = dict(audits)
    for bare in RANKED_BY:
        name = resolve_audit_name(bare, audits) or bare
        audits[name] = _ranking(audits.get(name, AUDITS[bare]), list(explanations), bare)
    functions = {
        name: None if getattr(function, "is_given", False) else function
        for name, function in explanations.items()
    }
    audits["explanation_stability"] = partial(
        AUDITS["explanation_stability"],
        rankings="+".join(explanations),
        functions=functions,
    )
    if "leave_one_out" in explanations:
        audits.setdefault(AGREEMENT, partial(AUDITS["agreement"], of="leave_one_out"))
    audits.setdefault("evidence", AUDITS["evidence"])
    return audits, measures


def _ranking(audit: Callable[..., Any], names: list[str], bare: str) -> Callable[..., Any]:
    """The audit with these rankings besides its own."""
    given = dict(audit.keywords) if isinstance(audit, partial) else {}
    own = given.pop("rankings", None) or _default_rankings(AUDITS[bare])
    # In top_words, random words are the floor and need no ranking.
    wanted = [name for name in names if not (bare == "top_words" and name == "random")]
    listed = dict.fromkeys([*str(own).split("+"), *wanted])
    return partial(AUDITS[bare], **given, rankings="+".join(listed))


def _default_rankings(audit: Callable[..., Any]) -> str:
    return str(inspect.signature(audit).parameters["rankings"].default)
