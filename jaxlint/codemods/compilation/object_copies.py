"""A region that works on a copy of its method's object, since methods that it calls read or set attributes that change.

`acceleration = self.forces() / self.mass` reads `self.position` in `forces`. The new function copies the object at trace
time, puts the arrays that it is given into the copy, and returns those that it sets:

    @functools.partial(jax.jit, static_argnums=0)
    def _jitted_step(self, position, velocity, dt):
        self = copy.copy(self)
        self.position, self.velocity = position, velocity
        acceleration = self.forces() / self.mass
        ...
        return self.position, self.velocity
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from jaxlint.codemods.compilation.region_attributes import (
    OwnAttributes,
    is_read_in_place,
    object_of,
    refuse_hooks,
)
from jaxlint.codemods.compilation.region_values import is_set_later, set_by_constructor
from jaxlint.codemods.facts.dataflow import FUNCTIONS
from jaxlint.codemods.purity.callbacks import first_parameter
from jaxlint.codemods.purity.known_functions import CALLERS
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File
from jaxlint.codemods.purity.values import Cls, Inst, Value, leaves_of
from jaxlint.codemods.source.layout import fresh_name
from jaxlint.codemods.source.name_scopes import Scope
from jaxlint.codemods.source.site import Refused, Site

_COPY_HOOKS = ("__copy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__slots__", "__new__", "__del__", "__getnewargs__", "__getnewargs_ex__")  # fmt: skip

_AT_ONCE = ("jax.tree.", "jax.tree_util.", "jax.lax.", "jax.jvp", "jax.eval_shape", "functools.reduce")


def attributes_of_copy(
    site: Site,
    scope: Scope,
    nodes: Sequence[ast.stmt | ast.expr],
    possible: PossibleValues,
    file: File,
    is_object: Callable[[Value], bool],
    transform: str,
) -> OwnAttributes:
    """The attributes that a region, and the methods that it calls, read and set. Raises Refused if a copy of the object could
    behave differently, or none of its methods is called."""
    me = object_of(site, scope)
    cls = possible.classes.class_around(file.same(scope.node), file) if me else None
    if cls is None:
        raise Refused("it belongs to no method of an object")
    reads = _Reads(possible, cls)
    for node in nodes:
        reads.of(file.same(node), me, file)
    if not reads.methods:
        raise Refused("it calls no method of its object")
    if any(other is not file for _, other in reads.nodes):
        raise Refused("its class is in several files")
    found = OwnAttributes(site, me, stays=True, copied=True)
    nodes_of = [node for node, _ in reads.nodes]
    found.nodes = sorted(nodes_of, key=lambda one: (one.lineno, one.col_offset))
    found.set = list(dict.fromkeys(one.attr for one in found.nodes if not isinstance(one.ctx, ast.Load)))
    refuse_hooks(found, scope, possible, file)
    _refuse_copies(cls, possible)
    _refuse_sharing(cls, reads.methods, possible)
    for node in found.nodes:
        if node.attr in found.taken:
            continue
        if (
            node.attr in found.set
            or is_set_later(node.attr, cls, possible)
            or not is_read_in_place(node, site, possible, file, is_object, transform)
        ):
            found.taken.append(node.attr)
    first = {name: number for number, name in enumerate(found.taken)}
    found.set.sort(key=first.__getitem__)
    constructed = set(set_by_constructor(cls, possible))
    for name in found.taken:
        if name not in constructed:
            raise Refused(f"an object may have no `{name}` yet")
    names = {part.id for one in nodes for part in ast.walk(one) if isinstance(part, ast.Name)}
    for name in found.taken:
        found.variables[name] = fresh_name(names, name.lstrip("_") or name)
    return found


def opening_of(own: OwnAttributes, copy: str) -> list[str]:
    """The first lines of the function: the copy, and what it gets."""
    lines = [f"{own.me} = {copy}({own.me})"]
    if own.taken:
        targets = ", ".join(map(own.text, own.taken))
        lines.append(f"{targets} = {', '.join(own.variables[one] for one in own.taken)}")
    return lines


@dataclass(slots=True)
class _Reads:
    """The attributes of its object that code reads or sets, and its methods that are called, in them too."""

    possible: PossibleValues
    cls: Cls
    nodes: list[tuple[ast.Attribute, File]] = field(default_factory=list)
    methods: dict[str, None] = field(default_factory=dict)

    def of(self, node: ast.AST, me: str, file: File) -> None:
        """Adds what a node reads through the name of the object. Raises Refused if it does anything else with it."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id == "super":
                raise Refused("it calls a method of its base class by `super()`")
            if not isinstance(part, ast.Name) or part.id != me:
                continue
            above = file.names.parents.get(part)
            if not isinstance(above, ast.Attribute) or above.value is not part:
                raise Refused(f"it passes `{me}` to other code")
            if isinstance(above.ctx, ast.Del):
                raise Refused(f"it deletes `{me}.{above.attr}`")
            if not self._enter(above.attr):
                self.nodes.append((above, file))

    def _enter(self, name: str) -> bool:
        """Whether a name is a method, whose reads are then added."""
        classes = self.possible.classes
        members = [classes.member(one, name) for one in classes.heirs(self.cls)]
        functions = [one for one in members if one is not None and isinstance(one[1].node, FUNCTIONS)]
        if not functions:
            return False
        if name in self.methods:
            return True
        self.methods[name] = None
        for place, binding in functions:
            method = binding.node
            if not isinstance(method, ast.FunctionDef) or method.decorator_list:
                raise Refused(f"`{name}` is no plain method")
            for statement in method.body:
                self.of(statement, first_parameter(method), place.file)
        return True


