"""Attributes of a method's object in a region, which become variables in the new function.

`self.params = optax.apply_updates(self.params, updates)` becomes `params = optax.apply_updates(params, updates)` in
the function, and `self.params = train_step(self.params, ...)` at the call. What is not an array (`self.optimizer`)
stays.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field

from jaxlint.codemods.compilation.region_statements import NNX
from jaxlint.codemods.purity.jit_arguments import JitArguments
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import NONE, NUMBER, TEXT, TYPE, Cls, Fn, Value, Wrapped, leaves_of
from jaxlint.codemods.source.layout import fresh_name
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.site import Refused, Site

_SCOPED = ("flax.linen.", "haiku.")
_PLAIN = frozenset({"object", "abc.ABC"})  # bases whose objects are compared by identity
_HOOKS = ("__setattr__", "__getattribute__", "__getattr__", "__delattr__")


@dataclass(slots=True)
class OwnAttributes:
    """`me`: the method's name for its object. `variables`: the variable for each attribute that is a parameter or
    result.

    `taken`: attributes that are read before they are set, in source order; `set`: those that are set. `stays`:
    whether some attribute of the object is read in place. `copied`: the function works on a copy of the object, in which they keep their names.
    """

    site: Site
    me: str = ""
    nodes: list[ast.Attribute] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    set: list[str] = field(default_factory=list)
    stays: bool = False
    copied: bool = False

    def text(self, attribute: str) -> str:
        """The attribute as the method spells it."""
        return f"{self.me}.{attribute}"


def own_attributes(
    site: Site,
    scope: Scope,
    statements: Sequence[ast.stmt | ast.expr],
    possible: PossibleValues,
    file: File,
    is_object: Callable[[Value], bool],
    transform: str,
    left: Set[ast.AST] = frozenset(),
) -> OwnAttributes:
    """The attributes of its object that a region reads and sets, but for those in `left`, which the host reads. Raises Refused if the class
    customises attribute access."""
    me = object_of(site, scope)
    found = OwnAttributes(site, me)
    if not me:
        return found
    for statement in statements:
        for node in (one for one in ast.walk(statement) if one not in left):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == me:
                found.nodes.append(node)
                if isinstance(node.ctx, ast.Store) and node.attr not in found.set:
                    found.set.append(node.attr)
                elif isinstance(node.ctx, ast.Del):
                    raise Refused(f"it deletes `{found.text(node.attr)}`")
    found.nodes.sort(key=lambda one: (one.lineno, one.col_offset))
    refuse_hooks(found, scope, possible, file)
    first_set = _first_statements(statements, found)
    taken: dict[str, None] = {}
    in_place: set[str] = set()
    for node in found.nodes:
        loads = isinstance(node.ctx, ast.Load) or isinstance(site.names.parents.get(node), ast.AugAssign)
        if not loads:
            continue
        if node.attr in found.set:
            if _index_of(statements, node) <= first_set[node.attr]:
                taken[node.attr] = None
        elif is_read_in_place(node, site, possible, file, is_object, transform):
            in_place.add(node.attr)
        else:
            taken[node.attr] = None
    found.taken = list(taken)
    found.stays = not in_place <= taken.keys()  # what is taken is the parameter wherever it is read
    found.set.sort(key=lambda one: found.taken.index(one) if one in taken else len(taken))
    names = {part.id for one in statements for part in ast.walk(one) if isinstance(part, ast.Name)}
    for attribute in dict.fromkeys([*found.taken, *found.set]):
        found.variables[attribute] = fresh_name(names, attribute.lstrip("_") or attribute)
    others = [
        node
        for one in statements
        for node in ast.walk(one)
        if isinstance(node, ast.Name) and node.id == me and node not in left
    ]
    if len(others) > len(found.nodes):
        raise Refused(f"it passes `{me}` to other code")
    return found


def object_of(site: Site, scope: Scope) -> str:
    """The name of the object in a method; "" outside methods."""
    function = scope.node
    if not isinstance(function, ast.FunctionDef) or not isinstance(
        site.names.parents.get(function), ast.ClassDef
    ):
        return ""
    if any(ast.unparse(one) in ("staticmethod", "classmethod") for one in function.decorator_list):
        return ""
    parameters = [*function.args.posonlyargs, *function.args.args]
    return parameters[0].arg if parameters else ""


def kept_as_static(possible: PossibleValues, method: ast.AST, file: File) -> str | None:
    """Why `jit` cannot distinguish the objects of a method's class, in words; None if each is equal only to itself."""
    cls = possible.classes.class_around(method, file)
    if cls is None:
        return "the method belongs to no class"
    for one in possible.classes.heirs(cls):
        for name in ("__eq__", "__hash__"):
            if possible.classes.member(one, name) is not None:
                return (
                    f"the class defines `{name}`, so different objects may count as the same static argument"
                )
        if not possible.external_bases(one) <= _PLAIN:
            return f"`{one.node.name}` may not compare by identity"
        waiting = [one]
        while waiting:
            each = waiting.pop()
            if each.node.decorator_list or each.node.keywords:
                return f"`{each.node.name}` may not compare by identity"
            waiting += [base for base in possible.classes.bases(each) if isinstance(base, Cls)]
    return None


