"""How JAX rebuilds an object of a class from its leaves: through its constructor, and what that requires of their ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from jaxlint.api import Module
from jaxlint.api.syntax import FunctionNode, all_parameters, cache, dotted, nodes_of
from jaxlint.api.values import BoundMethod, ClassValue, Function
from jaxlint_rules._names import last_name

# Decorators whose classes are rebuilt by the constructor that they generate.
_GENERATED = frozenset(
    {
        *("struct.dataclass", "flax.struct.dataclass", "chex.dataclass"),
        *("register_dataclass", "tree_util.register_dataclass", "jax.tree_util.register_dataclass"),
    }
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a constructor requires of the rank of one leaf, or else raises `error`."""

    leaf: str
    rank: int
    error: str
    node: ast.AST  # where it does
    module: Module
    place: ast.AST  # the call that rebuilds the object, or the same


def requirement(cls: ClassValue) -> Requirement | None:
    """The exact rank of a leaf that JAX must give each time it rebuilds an object; None if it may have any rank."""
    method = cls.lookup("tree_unflatten")
    method = method.function if isinstance(method, BoundMethod) else method
    unflatten = method if isinstance(method, Function) else None
    if unflatten is None and any(one.registered is not None for one in cls.mro()):
        known = next(one.registered for one in cls.mro() if one.registered is not None)
        unflatten = known.unflatten if isinstance(known.unflatten, Function) else None
        parameters = [one.arg for one in all_parameters(unflatten.node)] if unflatten is not None else []
    else:
        parameters = [one.arg for one in all_parameters(unflatten.node)][1:] if unflatten is not None else []
    if unflatten is not None:
        return _by_constructor(cls, unflatten, parameters)
    generated = any(
        dotted(one.func if isinstance(one, ast.Call) else one) in _GENERATED
        for one in cls.node.decorator_list
    )
    after = cls.lookup("__post_init__") if generated and cls.constructor() is None else None
    if not isinstance(after, Function) or not after.node.args.args:
        return None
    me = after.node.args.args[0].arg
    names = {f"{me}.{name}": name for name, declared in cls.all_fields().items() if not declared.static}
    if _stores(after.node):
        return None  # it may set what it checks
    for name, rank, error, node in _required(after.node, names):
        return Requirement(name, rank, error, node, after.module, node)
    return None


def _by_constructor(cls: ClassValue, unflatten: Function, parameters: list[str]) -> Requirement | None:
    """What the constructor requires that `unflatten(aux, children)` calls with the children."""
    maker = cls.lookup("__init__")
    if len(parameters) != 2 or not isinstance(maker, Function) or not maker.node.args.args:
        return None
    call = _construction(cls, unflatten)
    if call is None:
        return None
    me, *names = [one.arg for one in all_parameters(maker.node)]
    given = {name: name for _, name in _numbered(call, names, parameters[1], unflatten.node)}
    stored = {
        f"{me}.{attribute}": name
        for name, attribute in _stored_alone(maker.node, me).items()
        if name in given
    }
    for name, rank, error, node in _required(maker.node, {**given, **stored}):
        return Requirement(
            name, rank, error, node, maker.module, call if unflatten.module is maker.module else node
        )
    return None


@dataclass(frozen=True, slots=True)
class Swap:
    """An attribute that `tree_flatten` gives as a child, and the other child that it becomes when the object is rebuilt."""

    child: str
    becomes: str
    node: ast.Tuple  # the children
    module: Module


