"""Whether a container in an attribute may get more elements.

`self.params = model.init(key, x)` is a dict. It stays the dict that it is where the program only reads it, hands it to functions of JAX
that compute, or to functions of its own that do the same, and stores it in attributes that are treated alike
(`self.target = self.params`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set

from jaxlint.codemods.purity import known_functions
from jaxlint.codemods.purity.program import File, function_around
from jaxlint.codemods.purity.value_queries import ValueQueries
from jaxlint.codemods.purity.values import Cls, Ext, Fn, Inst, Made, Method, Value, Wrapped

_LOOKING = frozenset(
    {"len", "enumerate", "zip", "reversed", "tuple", "list", "iter", "sum", "any", "all", "max", "min"}
)
_VIEWS = frozenset({"items", "keys", "values", "get"})
_COMPUTING = ("jax.", "optax.")
_READING = frozenset({"apply", "init", "update"})  # methods of models and optimisers
_DEPTH = 6


class FilledAttributes:
    """Follows the uses of an attribute, on the objects that may have it."""

    def __init__(self, possible: ValueQueries) -> None:
        self.possible, self.program = possible, possible.program

    def may_be_filled(self, name: str, objects: Set[Cls] | None, seen: Sequence[str] = ()) -> bool:
        """Whether some use of the attribute does more than read it. `objects`: the classes of its objects; None for any object."""
        classes = (
            "?" if objects is None else " ".join(sorted(f"{one.node.name}@{id(one.node)}" for one in objects))
        )
        if (key := f"{classes}.{name}") in seen:
            return False
        if len(seen) > _DEPTH:
            return True
        loads = self.possible.classes.holders.loads(name, objects)
        return any(not self._only_looks(load, file, (*seen, key)) for file, load in loads)

    def _only_looks(self, use: ast.expr, file: File, seen: Sequence[str]) -> bool:
        """Whether the code around a use only reads elements or their number, and keeps nothing that could be extended later."""
        above = file.names.parents.get(use)
        if isinstance(above, (ast.For, ast.comprehension)):
            return above.iter is use
        if isinstance(above, ast.Subscript):
            return above.value is use and isinstance(above.ctx, ast.Load)
        if isinstance(above, ast.Attribute):
            call = file.names.parents.get(above)
            return above.attr in _VIEWS and isinstance(call, ast.Call) and call.func is above
        if isinstance(above, ast.Assign) and above.value is use:
            return all(self._is_left_alone(one, file, seen) for one in above.targets)
        if isinstance(above, ast.Return):
            return self._is_only_received(above, None, file, seen)
        if isinstance(above, ast.Tuple) and isinstance(found := file.names.parents.get(above), ast.Return):
            return self._is_only_received(found, above.elts.index(use), file, seen)
        if isinstance(above, ast.Tuple) and isinstance(found := file.names.parents.get(above), ast.Assign):
            places = [_place_of(use, above, one) for one in found.targets]
            return all(one is not None and self._is_left_alone(one, file, seen) for one in places)
        call = file.names.parents.get(above) if isinstance(above, ast.keyword) else above
        if not isinstance(call, ast.Call) or call.func is use:
            return False
        if isinstance(call.func, ast.Name) and call.func.id in _LOOKING:
            return True
        callees = self.possible.of(call.func, file)
        return bool(callees) and all(self._leaves_alone(one, use, call, seen) for one in callees)

    def _is_left_alone(self, target: ast.expr, file: File, seen: Sequence[str]) -> bool:
        """Whether the container is only read where an assignment puts it."""
        if isinstance(target, ast.Attribute):
            holders = self.possible.classes.holders.of(target.value, file)
            return not self.may_be_filled(target.attr, holders, seen)
        scope = file.names.scope_at(target).resolve(target.id) if isinstance(target, ast.Name) else None
        if scope is None or len(seen) > _DEPTH:
            return False
        assert isinstance(target, ast.Name)
        uses = self.program.uses_of(target.id, scope, file)
        return all(self._only_looks(one, other, (*seen, target.id)) for other, one in uses)

    def _is_only_received(
        self, statement: ast.Return, index: int | None, file: File, seen: Sequence[str]
    ) -> bool:
        """Whether the callers of a function only read the container that it returns, as the part of a tuple at `index`."""
        function = function_around(statement, file)
        calls = self.possible.call_sites.calls_of(function, file) if function is not None else []
        for call, how, other in calls:
            above = other.names.parents.get(call) if call is not None and not how else None
            if not isinstance(above, ast.Assign):
                return False
            for target in above.targets:
                parts = target.elts if isinstance(target, ast.Tuple) else None
                if index is not None and (
                    parts is None or any(isinstance(one, ast.Starred) for one in parts)
                ):
                    return False
                own = parts[index] if parts is not None and index is not None else target
                if not self._is_left_alone(own, other, seen):
                    return False
        return bool(calls)

    def _leaves_alone(self, callee: Value, use: ast.expr, call: ast.Call, seen: Sequence[str]) -> bool:
        """Whether what a call calls only reads the container that it is given."""
        if isinstance(callee, Ext):
            return callee.name.startswith(_COMPUTING) and known_functions.computes(callee.name)
        if isinstance(callee, Method):
            return isinstance(callee.receiver, Inst | Made | Wrapped) and callee.name in _READING
        if isinstance(callee, Wrapped):
            return callee.how in known_functions.GRADIENTS | {"jax.jit"} and all(
                self._leaves_alone(one, use, call, seen) for one in callee.inner
            )
        if not isinstance(callee, Fn) or len(seen) > _DEPTH:
            return False
        parameter = self.possible.call_sites.parameter_for(use, call, callee)
        scope = callee.file.names.scope_inside(callee.node)
        if parameter is None or scope is None:
            return False
        uses = self.program.uses_of(parameter.arg, scope, callee.file)
        return all(self._only_looks(one, other, (*seen, parameter.arg)) for other, one in uses)


def _place_of(part: ast.expr, value: ast.Tuple, target: ast.expr) -> ast.expr | None:
    """What `a, b = x, y` gives a part of the value to; None if that is not certain."""
    parts = target.elts if isinstance(target, ast.Tuple) else []
    if len(parts) != len(value.elts) or any(isinstance(one, ast.Starred) for one in (*parts, *value.elts)):
        return None
    return parts[value.elts.index(part)]
