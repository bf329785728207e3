"""Code that an edit would compile though no run has reached it.

A run shows that what it reached can be traced. Nothing shows that of a branch which it did not take: it may
convert a tracer, write a log, or pass a tracer to host code. An edit that would trace such code is refused,
except for a few kinds of code that can certainly be traced.

    if args.clip:                        # reached
        g = jnp.clip(g, -1.0, 1.0)       # not reached, and harmless
    if args.log:
        json.dump(float(loss), file)     # not reached
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity.callbacks import called_back, maker_of
from jaxlint.codemods.purity.harmless_code import Harmless
from jaxlint.codemods.purity.known_functions import STAGING
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, FunctionNode, bodies
from jaxlint.codemods.purity.values import Cls, Fn, Inst, Method, Value, Wrapped, leaves_of
from jaxlint.codemods.source.text_edits import shown_source
from jaxlint.syntax.function_bodies import NESTED

_DEPTH = 5


@dataclass(slots=True)
class Moved:
    """The code that would be traced: `nodes` of a file, and the program functions that they call, on any
    path.

    Module functions that the user has jitted are left out: their arguments are tracers already.
    """

    possible: PossibleValues
    functions: dict[FunctionNode, File] = field(default_factory=dict)
    _waiting: list[tuple[ast.AST, File]] = field(default_factory=list)

    def follow(self, nodes: Iterable[ast.AST], file: File) -> None:
        self._waiting += [(node, file) for node in nodes]
        while self._waiting:
            node, own = self._waiting.pop()
            if isinstance(node, ast.Call):
                self._call(node, own)
            self._waiting += [(child, own) for child in evaluated_with(node)]

    def enter(self, value: Value, depth: int = 0) -> None:
        """Adds the functions that a call of the value runs."""
        if depth > _DEPTH:
            return
        possible = self.possible
        if isinstance(value, Wrapped):
            for inner in value.inner:
                if not (value.how in STAGING and isinstance(inner, Fn) and _closes_over_nothing(inner)):
                    self.enter(inner, depth + 1)
        elif isinstance(value, Fn):
            if value.node not in self.functions and not self._is_jitted(value):
                self.functions[value.node] = value.file
                self._waiting += [(node, value.file) for node in bodies(value.node)]
        elif isinstance(value, Cls):
            for name in ("__init__", "__post_init__", "setup"):
                member = possible.classes.member(value, name)
                if member is not None and isinstance(member[1].node, ast.FunctionDef):
                    self.enter(Fn(member[1].node, member[0].file, Inst(value)), depth + 1)
        elif isinstance(value, Inst):
            for one in possible.attribute(value, "__call__"):
                self.enter(one, depth + 1)
        elif isinstance(value, Method) and isinstance(value.receiver, Inst):
            self.enter(value.receiver, depth + 1)

    def _call(self, node: ast.Call, file: File) -> None:
        for value in self.possible.of(node.func, file):
            self.enter(value)
            if (made := maker_of(value)) is not None:
                for back in called_back(made):
                    self.enter(back)
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            for value in leaves_of(self.possible.of(argument, file)):
                if isinstance(value, (Fn, Wrapped)):
                    self.enter(value)

    def _is_jitted(self, function: Fn) -> bool:
        """Whether a decorator jits it."""
        decorators = getattr(function.node, "decorator_list", ())
        return _closes_over_nothing(function) and any(
            self.possible.name_of(part, function.file) in STAGING
            for one in decorators
            for part in ([one.func, *one.args[:1]] if isinstance(one, ast.Call) else [one])
        )


def _closes_over_nothing(function: Fn) -> bool:
    around = function.file.names.scope_at(function.node)
    return around.is_class or around is function.file.names.module


def unreached(
    possible: PossibleValues, roots: Sequence[tuple[Sequence[ast.AST], File]], *, looped: bool
) -> Iterator[str]:
    """The first statement or branch of each part that no run has reached and that may not be traceable, in
    words.

    `roots`: the code to be traced, by file. `looped`: it would become the body of a JAX loop.
    """
    moved = Moved(possible)
    parts = [(node, file) for nodes, file in roots for node in nodes]
    for nodes, file in roots:
        moved.follow(nodes, file)
    parts += [(node, file) for function, file in moved.functions.items() for node in bodies(function)]
    harmless = Harmless(possible, only_raises=looped)
    for node, file in parts:
        found = _missed(node, file, harmless)
        if found is not None:
            yield f"`{shown_source(found)}` at {possible.program.place(file, found)} would be compiled, and no run has reached it; add one that does with --also"


def _missed(node: ast.AST, file: File, harmless: Harmless) -> ast.AST | None:
    missed = file.module.source.missed
    if not missed:
        return None
    if isinstance(node, (ast.stmt, ast.expr)) and _place(node) in missed:
        return harmless.first_other(node, file)
    for child in evaluated_with(node):
        if (found := _missed(child, file, harmless)) is not None:
            return found
    return None


def _place(node: ast.stmt | ast.expr) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0


def evaluated_with(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are evaluated with it; for a function, its decorators and defaults."""
    if isinstance(node, FUNCTIONS):
        yield from getattr(node, "decorator_list", ())
        yield from (one for one in [*node.args.defaults, *node.args.kw_defaults] if one is not None)
    elif not isinstance(node, NESTED):
        yield from ast.iter_child_nodes(node)
