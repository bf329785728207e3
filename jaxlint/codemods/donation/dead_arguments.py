"""Arguments that the callers of a jitted function no longer need: nothing can read their buffers after the call.

This holds for an argument that is created for the call alone. It also holds for a variable that is rebound or never
read again, if its arrays are certainly new and nothing else holds them. Every use of the function must be a call in
its own file. An unknown case counts as still needed: a parameter (its caller may hold it), the contents of a list or
an object, a result or an argument of an unknown function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from jaxlint.codemods.facts.applied_transforms import JITS, applied, is_partial
from jaxlint.codemods.facts.bound_arguments import bound_arguments
from jaxlint.codemods.facts.dataflow import Flow
from jaxlint.codemods.purity.callbacks import MADE_OF_FUNCTIONS, SHARING
from jaxlint.codemods.source.name_scopes import Binding, Scope
from jaxlint.codemods.source.site import Site
from jaxlint.finding import Span
from jaxlint.jaxapi.functions import FILLING, MAKES_NEW_ARRAYS, RANDOM_HANDS_ON, TREE_MAPS
from jaxlint.syntax.function_bodies import own_nodes
from jaxlint.syntax.scripts import is_script

_READING_BUILTINS = frozenset({"print", "float", "int", "bool", "len", "str", "repr", "isinstance", "type"})
_METADATA = frozenset({"shape", "dtype", "ndim", "size", "itemsize", "nbytes"})
_NEW_OPERATORS = (ast.Sub, ast.Div, ast.MatMult, ast.FloorDiv)  # methods that lists and strings lack
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
_LIBRARIES = ("flax.", "haiku.", "optax.")  # classes whose `init` creates new arrays
_DEPTH = 4  # nested functions that are examined

_Function = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class DeadArguments:
    """Parameters by position and by name. `span` is the place where `add-donation` would declare their donation."""

    span: Span
    positions: tuple[int, ...]
    names: tuple[str, ...]


def dead_arguments(site: Site, line: int) -> DeadArguments | None:
    """The arguments that no caller of the function jitted in a line still needs; None if there are none."""
    jitted = _jitted_at(site, line)
    if jitted is None:
        return None
    transform, name, function, scope = jitted
    calls = _calls(site, name, scope)
    if not calls:
        return None
    parameters = [*function.args.posonlyargs, *function.args.args]
    ownership = Ownership(site)
    found = set(range(len(parameters)))
    for call in calls:
        given = bound_arguments(call, parameters)
        if given is None:
            return None
        found &= {number for number, part in given.items() if ownership.is_dead(part, call)}
    positions = tuple(sorted(found))
    return (
        DeadArguments(site.span(transform), positions, tuple(parameters[n].arg for n in positions))
        if positions
        else None
    )


def kept_by_callers(site: Site, line: int, positions: Iterable[int]) -> str:
    """How a caller of a caller still reads an argument that the function jitted in a line would donate; empty if no
    such read is visible.

    In `def run(w): w = step(w)`, `step` would donate the argument of `run`, and `run(start); print(start)` reads it.
    """
    jitted = _jitted_at(site, line)
    if jitted is None:
        return ""
    _, name, function, scope = jitted
    parameters = [*function.args.posonlyargs, *function.args.args]
    ownership = Ownership(site)
    for call in _seen_calls(site, name, scope):
        given = bound_arguments(call, parameters) or {}
        for part in (given[number] for number in positions if number in given):
            if isinstance(part, ast.Name) and (kept := _kept_argument(site, ownership, part)):
                return kept
    return ""


def _kept_argument(site: Site, ownership: Ownership, name: ast.Name) -> str:
    """The same for one argument, if it is a parameter of the function around the call."""
    around, given = passed_by_callers(site, name)
    for part, call in given:
        if isinstance(part, ast.Name) and (kept := ownership.read_after(part, call, around)):
            return kept
    return ""


def passed_by_callers(site: Site, name: ast.Name) -> tuple[str, list[tuple[ast.expr, ast.Call]]]:
    """The function with a variable as its parameter, and the arguments for it at visible calls; "" if it is not a
    parameter."""
    scope = site.names.scope_at(name).resolve(name.id)
    around = scope.node if scope is not None else None
    if not isinstance(around, ast.FunctionDef):
        return "", []
    parameters = [*around.args.posonlyargs, *around.args.args]
    number = next((n for n, one in enumerate(parameters) if one.arg == name.id), None)
    if number is None:
        return "", []
    calls = _seen_calls(site, around.name, site.names.scope_at(site.names.parents[around]))
    bound = [(bound_arguments(call, parameters) or {}, call) for call in calls]
    return around.name, [(given[number], call) for given, call in bound if number in given]


def _seen_calls(site: Site, name: str, scope: Scope) -> list[ast.Call]:
    users = [(use.name, site.names.parents.get(use.name)) for use in site.names.uses_of(name, scope)]
    return [user for node, user in users if isinstance(user, ast.Call) and user.func is node]


def _jitted_at(site: Site, line: int) -> tuple[ast.expr, str, _Function, Scope] | None:
    """The jit in a line: the decorator or the call, the name that it binds, the function, and the scope of the name."""
    for node in ast.walk(site.tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if decorator.lineno == line and len(node.decorator_list) == 1 and _jits(site, decorator):
                    return decorator, node.name, node, site.names.scope_at(site.names.parents[node])
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.lineno == line:
            target, call = node.targets[0], node.value
            known = len(node.targets) == 1 and isinstance(target, ast.Name) and _jits(site, call.func)
            function = _function_of(site, call.args[0]) if known and len(call.args) == 1 else None
            if function is not None and isinstance(target, ast.Name):
                return call, target.id, function, site.names.scope_at(node)
    return None


def _jits(site: Site, node: ast.expr) -> bool:
    """Whether an expression is a jit, possibly with options: `jax.jit`, `jax.jit(...)`, `partial(jax.jit, ...)`."""
    is_applied = isinstance(node, ast.Call) and bool(node.args) and not is_partial(site, node)
    return not is_applied and applied(site, node) in JITS


def _function_of(site: Site, node: ast.expr) -> _Function | None:
    if isinstance(node, ast.Lambda):
        return node
    if not isinstance(node, ast.Name):
        return None
    bindings = site.names.bindings_of(node.id, site.names.scope_at(node))
    made = bindings[0].node if len(bindings) == 1 else None
    return made if isinstance(made, ast.FunctionDef) and not made.decorator_list else None


def _calls(site: Site, name: str, scope: Scope) -> list[ast.Call]:
    """All calls of a function; none if it may be used in another way or elsewhere."""
    names = site.names
    if scope.is_class or len(scope.bindings.get(name, ())) != 1 or names.is_shown(name):
        return []
    if scope.node is names.tree and not name.startswith("_") and not is_script(names.tree):
        return []
    calls = []
    for use in names.uses_of(name, scope):
        user = names.parents.get(use.name)
        if not isinstance(user, ast.Call) or user.func is not use.name:
            return []
        calls.append(user)
    return calls


class Ownership:
    """Which expressions create new arrays, and which variables are the only holders of them."""

    def __init__(self, site: Site) -> None:
        self.site, self.names = site, site.names
        self.depth = 0

    def _bindings(self, node: ast.expr) -> list[Binding]:
        if not isinstance(node, ast.Name):
            return []
        return self.names.bindings_of(node.id, self.names.scope_at(node))

    def is_dead(self, node: ast.expr, call: ast.Call) -> bool:
        """Whether nothing can read the arrays of an argument after the call."""
        if isinstance(node, ast.Tuple | ast.List):
            return bool(node.elts) and all(self.is_dead(part, call) for part in node.elts)
        if isinstance(node, ast.Name):
            return self.is_last_use(node, call) and self._is_sole_owner(node)
        return self.is_new(node)

    def is_new(self, node: ast.expr) -> bool:
        """Whether an expression creates arrays that nothing else holds. NumPy arrays are copied to the device."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return True
        if isinstance(node, ast.BinOp):
            return self._operates(node.op, node.left, node.right)
        if isinstance(node, ast.Tuple | ast.List):
            return all(self.is_new(part) for part in node.elts)
        if isinstance(node, ast.Dict):
            return all(self.is_new(part) for part in node.values)
        if isinstance(node, ast.ListComp):
            return self.is_new(node.elt)
        if isinstance(node, ast.DictComp):
            return self.is_new(node.value)
        return isinstance(node, ast.Call) and self._makes_new(node)

    def _operates(self, operator: ast.operator, *operands: ast.expr) -> bool:
        """Whether an operator computes. A sum or product of lists does not: it holds the items of its operands."""
        if isinstance(operator, _NEW_OPERATORS):
            return True
        if isinstance(operator, ast.Add):
            return any(self._is_number(one) or self._is_array(one) for one in operands)
        return isinstance(operator, ast.Mult) and any(
            self._is_array(one) or (isinstance(one, ast.Constant) and type(one.value) is float)
            for one in operands
        )

    def _is_number(self, node: ast.expr) -> bool:
        """Whether it is a literal or a loop counter."""
        if isinstance(node, ast.Constant):
            return type(node.value) in (int, float)
        loops = [self.names.parents.get(one.node) for one in self._bindings(node)]
        return bool(loops) and all(
            isinstance(loop, ast.For)
            and isinstance(loop.iter, ast.Call)
            and getattr(loop.iter.func, "id", "") == "range"
            for loop in loops
        )

    def _is_array(self, node: ast.expr) -> bool:
        """Whether an operand is computed, so that it is not a list."""
        if isinstance(node, ast.Call):
            name = self.names.qualified(node.func) or ""
            return name in FILLING or self._computes(name)
        if isinstance(node, ast.UnaryOp | ast.BinOp):
            return self.is_new(node)
        bindings = self._bindings(node)
        made = self.names.parents.get(bindings[0].node) if len(bindings) == 1 else None
        if (
            not isinstance(made, ast.Assign)
            or made.targets != [bindings[0].node]
            or made.lineno >= node.lineno
        ):
            return False
        return not isinstance(made.value, ast.Name) and self._is_array(made.value)

    @staticmethod
    def _computes(name: str) -> bool:
        draws = name.startswith("jax.random.") and name not in RANDOM_HANDS_ON
        return name in MAKES_NEW_ARRAYS or draws or name.startswith("numpy.")

    def _makes_new(self, call: ast.Call) -> bool:
        name = self.names.qualified(call.func) or ""
        if self._computes(name):
            return True
        if name in FILLING:
            return len(call.args) > 1 and self._is_number(call.args[1])
        if name in TREE_MAPS and call.args:
            return self.names.qualified(call.args[0]) in MAKES_NEW_ARRAYS
        if isinstance(call.func, ast.Call):  # `jax.jit(model.init)(key, x)`
            return self.names.qualified(call.func.func) in JITS
        if isinstance(call.func, ast.Attribute):
            return call.func.attr == "init" and self._is_of_library(call.func.value)
        return isinstance(call.func, ast.Name) and self._returns_new(call.func)

    def _is_of_library(self, node: ast.expr) -> bool:
        """Whether an object is a library's module or optimiser, whose `init` is the library's."""
        made: ast.AST = node
        if isinstance(node, ast.Name):
            bindings = self._bindings(node)
            statement = self.names.parents.get(bindings[0].node) if len(bindings) == 1 else None
            made = statement.value if isinstance(statement, ast.Assign) else node
        if not isinstance(made, ast.Call):
            return False
        name = self.names.qualified(made.func) or ""
        if name.startswith(_LIBRARIES):
            parts = [one for one in ast.walk(made) if isinstance(one, ast.Call)]
            return not name.startswith("optax.") or all(self._starts_anew(one) for one in parts)
        classes = [one.node for one in self._bindings(made.func) if isinstance(one.node, ast.ClassDef)]
        bases = [self.names.qualified(base) or "" for one in classes for base in one.bases]
        return any(base.startswith("flax.linen.") for base in bases)

    def _starts_anew(self, part: ast.Call) -> bool:
        """Whether a part of an optimiser comes from a library and its state holds no buffer of the parameters."""
        name = self.names.qualified(part.func) or ""
        return bool(name) and not name.startswith((*SHARING, *MADE_OF_FUNCTIONS))

    def _returns_new(self, callee: ast.Name) -> bool:
        """Whether a function of the file only returns new arrays, as every jitted function does."""
        bindings = self._bindings(callee)
        if len(bindings) != 1:
            return False
        made = bindings[0].node
        if self._is_jitted(made):
            return True
        if not isinstance(made, ast.FunctionDef) or made.decorator_list or self.depth >= _DEPTH:
            return False
        own = list(own_nodes(made))
        returned = [node.value for node in own if isinstance(node, ast.Return)]
        if not returned or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own):
            return False
        self.depth += 1
        try:
            return all(value is not None and self._is_new_here(value) for value in returned)
        finally:
            self.depth -= 1

    def _is_new_here(self, value: ast.expr) -> bool:
        """The same for the returned value of a function, its local variables included."""
        if isinstance(value, ast.Name):
            return self._is_sole_owner(value)
        if isinstance(value, ast.Tuple | ast.List):
            return all(self._is_new_here(part) for part in value.elts)
        return self.is_new(value)

    def _is_jitted(self, made: ast.AST) -> bool:
        if isinstance(made, ast.FunctionDef):
            return any(_jits(self.site, decorator) for decorator in made.decorator_list)
        statement = self.names.parents.get(made)
        return (
            isinstance(statement, ast.Assign)
            and isinstance(statement.value, ast.Call)
            and _jits(self.site, statement.value.func)
        )

    # Variables

    def read_after(self, node: ast.Name, call: ast.Call, giving_up: str) -> str:
        """The read of a variable's value after a call that would donate it, in words; empty if there is none."""
        if self.is_last_use(node, call):
            return ""
        return f"`{node.id}` may be read after line {call.lineno} passes it to `{giving_up}`, which would donate it"

    def is_last_use(self, node: ast.Name, call: ast.Call) -> bool:
        """Whether the statement of the call is the last to read the variable, and reads it once."""
        statement = next(one for one in self.names.ancestors(call) if isinstance(one, ast.stmt))
        scope = self.names.scope_at(statement)
        if not isinstance(statement, _SIMPLE) or self.names.scope_at(node) is not scope:
            return False
        flow = Flow(self.names, scope)
        reads = [part for part in ast.walk(statement) if isinstance(part, ast.Name) and part.id == node.id]
        if sum(isinstance(part.ctx, ast.Load) for part in reads) != 1 or scope.resolve(node.id) is not scope:
            return False
        rebound = isinstance(statement, ast.Assign) and node.id in flow.bound(statement.targets)
        return (rebound and not flow.is_captured(node.id, statement)) or not self._is_read_after(
            flow, node.id, statement
        )

    def _is_read_after(self, flow: Flow, name: str, statement: ast.stmt) -> bool:
        own = flow.scope.node is self.names.tree and is_script(self.names.tree)
        return flow.is_used_after(name, statement, importable=not own)

    def _is_sole_owner(self, node: ast.Name) -> bool:
        """Whether everything assigned to a variable is new, and no reader of it keeps the value."""
        scope = self.names.scope_at(node).resolve(node.id)
        if scope is None or not all(self._binds_new(one) for one in scope.bindings[node.id]):
            return False
        uses = self.names.uses_of(node.id, scope)
        return all(use.name is node or self._only_reads(use.name) for use in uses)

    def _binds_new(self, binding: Binding) -> bool:
        statement: ast.AST | None = self.names.parents.get(binding.node)
        unpacked = False
        while isinstance(statement, ast.Tuple | ast.List):
            statement, unpacked = self.names.parents.get(statement), True
        if isinstance(statement, ast.AugAssign):
            return self._operates(statement.op, statement.value)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        return self.is_new(statement.value) and (
            not unpacked or isinstance(statement.value, ast.Call | ast.Tuple)
        )

    def _only_reads(self, node: ast.Name) -> bool:
        """Whether no use of a variable keeps its arrays."""
        user = self.names.parents[node]
        if isinstance(user, ast.keyword):
            user = self.names.parents[user]
        if isinstance(user, ast.Call) and user.func is not node:
            return self._keeps_nothing(user)
        if isinstance(user, ast.Attribute):
            return user.attr in _METADATA
        if isinstance(user, ast.BinOp):
            return self.is_new(user)
        if isinstance(user, ast.UnaryOp):
            return isinstance(user.op, ast.USub | ast.Not)
        if isinstance(user, ast.Tuple | ast.List):  # an argument built from several
            above = self.names.parents.get(user)
            return isinstance(above, ast.Call) and self._keeps_nothing(above)
        return isinstance(user, ast.Compare | ast.FormattedValue)

    def _keeps_nothing(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Name):
            bindings = self._bindings(call.func)
            if not bindings:
                return call.func.id in _READING_BUILTINS
            if len(bindings) == 1 and self._is_jitted(bindings[0].node):
                return True
        name = self.names.qualified(call.func) or ""
        if name.startswith("numpy."):
            return False  # a view of the buffer, on a CPU
        return self._makes_new(call) and not isinstance(call.func, ast.Name)
