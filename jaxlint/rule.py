"""The base class of rules.

A rule subscribes to events of the staging analysis by methods named after them (`on_test`, `on_call` ..., see
`jaxlint.api`). It never determines itself what is jitted or traced. Its docstring is its documentation, in fixed
sections. Its examples are specimens beside it (`jaxlint.specimens`), and also its tests.
"""

from __future__ import annotations

import functools
import importlib.metadata
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from jaxlint.finding import Severity
from jaxlint.specimens import Example, Specimens

Method = TypeVar("Method", bound=Callable[..., Any])

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


def category_title(category: str) -> str:
    """A category as a heading."""
    return "API" if category == "api" else category.capitalize()


# Their findings cost time, memory or compilations, which a run can measure: `jaxlint verify` tries their fixes.
COSTLY_CATEGORIES = frozenset({"recompilation", "transfer", "vectorization", "memory", "precision"})


@dataclass(frozen=True, slots=True)
class Concern:
    """The subject of a rule's method; see `concerns`."""

    names: frozenset[str]
    callees: frozenset[str]
    where: Callable[[str], bool] | None
    prefixes: tuple[str, ...]
    discarded: bool
    methods: frozenset[str] | None

    def covers(self, name: str, callee: str, discarded: bool) -> bool:
        return (discarded or not self.discarded) and (
            name in self.names
            or callee in self.callees
            or (self.where is not None and self.where(name))
            or name.startswith(self.prefixes)
        )


def concerns(
    *names: str,
    callees: tuple[str, ...] = (),
    where: Callable[[str], bool] | None = None,
    discarded: bool = False,
    methods: Iterable[str] | None = None,
) -> Callable[[Method], Method]:
    """Restricts the `on_call`, `on_name` or `on_operation` of a rule to certain calls, names or operations.

    `names`: canonical names of external functions (short names for operations); a name that ends in "." covers all
    that begin with it. `callees`: kinds of called values, by their class names in `jaxlint.api.values`
    ("Transformed", "ExternalMethod"). `where`: whether the rule handles a name; called once for each name.
    `discarded`: only calls that are statements. `methods`: the methods of the called values without a canonical name
    ("update" for `opt.update(...)`); by default all.
    """

    def mark(method: Method) -> Method:
        prefixes = tuple(name for name in names if name.endswith("."))
        called = None if methods is None else frozenset(methods)
        concern = Concern(frozenset(names), frozenset(callees), where, prefixes, discarded, called)
        method.concern = concern  # type: ignore[attr-defined]
        return method

    return mark


class Rule:
    """Base class. One instance serves one run, so a rule may keep state between events.

    Class attributes: `code` ("JAX101"), `name` ("tracer-branch"), `category` (one of CATEGORIES), `severity` (the
    usual one; a report may lower it), `follows_calls` (its errors depend on how the code is called: a caller in
    another file makes an error a warning, a caller in a test makes it advice), `preview` (True: only with
    `--preview`), `fixable` ("safe", "partly safe", "unsafe" or None), `proof` (the transformation of `jaxlint verify`
    that measures the advice, if that is not the fix itself), `cure` (what it shares with other rules as advice for one
    loop, and its rank: of these rules only one of the lowest rank warns), `needs_whole_program` (its warnings were seldom worth
    telling in unseen projects: in their files they are advice, unless a report says that its cost or harm is `shown`), `examples` (by default its folder of specimens).
    """

    code: ClassVar[str]
    name: ClassVar[str]
    category: ClassVar[str]
    severity: ClassVar[Severity]
    follows_calls: ClassVar[bool] = False
    preview: ClassVar[bool] = False
    fixable: ClassVar[str | None] = None
    proof: ClassVar[str | None] = None
    cure: ClassVar[tuple[str, int] | None] = None
    needs_whole_program: ClassVar[bool] = False
    examples: ClassVar[tuple[Example, ...]] = Specimens()  # type: ignore[assignment]

    @property
    def only_costs(self) -> bool:
        """Whether its findings cost time or memory and change no result. Where the program does other work, they are advice."""
        return self.category in COSTLY_CATEGORIES - {"precision"} and self.severity is Severity.WARNING

    @classmethod
    def proven_by(cls) -> str | None:
        """The name of the transformation of `jaxlint verify` that proves the rule's advice; None if there is none."""
        return cls.proof or ("source" if cls.fixable and cls.category in COSTLY_CATEGORIES else None)

    @classmethod
    def documentation(cls) -> str:
        """The rule's page in Markdown: the class docstring."""
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def summary(cls) -> str:
        """The first line of the documentation."""
        return cls.documentation().partition("\n")[0]

    @classmethod
    def help_address(cls) -> str | None:
        """The address of its page, if its distribution names a documentation address; otherwise its first reference."""
        pages = _documentation_of(cls.__module__.partition(".")[0])
        if pages is not None:
            return f"{pages}/rules/{cls.name}"
        reference = _ADDRESS.search(cls.documentation())
        return reference[1] if reference is not None else None


_ADDRESS = re.compile(r"\]\((https?://[^)\s]+)\)")


@functools.cache
def _documentation_of(package: str) -> str | None:
    """The documentation address in the metadata of a package's distribution."""
    for name in importlib.metadata.packages_distributions().get(package, ()):
        for entry in importlib.metadata.metadata(name).get_all("Project-URL") or ():
            label, _, address = entry.partition(",")
            if label.strip().lower() == "documentation":
                return str(address).strip().rstrip("/")
    return None
