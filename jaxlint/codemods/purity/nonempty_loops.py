"""Whether a loop has at least one iteration, on all paths of the program.

A Python loop without iterations leaves its variables unchanged: Python numbers, None, or empty lists, which
raise when they are stacked or divided by their length. A JAX loop turns all of them into arrays.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from jaxlint.codemods.facts.dataflow import FUNCTIONS, names_in
from jaxlint.codemods.purity.possible_values import PossibleValues, default_of
from jaxlint.codemods.purity.program import File, function_around, parameters, reaching
from jaxlint.codemods.source.name_scopes import Names
from jaxlint.syntax.facts.nodes import literal_number

Known = tuple[ast.expr, File]
Answer = Callable[[ast.expr, File], bool]
_SAME_ROWS = frozenset({"list", "tuple", "reversed", "enumerate", "sorted", "tqdm"})
# The positions of a shape or a number of rows in functions, and the default number.
_SHAPES = {"zeros": 0, "ones": 0, "empty": 0, "full": 0, "eye": 0, "identity": 0, "normal": 1, "uniform": 1, "randint": 1, "gumbel": 1, "exponential": 1, "bernoulli": 2, "split": 1, "linspace": 2}  # fmt: skip
_COUNTS = frozenset({"num", "N", "shape", "size"})
_LEFT_OUT = frozenset({"split", "linspace"})
_EACH = frozenset({"sin", "cos", "tanh", "exp", "log", "sqrt", "abs", "square", "zeros_like", "ones_like", "full_like", "array", "asarray", "stack", "vstack", "device_put", "clip", "cumsum", "sort"})  # fmt: skip
_KEPT = frozenset({"astype", "copy", "block_until_ready", "clip", "cumsum"})
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_DEPTH = 8


class NonemptyLoops:
    """Answers from constants, literals, written shapes, the arguments of all calls of a function, and tests
    before a loop.

    `all_calls`: the program holds all calls of its functions. Otherwise a parameter may be anything.
    """

    def __init__(self, possible: PossibleValues, *, all_calls: bool = True) -> None:
        self.possible, self.program, self.all_calls = possible, possible.program, all_calls
        self._open: set[object] = set()

    def certainly_runs(self, iterable: ast.expr, file: File) -> bool:
        """Whether a loop or comprehension over `iterable` has at least one iteration."""
        return self._rows(iterable, file, 0)

    # Rows

    def _rows(self, node: ast.expr, file: File, depth: int) -> bool:
        """Whether an iterable has a row."""
        if depth > _DEPTH:
            return False
        if _is_tested(node, file):
            return True
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return any(not isinstance(one, ast.Starred) for one in node.elts)
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str | bytes) and bool(node.value)
        if isinstance(node, ast.Name):
            return self._all_given(node, file, "rows", lambda one, own: self._rows(one, own, depth + 1))
        if isinstance(node, ast.IfExp):
            return all(self._rows(one, file, depth + 1) for one in (node.body, node.orelse))
        if isinstance(node, ast.BinOp):
            sides = [one for one in (node.left, node.right) if not isinstance(one, ast.Constant)]
            return bool(sides) and all(self._rows(one, file, depth + 1) for one in sides)
        if isinstance(node, ast.UnaryOp):
            return self._rows(node.operand, file, depth + 1)
        if isinstance(node, ast.Subscript):
            first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else None
            whole = isinstance(first, ast.Slice) and not (first.lower or first.upper)
            return whole and self._rows(node.value, file, depth + 1)
        return isinstance(node, ast.Call) and self._rows_of_call(node, file, depth)

    def _rows_of_call(self, node: ast.Call, file: File, depth: int) -> bool:
        name = builtin(node, file.names)
        if name == "range":
            return self._turns_of_range(node, file, depth)
        if name == "zip":
            return bool(node.args) and all(self._rows(one, file, depth + 1) for one in node.args)
        if name in _SAME_ROWS:
            return bool(node.args) and self._rows(node.args[0], file, depth + 1)
        called = self.possible.name_of(node.func, file)
        last = called.rpartition(".")[2]
        if called.startswith(("jax.", "numpy.")):
            if last == "arange":
                return self._turns_of_range(node, file, depth)
            if last in _SHAPES:
                given = [one.value for one in node.keywords if one.arg in _COUNTS]
                given += node.args[_SHAPES[last] :][:1]
                return self._long(given[0], file, depth + 1) if given else last in _LEFT_OUT
            return last in _EACH and bool(node.args) and self._rows(node.args[0], file, depth + 1)
        kept = isinstance(node.func, ast.Attribute) and node.func.attr in _KEPT and not called
        return kept and isinstance(node.func, ast.Attribute) and self._rows(node.func.value, file, depth + 1)

    def _turns_of_range(self, node: ast.Call, file: File, depth: int) -> bool:
        """Whether a `range` or `arange` has a number."""
        bounds = node.args
        if any(isinstance(one, ast.Starred) for one in bounds):
            return False
        if len(bounds) == 1:
            return self._positive(bounds[0], file, depth + 1)
        numbers = [literal_number(one) for one in bounds]
        if None not in numbers:
            return len(range(*numbers)) > 0 if all(isinstance(n, int) for n in numbers) else False  # type: ignore[arg-type]
        if len(bounds) == 2 and numbers[0] is not None and numbers[0] <= 0:
            return self._positive(bounds[1], file, depth + 1)
        start = counted_down(node)
        return start is not None and self._positive(start, file, depth + 1)

    def _long(self, node: ast.expr, file: File, depth: int) -> bool:
        """Whether a shape, or a number of rows, has a row."""
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Tuple):
            return bool(node.elts) and self._positive(node.elts[0], file, depth + 1)
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            return self._rows(node.value, file, depth + 1)
        if isinstance(node, ast.Name) and not self._positive(node, file, depth + 1):
            return self._all_given(node, file, "long", lambda one, own: self._long(one, own, depth + 1))
        return isinstance(node, ast.Name) or self._positive(node, file, depth + 1)

    # Numbers

    def _positive(self, node: ast.expr, file: File, depth: int) -> bool:
        """Whether a number is 1 or more."""
        if depth > _DEPTH:
            return False
        if (number := literal_number(node)) is not None:
            return number >= 1
        if _is_tested(node, file):
            return True
        if isinstance(node, ast.Name):
            return self._all_given(node, file, "number", lambda one, own: self._positive(one, own, depth + 1))
        if isinstance(node, ast.IfExp):
            return all(self._positive(one, file, depth + 1) for one in (node.body, node.orelse))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult | ast.Pow):
            return all(self._positive(one, file, depth + 1) for one in (node.left, node.right))
        if isinstance(node, ast.Call) and builtin(node, file.names) == "len" and len(node.args) == 1:
            return self._rows(node.args[0], file, depth + 1)
        if isinstance(node, ast.Call) and builtin(node, file.names) == "max" and len(node.args) > 1:
            return any(self._positive(one, file, depth + 1) for one in node.args)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            first = node.value.attr == "shape" and literal_number(node.slice) == 0
            return first and self._rows(node.value.value, file, depth + 1)
        return False

    # Variables

    def _all_given(self, node: ast.Name, file: File, asked: str, answer: Answer) -> bool:
        """Whether `answer` is true for all possible values of a variable; false if some of them are not visible."""
        scope = file.names.scope_at(node).resolve(node.id)
        key = (id(scope), node.id, asked)
        if scope is None or key in self._open:
            return False
        if scope is file.names.module and node.id in self.program.stores:
            return False  # another module may set it
        self._open.add(key)
        try:
            own = file.names.scope_at(node) is scope
            bindings = reaching(scope, node, file) if own else scope.bindings.get(node.id, ())
            given = [self._given(binding.node, file) for binding in bindings]
            return bool(given) and all(
                one is not None and all(answer(value, own) for value, own in one) for one in given
            )
        finally:
            self._open.discard(key)

    def _given(self, node: ast.AST, file: File) -> list[Known] | None:
        """The expressions that a binding assigns; None if they are not visible."""
        if isinstance(node, ast.arg):
            return self._handed(node, file)
        above = file.names.parents.get(node)
        given = above.value if isinstance(above, ast.NamedExpr) else file.names.given(node)
        return [(given, file)] if given is not None else None

    def _handed(self, node: ast.arg, file: File) -> list[Known] | None:
        function = function_around(node, file) if self.all_calls else None
        if function is None or node not in parameters(function) or node in (function.args.vararg, function.args.kwarg):  # fmt: skip
            return None
        found: list[Known] = []
        for given, other in self.possible.call_sites.arguments_for(function, node, file):
            if given is None and (default := default_of(function, node)) is not None:
                found.append((default, file))
            elif isinstance(given, ast.expr):
                found.append((given, other))
            else:
                return None
        return found or None


def builtin(node: ast.AST, names: Names) -> str:
    """The name of the called builtin, or "tqdm" for a progress bar."""
    if not isinstance(node, ast.Call):
        return ""
    if (names.qualified(node.func) or "").startswith("tqdm"):
        return "tqdm"
    return names.builtin(node.func)


def counted_down(call: ast.Call) -> ast.expr | None:
    """`n` of `range(n - 1, -1, -1)`."""
    if len(call.args) != 3 or call.keywords or [ast.unparse(one) for one in call.args[1:]] != ["-1", "-1"]:
        return None
    start = call.args[0]
    if isinstance(start, ast.BinOp) and isinstance(start.op, ast.Sub) and ast.unparse(start.right) == "1":
        return start.left
    return None


# Tests that stand before a loop


def _is_tested(node: ast.expr, file: File) -> bool:
    """Whether a test around `node`, or one before it that leaves the block, excludes 0 and emptiness."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    text = ast.unparse(node)
    asked = {text, f"len({text})", f"{text}.shape[0]", f"{text}.size"}
    below: ast.AST = node
    loops: list[ast.AST] = []
    for above in file.names.ancestors(node):
        for test, holds in _tests_before(below, above):
            if _says(test, asked, holds) and not _is_set_since(node, test, loops, file):
                return True
        if isinstance(above, FUNCTIONS):
            return False
        if isinstance(above, ast.For | ast.While | ast.AsyncFor):
            loops.append(above)
        below = above
    return False


