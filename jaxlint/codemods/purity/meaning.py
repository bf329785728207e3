"""Which values an expression may have, over all paths: asked of assignments, calls and their arguments, wherever they stand."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from jaxlint.codemods.flow import FUNCTIONS
from jaxlint.codemods.names import Binding, Scope
from jaxlint.codemods.purity import known
from jaxlint.codemods.purity.operations import Operations
from jaxlint.codemods.purity.program import File, FunctionNode, Program, own_parts, parameters
from jaxlint.codemods.purity.values import (
    ARRAY,
    NONE,
    NOTHING,
    Box,
    Cls,
    Ext,
    Fn,
    Inst,
    Method,
    Place,
    Unknown,
    Value,
    Values,
    Whole,
    Wrapped,
    bounded,
    one,
    unknown,
)
from jaxlint.codemods.text import shown_source
from jaxlint.jaxapi.names import canonical
from jaxlint.syntax.functions import NESTED

_STEPS = 200_000
_ROUNDS = 8
_FILLED = frozenset({"list", "dict", "set"})
_LOOKING = frozenset(
    {"len", "enumerate", "zip", "reversed", "tuple", "list", "iter", "sum", "any", "all", "max", "min"}
)
_TRANSPARENT = frozenset({"staticmethod", "classmethod", "property"})


class Meaning(Operations):
    """The values of the expressions of one program. `hints` has what a run has seen of parameters that no call tells of."""

    def __init__(
        self, program: Program, hints: Mapping[tuple[FunctionNode, str], Values] | None = None
    ) -> None:
        self.program = program
        self.hints = dict(hints or {})
        memo = program.memo if not hints else {}  # what no run has told holds for the next question, too
        self._known: dict[ast.expr | Place, Values] = memo.setdefault("values", {})
        self._round: dict[ast.expr | Place, Values] = {}  # of the question that is being answered
        self._before: dict[ast.expr | Place, Values] = {}  # when it was asked last
        self._open: set[ast.expr | Place] = set()
        self._calls: dict[FunctionNode, list[tuple[ast.Call | None, str, File]] | None] = {}
        self._all_calls: dict[FunctionNode, list[tuple[ast.Call | None, str, File]]] = memo.setdefault(
            "calls", {}
        )
        self._heirs: dict[Cls, list[Cls]] = memo.setdefault("heirs", {})
        self._ancestries: dict[Cls, set[Value]] = memo.setdefault("ancestries", {})
        self._cyclic = False
        self._guesses = 0  # answers so far that were no last word
        self.steps = 0

    # Expressions

    def of(self, node: ast.expr | None, file: File) -> Values:
        """What an expression may be; unknown where the work is too much."""
        if node is None:
            return one(NONE)
        return self._answer(node, lambda: self._evaluated(node, file))

    def _evaluated(self, node: ast.expr, file: File) -> Values:
        method = getattr(self, f"of_{type(node).__name__}", None)
        return bounded(method(node, file)) if method is not None else unknown(shown_source(node))

    def _answer(self, key: ast.expr | Place, work: Callable[[], Values]) -> Values:
        """The answer to a question, which may be asked while it is worked out: then all is asked again until nothing changes."""
        if (found := self._known.get(key)) is not None:
            return found
        if (found := self._round.get(key)) is not None:
            self._guesses += 1
            return found
        if key in self._open:
            self._cyclic = True
            self._guesses += 1
            return self._before.get(key, NOTHING)
        if self._open:
            return self._once(key, work)
        for _ in range(_ROUNDS):
            self._round, self._calls, self._cyclic = {}, {}, False
            result = self._once(key, work)
            if not self._cyclic or self._round == self._before:
                break  # nothing in the circles has changed; what lies outside of them was known at once
            self._before = self._round
        else:
            self._round = {
                one_: given if self._before.get(one_) == given else unknown("it never comes to rest")
                for one_, given in self._round.items()
            }
            result = self._round[key]
        self._known.update(self._round)
        self._round, self._before, self._calls = {}, {}, {}
        return result

    def _once(self, key: ast.expr | Place, work: Callable[[], Values]) -> Values:
        self.steps += 1
        if self.steps > _STEPS:
            self._guesses += 1  # another question may have steps left
            return unknown("the program is too large")
        self._open.add(key)
        guesses = self._guesses
        try:
            result = work()
        except RecursionError:
            result = unknown("the program is nested too deeply")
        finally:
            self._open.discard(key)
        (self._known if self._guesses == guesses else self._round)[key] = result
        return result

    def of_Name(self, node: ast.Name, file: File) -> Values:
        scope = file.names.scope_at(node).resolve(node.id)
        if scope is None:
            if file.names.has_star_import:
                return unknown(node.id)
            return one(Ext(node.id))
        return self.of_place(Place(file, scope, node.id))

    def of_place(self, place: Place) -> Values:
        """All that a variable is given anywhere."""
        return self._answer(place, lambda: self._given(place))

    def _given(self, place: Place) -> Values:
        result: Values = NOTHING
        for binding in place.scope.bindings.get(place.name, ()):
            result |= self.of_binding(binding, place)
        if any(isinstance(value, Box) and value.kind in _FILLED for value in result):
            result = _holding(result, self.filled(place))
        return bounded(result)

    def filled(self, place: Place) -> Values:
        """What is put into a container later, by the name of the variable that holds it."""
        found: Values = NOTHING
        for file, use in self.program.uses_of(place.name, place.scope, place.file):
            above = file.names.parents.get(use)
            if (
                isinstance(above, ast.Subscript)
                and above.value is use
                and not isinstance(above.ctx, ast.Load)
            ):
                statement = file.names.parents.get(above)
                if isinstance(statement, (ast.Assign, ast.AugAssign)):
                    found |= self.of(statement.value, file)
                elif not isinstance(statement, ast.Delete):
                    found |= unknown(place.name)
            elif isinstance(above, ast.Attribute) and above.value is use and above.attr in known.CHANGING:
                call = file.names.parents.get(above)
                if not isinstance(call, ast.Call) or above.attr in (
                    "pop",
                    "remove",
                    "clear",
                    "sort",
                    "reverse",
                ):
                    continue
                for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
                    given = self.of(argument, file)
                    many = above.attr in ("extend", "update", "extendleft", "__iadd__")
                    found |= self._many(given) if many else given
        return found

    def _many(self, given: Values) -> Values:
        """What is put into a container, or mapped over, one by one: of a dict its values, of others what they hold."""
        found: Values = NOTHING
        for value in given:
            is_dict = isinstance(value, Box) and value.kind == "dict"
            found |= self.elements_of_dict(one(value)) if is_dict else self.elements(one(value))
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
        """A name of another file, as `module.name` reads it."""
        if name not in file.names.module.bindings:
            return unknown(name)
        return self.of_place(Place(file, file.names.module, name))

    def of_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef, file: File) -> Values:
        result: Values = one(Fn(node, file))
        for decorator in reversed(node.decorator_list):
            name = self.name_of(decorator.func if isinstance(decorator, ast.Call) else decorator, file)
            if (
                name in known.TRANSFORMS
                or name in _TRANSPARENT
                or name.endswith((".setter", ".defjvp", ".defvjp"))
            ):
                continue  # called like the function itself
            result = one(Wrapped(name, result)) if name else unknown(f"@{shown_source(decorator)}")
        return result

    def _decorated_class(self, node: ast.ClassDef, file: File) -> Values:
        names = [
            self.name_of(one.func if isinstance(one, ast.Call) else one, file) for one in node.decorator_list
        ]
        fine = ("dataclasses.dataclass", "flax.struct.dataclass", "chex.dataclass", "jax.tree_util.register")
        return one(Cls(node, file)) if all(name.startswith(fine) for name in names) else unknown(node.name)

    def name_of(self, node: ast.expr, file: File) -> str:
        """The canonical name of what is outside of the program, as a name or attribute spells it; "" for all else."""
        if isinstance(node, ast.Name) and file.names.scope_at(node).resolve(node.id) is None:
            return node.id
        qualified = file.names.qualified(node)
        return canonical(qualified) if qualified and self.program.is_external(qualified, file) else ""

    # Variables

    def of_target(self, node: ast.Name, file: File) -> Values:
        """What the target of an assignment, loop or comprehension gets."""
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
            scope = file.names.scope_at(node).resolve(node.id)
            before = self.of_place(Place(file, scope, node.id)) if scope is not None else unknown(node.id)
            given = self.joined_by(above.op, before, self.of(above.value, file))
        elif isinstance(above, (ast.For, ast.comprehension)) and child is above.target:
            given = self.elements(self.of(above.iter, file))
        else:
            return unknown(node.id)
        for whole, part in reversed(path):
            if isinstance(whole, ast.Starred):
                given = one(Box("list", None, given))
            elif isinstance(whole, (ast.Tuple, ast.List)) and isinstance(part, ast.expr):
                starred = isinstance(part, ast.Starred)
                given = self.item_at(given, whole.elts.index(part), len(whole.elts), starred=starred)
        return given

    def of_parameter(self, node: ast.arg, file: File) -> Values:
        """What all calls of its function give a parameter."""
        function = file.names.parents.get(file.names.parents.get(node, node))
        if not isinstance(function, FUNCTIONS):
            return unknown(node.arg)
        arguments = function.args
        if node in (arguments.vararg, arguments.kwarg):
            kind = "tuple" if node is arguments.vararg else "dict"
            return one(Box(kind, None, unknown(node.arg)))
        holder = self.class_around(function, file)
        if holder is not None and arguments.args and node is arguments.args[0]:
            static = any(
                shown_source(d) in ("staticmethod",) for d in getattr(function, "decorator_list", ())
            )
            if not static:
                return one(Inst(holder))
        hint = self.hints.get((function, node.arg), NOTHING)
        found, complete = self.given_to(function, node, file)
        if not complete:
            found |= hint or unknown(node.arg)
        elif hint and not any(isinstance(value, Unknown) for value in hint):
            found = frozenset(value for value in found if not isinstance(value, Unknown)) | hint
        return found | self._default(function, node, file)

    def _default(self, function: FunctionNode, node: ast.arg, file: File) -> Values:
        default = default_of(function, node)
        return self.of(default, file) if default is not None else NOTHING

    def class_around(self, function: ast.AST, file: File) -> Cls | None:
        """The class that a function is a method of."""
        above = file.names.parents.get(function)
        return Cls(above, file) if isinstance(above, ast.ClassDef) else None

    # Calls of a function, wherever they are seen

    def given_to(self, function: FunctionNode, parameter: ast.arg, file: File) -> tuple[Values, bool]:
        """What the calls of a function that are seen give a parameter, and whether these are all."""
        found: Values = NOTHING
        calls = self.calls_of(function, file)
        complete = bool(calls)
        for call, how, other in calls:
            if call is None:
                complete = False
            else:
                given = self.argument(call, how, function, parameter, other)
                if given is None:
                    complete = False
                else:
                    found |= given
        return found, complete

    def calls_of(self, function: FunctionNode, file: File) -> list[tuple[ast.Call | None, str, File]]:
        """The calls of a function, each with what calls it ("" for the call itself); None where it gets out of sight."""
        if (whole := self._all_calls.get(function)) is not None:
            return whole
        if function in self._calls:
            found = self._calls[function]
            if found is None:  # what calls itself is called from elsewhere, too
                self._cyclic = True
            self._guesses += 1
            return found or []
        self._calls[function] = None
        guesses = self._guesses
        found = list(self._calls_of(function, file))
        if self._guesses == guesses:
            self._all_calls[function] = found
        if self._open:
            self._calls[function] = found
        else:
            self._calls.pop(function, None)  # a question that was asked meanwhile has begun anew
        return found

    def _calls_of(self, function: FunctionNode, file: File) -> Iterator[tuple[ast.Call | None, str, File]]:
        if isinstance(function, ast.Lambda):
            yield from self._flows(function, file, "", 0)
            return
        holder = self.class_around(function, file)
        if holder is not None:
            yield from self._calls_of_method(function, holder)
            return
        scope = file.names.scope_at(function)
        for other, use in self.program.uses_of(function.name, scope, file):
            yield from self._flows(use, other, "", 0)

    def _calls_of_method(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, holder: Cls
    ) -> Iterator[tuple[ast.Call | None, str, File]]:
        name = function.name
        if name.startswith("__"):
            name = holder.node.name if name == "__init__" else name
            if name.startswith("__"):
                yield None, "", holder.file
                return
        for other, call in self.program.calls.get(name, ()):
            yield call, "", other
        for other, load in self.program.loads.get(name, ()):
            above = other.names.parents.get(load)
            if not (isinstance(above, ast.Call) and above.func is load):
                yield None, "", other

    def _flows(
        self, use: ast.expr, file: File, how: str, depth: int
    ) -> Iterator[tuple[ast.Call | None, str, File]]:
        """Where a function goes that `use` reads."""
        parents = file.names.parents
        above = parents.get(use)
        if depth > 6:
            yield None, how, file
        elif isinstance(above, ast.Call) and above.func is use:
            yield above, how, file
        elif isinstance(above, (ast.Call, ast.keyword)):
            call = above if isinstance(above, ast.Call) else parents.get(above)
            assert isinstance(call, ast.Call)
            name = self.name_of(call.func, file)
            if name in known.TRANSFORMS:
                yield from self._flows(call, file, f"{name}|{how}", depth + 1)
            elif name in known.CALLERS:
                yield call, name, file
            else:
                yield from self._handed(use, call, file, how, depth)
        elif isinstance(above, (ast.Assign, ast.AnnAssign)) and above.value is use:
            targets = above.targets if isinstance(above, ast.Assign) else [above.target]
            for target in targets:
                if not isinstance(target, ast.Name):
                    yield None, how, file
                    continue
                scope = file.names.scope_at(target).resolve(target.id)
                if scope is None:
                    yield None, how, file
                    continue
                for other, again in self.program.uses_of(target.id, scope, file):
                    yield from self._flows(again, other, how, depth + 1)
        elif isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)) and use in above.decorator_list:
            yield None, how, file
        elif isinstance(above, ast.Expr):
            return
        else:
            yield None, how, file

    def _handed(
        self, use: ast.expr, call: ast.Call, file: File, how: str, depth: int
    ) -> Iterator[tuple[ast.Call | None, str, File]]:
        """A function that is handed to one of the program is called where that calls its parameter."""
        targets = self.of(call.func, file)
        for target in targets or unknown():
            if not isinstance(target, Fn):
                yield None, how, file
                continue
            parameter = self._parameter_for(use, call, target)
            if parameter is None:
                yield None, how, file
                continue
            scope = target.file.names.scope_of.get(_first(target.node))
            for inner in target.file.names.uses_of(parameter.arg, scope) if scope is not None else ():
                yield from self._flows(inner.name, target.file, how, depth + 1)

    def _parameter_for(self, use: ast.expr, call: ast.Call, target: Fn) -> ast.arg | None:
        for parameter in parameters(target.node):
            if self.expression_for(call, target.node, parameter, 0, bool(target.receiver)) is use:
                return parameter
        return None

    def expression_for(
        self,
        call: ast.Call,
        function: FunctionNode,
        parameter: ast.arg,
        skipped: int = 0,
        bound: bool = False,
    ) -> ast.expr | str | None:
        """The argument for a parameter: None where it is left out, "?" where that cannot be said."""
        for keyword in call.keywords:
            if keyword.arg == parameter.arg:
                return keyword.value
        positional = [*function.args.posonlyargs, *function.args.args]
        if parameter in positional:
            index = positional.index(parameter) - bound
            given = call.args[skipped:]
            before = given[: index + 1]
            if any(isinstance(one, ast.Starred) for one in before):
                return "?"
            if 0 <= index < len(given):
                return given[index]
        return "?" if any(keyword.arg is None for keyword in call.keywords) else None

    def argument(
        self, call: ast.Call, how: str, function: FunctionNode, parameter: ast.arg, file: File
    ) -> Values | None:
        """What a call gives a parameter of a function that it calls, itself or through transformations; None where that is not seen."""
        holder = self.class_around(function, file)
        bound = holder is not None or (
            isinstance(function, ast.FunctionDef)
            and bool(function.args.args)
            and function.args.args[0].arg == "self"
        )
        steps = [step for step in how.split("|") if step]
        if len(steps) == 1 and steps[0] in known.CALLERS:
            return self._from_caller(call, steps[0], function, parameter, file)
        if any("partial" in step.lower() for step in steps):
            return None
        expression = self.expression_for(call, function, parameter, 0, bound)
        if expression == "?":
            return self._from_stars(call, function, parameter, file)
        if expression is None:
            return NOTHING
        given = self.of(expression, file)  # type: ignore[arg-type]
        if any("vmap" in step or "scan" in step for step in steps):
            return self._many(given) | given
        return given

    def _from_stars(
        self, call: ast.Call, function: FunctionNode, parameter: ast.arg, file: File
    ) -> Values | None:
        found: Values = NOTHING
        for one_ in call.args:
            if isinstance(one_, ast.Starred):
                found |= self.elements(self.of(one_.value, file))
        return found or None

    def _from_caller(
        self, call: ast.Call, name: str, function: FunctionNode, parameter: ast.arg, file: File
    ) -> Values | None:
        given = [self.of(argument, file) for argument in call.args if not isinstance(argument, ast.Starred)]
        positional = [*function.args.posonlyargs, *function.args.args]
        if parameter not in positional or len(given) != len(call.args):
            return None
        index = positional.index(parameter)
        if name.endswith((".map", "tree_map", "map_with_path")) and name.startswith("jax.tree"):
            trees = given[1:]
            if "with_path" in name:
                return (
                    unknown()
                    if index == 0
                    else self.leaves(trees[index - 1])
                    if index <= len(trees)
                    else None
                )
            return self.leaves(trees[index]) if index < len(trees) else None
        if name == "jax.lax.scan":
            if index == 0 and len(given) > 1:
                return given[1]
            return self.elements(given[2]) if len(given) > 2 else None
        if name == "jax.lax.map":
            return self.elements(given[1]) if len(given) > 1 else None
        if name == "jax.lax.fori_loop":
            return one(ARRAY) if index == 0 else given[3] if len(given) > 3 else None
        if name == "jax.lax.while_loop":
            return given[2] if len(given) > 2 else None
        if name == "jax.lax.cond":
            return given[3 + index] if len(given) > 3 + index else None
        if name == "jax.lax.switch":
            return given[2 + index] if len(given) > 2 + index else None
        if name in ("map", "filter"):
            return self.elements(given[1 + index]) if len(given) > 1 + index else None
        return None

    # Results of functions

    def returned(self, function: FunctionNode, file: File) -> Values:
        """What a function may return; an iterator where it yields."""
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
                    yielded |= self.elements(self.of(part.value, file)) or unknown()
                elif isinstance(part, ast.Return):
                    found |= self.of(part.value, file)
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
            return self.of_instance(value, name)
        if isinstance(value, Cls):
            member = self.member(value, name)
            return (
                self.of_binding(member[1], member[0])
                if member is not None
                else unknown(f"{value.node.name}.{name}")
            )
        return self.attribute_of_object(value, name)

    def member(self, cls: Cls, name: str, depth: int = 0) -> tuple[Place, Binding] | None:
        """What a class or one of its bases of the program has under a name."""
        scope = _class_scope(cls)
        if scope is not None and name in scope.bindings:
            return Place(cls.file, scope, name), scope.bindings[name][-1]
        for base in self.bases(cls) if depth < 8 else ():
            if isinstance(base, Cls) and (found := self.member(base, name, depth + 1)) is not None:
                return found
        return None

    def bases(self, cls: Cls) -> list[Value]:
        """The bases of a class."""
        found: list[Value] = []
        for base in cls.node.bases:
            if isinstance(base, ast.Subscript):
                base = base.value
            found += list(self.of(base, cls.file))
        return found

    def external_bases(self, cls: Cls, depth: int = 0) -> set[str]:
        """The names of the classes outside of the program that a class comes from; "?" for what is not known."""
        found: set[str] = set()
        for base in self.bases(cls):
            if isinstance(base, Cls):
                found |= self.external_bases(base, depth + 1) if depth < 8 else {"?"}
            else:
                found.add(base.name if isinstance(base, Ext) else "?")
        return found

    def heirs(self, cls: Cls) -> list[Cls]:
        """The classes of the program that come from a class, itself included."""
        if (whole := self._heirs.get(cls)) is not None:
            return whole
        guesses = self._guesses
        found = [cls]
        for entries in self.program.classes.values():
            for file, node in entries:
                if not node.bases:
                    continue
                other = Cls(node, file)
                if cls in self._ancestry(other) and other not in found:
                    found.append(other)
        if self._guesses == guesses:
            self._heirs[cls] = found
        return found

    def _ancestry(self, cls: Cls, depth: int = 0) -> set[Value]:
        if (whole := self._ancestries.get(cls)) is not None:
            return whole
        guesses = self._guesses
        found: set[Value] = set()
        for base in self.bases(cls):
            found.add(base)
            if isinstance(base, Cls) and depth < 8:
                found |= self._ancestry(base, depth + 1)
        if self._guesses == guesses and depth == 0:
            self._ancestries[cls] = found
        return found

    def of_instance(self, value: Inst, name: str) -> Values:
        """An attribute of an object: what its class has, and what is stored under the name anywhere."""
        found: Values = NOTHING
        for cls in self.heirs(value.cls):
            member = self.member(cls, name)
            if member is None:
                continue
            place, binding = member
            if isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if any(
                    shown_source(one) in ("property", "functools.cached_property", "cached_property")
                    for one in binding.node.decorator_list
                ):
                    found |= self.returned(binding.node, place.file)
                    continue
                found |= frozenset(
                    Fn(each.node, each.file, value) if isinstance(each, Fn) else each
                    for each in self.of_definition(binding.node, place.file)
                )
            else:
                found |= self._field(value, name, place)
        stores = self.program.stores.get(name, ())
        for file, store in stores:
            found |= self._stored(store, file)
        if any(isinstance(value, Box) and value.kind in _FILLED for value in found):
            if self._is_filled_attribute(name):
                found = _holding(found, unknown(f".{name}"))
        if not found and not stores:
            external = self.external_bases(value.cls)
            found = unknown(f".{name}") if external else unknown(f"{value.cls.node.name}.{name}")
            if name in known.CONTAINER_METHODS | known.OBJECT_METHODS:
                found = one(Method(value, name))
        return found

    def _is_filled_attribute(self, name: str) -> bool:
        """Whether a container that objects keep under a name may get more elements: some use does more than look at it."""
        return any(not _only_looks(load, file) for file, load in self.program.loads.get(name, ()))

    def _field(self, value: Inst, name: str, place: Place) -> Values:
        """A field of a dataclass or module: its default, and what the calls of the class give it."""
        found: Values = NOTHING
        for binding in place.scope.bindings[name]:
            statement = place.file.names.parents.get(binding.node)
            given = getattr(statement, "value", None)
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and given is not None:
                found |= self.of(given, place.file)
        fields = self.fields(value.cls)
        for cls in self.heirs(value.cls):
            for file, call in self.program.calls.get(cls.node.name, ()):
                keyword = next((each.value for each in call.keywords if each.arg == name), None)
                index = fields.index(name) if name in fields else len(call.args)
                if keyword is not None:
                    found |= self.of(keyword, file)
                elif index < len(call.args):
                    found |= self.of(call.args[index], file)
        return found or unknown(f".{name}")

    def fields(self, cls: Cls, depth: int = 0) -> list[str]:
        """The annotated names of a class and its bases, in order."""
        found: list[str] = []
        for base in self.bases(cls):
            if isinstance(base, Cls) and depth < 8:
                found += self.fields(base, depth + 1)
        for statement in cls.node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                if statement.target.id not in found and "ClassVar" not in ast.unparse(statement.annotation):
                    found.append(statement.target.id)
        return found

    def _stored(self, store: ast.Attribute, file: File) -> Values:
        """What is assigned to an attribute at one place."""
        above = file.names.parents.get(store)
        if isinstance(above, ast.Assign):
            return self.of(above.value, file)
        if isinstance(above, ast.AnnAssign):
            return self.of(above.value, file) if above.value is not None else NOTHING
        if isinstance(above, ast.AugAssign):
            return self.of(above.value, file)
        if isinstance(above, (ast.Tuple, ast.List)):
            whole = file.names.parents.get(above)
            if isinstance(whole, ast.Assign):
                return self.item_at(self.of(whole.value, file), above.elts.index(store), len(above.elts))
        return unknown(f".{store.attr}")


def default_of(function: FunctionNode, node: ast.arg) -> ast.expr | None:
    """The default of a parameter."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if node in positional:
        index = positional.index(node) - (len(positional) - len(arguments.defaults))
        return arguments.defaults[index] if index >= 0 else None
    return arguments.kw_defaults[arguments.kwonlyargs.index(node)] if node in arguments.kwonlyargs else None


