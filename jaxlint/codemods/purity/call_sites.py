"""The call sites of a program's functions, and their arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.callbacks import first_parameter
from jaxlint.codemods.purity.classes import Classes
from jaxlint.codemods.purity.expressions import Expressions
from jaxlint.codemods.purity.fixpoint import CallSite, Fixpoint
from jaxlint.codemods.purity.object_calls import PLAIN, ObjectCalls
from jaxlint.codemods.purity.program import File, FunctionNode, function_around, parameters
from jaxlint.codemods.purity.value_queries import ValueQueries
from jaxlint.codemods.purity.values import (
    ARRAY,
    NOTHING,
    Cls,
    Fn,
    Values,
    one,
    unknown,
)


class CallSites:
    """The calls of one program's functions. `memo` keeps facts for later questions."""

    def __init__(
        self,
        possible: ValueQueries,
        expressions: Expressions,
        classes: Classes,
        answers: Fixpoint,
        memo: dict[object, Any],
    ) -> None:
        self.possible, self.program = possible, possible.program
        self.expressions, self.classes, self.answers = expressions, classes, answers
        self._all_calls: dict[FunctionNode, list[CallSite]] = memo.setdefault("calls", {})

    def given_to(self, function: FunctionNode, parameter: ast.arg, file: File) -> tuple[Values, bool]:
        """The arguments of the visible calls for a parameter, and whether these are all calls."""
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

    def calls_of(self, function: FunctionNode, file: File) -> list[CallSite]:
        """The calls of a function, each with the transformations in between ("" for a direct call); None if the
        function escapes."""
        if (whole := self._all_calls.get(function)) is not None:
            return whole
        if function in self.answers.calls:
            found = self.answers.calls[function]
            if found is None:  # a recursive function has another caller
                self.answers.cyclic = True
            self.answers.guesses += 1
            return found or []
        self.answers.calls[function] = None
        guesses = self.answers.guesses
        found = list(self._calls_of(function, file))
        if self.answers.guesses == guesses:
            self._all_calls[function] = found
        if self.answers.open:
            self.answers.calls[function] = found
        else:
            self.answers.calls.pop(function, None)  # a question asked meanwhile has restarted
        return found

    def _calls_of(self, function: FunctionNode, file: File) -> Iterator[CallSite]:
        if isinstance(function, ast.Lambda):
            yield from self._flows(function, file, "", 0)
            return
        holder = self.classes.class_around(function, file)
        if holder is not None:
            yield from self._calls_of_method(function, holder)
            return
        scope = file.names.scope_at(function)
        for other, use in self.program.uses_of(function.name, scope, file):
            yield from self._flows(use, other, "", 0)

    def _calls_of_method(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, holder: Cls
    ) -> Iterator[CallSite]:
        name = function.name
        if name.startswith("__"):
            if name == "__call__":
                yield from ObjectCalls(self.possible, self.classes).of(function, holder)
                return
            name = holder.node.name if name == "__init__" else name
            if name.startswith("__"):
                yield None, "", holder.file
                return
        for other, call in self.program.calls.get(name, ()):
            yield call, "", other
        for other, load in self.program.loads.get(name, ()):
            above = other.names.parents.get(load)
            if not (isinstance(above, ast.Call) and above.func is load):
                yield from self._flows(load, other, "", 0)

    def _flows(self, use: ast.expr, file: File, how: str, depth: int) -> Iterator[CallSite]:
        """The destinations of the function that `use` reads."""
        parents = file.names.parents
        above = parents.get(use)
        if depth > 6:
            yield None, how, file
        elif isinstance(above, ast.Call) and above.func is use:
            yield above, how, file
        elif isinstance(above, (ast.Call, ast.keyword)):
            call = above if isinstance(above, ast.Call) else parents.get(above)
            assert isinstance(call, ast.Call)
            name = self.possible.name_of(call.func, file)
            if name in known_functions.TRANSFORMS:
                yield from self._flows(call, file, f"{name}|{how}", depth + 1)
            elif name in known_functions.CALLERS:
                yield call, name, file
            else:
                yield from self._handed(use, call, file, how, depth)
        elif isinstance(above, (ast.Assign, ast.AnnAssign)) and above.value is use:
            targets = above.targets if isinstance(above, ast.Assign) else [above.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and self._is_own_attribute(target, file):
                    for other, load in self.program.loads[
                        target.attr
                    ]:  # `self.grad_fn = jax.grad(self.loss)`
                        yield from self._flows(load, other, how, depth + 1)
                    continue
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

    def _is_own_attribute(self, target: ast.Attribute, file: File) -> bool:
        """Whether a method stores into its own object, of whose attributes no library knows, and the program reads that."""
        method = function_around(target, file)
        own = self.classes.class_around(method, file) if method is not None else None
        return (
            own is not None
            and isinstance(target.value, ast.Name)
            and target.value.id == first_parameter(method)
            and target.attr in self.program.loads
            and self.classes.external_bases(own) <= PLAIN
        )

    def _handed(self, use: ast.expr, call: ast.Call, file: File, how: str, depth: int) -> Iterator[CallSite]:
        """A function passed to a program function is called where that calls its parameter."""
        targets = self.possible.of(call.func, file)
        for target in targets or unknown():
            if not isinstance(target, Fn):
                yield None, how, file
                continue
            parameter = self.parameter_for(use, call, target)
            if parameter is None:
                yield None, how, file
                continue
            scope = target.file.names.scope_inside(target.node)
            for inner in target.file.names.uses_of(parameter.arg, scope) if scope is not None else ():
                yield from self._flows(inner.name, target.file, how, depth + 1)

    def parameter_for(self, use: ast.expr, call: ast.Call, target: Fn) -> ast.arg | None:
        for parameter in parameters(target.node):
            if self.expression_for(call, target.node, parameter, bound=bool(target.receiver)) is use:
                return parameter
        return None

    def arguments_for(
        self, function: FunctionNode, parameter: ast.arg, file: File, through: frozenset[str] = frozenset()
    ) -> Iterator[tuple[ast.expr | str | None, File]]:
        """The argument for a parameter at each call of its function, as in `expression_for`, and the file of the
        call.

        "?" also if the caller of the function is not visible, or is a transformation that is not in `through`.
        """
        bound = self.classes.class_around(function, file) is not None
        for call, how, other in self.calls_of(function, file):
            if call is None or not through.issuperset(steps_of(how)):
                yield "?", other
            else:
                yield self.expression_for(call, function, parameter, bound=bound), other

    def expression_for(
        self, call: ast.Call, function: FunctionNode, parameter: ast.arg, *, bound: bool
    ) -> ast.expr | str | None:
        """The argument for a parameter: None if it is omitted, "?" if it is unknown."""
        for keyword in call.keywords:
            if keyword.arg == parameter.arg:
                return keyword.value
        positional = [*function.args.posonlyargs, *function.args.args]
        if parameter in positional:
            index = positional.index(parameter) - bound
            if any(isinstance(one, ast.Starred) for one in call.args[: index + 1]):
                return "?"
            if 0 <= index < len(call.args):
                return call.args[index]
        return "?" if any(keyword.arg is None for keyword in call.keywords) else None

    def argument(
        self, call: ast.Call, how: str, function: FunctionNode, parameter: ast.arg, file: File
    ) -> Values | None:
        """The argument of a call for a parameter of the function that it calls, directly or through transformations;
        None if unknown."""
        holder = self.classes.class_around(function, file)
        bound = holder is not None or (
            isinstance(function, ast.FunctionDef)
            and bool(function.args.args)
            and function.args.args[0].arg == "self"
        )
        steps = steps_of(how)
        if len(steps) == 1 and steps[0] in known_functions.CALLERS:
            return self._from_caller(call, steps[0], function, parameter, file)
        if any("partial" in step.lower() for step in steps):
            return None
        expression = self.expression_for(call, function, parameter, bound=bound)
        if expression == "?":
            return self._from_stars(call, file)
        if expression is None:
            return NOTHING
        given = self.possible.of(expression, file)  # type: ignore[arg-type]
        if any("vmap" in step or "scan" in step for step in steps):
            return self.expressions.contents(given) | given
        return given

    def _from_stars(self, call: ast.Call, file: File) -> Values | None:
        found: Values = NOTHING
        for one_ in call.args:
            if isinstance(one_, ast.Starred):
                found |= self.expressions.elements(self.possible.of(one_.value, file))
        return found or None

    def _from_caller(
        self, call: ast.Call, name: str, function: FunctionNode, parameter: ast.arg, file: File
    ) -> Values | None:
        given = [
            self.possible.of(argument, file)
            for argument in call.args
            if not isinstance(argument, ast.Starred)
        ]
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
                    else self.expressions.leaves(trees[index - 1])
                    if index <= len(trees)
                    else None
                )
            return self.expressions.leaves(trees[index]) if index < len(trees) else None
        if name == "jax.lax.scan":
            if index == 0 and len(given) > 1:
                return given[1]
            return self.expressions.elements(given[2]) if len(given) > 2 else None
        if name == "jax.lax.map":
            return self.expressions.elements(given[1]) if len(given) > 1 else None
        if name == "jax.lax.fori_loop":
            return one(ARRAY) if index == 0 else given[3] if len(given) > 3 else None
        if name == "jax.lax.while_loop":
            return given[2] if len(given) > 2 else None
        if name == "jax.lax.cond":
            return given[3 + index] if len(given) > 3 + index else None
        if name == "jax.lax.switch":
            return given[2 + index] if len(given) > 2 + index else None
        if name in ("map", "filter"):
            return self.expressions.elements(given[1 + index]) if len(given) > 1 + index else None
        return None


def steps_of(how: str) -> list[str]:
    """The callers of a function: the names of transformations, or of a function that takes it."""
    return [step for step in how.split("|") if step]
