"""Whether a buffer may be written after it was passed to JAX and before the program has waited for the result."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity.array_aliases import PUT
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, FunctionNode, function_around, own_parts
from jaxlint.codemods.purity.values import ARRAY, NUMPY, Cls, Fn, leaves_of

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
_BRANCHES = (*_LOOPS, ast.If, ast.IfExp, ast.Try, ast.BoolOp, ast.Match)
_WAITING = frozenset({"float", "int", "bool", "complex", "print", "str", "repr", "format"})
_WAITING_METHODS = frozenset({"item", "tolist", "block_until_ready", "__array__"})
_DEPTH = 5
Home = FunctionNode | ast.Module


@dataclass(slots=True)
class Order:
    """`birth`: the expression that creates the array. `inside`: the loop whose waits do not count."""

    possible: PossibleValues
    birth: tuple[ast.AST, File]
    inside: Set[ast.AST] | None = None

    def changes_after(self, read: ast.AST, file: File, write: ast.AST, other: File) -> bool:
        """Whether the write may follow the read of one and the same array."""
        return self._after(*self.birth, read, file, write, other, 0)

    def _after(
        self, birth: ast.AST, home: File, read: ast.AST, file: File, write: ast.AST, other: File, depth: int
    ) -> bool:
        """`birth`: the creation of the array, or the call that creates and returns it, in a function or module."""
        if depth > _DEPTH:
            return True
        around: Home = function_around(birth, home) or home.tree
        reads = list(self._positions(read, file, around, home))
        writes = list(self._positions(write, other, around, home))
        if reads and writes:
            return self._in_one(birth, around, home, reads, writes, (read, file, write, other), depth)
        if writes and self._is_filled_before(birth, around, home, writes):
            return False
        if isinstance(around, ast.Module):
            return not writes or not self._is_certain(writes)  # the module itself does one of the two, once
        for call, how, place in self._callers(around, home):
            if call is None or how or self._after(call, place, read, file, write, other, depth + 1):
                return True
        return False

    def _is_filled_before(self, birth: ast.AST, around: Home, home: File, writes: Sequence[ast.AST]) -> bool:
        """Whether each write to a new array comes before it is handed on: yielded, or put into a container."""
        if not self._is_certain(writes):
            return False
        handed = [
            part
            for part in own_parts(around)
            if isinstance(part, ast.Yield)
            or (isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in PUT)
        ]
        return bool(handed) and not any(
            _end(one) <= _start(write)
            or any(
                isinstance(loop, _LOOPS)
                and loop in set(home.names.ancestors(write))
                and not self._is_new(birth, loop, home)
                for loop in home.names.ancestors(one)
            )
            for one in handed
            for write in writes
        )

    def _callers(self, function: ast.AST, file: File) -> Iterator[tuple[ast.Call | None, str, File]]:
        """The calls of a function. For a constructor, those of the class."""
        assert isinstance(function, FUNCTIONS)
        sites = self.possible.call_sites
        own = self.possible.classes.class_around(function, file)
        if own is None or getattr(function, "name", "") != "__init__":
            yield from sites.calls_of(function, file)
            return
        made = [
            (call, other)
            for other, call in self.possible.program.calls.get(own.node.name, ())
            if any(isinstance(one, Cls) for one in self.possible.of(call.func, other))
        ]
        yield from ((call, "", other) for call, other in made)
        if not made:
            yield None, "", file

    # In one function

    def _in_one(
        self,
        birth: ast.AST | None,
        around: Home,
        home: File,
        reads: Sequence[ast.AST],
        writes: Sequence[ast.AST],
        both: tuple[ast.AST, File, ast.AST, File],
        depth: int,
    ) -> bool:
        if isinstance(birth, ast.Call) and birth not in reads and not self._is_lazy(birth, home):
            # what the call that creates the array writes into it comes before all reads
            writes = [one for one in writes if one is not birth]
        if not writes:
            return False
        if not self._is_certain(writes) or not self._is_certain(reads):
            return True
        for read in reads:
            waited = self._waits_itself(read, both[0], both[1], depth)
            for write in writes:
                if read is write:
                    if self._within(read, home, both, depth):
                        return True
                elif _end(read) <= _start(write) and not _apart(read, write, home):
                    if self._is_loose(read, write, around, home, waited, None):
                        return True
                loop = next(
                    (
                        one
                        for one in home.names.ancestors(read)
                        if isinstance(one, _LOOPS) and one in set(home.names.ancestors(write))
                    ),
                    None,
                )
                if loop is not None and not self._is_new(birth, loop, home):
                    if self._is_loose(read, write, around, home, waited, loop):
                        return True
        return False

    def _is_lazy(self, call: ast.Call, home: File) -> bool:
        """Whether a call may run later, as that of a generator."""
        callees = self.possible.of(call.func, home)
        return not all(isinstance(one, Fn) and not _yields(one.node) for one in callees)

    def _within(
        self, call: ast.AST, home: File, both: tuple[ast.AST, File, ast.AST, File], depth: int
    ) -> bool:
        """Whether the write follows the read in one call of a function that does both."""
        read, file, write, other = both
        if not isinstance(call, ast.Call) or depth > _DEPTH:
            return call is not read or call is not write
        for callee in self.possible.of(call.func, home):
            if isinstance(callee, Fn):
                reads = list(self._positions(read, file, callee.node, callee.file))
                writes = list(self._positions(write, other, callee.node, callee.file))
                if (
                    reads
                    and writes
                    and self._in_one(None, callee.node, callee.file, reads, writes, both, depth + 1)
                ):
                    return True
        return False

    def _is_new(self, birth: ast.AST | None, loop: ast.AST, home: File) -> bool:
        """Whether each iteration creates its own array."""
        if birth is None or loop not in set(home.names.ancestors(birth)) or _is_iterated(birth, loop):
            return False
        return not any(isinstance(one, _BRANCHES) for one in home.names.ancestors_below(birth, loop))

    def _positions(self, node: ast.AST, file: File, around: Home, home: File) -> Iterator[ast.AST]:
        """The code of a function or module that contains the node, or leads to it."""
        own = function_around(node, file)
        if file is home and own is (None if isinstance(around, ast.Module) else around):
            yield node
            return
        leading = self._leading_to(own)
        for part in own_parts(around):
            if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Load):
                called = [one for one in self._called(part, home) if one in leading]
                if called:
                    above = home.names.parents.get(part)
                    at_once = isinstance(above, ast.Call) and above.func is part
                    # the body of a generator runs when it is iterated over, perhaps far away
                    outside = at_once and not _is_in_a_loop_head(above or part, home)
                    if outside and any(map(_yields, called)):
                        at_once = False
                    yield above if at_once and above is not None else part
            elif isinstance(part, ast.Lambda) and part in leading:
                yield part

    def _leading_to(self, function: FunctionNode | None) -> set[ast.AST]:
        """The functions that may call a function, itself included."""
        known: dict[object, set[ast.AST]] = self.possible.program.memo.setdefault("leading to", {})
        if function not in known:
            found: set[ast.AST] = {function} if function is not None else set()
            graph = self._references()
            waiting = list(found)
            while waiting:
                for one in graph.get(waiting.pop(), ()):
                    if one not in found:
                        found.add(one)
                        waiting.append(one)
            known[function] = found
        return known[function]

    def _references(self) -> dict[ast.AST, set[ast.AST]]:
        """By function: the functions whose code mentions it."""
        memo = self.possible.program.memo
        found: dict[ast.AST, set[ast.AST]] | None = memo.get("mentions of functions")
        if found is None:
            memo["mentions of functions"] = found = {}
            for file in self.possible.program.files:
                for node in ast.walk(file.tree):
                    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                        around = function_around(node, file)
                        for called in self._called(node, file) if around is not None else ():
                            found.setdefault(called, set()).add(around)  # type: ignore[arg-type]
        return found

    def _called(self, node: ast.expr, file: File) -> Iterator[ast.AST]:
        """The functions that a call of an expression would run: for a class its constructor."""
        for value in self.possible.of(node, file):
            if isinstance(value, Fn):
                yield value.node
            elif isinstance(value, Cls):
                member = self.possible.classes.member(value, "__init__")
                if member is not None:
                    yield member[1].node

    def _is_certain(self, places: Sequence[ast.AST]) -> bool:
        """Whether all of them run at their place in the source: none passes a function on, for instance to a thread."""
        return not any(isinstance(one, ast.Lambda | ast.Name | ast.Attribute) for one in places)

    # Waiting

    def _is_loose(
        self, read: ast.AST, write: ast.AST, around: Home, home: File, waited: bool, loop: ast.AST | None
    ) -> bool:
        """Whether the program waits for nothing between the read and the write. `loop`: the write is in a later iteration."""
        if self.inside is not None and (read in self.inside or write in self.inside):
            return True
        return not waited and not self._waits(read, write, around, home, loop)

    def _waits_itself(self, position: ast.AST, read: ast.AST, file: File, depth: int) -> bool:
        """Whether a call that leads to the read has waited for the result of JAX when it returns."""
        function = function_around(read, file)
        if position is read or function is None:
            return False
        return self._waits(read, None, function, file, None)

    def _waits(
        self, read: ast.AST, write: ast.AST | None, around: Home, home: File, loop: ast.AST | None
    ) -> bool:
        """Whether a result of the read is fetched on every path from the read to the write, or to the end of the function."""
        tainted: set[str] = set()
        filled: set[str] = set()  # those that are lists of results
        above = set(home.names.ancestors(read))
        statements = sorted((one for one in own_parts(around) if isinstance(one, ast.stmt)), key=_start)
        first = [one for one in statements if _end(one) >= _end(read)]
        for part in (*self._expressions_around(read, home),):
            if self._fetches(part, read, tainted, home):
                return True
        if write is not None and loop is None:
            first = [one for one in first if _start(one) <= _start(write)]
        later = [
            one
            for one in statements
            if loop is not None
            and loop in set(home.names.ancestors(one))
            and write is not None
            and _start(one) <= _start(write)
            and one not in first
        ]
        for statement in [*first, *later]:
            conditional = any(
                isinstance(one, _BRANCHES) and one not in above
                for one in home.names.ancestors_below(statement, around)
            )
            head = _head(statement)
            held = any(part is read for node in head for part in ast.walk(node))
            names = {part.id for node in head for part in ast.walk(node) if isinstance(part, ast.Name)}
            if not held and not names & tainted:
                continue
            if not conditional and any(
                self._fetches(part, read, tainted, home) for node in head for part in ast.walk(node)
            ):
                return True
            if not conditional and isinstance(statement, ast.If | ast.While | ast.Assert):
                if not _asks_lengths(statement.test, tainted - filled):
                    return True  # a test on an array waits for it
            if not conditional and self._stores(statement, home):
                return True
            tainted |= _bound_by(statement)
            filled |= _filled_by(statement)
        return False

    def _expressions_around(self, read: ast.AST, home: File) -> Iterator[ast.AST]:
        """The expressions that compute with the read in its own statement."""
        for one in home.names.ancestors(read):
            if isinstance(one, ast.stmt | ast.comprehension | ast.Lambda | ast.IfExp | ast.BoolOp):
                return
            yield one

    def _fetches(self, node: ast.AST, read: ast.AST, tainted: Set[str], home: File) -> bool:
        """Whether an expression waits for the read, or for a variable that was computed from it."""
        if isinstance(node, ast.FormattedValue):
            return self._computed(node.value, read, tainted)
        if not isinstance(node, ast.Call) or node is read:
            return False
        name = self.possible.name_of(node.func, home)
        if (
            name in _WAITING
            or name in ("jax.block_until_ready", "jax.device_get")
            or name.startswith("numpy.")
        ):
            return any(self._computed(one, read, tainted) for one in node.args)
        return (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in _WAITING_METHODS
            and self._computed(node.func.value, read, tainted)
        )

    def _computed(self, node: ast.AST, read: ast.AST, tainted: Set[str]) -> bool:
        return any(
            part is read or (isinstance(part, ast.Name) and part.id in tainted) for part in ast.walk(node)
        )

    def _stores(self, statement: ast.stmt, home: File) -> bool:
        """Whether a statement copies a JAX array into a NumPy array, and so waits for it."""
        if not isinstance(statement, ast.Assign | ast.AugAssign):
            return False
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        held = leaves_of(self.possible.of(statement.value, home))
        return ARRAY in held and any(
            isinstance(one, ast.Subscript) and NUMPY in self.possible.of(one.value, home) for one in targets
        )


def _is_iterated(node: ast.AST, loop: ast.AST) -> bool:
    """Whether a node is in what a loop iterates over, which is evaluated once."""
    generators = getattr(loop, "generators", ())
    over = generators[0].iter if generators else getattr(loop, "iter", None)
    return over is not None and any(part is node for part in ast.walk(over))


def _yields(function: ast.AST) -> bool:
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for part in own_parts(function))


def _is_in_a_loop_head(node: ast.AST, file: File) -> bool:
    """Whether a node is in what the loop around it iterates over."""
    return any(isinstance(loop, _LOOPS) and _is_iterated(node, loop) for loop in file.names.ancestors(node))


def _asks_lengths(test: ast.expr, names: Set[str]) -> bool:
    """Whether a test needs only the lengths of these variables."""
    asked = {
        part
        for call in ast.walk(test)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "len"
        for part in ast.walk(call)
    }
    return all(part in asked for part in ast.walk(test) if isinstance(part, ast.Name) and part.id in names)


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0


def _apart(one: ast.AST, other: ast.AST, file: File) -> bool:
    """Whether two places stand in different branches of one `if`."""
    above = {**dict.fromkeys(file.names.ancestors(one))}
    for node in file.names.ancestors(other):
        if isinstance(node, ast.If) and node in above:
            arms = [{part for each in arm for part in ast.walk(each)} for arm in (node.body, node.orelse)]
            if any((one in arm) != (other in arm) for arm in arms):
                return True
    return False


def _head(statement: ast.stmt) -> list[ast.AST]:
    """The expressions of a statement, without those of the statements in it."""
    return [
        one
        for one in ast.iter_child_nodes(statement)
        if not isinstance(one, ast.stmt | ast.ExceptHandler | ast.match_case)
        and not isinstance(statement, (*FUNCTIONS, ast.ClassDef))
    ]


def _bound_by(statement: ast.stmt) -> set[str]:
    """The variables that hold the result of a statement: those that it sets, and lists that it extends."""
    found = {
        part.id
        for node in _head(statement)
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    return found | _filled_by(statement)


def _filled_by(statement: ast.stmt) -> set[str]:
    """The variable whose method a statement calls: a list that it extends."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return {function.value.id}
    return set()