def _holding(values: Values, more: Values) -> Values:
    """Containers that hold more than they were made with."""
    return frozenset(
        Box(value.kind, value.items, value.rest | more, value.keys)
        if isinstance(value, Box) and value.kind in _FILLED
        else value
        for value in values
    )


def _only_looks(load: ast.Attribute, file: File) -> bool:
    """Whether what stands around `x.layers` takes elements or their number, and keeps nothing that could be filled later."""
    above = file.names.parents.get(load)
    if isinstance(above, (ast.For, ast.comprehension)):
        return above.iter is load
    if isinstance(above, ast.Subscript):
        return above.value is load and isinstance(above.ctx, ast.Load)
    if isinstance(above, ast.Call) and load in above.args:
        return isinstance(above.func, ast.Name) and above.func.id in _LOOKING
    return False


def _class_scope(cls: Cls) -> Scope | None:
    return cls.file.names.scope_of.get(cls.node.body[0]) if cls.node.body else None


def _first(function: FunctionNode) -> ast.AST:
    return function.body if isinstance(function, ast.Lambda) else function.body[0]


def _always_returns(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.Return, ast.Raise)):
        return True
    if isinstance(statement, ast.If) and statement.orelse:
        return _always_returns(statement.body[-1]) and _always_returns(statement.orelse[-1])
    if isinstance(statement, ast.With):
        return _always_returns(statement.body[-1])
    return False