def _tests_before(below: ast.AST, above: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Tests whose outcome is known where `below` is evaluated, with that outcome."""
    if isinstance(above, ast.If | ast.IfExp | ast.While):
        body = above.body if isinstance(above.body, list) else [above.body]
        if below in body:
            yield above.test, True
        elif below is not above.test and isinstance(above, ast.If | ast.IfExp):
            yield above.test, False
    for name in ("body", "orelse", "finalbody"):
        block = getattr(above, name, None)
        if isinstance(block, list) and below in block:
            for statement in block[: block.index(below)]:
                if isinstance(statement, ast.Assert):
                    yield statement.test, True
                elif isinstance(statement, ast.If) and not statement.orelse and isinstance(statement.body[-1], _ENDS):  # fmt: skip
                    yield statement.test, False


def _says(test: ast.expr, asked: set[str], holds: bool) -> bool:
    """Whether a test with this outcome excludes that `asked` is empty or 0."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _says(test.operand, asked, not holds)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
        return any(_says(one, asked, holds) for one in test.values)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        number, op = literal_number(test.comparators[0]), test.ops[0]
        if ast.unparse(test.left) not in asked or number is None:
            return False
        if holds:
            return (isinstance(op, ast.Gt) and number >= 0) or (isinstance(op, ast.GtE | ast.Eq) and number >= 1)  # fmt: skip
        return (isinstance(op, ast.Eq) and number == 0) or (isinstance(op, ast.Lt) and number >= 1) or (isinstance(op, ast.LtE) and number >= 0)  # fmt: skip
    return holds and ast.unparse(test) in asked


def _is_set_since(node: ast.AST, test: ast.expr, loops: list[ast.AST], file: File) -> bool:
    """Whether a variable of the node may be set between a test and the node, or again in a loop around the
    node below the test.
    """
    names = names_in(node)
    attributes = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    first = min([test.lineno, *(getattr(one, "lineno", 0) for one in loops if one.lineno > test.lineno)])  # type: ignore[attr-defined]
    last = max([getattr(node, "lineno", 0), *(getattr(one, "end_lineno", 0) for one in loops if one.lineno > test.lineno)])  # type: ignore[attr-defined]  # fmt: skip
    return any(
        not isinstance(part.ctx, ast.Load)
        and (part.id if isinstance(part, ast.Name) else part.attr) in names | attributes
        and first <= part.lineno <= last
        for part in ast.walk(file.tree)
        if isinstance(part, ast.Name | ast.Attribute)
    )
