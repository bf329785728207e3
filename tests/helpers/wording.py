"""The style of CONTRIBUTING.md as checks on texts: their length, their semicolons, and phrases that the glossary has a term for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_QUOTED = 16  # characters that text in backticks counts for at most
# Phrases that say in many words what the glossary has a term for, or that nobody would say.
_AVOIDED = {
    r"traced values?": "tracer",
    r"asks? for the truth": "raises TracerBoolConversionError",
    r"needs? the numbers? behind": "raises ConcretizationTypeError, or TracerArrayConversionError",
    r"wait(s|ing)? for the device in": "host sync",
    r"(compiled|jitted|made) anew": "recompiles, or retraces",
    r"used up": "reused",
    r"thrown away": "discarded",
    r"staged because": "JAX traces",
    r"stays? what it was": "does not change",
    r"of what|what it is given|is given what|the value of what": "the name of the thing",
    r"\bis none\b|\bis no (array|tuple|pytree|module)\b": "is not a ...",
    r"\bare arrays of JAX\b|\barrays? of JAX\b": "JAX array",
    r"\bhands? (it |them )?on\b": "passes",
}
# The same for what the tool says of itself and of programs.
AVOIDED_IN_TOOLS = {
    r"\banew\b": "again",
    r"\bcomes? to rest\b": "converges",
    r"\b(gives?|gave) up\b": "donates",
    r"\bcompute(s)? the same:": "the results differ",
    r"\bis not known\b|\bare not known\b": "is unknown",
    r"\bleft as (it|they) (is|was|are|were)\b": "not changed",
    r"\bwhat is (called|given|proven|kept|stacked)\b": "the name of the thing",
    r"\bwhile (JAX traces|it is traced|tracing)\b": "at trace time",
    r"\bdoes not end\b|\bdid not end\b": "does not finish",
    r"\bwhich the rewrite would lose\b": "the rewrite would lose",
    r"\bexamined\b.*\bnot\b|\bnot examined\b": "not checked",
    r"\bhas (its|their) own\b.*\btoo\b": "also has",
}

# The same for the pages of rules, on top of all above.
AVOIDED_ON_PAGES = AVOIDED_IN_TOOLS | {
    r"for (the|its) author to say": "only you know ...",
    r"\band (its|their) like\b": "and similar ...",
    r"\bnothing says so\b": "without an exception",
    r"\bleft alone\b": "not rewritten",
    r"\bstaged\b": "traced, compiled",
    r"\bgoes? on\b": "continues",
}

# What rules say: the most characters, the most semicolons, and how it may not begin.
KINDS = {
    "message": (110, 1, r"(?!PRNG |JAX |TPU )[A-Z]"),  # the middle of a line
    "reason": (180, 2, r"(?!)"),
    "fix": (90, 1, r"[a-z]"),  # a title
}


def faults(kind: str, texts: Iterable[str]) -> list[str]:
    """What is against the style in texts of one kind, each with the text."""
    most, semicolons, beginning = KINDS[kind]
    found = []
    for text in sorted(set(texts)):
        problems = {
            f"over {most} characters": length(text) > most,
            f"over {semicolons} semicolons": prose(text).count(";") > semicolons,
            "more than one line": "\n" in text,
            "its end": text.endswith((".", ";", ",", " ")),
            "its beginning": re.match(beginning, text) is not None,
        }
        found += [f"{text!r}: {problem}" for problem, is_so in problems.items() if is_so]
        found += avoided(text)
    return found


def length(text: str) -> int:
    """The characters of a text; names that it quotes from a program may be of any length."""
    return len(re.sub(r"`[^`]*`", lambda quoted: f"`{quoted[0][1:-1][:_QUOTED]}`", text))


def prose(text: str) -> str:
    """A text without what it quotes."""
    return re.sub(r"`[^`]*`", "``", text)


def avoided(text: str, more: dict[str, str] | None = None) -> list[str]:
    """What should be said in another way, and how."""
    phrases = _AVOIDED | (more or {})
    return [f"{text!r}: {said}" for phrase, said in phrases.items() if re.search(phrase, prose(text))]


def literals(path: Path) -> Iterator[str]:
    """The texts of a module that are prose: neither its documentation nor names."""
    tree = ast.parse(path.read_bytes())
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documentation = {id(node.body[0]) for node in ast.walk(tree) if isinstance(node, holders) and node.body}
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt) or id(statement) in documentation:
            continue
        for node in ast.iter_child_nodes(statement):
            for part in ast.walk(node) if isinstance(node, ast.expr) else ():
                if (text := _text(part)) is not None and " " in text:
                    yield text


def given_to(path: Path, functions: frozenset[str]) -> Iterator[str]:
    """The texts in the arguments of calls of these functions, methods and exceptions."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for argument in node.args if name in functions else ():
                for part in ast.walk(argument):
                    if (text := _text(part)) is not None and " " in text:
                        yield text


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(value.value if isinstance(value, ast.Constant) else "``" for value in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
