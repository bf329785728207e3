"""The base class of every rule, and what a rule may say.

A rule subscribes to events of the staging analysis by defining methods named after them (`on_test`, `on_call` ...,
see `jaxlint.staging.events`); it never re-derives what is jitted or traced. Its docstring is its documentation, in
fixed sections, and its examples are its tests.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import ClassVar

from jaxlint.finding import Severity

CATEGORIES = (
    "tracing",
    "purity",
    "random",
    "recompilation",
    "transfer",
    "memory",
    "precision",
    "numerics",
    "vectorization",
    "sharding",
    "kernels",
    "migration",
    "benchmarking",
    "api",
)


@dataclass(frozen=True, slots=True)
class Example:
    """A program that a rule speaks of.

    Lines that end in the comment `# finding` are where the rule must report; a program without one must stay
    silent. `fixed` is the whole program after the rule's own fixes (unsafe ones included), when it has any.
    """

    name: str
    code: str
    fixed: str | None = None


class Rule:
    """Base class. One instance serves one run, so a rule may keep state between events.

    Class attributes: `code` ("JAX101"), `name` ("tracer-branch"), `category` (one of CATEGORIES), `severity` (the
    usual one; a report may lower it), `preview` (True: only with `--preview`), `fixable` ("safe", "partly safe", "unsafe" or None).
    """

    code: ClassVar[str]
    name: ClassVar[str]
    category: ClassVar[str]
    severity: ClassVar[Severity]
    preview: ClassVar[bool] = False
    fixable: ClassVar[str | None] = None
    examples: ClassVar[tuple[Example, ...]] = ()

    @classmethod
    def documentation(cls) -> str:
        """The rule's page in Markdown: the class docstring."""
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def summary(cls) -> str:
        """The first line of the documentation."""
        return cls.documentation().partition("\n")[0]
