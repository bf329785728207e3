"""Reaching definitions: the bindings of a variable that a use of it may see.

    loss = 0.0
    for x in batches:
        loss = jnp.mean(x)
    print(loss)

The last line may see both bindings, the call before it neither. Branches, loops with their jumps, `try`, `with` (which may
swallow an exception) and `match` are followed. Where the order is unknown, every binding counts: in nested functions and
generator expressions, which run later, and for variables that these set (`nonlocal`, `global`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jaxlint.codemods.source.name_scopes import Binding, Names, Scope

_State = dict[str, frozenset[Binding]]
_AT_ONCE = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"}
)


def reaching(scope: Scope, name: ast.Name, names: Names) -> list[Binding]:
    """The bindings of a variable of `scope` that a use may see; for the target of `x += 1`, those before it. All of them, if
    the order is unknown."""
    if scope not in names.reaching:
        try:
            names.reaching[scope] = _Walk(names, scope).run()
        except RecursionError:
            names.reaching[scope] = {}
    every = scope.bindings.get(name.id, [])
    found = names.reaching[scope].get(name)
    return [one for one in every if one in found] if found else every


@dataclass(slots=True)
class _Jumps:
    """The states in which a loop is left, and continued, early."""

    breaks: list[_State] = field(default_factory=list)
    continues: list[_State] = field(default_factory=list)


class _Walk:
    """One walk over the statements of a function or a module, in the order in which they run."""

    def __init__(self, names: Names, scope: Scope) -> None:
        self.names, self.scope = names, scope
        self.found: dict[ast.Name, frozenset[Binding]] = {}
        self.loops: list[_Jumps] = []
        self.bindings: dict[ast.AST, list[Binding]] = {}
        self.start: _State = {}
        for name, bindings in scope.bindings.items():
            if any(self._is_unordered(one) for one in bindings):
                continue
            for one in bindings:
                if self._is_parameter(one):
                    self.start[name] = frozenset({one})
                else:
                    self.bindings.setdefault(one.node, []).append(one)

    def _is_parameter(self, binding: Binding) -> bool:
        return isinstance(binding.node, ast.arg) or not isinstance(
            binding.node, ast.stmt | ast.expr | ast.ExceptHandler | ast.pattern
        )

    def _is_unordered(self, binding: Binding) -> bool:
        """Whether it is unknown when a binding happens: in a nested function, or in a generator expression."""
        if self._is_parameter(binding):
            return False
        if self.names.scope_at(binding.node) is not self.scope:
            return True
        around = self.names.ancestors_below(binding.node, self.scope.node)
        return any(isinstance(one, ast.GeneratorExp) for one in around)

    def run(self) -> Mapping[ast.Name, frozenset[Binding]]:
        node = self.scope.node
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            self._block(node.body, dict(self.start))
        return self.found

    # Expressions

    def _read(self, node: ast.AST | None, state: _State) -> None:
        """Records what the names of an expression may see. `:=` counts from its statement on, beside what was there."""
        if node is None:
            return
        parts = list(self._evaluated(node))
        for part in parts:
            if isinstance(part, ast.NamedExpr):
                _add(state, self._bound_by(part.target))
        for part in parts:
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                self._see(part, state)

    def _see(self, name: ast.Name, state: _State) -> None:
        if name.id in state and self.names.scope_at(name).resolve(name.id) is self.scope:
            self.found[name] = self.found.get(name, frozenset()) | state[name.id]

    def _evaluated(self, node: ast.AST) -> Iterator[ast.AST]:
        """The parts of an expression that run with it."""
        yield node
        if isinstance(node, ast.Lambda):
            inner: Sequence[ast.AST] = [*node.args.defaults, *(one for one in node.args.kw_defaults if one)]
        elif isinstance(node, ast.GeneratorExp) and not self._is_run_at_once(node):
            inner = [node.generators[0].iter]
        else:
            inner = list(ast.iter_child_nodes(node))
        for child in inner:
            yield from self._evaluated(child)

    def _is_run_at_once(self, node: ast.GeneratorExp) -> bool:
        above = self.names.parents.get(node)
        if isinstance(above, ast.Assign):
            return above.value is node and all(isinstance(one, ast.Tuple | ast.List) for one in above.targets)
        return isinstance(above, ast.Call) and self.names.builtin(above.func) in _AT_ONCE

    # Bindings

    def _bound_by(self, node: ast.AST) -> list[Binding]:
        return self.bindings.get(node, [])

    def _bind(self, node: ast.AST, state: _State) -> None:
        for one in self._bound_by(node):
            state[one.name] = frozenset({one})

    def _assign(self, target: ast.expr, state: _State) -> None:
        self._read(target, state)
        for part in ast.walk(target):
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                self._bind(part, state)
        self._read(target, state)  # `i, xs[i] = ...`

    def _bound_in(self, statements: Sequence[ast.AST]) -> list[Binding]:
        """Every binding of this scope in statements."""
        return [one for node in statements for part in ast.walk(node) for one in self._bound_by(part)]

    # Statements

    def _block(self, statements: Sequence[ast.stmt], state: _State | None) -> _State | None:
        """The state after statements; None if no path reaches their end."""
        for statement in statements:
            if state is None:
                return None
            state = self._statement(statement, state)
        return state

    def _statement(self, node: ast.stmt, state: _State) -> _State | None:
        method = getattr(self, f"_at_{type(node).__name__}", None)
        if method is not None:
            after: _State | None = method(node, state)
            return after
        for child in ast.iter_child_nodes(node):
            self._read(child, state)
        self._bind(node, state)  # imports
        return None if isinstance(node, ast.Return | ast.Raise) else state

    def _at_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, state: _State) -> _State:
        for one in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            self._read(one, state)
        self._bind(node, state)
        return state

    _at_AsyncFunctionDef = _at_FunctionDef

    def _at_ClassDef(self, node: ast.ClassDef, state: _State) -> _State:
        for one in (*node.decorator_list, *node.bases, *node.keywords):
            self._read(one, state)
        self._bind(node, state)
        return state

    def _at_Assign(self, node: ast.Assign, state: _State) -> _State:
        self._read(node.value, state)
        for target in node.targets:
            self._assign(target, state)
        return state

    def _at_AnnAssign(self, node: ast.AnnAssign, state: _State) -> _State:
        self._read(node.value, state)
        if node.value is not None:
            self._assign(node.target, state)
        return state

    def _at_AugAssign(self, node: ast.AugAssign, state: _State) -> _State:
        self._read(node.value, state)
        if isinstance(node.target, ast.Name):
            self._see(node.target, state)
        self._assign(node.target, state)
        return state

    def _at_Delete(self, node: ast.Delete, state: _State) -> _State:
        for target in node.targets:
            self._read(target, state)
            for part in ast.walk(target):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Del):
                    state.pop(part.id, None)
        return state

    def _at_If(self, node: ast.If, state: _State) -> _State | None:
        self._read(node.test, state)
        return _joined([self._block(node.body, dict(state)), self._block(node.orelse, dict(state))])

    def _at_Match(self, node: ast.Match, state: _State) -> _State | None:
        self._read(node.subject, state)
        _add(state, self._bound_in([case.pattern for case in node.cases]))
        ends: list[_State | None] = []
        for case in node.cases:
            self._read(case.pattern, state)
            self._read(case.guard, state)
            ends.append(self._block(case.body, dict(state)))
        return _joined([*ends, state])

    def _at_With(self, node: ast.With | ast.AsyncWith, state: _State) -> _State | None:
        for item in node.items:
            self._read(item.context_expr, state)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, state)
        end = self._block(node.body, dict(state))
        _add(state, self._bound_in(node.body))
        return _joined([end, state])  # the second where it swallows an exception

    _at_AsyncWith = _at_With

    def _at_Try(self, node: ast.Try, state: _State) -> _State | None:
        before = [(len(one.breaks), len(one.continues)) for one in self.loops]
        raised = dict(state)
        _add(raised, self._bound_in(node.body))
        ends = [self._block(node.orelse, self._block(node.body, dict(state)))]
        for handler in node.handlers:
            caught = dict(raised)
            self._read(handler.type, caught)
            self._bind(handler, caught)
            ends.append(self._block(handler.body, caught))
        after = _joined(ends)
        if not node.finalbody:
            return after
        _add(raised, self._bound_in([*node.orelse, *node.handlers]))
        self._block(node.finalbody, raised)
        last = self._bound_in(node.finalbody)
        for loop, (breaks, continues) in zip(self.loops, before, strict=True):
            for left in (*loop.breaks[breaks:], *loop.continues[continues:]):
                _add(left, last)
        return self._block(node.finalbody, after)

    _at_TryStar = _at_Try

    # Loops

    def _at_For(self, node: ast.For | ast.AsyncFor, state: _State) -> _State | None:
        self._read(node.iter, state)
        return self._loop(node, state)

    _at_AsyncFor = _at_For

    def _at_While(self, node: ast.While, state: _State) -> _State | None:
        return self._loop(node, state)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, state: _State) -> _State | None:
        head = dict(state)
        while True:
            jumps = _Jumps()
            turn = dict(head)
            if isinstance(node, ast.While):
                self._read(node.test, turn)
            over = dict(turn)
            if not isinstance(node, ast.While):
                self._assign(node.target, turn)
            self.loops.append(jumps)
            end = self._block(node.body, turn)
            self.loops.pop()
            again = _joined([head, end, *jumps.continues])
            if again is None or again == head:
                break
            head = again
        endless = (
            isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        )
        rest = None if endless else self._block(node.orelse, over)
        return _joined([rest, *jumps.breaks])

    def _at_Break(self, node: ast.Break, state: _State) -> None:
        if self.loops:
            self.loops[-1].breaks.append(state)

    def _at_Continue(self, node: ast.Continue, state: _State) -> None:
        if self.loops:
            self.loops[-1].continues.append(state)


def _add(state: _State, bindings: Sequence[Binding]) -> None:
    """Bindings that may have happened."""
    for one in bindings:
        state[one.name] = state.get(one.name, frozenset()) | {one}


def _joined(states: Sequence[_State | None]) -> _State | None:
    """What holds where several paths meet; None if none of them gets there."""
    known = [one for one in states if one is not None]
    if not known:
        return None
    found: _State = {}
    for state in known:
        for name, bindings in state.items():
            found[name] = found.get(name, frozenset()) | bindings
    return found