def swapped_children(cls: ClassValue) -> Swap | None:
    """The first child of a class that its `tree_flatten`, `tree_unflatten` and constructor put into the attribute of another."""
    flatten, unflatten, maker = (_method(cls, one) for one in ("tree_flatten", "tree_unflatten", "__init__"))
    if flatten is None or unflatten is None or unflatten.kind != "classmethod":
        return None
    children, call = _children(flatten), _construction(cls, unflatten)
    parameters = [one.arg for one in all_parameters(unflatten.node)][1:]
    if children is None or call is None or len(parameters) != 2:
        return None
    attributes = [one.attr for one in children.elts if isinstance(one, ast.Attribute)]
    if maker is not None:
        me, *names = [one.arg for one in all_parameters(maker.node)]
        stored = _stored_alone(maker.node, me)
    else:
        names = list(cls.all_fields())
        stored = {name: name for name in names}
    for number, name in _numbered(call, names, parameters[1], unflatten.node):
        child = attributes[number] if number < len(attributes) else None
        becomes = stored.get(name)
        if child is not None and becomes is not None and becomes != child and becomes in attributes:
            return Swap(child, becomes, children, flatten.module)
    return None


def _method(cls: ClassValue, name: str) -> Function | None:
    found = cls.lookup(name)
    found = found.function if isinstance(found, BoundMethod) else found
    return found if isinstance(found, Function) and found.node.args.args else None


def _children(flatten: Function) -> ast.Tuple | None:
    """The tuple of children that `tree_flatten` returns, if each is a plain attribute of the object."""
    me = flatten.node.args.args[0].arg
    results = [one.value for one in nodes_of(flatten.node, ast.Return)]
    pair = results[0] if len(results) == 1 else None
    children: ast.expr | None = pair.elts[0] if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 else None
    if isinstance(children, ast.Name):
        name = children.id
        bound = [one.value for one in nodes_of(flatten.node, ast.Assign) if name in map(dotted, one.targets)]
        children = bound[0] if len(bound) == 1 else None
    if not isinstance(children, ast.Tuple):
        return None
    plain = all(isinstance(one, ast.Attribute) and dotted(one.value) == me for one in children.elts)
    return children if plain else None


def _stored_alone(maker: FunctionNode, me: str) -> dict[str, str]:
    """By parameter, the one attribute that a constructor stores it in, as it is or as an array."""
    stores, found = _stores(maker), dict[str, str]()
    for statement in nodes_of(maker, ast.Assign):
        target, value = statement.targets[0], statement.value
        together = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        pairs = zip(target.elts, value.elts, strict=False) if together else [(target, value)]  # type: ignore[attr-defined]
        for place, given in pairs if len(statement.targets) == 1 else ():
            if isinstance(given, ast.Call) and last_name(given.func) in ("asarray", "array") and given.args:
                given = given.args[0]
            if not isinstance(place, ast.Attribute) or not isinstance(given, ast.Name):
                continue
            if dotted(place.value) == me and stores.count(dotted(place)) == 1:
                found[given.id] = "" if given.id in found else place.attr
    return {name: attribute for name, attribute in found.items() if attribute and name not in _rebound(maker)}


def _numbered(
    call: ast.Call, names: list[str], children: str, function: FunctionNode
) -> Iterator[tuple[int, str]]:
    """The numbers of the children that a construction passes on, and the parameters that get them."""
    unpacked: dict[str, int] = {}
    for statement in nodes_of(function, ast.Assign):
        target = statement.targets[0]
        if dotted(statement.value) == children and isinstance(target, (ast.Tuple, ast.List)):
            unpacked |= {part.id: n for n, part in enumerate(target.elts) if isinstance(part, ast.Name)}

    def number(node: ast.expr) -> int | None:
        if isinstance(node, ast.Subscript) and dotted(node.value) == children:
            index = node.slice
            return index.value if isinstance(index, ast.Constant) and type(index.value) is int else None
        return unpacked.get(node.id) if isinstance(node, ast.Name) else None

    for position, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            if dotted(argument.value) == children and position == len(call.args) - 1:
                yield from enumerate(names[position:])
            return
        found = number(argument)
        if found is not None and position < len(names):
            yield found, names[position]
    for keyword in call.keywords:
        found = number(keyword.value)
        if keyword.arg is not None and found is not None:
            yield found, keyword.arg