def is_equinox_tree(possible: PossibleValues, method: ast.AST, file: File) -> bool:
    """Whether a method belongs to modules of equinox, whose arrays `eqx.filter_jit` traces; what else they hold is compared as it is."""
    cls = possible.classes.class_around(method, file)
    return cls is not None and possible.external_bases(cls) == {"equinox.Module"}


def refuse_hooks(found: OwnAttributes, scope: Scope, possible: PossibleValues, file: File) -> None:
    """Raises Refused if the class runs code where attributes are read or set."""
    cls = possible.classes.class_around(file.same(scope.node), file)
    if cls is None:
        return
    if any(base.startswith(_SCOPED) for base in possible.external_bases(cls)):
        raise Refused("its module creates layers at trace time")
    if not found.nodes:
        return
    for name in (*found.set, *_HOOKS):
        member = possible.classes.member(cls, name)
        if member is not None and isinstance(member[1].node, ast.FunctionDef):
            raise Refused(
                f"the class defines `{name}`, which runs when an attribute of `{found.me}` is read or set"
            )


def _first_statements(statements: Sequence[ast.stmt | ast.expr], found: OwnAttributes) -> dict[str, int]:
    """The first statement that sets an attribute."""
    first: dict[str, int] = {}
    for node in found.nodes:
        if isinstance(node.ctx, ast.Store):
            index = _index_of(statements, node)
            first[node.attr] = min(index, first.get(node.attr, index))
    return first


def _index_of(statements: Sequence[ast.stmt | ast.expr], node: ast.AST) -> int:
    return next(index for index, one in enumerate(statements) if node in set(ast.walk(one)))


def is_read_in_place(
    node: ast.Attribute,
    site: Site,
    possible: PossibleValues,
    file: File,
    is_object: Callable[[Value], bool],
    transform: str,
) -> bool:
    """Whether an attribute is not an array: a called function, an optimiser, a module of layers. `nnx.jit` takes modules as
    arguments: it carries their changes, which it refuses for those that a function reads from elsewhere."""
    values = leaves_of(possible.of(file.same(node), file))
    if transform == NNX and any(map(possible.is_nnx, values)):
        return False
    is_no_tree = JitArguments(possible).is_no_tree
    if values and all(is_object(one) or is_no_tree(one) for one in values):
        return True
    if values and values <= {NUMBER, TEXT, NONE, TYPE}:
        return values != {NUMBER} or not _is_counted(node.attr, possible)
    above = site.names.parents.get(node)
    if isinstance(above, ast.Call) and above.func is node:
        return True
    if isinstance(above, ast.Attribute):
        call = site.names.parents.get(above)
        if isinstance(call, ast.Call) and call.func is above and not _is_array(values):
            return True
        methods = possible.of(file.same(above), file)  # `jax.grad(self.target.log_prob)`
        return bool(methods) and all(isinstance(one, Fn | Wrapped) for one in methods)
    return False


def _is_counted(attribute: str, possible: PossibleValues) -> bool:
    """Whether a method counts in an attribute, so that the function must receive the present number as an argument."""
    return any(
        isinstance(file.names.parents.get(store), ast.AugAssign)
        for file, store in possible.program.stores.get(attribute, ())
    )


def _is_array(values: frozenset[Value]) -> bool:
    return bool(values) and all(getattr(value, "kind", "") in ("array", "numpy") for value in values)
