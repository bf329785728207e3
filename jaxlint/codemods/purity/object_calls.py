"""Where a program calls the objects of its classes: each is followed from the place that makes it.

The way leads through variables, attributes, containers, loops, arguments and results. Where it leads out of the program, or
further than is followed, other calls are possible, and the answer says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.callbacks import first_parameter
from jaxlint.codemods.purity.classes import Classes
from jaxlint.codemods.purity.fixpoint import CallSite
from jaxlint.codemods.purity.program import File, function_around
from jaxlint.codemods.purity.value_queries import ValueQueries
from jaxlint.codemods.purity.values import Cls, Fn, Inst

PLAIN = frozenset({"object", "abc.ABC"})  # bases that call no attribute of their objects
_MOST = 2000  # places of one class's objects
_COMPUTED = ("vars", "getattr", "attrgetter")  # read attributes by names that only a run knows
_HIDING = ("__dict__", "__class__")
_ONLY_ASK = frozenset({"len", "isinstance", "print", "id", "bool", "str", "repr", "hasattr", "callable"})
_SAME = frozenset({"list", "tuple", "reversed", "iter", "set", "frozenset", "copy.copy", "copy.deepcopy"})
_FILL = frozenset({"extend", "remove", "clear", "reverse", "append", "insert", "index", "count"})
_TAKE_ONE = frozenset({"get", "pop", "popleft", "setdefault"})
_ADD = frozenset({"append", "insert", "appendleft", "add"})

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class _At:
    """An expression whose value is the object, in so many containers, and the transformations around it."""

    node: ast.expr
    file: File
    inside: int = 0
    how: str = ""


class ObjectCalls:
    """The calls of the objects of one program's classes."""

    def __init__(self, possible: ValueQueries, classes: Classes) -> None:
        self.possible, self.program, self.classes = possible, possible.program, classes
        self.sites = possible.call_sites

    def of(self, function: Definition, holder: Cls) -> Iterator[CallSite]:
        """The calls of a class's `__call__`; None for those that are not visible."""
        family = [one for one in self.classes.heirs(holder) if self._runs(one, function)]
        computed = any(map(self.program.loads.get, _HIDING)) or any(map(self.program.calls.get, _COMPUTED))
        if computed or not all(map(self._is_plain, family)):
            yield None, "", holder.file
            return
        for other, call in self.program.calls.get("__call__", ()):
            yield call, "", other
        seen: set[_At] = set()
        waiting: list[_At | CallSite] = [found for one in family for found in self._made(one)]
        while waiting:
            one = waiting.pop()
            if not isinstance(one, _At):
                yield one
            elif one not in seen:
                seen.add(one)
                waiting += self._next(one) if len(seen) < _MOST else [self._lost(one)]

    def _is_plain(self, cls: Cls) -> bool:
        """Whether only the program makes and calls objects of a class: no base, decorator or metaclass of a library does."""
        line = self.classes.line(cls)
        decorators = [name for one in line for name in self.classes.decorators(one)]
        return (
            self.classes.external_bases(cls) <= PLAIN
            and all(name == "dataclasses.dataclass" for name in decorators)
            and not any(one.node.keywords for one in line)
        )

    def _runs(self, cls: Cls, function: Definition) -> bool:
        member = self.classes.member(cls, "__call__")
        return member is not None and member[1].node is function

    @staticmethod
    def _lost(one: _At) -> CallSite:
        return None, one.how, one.file

    # Where objects are made

    def _made(self, cls: Cls) -> Iterator[_At | CallSite]:
        """The calls of a class, and the names of an object in its own methods."""
        scope = cls.file.names.scope_at(cls.node)
        for file, use in self.program.uses_of(cls.node.name, scope, cls.file):
            yield from self._of_class(use, file)
        for one in self.classes.line(cls):
            for method in one.node.body:
                if isinstance(method, Definition):
                    yield from self._own_name(method, one.file)

    def _own_name(self, method: Definition, file: File) -> Iterator[_At | CallSite]:
        kinds = {getattr(one, "id", "") for one in method.decorator_list}
        inner, name = file.names.scope_inside(method), first_parameter(method)
        if inner is None or not name or "staticmethod" in kinds:
            return
        for use in file.names.uses_of(name, inner):
            if "classmethod" in kinds:
                yield from self._of_class(use.name, file)
            else:
                yield _At(use.name, file)

    def _of_class(self, use: ast.expr, file: File) -> Iterator[_At | CallSite]:
        """What becomes of a class itself."""
        above = file.names.parents.get(use)
        if isinstance(above, ast.Call) and above.func is use:
            yield _At(above, file)
        elif not self._only_names(above, use, file):
            yield None, "", file

    def _only_names(self, above: ast.AST | None, use: ast.expr, file: File) -> bool:
        """Whether code names a class without making an object of it: as a base, a type, the holder of a member."""
        if isinstance(above, ast.Attribute):
            return above.attr != "__call__"
        if isinstance(above, ast.Call):
            return self.possible.name_of(above.func, file) in ("isinstance", "issubclass", "super")
        return isinstance(above, ast.ClassDef) or _is_annotation(use, file)

    # Where they go

    def _next(self, at: _At) -> list[_At | CallSite]:
        """The places that the value of an expression reaches from there."""
        node, file, inside = at.node, at.file, at.inside
        above = file.names.parents.get(node)
        if isinstance(above, ast.Call) and above.func is node:
            return [(above, at.how, file)] if not inside else [self._lost(at)]
        if isinstance(above, ast.Attribute):
            return self._attribute(above, at)
        if isinstance(above, ast.Call):
            return self._argument(node, above, at)
        if isinstance(above, ast.keyword):
            call = file.names.parents.get(above)
            return self._argument(node, call, at) if isinstance(call, ast.Call) else [self._lost(at)]
        if isinstance(above, ast.Assign | ast.AnnAssign | ast.NamedExpr) and above.value is node:
            targets = above.targets if isinstance(above, ast.Assign) else [above.target]
            found = [each for one in targets for each in self._target(one, at, inside)]
            return [*found, self._at(above, at)] if isinstance(above, ast.NamedExpr) else found
        if isinstance(above, ast.Tuple | ast.List | ast.Set):
            return self._in_display(above, at)
        if isinstance(above, ast.ListComp | ast.SetComp | ast.GeneratorExp) and above.elt is node:
            return [self._at(above, at, inside + 1)]
        if isinstance(above, ast.Dict) and node in above.values:
            return [self._at(above, at, inside + 1)]
        if isinstance(above, ast.DictComp) and above.value is node:
            return [self._at(above, at, inside + 1)]
        if isinstance(above, ast.For | ast.comprehension) and above.iter is node and inside:
            return self._target(above.target, at, inside - 1)
        if isinstance(above, ast.Subscript) and above.value is node:
            if not inside or not isinstance(above.ctx, ast.Load):
                return []
            return [self._at(above, at, inside if isinstance(above.slice, ast.Slice) else inside - 1)]
        if isinstance(above, ast.Return):
            return self._results(node, at)
        if isinstance(above, ast.IfExp):
            return [] if above.test is node else [self._at(above, at)]
        if isinstance(above, ast.BoolOp):
            return [self._at(above, at)]
        if isinstance(above, ast.BinOp):
            return [self._at(above, at)] if inside else []
        tests = isinstance(above, ast.If | ast.While | ast.Assert) and above.test is node
        asks = isinstance(above, ast.Compare | ast.Expr | ast.UnaryOp | ast.FormattedValue)
        return [] if tests or asks else [self._lost(at)]

    def _at(self, node: ast.expr, at: _At, inside: int | None = None) -> _At:
        return _At(node, at.file, at.inside if inside is None else inside, at.how)

    def _attribute(self, above: ast.Attribute, at: _At) -> list[_At | CallSite]:
        call = at.file.names.parents.get(above)
        called = isinstance(call, ast.Call) and call.func is above
        if not at.inside:
            return [] if above.attr != "__call__" or called else [self._lost(at)]
        if not called or not isinstance(call, ast.Call):
            return [self._lost(at)]
        if above.attr in _FILL:
            return []
        if above.attr in ("values", "copy"):
            return [self._at(call, at)]
        if above.attr == "items":
            return self._pairs(call, 1, at)
        return [self._at(call, at, at.inside - 1)] if above.attr in _TAKE_ONE else [self._lost(at)]

    def _in_display(self, above: ast.Tuple | ast.List | ast.Set, at: _At) -> list[_At | CallSite]:
        """`(model, params)`: assigned to as many names, or returned to callers that do that, each goes its own way."""
        if any(isinstance(one, ast.Starred) for one in above.elts):
            return [self._at(above, at, at.inside + 1)]
        place, around = above.elts.index(at.node), at.file.names.parents.get(above)
        if isinstance(around, ast.Assign) and around.value is above and len(around.targets) == 1:
            if (target := _part(around.targets[0], place, len(above.elts))) is not None:
                return self._target(target, at, at.inside)
        if isinstance(around, ast.Return) and isinstance(above, ast.Tuple):
            return self._results(above, at, place)
        return [self._at(above, at, at.inside + 1)]

    def _results(self, node: ast.expr, at: _At, place: int | None = None) -> list[_At | CallSite]:
        """Where the calls of a function hand its result; `place`: that in its tuple."""
        function = function_around(node, at.file)
        if function is None or not _is_called_as_written(function):
            return [self._lost(at)]
        found: list[_At | CallSite] = []
        for call, how, file in self.sites.calls_of(function, at.file):
            if call is None or how:
                return [self._lost(at)]
            above = file.names.parents.get(call)
            length = len(node.elts) if isinstance(node, ast.Tuple) and place is not None else 0
            if place is not None and isinstance(above, ast.Assign) and len(above.targets) == 1:
                if (target := _part(above.targets[0], place, length)) is not None:
                    found += self._target(target, _At(call, file, at.inside, at.how), at.inside)
                    continue
            found.append(_At(call, file, at.inside + (place is not None), at.how))
        return found

    def _target(self, target: ast.expr, at: _At, inside: int) -> list[_At | CallSite]:
        """The reads of what a value is assigned to."""
        if isinstance(target, ast.Name):
            scope = at.file.names.scope_at(target).resolve(target.id)
            if scope is None:
                return [self._lost(at)]
            uses = list(self.program.uses_of(target.id, scope, at.file))
            if isinstance(scope.node, ast.ClassDef):
                uses += self.program.loads.get(target.id, ())
            return [_At(use, file, inside, at.how) for file, use in uses]
        if isinstance(target, ast.Attribute):
            loads = self.program.loads.get(target.attr, ())
            return [_At(use, file, inside, at.how) for file, use in loads]
        if isinstance(target, ast.Subscript):
            return self._target(target.value, at, inside + 1)
        if isinstance(target, ast.Tuple | ast.List) and inside:
            return [each for one in target.elts for each in self._target(one, at, inside - 1)]
        return [self._lost(at)]

    def _argument(self, node: ast.expr, call: ast.Call, at: _At) -> list[_At | CallSite]:
        """What a call does with an object that it is given."""
        name = self.possible.name_of(call.func, at.file)
        first = bool(call.args) and call.args[0] is node
        if name in _ONLY_ASK:
            return []
        if name in _SAME:
            return [self._at(call, at)]
        if name in ("zip", "enumerate") and at.inside and node in call.args:
            return self._pairs(call, 1 if name == "enumerate" else call.args.index(node), at)
        if name == "next" and at.inside:
            return [self._at(call, at, at.inside - 1)]
        if name in known_functions.TRANSFORMS and first and not at.inside:
            return [_At(call, at.file, 0, f"{name}|{at.how}")]
        if name in known_functions.CALLERS and first and not at.inside and not at.how:
            return [(call, name, at.file)]
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in (*_ADD, "extend") and node in call.args:
            return self._target(function.value, at, at.inside + (function.attr != "extend"))
        return self._handed(node, call, at)

    def _pairs(self, call: ast.Call, place: int, at: _At) -> list[_At | CallSite]:
        """`for k, layer in zip(keys, layers)`: the object is at one place of each tuple."""
        above = at.file.names.parents.get(call)
        if isinstance(above, ast.For | ast.comprehension) and above.iter is call:
            length = 2 if isinstance(call.func, ast.Attribute) or len(call.args) == 1 else len(call.args)
            if (target := _part(above.target, place, length)) is not None:
                return self._target(target, at, at.inside - 1)
        return [self._at(call, at, at.inside + 1)]

    def _handed(self, node: ast.expr, call: ast.Call, at: _At) -> list[_At | CallSite]:
        """The parameter, or the field, by which the program's own code receives it."""
        found: list[_At | CallSite] = []
        for callee in self.possible.of(call.func, at.file) or [None]:
            receivers = self._receivers(node, call, callee)
            if receivers is None:
                return [self._lost(at)]
            found += [_At(use, file, at.inside, at.how) for file, use in receivers]
        return found

    def _receivers(
        self, node: ast.expr, call: ast.Call, callee: object
    ) -> Iterable[tuple[File, ast.expr]] | None:
        if isinstance(callee, Inst):
            member = self.classes.member(callee.cls, "__call__")
        elif isinstance(callee, Cls):
            member = self.classes.member(callee, "__init__")
            if member is None:
                return self._field(node, call, callee)
        else:
            member = None
        if member is not None and isinstance(member[1].node, Definition):
            callee = Fn(member[1].node, member[0].file, Inst(getattr(callee, "cls", callee)))  # type: ignore[arg-type]
        if not isinstance(callee, Fn):
            return None
        parameter = self.sites.parameter_for(node, call, callee)
        scope = callee.file.names.scope_inside(callee.node)
        if parameter is None or scope is None:
            return None
        return [(callee.file, use.name) for use in callee.file.names.uses_of(parameter.arg, scope)]

    def _field(self, node: ast.expr, call: ast.Call, cls: Cls) -> list[tuple[File, ast.expr]] | None:
        """The reads of the field of a dataclass that an argument of its constructor sets."""
        if not cls.node.decorator_list or not self._is_plain(cls):
            return None
        fields = self.possible.fields(cls)
        name = next((one.arg for one in call.keywords if one.value is node), None)
        if node in call.args and call.args.index(node) < len(fields):
            name = fields[call.args.index(node)]
        return list(self.program.loads.get(name, ())) if name in fields else None


def _part(target: ast.expr, place: int, length: int) -> ast.expr | None:
    """The target at a place of a tuple of so many."""
    if not isinstance(target, ast.Tuple | ast.List) or len(target.elts) != length:
        return None
    return None if any(isinstance(one, ast.Starred) for one in target.elts) else target.elts[place]


def _is_called_as_written(function: ast.AST) -> bool:
    """Whether a call of a function gives what it returns: no decorator does, such as `property`."""
    decorators = getattr(function, "decorator_list", [])
    return all(getattr(one, "id", "") in ("staticmethod", "classmethod") for one in decorators)


def _is_annotation(node: ast.expr, file: File) -> bool:
    """Whether an expression belongs to the type of a parameter, a result or a variable."""
    part: ast.AST = node
    for above in file.names.ancestors(node):
        if part in (getattr(above, "annotation", None), getattr(above, "returns", None)):
            return True
        if isinstance(above, ast.stmt | ast.Call):
            return False
        part = above
    return False