def _construction(cls: ClassValue, unflatten: Function) -> ast.Call | None:
    """The call of the class that is all that a function returns."""
    node = unflatten.node
    own = node.args.args[0].arg if node.args.args else ""
    if isinstance(node, ast.Lambda):
        results: list[ast.expr | None] = [node.body]
    else:
        results = [one.value for one in nodes_of(node, ast.Return)]
    if len(results) != 1 or not isinstance(call := results[0], ast.Call):
        return None
    called = dotted(call.func)
    is_own = called == own and unflatten.kind == "classmethod"
    return call if is_own or called == cls.name else None


@cache
def _stores(function: FunctionNode) -> tuple[str, ...]:
    """The attributes that a function assigns, each as often as it does."""
    calls = (last_name(call.func) for call in nodes_of(function, ast.Call))
    assigned = (
        dotted(part) for part in nodes_of(function, ast.Attribute) if not isinstance(part.ctx, ast.Load)
    )
    return (*assigned, *(name for name in calls if name in ("setattr", "__setattr__")))


@cache
def _rebound(function: FunctionNode) -> frozenset[str]:
    return frozenset(part.id for part in nodes_of(function, ast.Name) if isinstance(part.ctx, ast.Store))


def _required(function: FunctionNode, names: dict[str, str]) -> Iterator[tuple[str, int, str, ast.AST]]:
    """The leaves whose rank the statements of a constructor require, those under a test aside: name, rank, error, place."""
    for statement in function.body if isinstance(function.body, list) else ():
        if isinstance(statement, ast.Assert):
            tests = _parts(statement.test, ast.And)
            found = ((_equal(test, ast.Eq), "AssertionError") for test in tests)
        elif isinstance(statement, ast.If) and isinstance(raised := statement.body[-1], ast.Raise):
            error = raised.exc.func if isinstance(raised.exc, ast.Call) else raised.exc
            said = last_name(error) if error is not None else ""
            found = ((_equal(test, ast.NotEq), said) for test in _parts(statement.test, ast.Or))
        elif isinstance(statement, ast.Assign) and isinstance(
            target := statement.targets[0], (ast.Tuple, ast.List)
        ):
            of = dotted(statement.value)
            exact = of.endswith(".shape") and not any(isinstance(one, ast.Starred) for one in target.elts)
            found = ((asked, "ValueError") for asked in [(of[:-6], len(target.elts)) if exact else None])
        elif isinstance(statement, ast.Return):
            return
        else:
            continue
        for asked, error_name in found:
            if asked is not None and error_name and asked[0] in names and asked[0] not in _rebound(function):
                yield names[asked[0]], asked[1], error_name, statement


def _parts(test: ast.expr, joined: type[ast.boolop]) -> list[ast.expr]:
    return list(test.values) if isinstance(test, ast.BoolOp) and isinstance(test.op, joined) else [test]


def _equal(test: ast.expr, operator: type[ast.cmpop]) -> tuple[str, int] | None:
    """The array and the rank in `x.ndim == 2`, `len(x.shape) == 2`, `x.shape == (3, 4)`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], operator):
        return None
    asked, wanted = test.left, test.comparators[0]
    if dotted(asked).endswith(".shape") and isinstance(wanted, ast.Tuple):
        if not any(isinstance(one, ast.Starred) for one in wanted.elts):
            return dotted(asked)[:-6], len(wanted.elts)
    if not isinstance(wanted, ast.Constant) or type(wanted.value) is not int:
        return None
    if dotted(asked).endswith(".ndim"):
        return dotted(asked)[:-5], wanted.value
    if isinstance(asked, ast.Call) and len(asked.args) == 1:
        function, of = dotted(asked.func), dotted(asked.args[0])
        if function == "len" and of.endswith(".shape"):
            return of[:-6], wanted.value
        if function in ("jnp.ndim", "np.ndim", "jax.numpy.ndim"):
            return of, wanted.value
    return None
