"""Aliases of a variable's buffers: an item, a view, a container, the result of a function.

    best = jax.tree.map(jnp.asarray, params)
    for batch in batches:
        params = step(params, batch)
    print(best)

A function that does not certainly compute a new array counts as returning its argument: `jnp.asarray`,
`x.reshape(x.shape)` and `jax.device_put` return the same buffers if there is nothing to do.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from typing import Protocol

from jaxlint.codemods.facts.applied_transforms import JITS, PARTIAL
from jaxlint.codemods.facts.bound_arguments import bound_arguments
from jaxlint.codemods.facts.dataflow import FUNCTIONS, Flow
from jaxlint.codemods.source.name_scopes import Names
from jaxlint.jaxapi.functions import MAKES_NEW_ARRAYS, TREE_MAPS

METADATA = frozenset(
    {"shape", "dtype", "ndim", "size", "nbytes", "itemsize", "weak_type", "sharding", "device", "at"}
)
# Methods that may return their receiver or its parts.
_METHODS = frozenset(
    """reshape astype squeeze ravel flatten transpose swapaxes view items values get pop popitem copy setdefault block_until_ready
    to_device replace _replace _asdict unfreeze freeze""".split()  # noqa: SIM905
)
_BUILTINS = frozenset(
    "dict list tuple set frozenset iter enumerate zip map filter reversed max min sorted getattr next vars".split()  # noqa: SIM905
)
_SHARING = frozenset(
    {
        "jax.device_put", "jax.block_until_ready", "jax.lax.stop_gradient", "jax.lax.with_sharding_constraint", "jax.lax.optimization_barrier",
        "jax.tree.leaves", "jax.tree.flatten", "jax.tree.unflatten", "jax.tree_util.tree_leaves", "jax.tree_util.tree_flatten",
        "jax.tree_util.tree_unflatten", "jax.tree.leaves_with_path", "jax.tree_util.tree_leaves_with_path", "jax.tree.flatten_with_path",
        "jax.tree_util.tree_flatten_with_path", "jax.tree.transpose", "jax.tree_util.tree_transpose", "jax.tree_util.Partial",
        "copy.copy", "dataclasses.replace", "dataclasses.asdict", "functools.partial", "equinox.partition", "equinox.filter", "equinox.combine",
        "equinox.tree_at", "equinox.filter_shard", "flax.core.freeze", "flax.core.unfreeze", "flax.core.copy", "flax.traverse_util.flatten_dict",
        "flax.traverse_util.unflatten_dict", "flax.nnx.split", "flax.nnx.state", "flax.nnx.merge", "optax.tree_utils.tree_cast", "optax.tree.cast",
        *(
            f"jax.numpy.{name}"
            for name in """asarray array reshape ravel squeeze broadcast_to broadcast_arrays transpose permute_dims matrix_transpose swapaxes
            moveaxis rollaxis atleast_1d atleast_2d atleast_3d real expand_dims concatenate concat hstack vstack astype nan_to_num clip
            flip roll pad tile repeat take positive fabs sort""".split()  # noqa: SIM905
        ),
    }
)  # fmt: skip
_PACKING = (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred, ast.keyword, ast.BoolOp)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEPTH = 5


class Parsed(Protocol):
    """A file that is parsed, with its variables."""

    @property
    def tree(self) -> ast.Module: ...

    @property
    def names(self) -> Names: ...

    @property
    def display(self) -> str: ...


class SharedBuffers:
    """Follows the variables of one file. `stepping`: the functions that would donate their buffers."""

    def __init__(self, file: Parsed, stepping: set[str]) -> None:
        self.names, self.stepping = file.names, stepping
        self.open: set[ast.AST] = set()

    def read_after(self, part: ast.Name, call: ast.Call) -> str:
        """Another holder of an argument's buffers that may be read after the call, in words; empty if none is
        visible."""
        scope = self.names.scope_at(part).resolve(part.id)
        statement = next((one for one in self.names.ancestors(call) if isinstance(one, ast.stmt)), None)
        if scope is None or statement is None:
            return ""
        if isinstance(scope.node, FUNCTIONS) and (snapshot := self._snapshot(scope.node)):
            return snapshot
        waiting, seen = [part.id], {part.id}
        while waiting:
            name = waiting.pop()
            for use in self.names.uses_of(name, scope):
                for end in self.ends(use.name, 0):
                    if not isinstance(end, ast.Name):
                        return f"`{ast.unparse(end)[:60]}` at line {getattr(end, 'lineno', 0)}"
                    if end.id in seen or self.names.scope_at(end).resolve(end.id) is not scope:
                        continue
                    seen.add(end.id)
                    if self._is_read(end.id, statement, scope):
                        return f"`{end.id}`, which line {end.lineno} creates from it and which is read later"
                    waiting.append(end.id)
        return self._sources(part, statement, scope)

    def _snapshot(self, function: ast.AST) -> str:
        """`locals()` in a function."""
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and not node.args:
                if (name := self.names.builtin(node.func)) in ("locals", "vars"):
                    return f"`{name}()` at line {node.lineno}"
        return ""

    def _is_read(self, name: str, statement: ast.stmt, scope: object) -> bool:
        own = self.names.scope_at(statement)
        return own is not scope or Flow(self.names, own).is_used_after(name, statement, importable=False)

    def _sources(self, part: ast.Name, statement: ast.stmt, scope: object) -> str:
        """The variables that the argument was computed from: `params = variables["params"]`, and `variables` later."""
        own = self.names.scope_at(statement)
        if own is not scope:
            return ""
        for binding in own.bindings.get(part.id, ()):
            given = next(
                (one for one in self.names.ancestors(binding.node) if isinstance(one, ast.stmt)), None
            )
            if (
                not isinstance(given, ast.Assign)
                or given is statement
                or not isinstance(binding.node, ast.Name)
            ):
                continue
            for node in ast.walk(given.value):
                if isinstance(node, ast.Name) and node.id != part.id and own.resolve(node.id) is own:
                    if any(end is binding.node for end in self.ends(node, 0)) and self._is_read(
                        node.id, statement, scope
                    ):
                        return (
                            f"`{node.id}`, from which line {given.lineno} creates it and which is read later"
                        )
        return ""

    def ends(self, node: ast.AST, depth: int) -> Iterator[ast.AST]:
        """The destinations of an expression's value: names that then hold it, or another holder."""
        above = self.names.parents.get(node)
        if depth > 40 or above is None:
            return
        if isinstance(above, ast.Attribute | ast.Subscript):
            if above.value is node:
                yield from self._part(above, depth)
        elif isinstance(above, ast.Call):
            if above.func is not node:
                yield from self._call(above, node, depth)
        elif isinstance(above, ast.keyword):
            yield from self._call(self.names.parents[above], above.value, depth)  # type: ignore[arg-type]
        elif isinstance(above, _PACKING):
            yield from self.ends(above, depth + 1)
        elif isinstance(above, ast.IfExp):
            if above.test is not node:
                yield from self.ends(above, depth + 1)
        elif isinstance(above, ast.NamedExpr):
            yield above.target
            yield from self.ends(above, depth + 1)
        elif isinstance(above, ast.BinOp):
            if any(isinstance(one, ast.List | ast.Tuple | ast.Dict) for one in (above.left, above.right)):
                yield from self.ends(above, depth + 1)
        elif isinstance(above, ast.comprehension):
            yield from self._comprehension(above, depth)
        elif isinstance(above, _COMPREHENSIONS):
            yield from self.ends(above, depth + 1)
        elif isinstance(above, ast.arguments):
            yield from self.ends(self.names.parents[above], depth + 1)  # the default of a lambda or function
        elif isinstance(above, ast.stmt):
            yield from self._statement(above, node)

    def _part(self, above: ast.Attribute | ast.Subscript, depth: int) -> Iterator[ast.AST]:
        call = self.names.parents.get(above)
        if isinstance(above, ast.Attribute) and above.attr in METADATA:
            return
        if isinstance(call, ast.Call) and call.func is above:
            if isinstance(above, ast.Attribute) and above.attr in _METHODS:
                yield from self.ends(call, depth + 1)
        elif isinstance(above.ctx, ast.Load):
            yield from self.ends(above, depth + 1)

    def _comprehension(self, node: ast.comprehension, depth: int) -> Iterator[ast.AST]:
        whole = self.names.parents[node]
        if isinstance(whole, ast.GeneratorExp):  # it holds its iterable
            yield from self.ends(whole, depth + 1)
            return
        for target in _names_in(node.target):
            for use in self.names.uses_of(target.id, self.names.scope_at(target)):
                yield from self.ends(use.name, depth + 1)

    def _statement(self, above: ast.stmt, node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(above, ast.Assign | ast.AnnAssign) and above.value is node:
            for target in above.targets if isinstance(above, ast.Assign) else [above.target]:
                unpacked = isinstance(target, ast.Tuple | ast.List | ast.Starred)
                yield from _names_in(target) if unpacked else [target]
        elif isinstance(above, ast.AugAssign) and isinstance(node, ast.List | ast.Tuple | ast.Call):
            yield above.target if not isinstance(above.target, ast.Name) else above
        elif isinstance(above, ast.For | ast.AsyncFor) and above.iter is node:
            yield from _names_in(above.target)
        elif isinstance(above, ast.Match) and above.subject is node:
            if any(
                getattr(part, "name", None)
                for part in ast.walk(above)
                if isinstance(part, ast.MatchAs | ast.MatchStar)
            ):
                yield above.cases[0].pattern
        elif isinstance(above, ast.Raise):
            yield above

    def _call(self, call: ast.Call, given: ast.AST, depth: int) -> Iterator[ast.AST]:
        if self.hands_back(call, given):
            yield from self.ends(call, depth + 1)
        elif isinstance(call.func, ast.Name) and call.func.id == "setattr" and len(call.args) == 3:
            yield call
        elif isinstance(call.func, ast.Attribute) and call.func.attr in (
            "update",
            "set",
            "__setitem__",
            "__setattr__",
        ):
            if isinstance(self.names.parents.get(call), ast.Expr):
                yield call

    def hands_back(self, call: ast.Call, given: ast.AST) -> bool:
        """Whether the result of a call may hold its argument."""
        called = call.func
        if isinstance(called, ast.Name) and called.id in self.stepping:
            return False
        name = self.names.qualified(called) or ""
        if name in TREE_MAPS:
            return self._mapped(call, given)
        if name == "jax.numpy.array":  # it copies, unless told not to
            return any(keyword.arg == "copy" for keyword in call.keywords)
        if name:
            return name in _SHARING
        if isinstance(called, ast.Name):
            bindings = [one.node for one in self.names.bindings_of(called.id, self.names.scope_at(called))]
            if not bindings:
                return called.id in _BUILTINS or called.id.endswith(("Error", "Exception"))
            return any(self._of_binding(one, call, given) for one in bindings)
        return isinstance(called, ast.Subscript)  # one of several functions, unknown which

    def _of_binding(self, made: ast.AST, call: ast.Call, given: ast.AST) -> bool:
        """The same for the value of the called name."""
        if isinstance(made, ast.ClassDef):
            return True
        if isinstance(made, ast.FunctionDef):
            return self._returns(made, call, given)
        statement = self.names.parents.get(made)
        value = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(value, ast.Lambda):
            return any(self._reaches(one.arg, value) for one in value.args.args)
        return isinstance(value, ast.Subscript)

    def _mapped(self, call: ast.Call, given: ast.AST) -> bool:
        """Whether a tree is mapped by a function that returns leaves unchanged."""
        mapped = call.args[0] if call.args else None
        if mapped is None or mapped is given or not isinstance(given, ast.expr):
            return False
        if isinstance(mapped, ast.Lambda):
            number = call.args.index(given) - 1 if given in call.args else 0
            named = [one.arg for one in [*mapped.args.posonlyargs, *mapped.args.args]][number : number + 1]
            return any(self._reaches(name, mapped) for name in named)
        if self.names.qualified(mapped) in MAKES_NEW_ARRAYS | {"jax.numpy.copy"}:
            return False
        if isinstance(mapped, ast.Name):
            made = [one.node for one in self.names.bindings_of(mapped.id, self.names.scope_at(mapped))]
            functions = [one for one in made if isinstance(one, ast.FunctionDef)]
            if made and len(functions) == len(made):
                return any(
                    self._reaches(one.arg, function) for function in functions for one in function.args.args
                )
        qualified = self.names.qualified(mapped) or ""
        return not qualified.startswith("numpy.") and (
            not qualified.startswith("jax.numpy.") or qualified in _SHARING
        )

    def _returns(self, function: ast.FunctionDef, call: ast.Call, given: ast.AST) -> bool:
        """Whether a function of the file returns its argument, or a part of it."""
        parameters = [*function.args.posonlyargs, *function.args.args]
        bound = bound_arguments(call, parameters)
        others = [one.arg for one in (function.args.vararg, function.args.kwarg) if one is not None]
        named = [
            parameters[number].arg
            for number, part in (bound or {}).items()
            if given is part or given in set(ast.walk(part))
        ] or [*(one.arg for one in parameters if bound is None), *others]
        donated = self._donated(function)
        return any(self._reaches(name, function) for name in named if name not in donated)

    def _donated(self, function: ast.FunctionDef) -> set[str]:
        """The parameters whose buffers a jitted function takes: nothing else holds them after a call."""
        parameters = [one.arg for one in [*function.args.posonlyargs, *function.args.args]]
        found: set[str] = set()
        for decorator in function.decorator_list:
            if not isinstance(decorator, ast.Call):
                continue
            partial = self.names.qualified(decorator.func) == PARTIAL and decorator.args
            if self.names.qualified(decorator.args[0] if partial else decorator.func) not in JITS:
                continue
            for keyword in decorator.keywords:
                if keyword.arg not in ("donate_argnums", "donate_argnames"):
                    continue
                with contextlib.suppress(ValueError, TypeError, IndexError):  # not literal, or another number
                    given = ast.literal_eval(keyword.value)
                    for one in given if isinstance(given, tuple | list) else (given,):
                        found.add(one if isinstance(one, str) else parameters[one])
        return found

    def _reaches(self, name: str, function: ast.FunctionDef | ast.Lambda) -> bool:
        """Whether a parameter reaches the return value of a function."""
        if function in self.open or len(self.open) > _DEPTH:
            return False
        scope = self.names.scope_inside(function)
        if scope is None:
            return False
        self.open.add(function)
        try:
            waiting, seen = [name], {name}
            while waiting:
                for use in self.names.uses_of(waiting.pop(), scope):
                    if self.is_returned(use.name, function):
                        return True
                    for end in self.ends(use.name, 0):
                        if isinstance(end, ast.Name) and end.id not in seen:
                            seen.add(end.id)
                            waiting.append(end.id)
            return False
        finally:
            self.open.discard(function)

    def is_returned(self, node: ast.AST, function: ast.FunctionDef | ast.Lambda) -> bool:
        """Whether an expression is returned, or is a part of the return value."""
        child: ast.AST = node
        while (above := self.names.parents.get(child)) is not None and above is not function:
            if isinstance(above, ast.Return | ast.Yield | ast.YieldFrom):
                return True
            if isinstance(
                above, ast.stmt | ast.Compare | ast.UnaryOp | ast.FormattedValue | ast.comprehension
            ):
                return False
            if isinstance(above, ast.BinOp) and not isinstance(child, ast.List | ast.Tuple | ast.Dict):
                return False
            if isinstance(above, ast.IfExp) and above.test is child:
                return False
            if isinstance(above, ast.Attribute) and above.attr in METADATA:
                return False
            if isinstance(above, ast.Subscript) and above.value is not child:
                return False
            if isinstance(above, ast.Call):
                if above.func is child:
                    if not (isinstance(child, ast.Attribute) and child.attr in _METHODS):
                        return False
                elif not self.hands_back(above, child):
                    return False
            child = above
        return isinstance(function, ast.Lambda) and child is function.body


def _names_in(target: ast.expr) -> Iterator[ast.Name]:
    """The variables that a target binds."""
    return (part for part in ast.walk(target) if isinstance(part, ast.Name))
