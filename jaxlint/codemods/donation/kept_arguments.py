"""Other holders of an argument besides the variable that its caller rebinds: a queue, a callback, an object, the
consumer of a generator.

    for batch in batches:
        if args.save:
            saver.jobs.put(params)
        params = step(params, batch)

`step` must not take the buffers of `params`, which another thread reads later. (`check` itself sees second variables
and lists that hold them.)
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from jaxlint.codemods.donation.dead_arguments import Ownership, passed_by_callers
from jaxlint.codemods.donation.duplicate_buffers import duplicate_buffer
from jaxlint.codemods.donation.shared_buffers import Parsed, SharedBuffers
from jaxlint.codemods.facts.applied_transforms import JITS, applied
from jaxlint.codemods.facts.bound_arguments import bound_arguments
from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.source.site import Site
from jaxlint.jaxapi.functions import TREE_MAPS

_HOLDING = frozenset(
    {"append", "appendleft", "add", "insert", "extend", "put", "put_nowait", "push", "send", "setdefault", "submit", "apply_async", "register"}
)  # fmt: skip
_HOLDERS = frozenset({"threading.Thread", "threading.Timer", "multiprocessing.Process", "functools.partial"})
_PACKING = (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred, ast.IfExp, ast.keyword, ast.NamedExpr)
_TRANSFORMS = JITS | {"equinox.filter_jit", "jax.pmap", "jax.experimental.pjit.pjit"}
_METADATA = frozenset({"shape", "dtype", "ndim", "size", "nbytes"})
_DEPTH = 4


def other_holder(
    site: Site,
    line: int,
    positions: Iterable[int] | None,
    *,
    variables: bool = False,
    others: Iterable[Parsed] = (),
) -> str:
    """What else holds an argument of the function jitted in a line, in words; empty if nothing is visible.
    `positions` None: all arguments.

    `variables`: a second variable counts, whether or not it is read after the donation. `others`: the other files of the program.
    """
    jitted = _jitted_in(site, line)
    if jitted is None:
        return ""
    wanted = None if positions is None else set(positions)
    keepers, shared = _Keepers(site, {jitted.name}, variables), SharedBuffers(site, {jitted.name})
    donating: list[tuple[ast.Call, list[ast.expr]]] = []
    for call in ast.walk(site.tree):
        if isinstance(call, ast.Call) and jitted.is_called(call):
            donating.append((call, []))
            for number, part in jitted.given(call):
                if wanted is not None and number not in wanted:
                    continue
                donating[-1][1].append(part)
                if why := keepers.of(part) or _shared(shared, part, call):
                    return why
                if variables and (why := _kept_above(site, part, 0)):
                    return why
    return duplicate_buffer(site, others, donating, jitted.name)


def _kept_above(site: Site, part: ast.expr, depth: int) -> str:
    """The same for the argument of the enclosing function: `history.append(state)` beside `w, state = epoch(w,
    state)`."""
    if not isinstance(part, ast.Name) or depth > _DEPTH:
        return ""
    around, handed = passed_by_callers(site, part)
    keepers, shared = _Keepers(site, {around}, True), SharedBuffers(site, {around})
    for given, call in handed:
        if why := keepers.of(given) or _kept_above(site, given, depth + 1) or _shared(shared, given, call):
            return why
    return ""


def _shared(shared: SharedBuffers, part: ast.expr, call: ast.Call) -> str:
    """Another holder of an argument's buffers that is read after the call."""
    if isinstance(part, ast.Name) and (why := shared.read_after(part, call)):
        return f"`{part.id}` may be held by {why}, where its buffers would be deleted"
    return ""


