"""The possible values of an expression over all paths, from assignments, calls and their arguments anywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.call_sites import CallSites
from jaxlint.codemods.purity.classes import Classes
from jaxlint.codemods.purity.expressions import Expressions
from jaxlint.codemods.purity.fixpoint import Fixpoint
from jaxlint.codemods.purity.last_values import returned_last
from jaxlint.codemods.purity.program import File, FunctionNode, Program, own_parts, reaching
from jaxlint.codemods.purity.results import Results
from jaxlint.codemods.purity.values import (
    NONE,
    NOTHING,
    NUMBER,
    NUMPY,
    Box,
    Cls,
    Ext,
    Fn,
    Inst,
    Made,
    Method,
    Place,
    Unknown,
    Value,
    Values,
    Whole,
    Wrapped,
    bounded,
    holding,
    one,
    unknown,
)
from jaxlint.codemods.source.name_scopes import Binding
from jaxlint.codemods.source.text_edits import shown_source
from jaxlint.jaxapi.names import canonical
from jaxlint.syntax.function_bodies import NESTED

_TAKING = frozenset({"pop", "remove", "clear", "sort", "reverse"})
_EXTENDING = frozenset({"extend", "update", "extendleft", "__iadd__"})
_TRANSPARENT = frozenset({"staticmethod", "classmethod", "property"})


class PossibleValues:
    """The values of one program's expressions. `hints` has the arguments of a run for parameters without visible
    calls."""

    def __init__(
        self, program: Program, hints: Mapping[tuple[FunctionNode, str], Values] | None = None
    ) -> None:
        self.program = program
        self.hints = dict(hints or {})
        memo = program.memo if not hints else {}  # facts independent of a run stay for later questions
        self.answers = Fixpoint(memo.setdefault("values", {}))
        self.expressions = Expressions(self)
        self.classes = Classes(self, self.expressions, self.answers, memo)
        self.call_sites = CallSites(self, self.expressions, self.classes, self.answers, memo)
        self.results = Results(self, self.expressions)

    def external_bases(self, cls: Cls) -> set[str]:
        """The names of the external classes that a class derives from; "?" for an unknown one."""
        return self.classes.external_bases(cls)

    def fields(self, cls: Cls) -> list[str]:
        """The annotated names of a class and its bases, in order."""
        return self.classes.fields(cls)

    def is_nnx(self, value: Value) -> bool:
        """Whether a value is an object of flax.nnx, whose arrays its transformations carry."""
        if isinstance(value, Inst):
            return any(
                one.startswith(known_functions.STATE_MODULES) for one in self.external_bases(value.cls)
            )
        return isinstance(value, Made) and value.name.startswith(known_functions.STATE_MODULES)

    # Expressions

    def of(self, node: ast.expr | None, file: File) -> Values:
        """The possible values of an expression; unknown if the search takes too long."""
        if node is None:
            return one(NONE)
        return self.answers.answer(node, lambda: self._evaluated(node, file))

    def _evaluated(self, node: ast.expr, file: File) -> Values:
        if isinstance(node, ast.Name):
            return bounded(self.of_name(node, file))
        if isinstance(node, ast.Call):
            return bounded(self.results.of_call(node, file))
        method = getattr(self.expressions, f"of_{type(node).__name__}", None)
        return bounded(method(node, file)) if method is not None else unknown(shown_source(node))

    def of_name(self, node: ast.Name, file: File) -> Values:
        """The possible values of a variable where a name reads it."""
        scope = file.names.scope_at(node).resolve(node.id)
        if scope is None:
            if file.names.has_star_import:
                return unknown(node.id)
            return one(Ext(node.id))
        place = Place(file, scope, node.id)
        if not isinstance(node.ctx, ast.Load):
            return self.of_place(place)
        return self._reaching(node, place)

    def _reaching(self, node: ast.Name, place: Place) -> Values:
        """The values of a variable where a name reads it."""
        bindings = reaching(place.scope, node, place.file)
        if len(bindings) == len(place.scope.bindings.get(place.name, ())):
            return self.of_place(place)
        return self._of_bindings(bindings, place)

    def before(self, statement: ast.AugAssign, file: File) -> Values:
        """The values of the target of `x += 1` before it."""
        target = statement.target
        scope = file.names.scope_at(target).resolve(target.id) if isinstance(target, ast.Name) else None
        if not isinstance(target, ast.Name) or scope is None:
            return self.of(target, file)
        place = Place(file, scope, target.id)
        return self.answers.answer(statement, lambda: self._reaching(target, place))

    def of_place(self, place: Place) -> Values:
        """All values assigned to a variable."""
        return self.answers.answer(place, lambda: self._given(place))

    def _given(self, place: Place) -> Values:
        return self._of_bindings(place.scope.bindings.get(place.name, ()), place)

    def _of_bindings(self, bindings: Iterable[Binding], place: Place) -> Values:
        result: Values = NOTHING
        for binding in bindings:
            result |= self.of_binding(binding, place)
        if any(isinstance(value, Box) for value in result):
            for path, more in self.filled(place):
                result = holding(result, more, path)
        return bounded(result)

    def filled(self, place: Place) -> list[tuple[tuple[object, ...], Values]]:
        """The values added to a container later, and to those in it: the keys that lead there, and the values. They are added through
        the variable that holds it, or one that is assigned from it."""
        found: list[tuple[tuple[object, ...], Values]] = []
        seen: set[tuple[int, str]] = set()
        waiting = [place]
        while waiting:
            one_ = waiting.pop()
            if (id(one_.scope), one_.name) in seen:
                continue
            seen.add((id(one_.scope), one_.name))
            for file, use in self.program.uses_of(one_.name, one_.scope, one_.file):
                part, path = _part_used(use, file)
                if more := self.added(part, file):
                    found.append((path, more))
                waiting += _given_on(use, file)
        return found

    def added(self, use: ast.expr, file: File) -> Values:
        """The values that the code around the use of a container adds to it."""
        above = file.names.parents.get(use)
        if isinstance(above, ast.AugAssign) and above.target is use:
            return self.expressions.contents(self.of(above.value, file) - {NUMBER})
        if isinstance(above, ast.Subscript) and above.value is use and not isinstance(above.ctx, ast.Load):
            statement = file.names.parents.get(above)
            if isinstance(statement, (ast.Assign, ast.AugAssign)):
                return self.of(statement.value, file)
            return NOTHING if isinstance(statement, ast.Delete) else unknown(shown_source(use))
        call = file.names.parents.get(above) if isinstance(above, ast.Attribute) else None
        if not isinstance(above, ast.Attribute) or above.value is not use or not isinstance(call, ast.Call):
            return NOTHING
        if above.attr not in known_functions.CHANGING or above.attr in _TAKING:
            return NOTHING
        found: Values = NOTHING
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
            given = self.of(argument, file)
            found |= self.expressions.contents(given) if above.attr in _EXTENDING else given
        return found

    def of_binding(self, binding: Binding, place: Place) -> Values:
        file, node = place.file, binding.node
        if binding.statement is not None:
            return self.of_import(binding, file)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self.of_definition(node, file)
        if isinstance(node, ast.ClassDef):
            return one(Cls(node, file)) if not node.decorator_list else self._decorated_class(node, file)
        if isinstance(node, ast.arg):
            return self.of_parameter(node, file)
        if isinstance(node, ast.Name):
            return self.of_target(node, file)
        return unknown(place.name)

    def of_import(self, binding: Binding, file: File) -> Values:
        taken = self.program.imported(binding, file)
        if isinstance(taken, File):
            return one(Whole(taken))
        if taken is not None:
            return self.of_member(*taken)
        if binding.qualified is None or not self.program.is_external(binding.qualified, file):
            return unknown(binding.name)
        return one(Ext(canonical(binding.qualified)))

    def of_member(self, file: File, name: str) -> Values:
        """A name of another file, read as `module.name`."""
        if name not in file.names.module.bindings:
            return unknown(name)
        return self.of_place(Place(file, file.names.module, name))

    def of_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef, file: File) -> Values:
        result: Values = one(Fn(node, file))
        for decorator in reversed(node.decorator_list):
            name = self.name_of(decorator.func if isinstance(decorator, ast.Call) else decorator, file)
            if (
                name in known_functions.TRANSFORMS
                or name in _TRANSPARENT
                or name.endswith((".setter", ".defjvp", ".defvjp"))
            ):
                continue  # called like the function itself
            result = one(Wrapped(name, result)) if name else unknown(f"@{shown_source(decorator)}")
        return result

    def _decorated_class(self, node: ast.ClassDef, file: File) -> Values:
        cls = Cls(node, file)
        fine = ("dataclasses.dataclass", "flax.struct.dataclass", "chex.dataclass", "jax.tree_util.register")
        is_fine = all(name.startswith(fine) for name in self.classes.decorators(cls))
        return one(cls) if is_fine else unknown(node.name)

    def name_of(self, node: ast.expr, file: File) -> str:
        """The canonical name of something external, from a name or attribute; "" for anything else."""
        if isinstance(node, ast.Name) and file.names.scope_at(node).resolve(node.id) is None:
            return node.id
        qualified = file.names.qualified(node)
        return canonical(qualified) if qualified and self.program.is_external(qualified, file) else ""

    # Variables

    def of_target(self, node: ast.Name, file: File) -> Values:
        """The value for the target of an assignment, loop or comprehension."""
        parents = file.names.parents
        path: list[tuple[ast.AST, ast.AST]] = []
        child: ast.AST = node
        above = parents.get(child)
        while isinstance(above, (ast.Tuple, ast.List, ast.Starred)):
            path.append((above, child))
            child, above = above, parents.get(above)
        if isinstance(above, (ast.Assign, ast.NamedExpr)):
            given = self.of(above.value, file)
        elif isinstance(above, ast.AnnAssign):
            given = self.of(above.value, file) if above.value is not None else NOTHING
        elif isinstance(above, ast.AugAssign):
            given = self.expressions.joined(self.before(above, file), self.of(above.value, file))
        elif isinstance(above, (ast.For, ast.comprehension)) and child is above.target:
            given = self.expressions.elements(self.of(above.iter, file))
        elif isinstance(above, ast.withitem) and self.of(above.context_expr, file) == {NUMPY}:
            given = one(NUMPY)  # `with np.load(path) as arrays`
        else:
            return unknown(node.id)
        for whole, part in reversed(path):
            if isinstance(whole, ast.Starred):
                given = one(Box("list", None, given))
            elif isinstance(whole, (ast.Tuple, ast.List)) and isinstance(part, ast.expr):
                starred = isinstance(part, ast.Starred)
                given = self.expressions.item_at(
                    given, whole.elts.index(part), len(whole.elts), starred=starred
                )
        return given

    def of_parameter(self, node: ast.arg, file: File) -> Values:
        """The arguments for a parameter at all calls of its function."""
        function = file.names.parents.get(file.names.parents.get(node, node))
        if not isinstance(function, FUNCTIONS):
            return unknown(node.arg)
        arguments = function.args
        if node in (arguments.vararg, arguments.kwarg):
            kind = "tuple" if node is arguments.vararg else "dict"
            return one(Box(kind, None, unknown(node.arg)))
        holder = self.classes.class_around(function, file)
        if holder is not None and arguments.args and node is arguments.args[0]:
            static = any(
                shown_source(d) in ("staticmethod",) for d in getattr(function, "decorator_list", ())
            )
            if not static:
                return one(Inst(holder))
        hint = self.hints.get((function, node.arg), NOTHING)
        found, complete = self.call_sites.given_to(function, node, file)
        if NONE in hint:  # None in one run says nothing about the arguments of another
            return (
                found
                | hint
                | (NOTHING if complete else unknown(node.arg))
                | self._default(function, node, file)
            )
        if not complete:
            found |= hint or unknown(node.arg)
        elif hint and not any(isinstance(value, Unknown) for value in hint):
            found = frozenset(value for value in found if not isinstance(value, Unknown)) | hint
        return found | self._default(function, node, file)

    def _default(self, function: FunctionNode, node: ast.arg, file: File) -> Values:
        default = default_of(function, node)
        return self.of(default, file) if default is not None else NOTHING

    # Results of functions

    def returned(self, function: FunctionNode, file: File) -> Values:
        """The possible results of a function; an iterator if it yields."""
        if isinstance(function, ast.Lambda):
            return self.of(function.body, file)
        found: Values = NOTHING
        yielded: Values = NOTHING
        ends = True
        for statement in function.body:
            for part in [statement, *own_parts(statement)] if not isinstance(statement, NESTED) else ():
                if isinstance(part, ast.Yield):
                    yielded |= self.of(part.value, file)
                elif isinstance(part, ast.YieldFrom):
                    yielded |= self.expressions.elements(self.of(part.value, file)) or unknown()
                elif isinstance(part, ast.Return):
                    found |= returned_last(part, function, self, file)
        if yielded:
            return one(Box("generator", None, yielded))
        if (function.body and isinstance(function.body[-1], (ast.Return, ast.Raise))) or (
            function.body and _always_returns(function.body[-1])
        ):
            ends = False
        return found | one(NONE) if ends else found

    # Attributes

    def attribute(self, value: Value, name: str) -> Values:
        """`value.name`."""
        if isinstance(value, Whole):
            return self.of_member(value.file, name)
        if isinstance(value, Ext):
            return one(Ext(canonical(f"{value.name}.{name}")))
        if isinstance(value, Inst):
            return self.classes.of_instance(value, name)
        if isinstance(value, Cls):
            member = self.classes.member(value, name)
            if member is None and name == "create" and self.classes.is_train_state(value):
                return one(Method(Inst(value), name))
            return (
                self.of_binding(member[1], member[0])
                if member is not None
                else unknown(f"{value.node.name}.{name}")
            )
        return self.expressions.attribute_of_object(value, name)


def _part_used(use: ast.expr, file: File) -> tuple[ast.expr, tuple[object, ...]]:
    """The item of a container that a use of it reads, and the keys on the way: None for one that is computed."""
    path: list[object] = []
    above = file.names.parents.get(use)
    while isinstance(above, ast.Subscript) and above.value is use and isinstance(above.ctx, ast.Load):
        if isinstance(above.slice, ast.Slice):
            break
        path.append(above.slice.value if isinstance(above.slice, ast.Constant) else None)
        use, above = above, file.names.parents.get(above)
    return use, tuple(path)


def _given_on(use: ast.expr, file: File) -> list[Place]:
    """The variables that a statement assigns the value of another one to."""
    above = file.names.parents.get(use)
    if not isinstance(above, ast.Assign | ast.AnnAssign | ast.NamedExpr) or above.value is not use:
        return []
    targets = above.targets if isinstance(above, ast.Assign) else [above.target]
    homes = [(one, file.names.scope_at(one).resolve(one.id)) for one in targets if isinstance(one, ast.Name)]
    return [Place(file, home, one.id) for one, home in homes if home is not None]


def default_of(function: FunctionNode, node: ast.arg) -> ast.expr | None:
    """The default of a parameter."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if node in positional:
        index = positional.index(node) - (len(positional) - len(arguments.defaults))
        return arguments.defaults[index] if index >= 0 else None
    return arguments.kw_defaults[arguments.kwonlyargs.index(node)] if node in arguments.kwonlyargs else None


def _always_returns(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Return, ast.Raise)):
        return True
    if isinstance(statement, ast.If) and statement.orelse:
        return _always_returns(statement.body[-1]) and _always_returns(statement.orelse[-1])
    if isinstance(statement, ast.With):
        return _always_returns(statement.body[-1])
    return False
