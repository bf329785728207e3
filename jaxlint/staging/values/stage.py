"""Where code runs, on the host or in a JAX trace, and the reason for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from jaxlint.staging.module import Module


@dataclass(frozen=True, slots=True, eq=False)
class Why:
    """One link of a reason: its text, its place, and the link behind it.

    A link about a function that JAX traces has that function's name as `function`: its `text` is a sentence, and
    `how` says what traces it. Any other link is about a value: its `text` names it and ends in the preposition before
    the next link ("the carry of").
    """

    text: str
    module: Module | None = None
    node: ast.AST | None = None
    cause: Why | None = None
    parameter: str = ""  # it says that this parameter of a jitted function is a tracer
    habit: bool = False  # a convention, not something that the analysis saw
    function: str = ""
    how: str = ""
    api: str = ""  # the transformation that traces `function`

    @property
    def is_by_convention(self) -> bool:
        """Whether this link or one behind it is a convention."""
        return self.habit or (self.cause is not None and self.cause.is_by_convention)

    def place(self, reader: Module | None = None) -> str:
        """The place in words: " at train.py:40", or " at line 40" if the reader is in the same file."""
        if self.module is None or self.node is None:
            return ""
        line = getattr(self.node, "lineno", None)
        if line is None:
            return ""
        return f" at line {line}" if reader is self.module else f" at {self.module.display}:{line}"

    def explain(self, reader: Module | None = None) -> str:
        """The functions of the chain in one sentence, the nearest first: "`f` is passed to `jax.jit` at line 4"."""
        links = [link for link in self.chain() if link.function][:6] or [self]
        return ", ".join(link.text + link.place(reader) for link in links)

    def link(self, reader: Module | None = None) -> str:
        """This link alone."""
        return self.text + self.place(reader)

    def source(self, reader: Module | None = None) -> str:
        """Where a tracer comes from: "`x`, a parameter of `f` (`jax.jit`, line 4)".

        Only the nearest transformation is named: outer ones say no more about this value.
        """
        chain = list(self.chain())
        functions = [link.traced(reader) for link in chain if link.function][:2]
        if self.function:
            return f"the call of {' in '.join(functions)}"
        if not functions:
            return self.text.removesuffix(" of").removesuffix(" in") + self.place(reader)
        return f"{self.text} {' in '.join(functions)}"

    def traced(self, reader: Module | None = None) -> str:
        """The function and its transformation: "`f` (`jax.jit`, line 4)"."""
        place = self.place(reader).removeprefix(" at ")
        how = self.how or f"`{self.api}`"
        return f"`{self.function}` ({how}, {place})" if place else f"`{self.function}` ({how})"

    def chain(self) -> Iterator[Why]:
        """This link and the links behind it."""
        link: Why | None = self
        while link is not None:
            yield link
            link = link.cause


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """How the code of a frame runs.

    `kind`: "host", or the transformation that stages it ("jit", "scan", "vmap" ...). `abstract`: array functions
    return tracers even for concrete inputs (jit, scan, cond ...; not vmap or shard_map alone). `certain`: the
    analysis saw a transformation, not a framework's convention alone.
    """

    kind: str
    abstract: bool = False
    certain: bool = True
    why: Why | None = None
    parent: Stage | None = None
    axes: tuple[str, ...] | None = ()  # the axis names that it binds for collectives; None if unknown
    # Cached, since every call reads them. `key`: what distinguishes contexts of a function.
    staged: bool = field(init=False)
    key: tuple[str, bool, bool] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "staged", self.kind != "host")
        kind = self.kind if self.kind in ("host", "pallas") else "staged"
        object.__setattr__(self, "key", (kind, self.abstract, self.certain))

    def within(self, *kinds: str) -> bool:
        """Whether this stage or an enclosing one is of one of these kinds."""
        stage: Stage | None = self
        while stage is not None:
            if stage.kind in kinds:
                return True
            stage = stage.parent
        return False

    @property
    def runs(self) -> bool:
        """Whether the program certainly runs here on the host: in a module's body, a test, or what these call."""
        return not self.staged and (self.certain or self.parent is not None)


HOST = Stage("host")


def at_compile_time(stage: Stage) -> Stage:
    """The stage inside `jax.ensure_compile_time_eval`: computations on concrete values are concrete, and tracers stay
    tracers."""
    return Stage("compile_time", False, False, stage.why, stage) if stage.staged else stage
