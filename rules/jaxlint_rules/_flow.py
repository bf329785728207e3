"""Where the results of two places of one function come together in one value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.api import Frame, Module
from jaxlint.api.syntax import walk
from jaxlint_rules._names import external_name, last_name, names_in, passed

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
# Calls that show a value, or compare two of them: nothing is computed from it.
_SHOWS = frozenset(
    """print pprint info debug warning error log display echo write writerow add_row add_scalar log_metrics assert_allclose
    assert_array_equal assert_array_almost_equal assert_array_less check_grads""".split()  # noqa: SIM905
)
_COMPARES = frozenset({"allclose", "array_equal", "isclose"})


class Results:
    """What is computed from two places of a function, followed by names, regardless of order.

    `come_together`: whether one statement computes a value, or a container stores values, from both. What is printed,
    plotted, asserted or tested is no such value. Unknown ways count as coming together, and so does what nothing reads yet.
    """

    def __init__(
        self, first: ast.AST, second: ast.AST, frame: Frame, compared: bool = False, returned: bool = True
    ) -> None:
        """`compared`: the places differ in one setting, so that a difference or a ratio of both compares them.
        `returned`: whether a function that returns both, each by itself, brings them together."""
        self.frame = frame
        self.places = (first, second)
        self.compared, self.returned = compared, returned
        self.names: tuple[set[str], set[str]] = (set(), set())
        self.come_together = self._follow()

    def _follow(self) -> bool:
        owner, module = self.frame.owner, self.frame.module
        steps = list(_steps(owner))
        read: set[int] = set()  # the sides of which a statement reads a result that another has stored
        if not all(_lies_below(place, owner, module) for place in self.places):
            return True
        while True:
            before = tuple(map(len, self.names))
            returned = [False, False]
            for step in steps:
                reads = [self._reads(step, side) for side in (0, 1)]
                if not any(reads):
                    continue
                read.update(side for side in (0, 1) if reads[side] and not self._holds(step, side))
                if isinstance(step, (ast.Return, ast.Yield, ast.YieldFrom)) or _is_result_of_lambda(
                    step, owner
                ):
                    if any(all(self._reads(item, side) for side in (0, 1)) for item in _items(step)):
                        return True
                    returned = [a or b for a, b in zip(returned, reads, strict=True)]
                    if self.returned and all(returned):
                        return True
                    continue
                if self._only_shows(step) or (self.compared and self._only_compares(step, reads)):
                    continue
                if all(reads):
                    return True
                side = reads.index(True)
                self.names[side].update(_kept_by(step, self.frame))
            if self.names[0] & self.names[1]:
                return True
            if tuple(map(len, self.names)) == before:
                return not all(self.names[side] == set() or side in read for side in (0, 1))

    def _reads(self, step: ast.AST, side: int) -> bool:
        place, names = self.places[side], self.names[side]
        return any(
            part is place or (isinstance(part, ast.Name) and part.id in names and not _is_rebound(part))
            for part in _parts(step)
        )

    def _holds(self, step: ast.AST, side: int) -> bool:
        return any(part is self.places[side] for part in walk(step))

    def _only_shows(self, step: ast.AST) -> bool:
        """Whether a statement shows, tests or drops what it reads."""
        if isinstance(step, (ast.Assert, ast.Raise, ast.Delete)):
            return True
        if isinstance(step, ast.expr):
            return not isinstance(step, ast.Lambda)  # a test; the iterable of a loop is a step of its own
        if not isinstance(step, ast.Expr):
            return False
        call = step.value.value if isinstance(step.value, ast.Await) else step.value
        if not isinstance(call, ast.Call) or last_name(call.func) in _SHOWS:
            return True
        # A method changes its object; a function of a library, or one whose result is dropped, nothing here.
        return isinstance(call.func, ast.Name) or external_name(call.func, self.frame.scope) != ""

    def _only_compares(self, step: ast.AST, reads: list[bool]) -> bool:
        """Whether a step judges what it reads: `ok = price > other`, `parity = price - other`."""
        if not all(reads):
            return not self._reads_outside(step, reads.index(True))
        whole = step
        while True:
            inner = [
                part
                for part in ast.iter_child_nodes(whole)
                if isinstance(part, ast.expr) and self._reads(part, 0) and self._reads(part, 1)
            ]
            if not inner:
                break
            whole = inner[0]
        if isinstance(whole, ast.Call) and last_name(whole.func) in _COMPARES:
            return True
        if isinstance(whole, ast.BinOp) and isinstance(whole.op, (ast.Sub, ast.Div)):
            return True
        return not any(self._reads_outside(whole, side) for side in (0, 1))

    def _reads_outside(self, step: ast.AST, side: int) -> bool:
        """Whether a side is read elsewhere than in comparisons, whose results are truth values."""
        if isinstance(step, ast.Compare):
            return False
        if not self._reads(step, side):
            return False
        inner = [part for part in ast.iter_child_nodes(step) if isinstance(part, (ast.expr, ast.keyword))]
        return not any(self._reads(part, side) for part in inner) or any(
            self._reads_outside(part, side) for part in inner
        )


def _steps(owner: ast.AST) -> Iterator[ast.AST]:
    """The simple statements of a function, and of compound ones the tests; functions inside are one step each."""
    if isinstance(owner, ast.Lambda):
        yield owner.body
        return
    waiting = list(getattr(owner, "body", []))
    while waiting:
        step = waiting.pop(0)
        if isinstance(step, (ast.If, ast.While)):
            yield step.test
        if isinstance(step, _COMPOUND):
            if isinstance(step, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)):
                yield step
            for name in ("body", "orelse", "finalbody"):
                waiting += getattr(step, name, [])
            waiting += [one for handler in getattr(step, "handlers", []) for one in handler.body]
            continue
        if isinstance(step, ast.Expr) and isinstance(step.value, (ast.Yield, ast.YieldFrom)):
            yield step.value
            continue
        yield step


def _parts(step: ast.AST) -> Iterator[ast.AST]:
    """The nodes that a step reads: of a loop its iterable, of `with` its contexts."""
    if isinstance(step, (ast.For, ast.AsyncFor)):
        yield from walk(step.iter)
    elif isinstance(step, (ast.With, ast.AsyncWith)):
        for item in step.items:
            yield from walk(item.context_expr)
    else:
        yield from walk(step)


def _items(step: ast.AST) -> list[ast.AST]:
    """The values that a function returns, each by itself."""
    value = getattr(step, "value", None) or step
    return list(value.elts) if isinstance(value, ast.Tuple) else [value]


def _is_rebound(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _is_result_of_lambda(step: ast.AST, owner: ast.AST) -> bool:
    return isinstance(owner, ast.Lambda) and step is owner.body


def _lies_below(place: ast.AST, owner: ast.AST, module: Module) -> bool:
    return any(above is owner for above in module.ancestors(place))


def _kept_by(step: ast.AST, frame: Frame) -> set[str]:
    """The names whose values a step computes or changes: targets, the object of a method, a function that reads a name."""
    if isinstance(step, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {step.name}
    if isinstance(step, ast.Assign):
        kept = set().union(*(_roots(target) for target in step.targets))
    elif isinstance(step, (ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor)):
        kept = _roots(step.target)
    elif isinstance(step, (ast.With, ast.AsyncWith)):
        kept = set().union(*(_roots(item.optional_vars) for item in step.items if item.optional_vars))
    else:
        kept = set()
    for part in walk(step):
        if isinstance(part, ast.NamedExpr):
            kept |= _roots(part.target)
        if isinstance(step, ast.Expr) and isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            if passed(part) and not external_name(part.func, frame.scope):
                kept |= names_in(part.func.value)
    return kept - {"_"}


def _roots(target: ast.AST) -> set[str]:
    """The variables that a target binds or changes: of `table[name]` and `self.table` the object, not the index."""
    if isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        return _roots(target.value)
    if isinstance(target, (ast.Tuple, ast.List)):
        return set().union(*map(_roots, target.elts))
    return {target.id} if isinstance(target, ast.Name) else set()