def _refuse_copies(cls: Cls, possible: PossibleValues) -> None:
    for one in possible.classes.heirs(cls):
        for name in _COPY_HOOKS:
            if possible.classes.member(one, name) is not None:
                raise Refused(f"`{one.node.name}` defines `{name}`, so a copy may not be like the object")


def _refuse_sharing(cls: Cls, methods: dict[str, None], possible: PossibleValues) -> None:
    """Raises Refused if something that the object holds may refer to it: a copy would hold the same, which refers to the original."""
    family = {each for one in possible.classes.heirs(cls) for each in possible.classes.line(one)}
    for one in family:
        for method in (part for part in one.node.body if isinstance(part, ast.FunctionDef)):
            _refuse_holders(method, one.file, methods, possible)
    for name in methods:
        for file, load in possible.program.loads.get(name, ()):
            above = file.names.parents.get(load)
            inside = any(load in set(ast.walk(one.node)) for one in family)
            if not inside and not (isinstance(above, ast.Call) and above.func is load):
                raise Refused(f"the program passes `{name}` of an object on")
    stored = {node.attr for one in family for node in ast.walk(one.node) if isinstance(node, ast.Attribute)}
    for name in stored:
        held = leaves_of(possible.attribute(Inst(cls), name)) if name in possible.program.stores else ()
        if any(isinstance(value, Inst) and value.cls in family for value in held):
            raise Refused(f"`{name}` may hold an object of the same class")


def _refuse_holders(
    method: ast.FunctionDef, file: File, methods: dict[str, None], possible: PossibleValues
) -> None:
    """Raises Refused if a method hands its object on, or keeps a function that reads it."""
    me = first_parameter(method)
    parents = file.names.parents
    nested = {
        part
        for part in ast.walk(method)
        if isinstance(part, (*FUNCTIONS, ast.ClassDef))
        and part is not method
        and any(isinstance(one, ast.Name) and one.id == me for one in ast.walk(part))
    }
    named = {getattr(part, "name", "") for part in nested} - {""}
    for part in ast.walk(method):
        if isinstance(part, ast.Name) and part.id == me and isinstance(part.ctx, ast.Load):
            above = parents.get(part)
            if not isinstance(above, ast.Attribute) or above.value is not part:
                raise Refused(f"`{method.name}` passes `{me}` on, which a copy would not replace")
        keeps = isinstance(part, ast.Return) or (
            isinstance(part, ast.Assign | ast.AnnAssign | ast.AugAssign)
            and any(
                isinstance(one, ast.Attribute | ast.Subscript) and isinstance(one.ctx, ast.Store)
                for one in ast.walk(part)
            )
        )
        if keeps and part.value is not None:  # type: ignore[attr-defined]
            for one in ast.walk(part.value):  # type: ignore[attr-defined]
                called = parents.get(one)
                bound = isinstance(one, ast.Attribute) and one.attr in methods
                if isinstance(one, ast.Name) and one.id in named:
                    bound = True
                if isinstance(called, ast.Call) and called.func is one:
                    continue
                if (bound or one in nested) and not _is_called_at_once(one, part, file, possible):
                    raise Refused(f"`{method.name}` keeps a function of its object")


def _is_called_at_once(node: ast.AST, statement: ast.AST, file: File, possible: PossibleValues) -> bool:
    """Whether a function is an argument of a transformation whose result is called, `jax.grad(self.loss)(params)`, or of a function that
    calls it before it returns, `jax.tree.map(lambda p, g: p - self.rate * g, params, grads)`."""
    parents = file.names.parents
    call = parents.get(node)
    if isinstance(call, ast.Call) and node in call.args:
        name = possible.name_of(call.func, file)
        if name in CALLERS and name.startswith(_AT_ONCE):
            return True
    while isinstance(call, ast.Call) and call is not statement:
        above = parents.get(call)
        if isinstance(above, ast.Call) and above.func is call:
            return True
        call = above
    return False