@dataclass(frozen=True, slots=True)
class _Jitted:
    """A jitted function, by the variable or attribute that it is called through."""

    name: str
    parameters: Sequence[ast.arg]
    is_method: bool

    def is_called(self, call: ast.Call) -> bool:
        called = call.func
        return self.name == (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", ""))

    def given(self, call: ast.Call) -> Iterator[tuple[int, ast.expr]]:
        """The arguments of a call by parameter position, without those after a `*`."""
        first = int(self.is_method and isinstance(call.func, ast.Attribute))
        for number, part in enumerate(call.args, first):
            if isinstance(part, ast.Starred):
                break
            yield number, part
        numbers = {one.arg: number for number, one in enumerate(self.parameters)}
        for keyword in call.keywords:
            if keyword.arg in numbers:
                yield numbers[keyword.arg], keyword.value


def _jitted_in(site: Site, line: int) -> _Jitted | None:
    """The function jitted in a line: the decorated function, or the value that an assignment binds."""
    for node in ast.walk(site.tree):
        if isinstance(node, ast.FunctionDef):
            if any(one.lineno == line and applied(site, one) in _TRANSFORMS for one in node.decorator_list):
                in_class = isinstance(site.names.parents.get(node), ast.ClassDef)
                return _Jitted(node.name, [*node.args.posonlyargs, *node.args.args], in_class)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.lineno == line:
            target, call = node.targets[0], node.value
            name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
            if name and applied(site, call) in _TRANSFORMS:
                return _Jitted(name, _parameters_of(site, call.args[0]) if call.args else [], False)
    return None


def _parameters_of(site: Site, node: ast.expr) -> Sequence[ast.arg]:
    bindings = (
        site.names.bindings_of(node.id, site.names.scope_at(node)) if isinstance(node, ast.Name) else ()
    )
    made = [one.node for one in bindings if isinstance(one.node, ast.FunctionDef)]
    function = node if isinstance(node, ast.Lambda) else made[0] if len(made) == 1 else None
    return [*function.args.posonlyargs, *function.args.args] if function is not None else []


class _Keepers:
    """Searches the uses of variables' values. `stepping`: the functions that would donate them."""

    def __init__(self, site: Site, stepping: set[str], variables: bool) -> None:
        self.site, self.names, self.stepping, self.variables = site, site.names, stepping, variables
        self.seen: set[tuple[ast.AST, str]] = set()
        self.ownership = Ownership(site)

    def of(self, part: ast.expr) -> str:
        """The other holder of an argument's value."""
        for use in self._uses(part):
            if why := self._kept(use, 0):
                return f"`{ast.unparse(part)}` may be kept by {why}, where its buffers would be deleted"
        return self._kept_by_makers(part) if isinstance(part, ast.Attribute) else ""

    def _kept_by_makers(self, part: ast.Attribute) -> str:
        """The reader of an attribute's value that will be donated: `Trainer(params)`, and `params` later."""
        for store in ast.walk(self.site.tree):
            if not isinstance(store, ast.Attribute) or store.attr != part.attr:
                continue
            statement = self.names.parents.get(store)
            value = statement.value if isinstance(statement, ast.Assign) else None
            method = self.names.scope_at(store).node
            maker = self.names.parents.get(method)
            if not isinstance(value, ast.Name) or not isinstance(method, ast.FunctionDef):
                continue
            if not isinstance(maker, ast.ClassDef) or method.name != "__init__":
                continue
            parameters = [*method.args.posonlyargs, *method.args.args][1:]
            for call in ast.walk(self.site.tree):
                if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != maker.name:
                    continue
                for number, given in (bound_arguments(call, parameters) or {}).items():
                    if parameters[number].arg == value.id and isinstance(given, ast.Name):
                        if kept := self.ownership.read_after(given, call, maker.name):
                            return kept
        return ""

    def _uses(self, part: ast.expr) -> Iterator[ast.expr]:
        if isinstance(part, ast.Name):
            scope = self.names.scope_at(part).resolve(part.id)
            if scope is not None:
                yield from (use.name for use in self.names.uses_of(part.id, scope))
        elif isinstance(part, ast.Attribute):
            text = ast.unparse(part)
            for node in ast.walk(self.site.tree):
                if isinstance(node, ast.Attribute) and node.attr == part.attr and ast.unparse(node) == text:
                    if isinstance(node.ctx, ast.Load):
                        yield node

    def _kept(self, node: ast.AST, depth: int) -> str:
        """The holder of an expression's value, from the code around it."""
        above = self.names.parents.get(node)
        if isinstance(above, ast.Yield | ast.YieldFrom):
            return f"the code that iterates over the generator of line {above.lineno}"
        if isinstance(above, ast.Attribute | ast.Subscript) and above.value is node:
            method = self.names.parents.get(above)
            if isinstance(above, ast.Attribute) and (
                above.attr in _METADATA or (isinstance(method, ast.Call) and method.func is above)
            ):
                return ""
            return self._kept(above, depth)
        if isinstance(above, _PACKING):
            return self._kept(above, depth)
        if isinstance(above, ast.Call) and above.func is not node:
            return self._kept_by_call(above, node, depth)
        if self.variables and not depth and isinstance(above, ast.Assign) and above.value is node:
            return f"`{ast.unparse(above.targets[0])}` at line {above.lineno}"
        return ""

    def _kept_by_call(self, call: ast.Call, given: ast.AST, depth: int) -> str:
        told = f"`{ast.unparse(call)[:60]}` at line {call.lineno}"
        called, name = call.func, self.names.qualified(call.func) or ""
        alone = isinstance(self.names.parents.get(call), ast.Expr | ast.Lambda)  # its value is not used
        if name in _HOLDERS or (name in TREE_MAPS and self._hands_on(call)):
            return told
        if name or depth > _DEPTH:
            return ""
        if isinstance(called, ast.Attribute):
            if called.attr in _HOLDING and (alone or called.attr in ("submit", "apply_async")):
                return told
            methods = [
                node
                for node in ast.walk(self.site.tree)
                if isinstance(node, ast.FunctionDef) and node.name == called.attr
            ]
            inside = [one for one in methods if isinstance(self.names.parents.get(one), ast.ClassDef)]
            return next((told for one in inside if self._keeps(one, call, given, 1, depth)), "")
        if not isinstance(called, ast.Name) or called.id in self.stepping:
            return ""
        bindings = [one.node for one in self.names.bindings_of(called.id, self.names.scope_at(called))]
        functions = [one for one in bindings if isinstance(one, FUNCTIONS)]
        if any(self._keeps(one, call, given, 0, depth) for one in functions):
            return told
        unknown = [one for one in bindings if isinstance(one, ast.arg | ast.Name)]
        return told if unknown and alone else ""  # a callback

    def _hands_on(self, call: ast.Call) -> bool:
        """Whether a tree is mapped by a function that returns each leaf unchanged."""
        mapped = call.args[0] if call.args else None
        return isinstance(mapped, ast.Lambda) and isinstance(mapped.body, ast.Name)

    def _keeps(self, function: ast.AST, call: ast.Call, given: ast.AST, skipped: int, depth: int) -> bool:
        """Whether a function of the file stores its argument, or passes it to code that does."""
        if not isinstance(function, ast.FunctionDef):
            return False
        parameters = [*function.args.posonlyargs, *function.args.args][skipped:]
        bound = bound_arguments(call, parameters)
        named = (
            [one.arg for one in parameters]
            if bound is None
            else [
                parameters[number].arg
                for number, part in bound.items()
                if given is self.names.parents.get(part) or given in set(ast.walk(part))
            ]
        )
        scope = self.names.scope_inside(function)
        for name in named:
            if scope is None or (function, name) in self.seen:
                continue
            self.seen.add((function, name))
            for use in self.names.uses_of(name, scope):
                if self._stored(use.name) or self._kept(use.name, depth + 1):
                    return True
        return False

    def _stored(self, node: ast.AST) -> bool:
        """Whether an assignment puts a value into an object, a container or a module variable."""
        child, above = node, self.names.parents.get(node)
        while isinstance(above, _PACKING):
            child, above = above, self.names.parents.get(above)
        if not isinstance(above, ast.Assign | ast.AnnAssign) or above.value is not child:
            return False
        targets = above.targets if isinstance(above, ast.Assign) else [above.target]
        scope = self.names.scope_at(above)
        return any(
            isinstance(part, ast.Attribute | ast.Subscript)
            or (isinstance(part, ast.Name) and part.id in scope.redirected)
            for target in targets
            for part in ast.walk(target)
            if not isinstance(getattr(part, "ctx", None), ast.Load)
        )
