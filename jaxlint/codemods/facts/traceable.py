"""Operations that a tracer does not allow: a block with any of them cannot become a JAX function."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence, Set

from jaxlint.codemods.facts.bound_arguments import bound_arguments
from jaxlint.codemods.facts.dataflow import names_in
from jaxlint.codemods.facts.local_effects import constant_type
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.syntax.function_bodies import own_nodes

_NUMBERS = frozenset(
    {"float", "int", "bool", "complex", "str", "repr", "range", "hash", "chr", "ord", "bin", "hex"}
)
_TESTS = frozenset({"max", "min", "any", "all", "sorted"})
_FETCHING = frozenset({"item", "tolist", "block_until_ready", "to_py", "__array__"})
_STATIC = frozenset({"shape", "ndim", "dtype", "size"})
_ASKING = frozenset({"len", "isinstance", "hasattr", "callable", "type", "getattr"})
_HOST = ("numpy.", "math.", "scipy.", "cmath.", "statistics.")
_CHANCE = ("random.", "numpy.random.", "time.", "datetime.", "os.", "uuid.", "secrets.")
_SHAPED = frozenset(
    """zeros ones full empty eye arange linspace reshape broadcast_to tile repeat split array_split resize
    identity tri""".split()  # noqa: SIM905
)
# Arguments of these that are no shapes, by position and by name.
_VALUES: dict[str, tuple[tuple[int, ...], frozenset[str]]] = {
    "full": ((1,), frozenset({"fill_value"})),
    "linspace": ((0, 1), frozenset({"start", "stop"})),
}
_OF_AN_ARRAY = frozenset({"reshape", "broadcast_to", "tile", "repeat", "split", "array_split", "resize"})
_ARRAYS = frozenset({"a", "array", "A", "ary"})
_DEPTH = 3  # nested functions that are examined
_SEQUENCES = (ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.DictComp, ast.JoinedStr)


def check_traceable(
    site: Site,
    nodes: Iterable[ast.AST],
    traced: Set[str],
    what: str,
    *,
    counters: Set[str] = frozenset(),
    handled: Set[ast.AST] = frozenset(),
) -> None:
    """Raises Refused if `nodes` need the Python value of a name in `traced`.

    `counters` are counters among them: Python numbers now, which may index lists and give shapes. `handled` are nodes
    that will be rewritten.
    """
    check = _Check(site, traced, counters, what)
    for node in nodes:
        for part in ast.walk(node):
            if part not in handled:
                check.node(part)


def reads(node: ast.AST, traced: Set[str]) -> str:
    """A name in `traced` whose value `node` reads; reads of its shape, dtype and the like do not count."""
    if isinstance(node, ast.Attribute) and node.attr in _STATIC:
        return ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ASKING:
        return ""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        return ""
    if isinstance(node, ast.Name):
        return node.id if node.id in traced else ""
    return next((name for child in ast.iter_child_nodes(node) if (name := reads(child, traced))), "")


def computed_from(names: Set[str], given: Sequence[tuple[ast.expr, set[str]]]) -> set[str]:
    """`names`, and the variables that are computed from them by assignments."""
    names = {*names}
    while new := {
        target for value, targets in given if reads(value, names) for target in targets if target not in names
    }:
        names |= new
    return names


def assignments(top: ast.AST) -> Iterator[tuple[ast.expr, set[str]]]:
    """The assignments in `top`: each value with the variables that it reaches."""
    for node in ast.walk(top):
        if isinstance(node, ast.Assign):
            targets: list[ast.expr] = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            targets = [node.target]
        else:
            continue
        assert node.value is not None
        yield node.value, {part.id for one in targets for part in ast.walk(one) if isinstance(part, ast.Name)}


class _Check:
    def __init__(self, site: Site, traced: Set[str], counters: Set[str], what: str, depth: int = 0) -> None:
        self.site, self.traced, self.counters, self.what, self.depth = site, traced, counters, what, depth

    def node(self, node: ast.AST) -> None:
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            self.test(node.test)
        elif isinstance(node, ast.Match):
            self.test(node.subject)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                self.test(value)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.test(node.operand)
        elif isinstance(node, ast.comprehension):
            for condition in node.ifs:
                self.test(condition)
        elif isinstance(node, ast.Compare):
            if len(node.ops) > 1 or isinstance(node.ops[0], (ast.In, ast.NotIn)):
                self.test(node)
        elif isinstance(node, ast.FormattedValue):
            if name := self.read(node.value):
                raise Refused(f"{self.what} writes `{name}` into a string")
        elif isinstance(node, ast.Slice):
            self.slices(node.lower, node.upper, node.step)
        elif isinstance(node, ast.Subscript):
            self.index(node)
        elif isinstance(node, ast.Call):
            self.call(node)

    def slices(self, *bounds: ast.expr | None) -> None:
        for bound in bounds:
            if bound is not None and (name := self.read(bound)):
                raise Refused(
                    f"{self.what} slices by `{name}`, which would be a tracer; see lax.dynamic_slice_in_dim"
                )

    def test(self, node: ast.expr) -> None:
        if name := self.read(node):
            raise Refused(f"{self.what} branches on `{name}`, which would be a tracer")

    def index(self, node: ast.Subscript) -> None:
        """A tracer cannot index a list."""
        if isinstance(node.slice, ast.Slice) or not (names_in(node.slice) & self.counters):
            return
        if any(isinstance(held, _SEQUENCES) for held in _given(self.site, node.value)):
            raise Refused(
                f"`{ast.unparse(node.value)[:40]}` is not an array, and its index would be a tracer"
            )

    def call(self, node: ast.Call) -> None:
        function = node.func
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        name = self.site.names.qualified(function) or ""
        if name.startswith(_CHANCE) or self.is_of_generator(function):
            raise Refused(
                f"{self.what} calls `{ast.unparse(function)}`, which JAX would run once, at trace time"
            )
        if isinstance(function, ast.Attribute) and function.attr in _FETCHING:
            if found := self.read(function.value):
                raise Refused(f"{self.what} calls `.{function.attr}()` on `{found}`, which would be a tracer")
        found = next((read for part in given if (read := self.read(part))), "")
        if not found:
            return
        builtin = self.site.names.builtin(function)
        if builtin == "slice":
            self.slices(*node.args)
        if builtin in _NUMBERS or builtin in _TESTS:
            raise Refused(f"{self.what} calls `{builtin}()` on `{found}`, which would be a tracer")
        if name.startswith(_HOST):
            raise Refused(
                f"{self.what} passes `{found}` to `{ast.unparse(function)}`, which does not take tracers"
            )
        last = function.attr if isinstance(function, ast.Attribute) else name.rpartition(".")[2]
        shapes = _shapes_of(node, last, of_module=bool(name)) if last in _SHAPED else []
        if any(names_in(part) & self.counters for part in shapes):
            count = next(iter(sorted(set().union(*map(names_in, shapes)) & self.counters)))
            raise Refused(f"{self.what} computes a shape from `{count}`, which would be a tracer")
        if isinstance(function, ast.Name) and self.depth < _DEPTH:
            self.called(node, function)

    def called(self, call: ast.Call, function: ast.Name) -> None:
        """A function of the file receives traced counters, and may need their values."""
        bindings = self.site.names.bindings_of(function.id, self.site.names.scope_at(function))
        made = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(made, ast.FunctionDef) or made.decorator_list:
            return
        parameters = [*made.args.posonlyargs, *made.args.args]
        given = bound_arguments(call, parameters) or {}
        counters = {parameters[n].arg for n, part in given.items() if reads(part, self.counters)}
        if not counters:
            return
        counters = computed_from(counters, [pair for top in made.body for pair in assignments(top)])
        within = _Check(self.site, counters, counters, f"`{made.name}`, which it calls,", self.depth + 1)
        for part in own_nodes(made):
            within.node(part)

    def is_of_generator(self, function: ast.expr) -> bool:
        """Whether it is a method of a NumPy or Python random generator, such as `rng = np.random.default_rng(0)`."""
        if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
            return False
        made = [one.func for one in _given(self.site, function.value) if isinstance(one, ast.Call)]
        return any((self.site.names.qualified(one) or "").startswith(_CHANCE) for one in made)

    def read(self, node: ast.AST) -> str:
        return reads(node, self.traced)


def _shapes_of(call: ast.Call, function: str, *, of_module: bool) -> list[ast.expr]:
    """The arguments that give a shape: not the value of `jnp.full`, the ends of `jnp.linspace`, or the array of `jnp.reshape`."""
    positions: tuple[int, ...] = ()
    names = frozenset[str]()
    if function in _VALUES:
        positions, names = _VALUES[function]
    elif of_module and function in _OF_AN_ARRAY:
        positions, names = (0,), _ARRAYS
    if any(isinstance(one, ast.Starred) for one in call.args) or any(
        one.arg is None for one in call.keywords
    ):
        return [*call.args, *(one.value for one in call.keywords)]
    named = [one.value for one in call.keywords if one.arg not in names]
    return [*(one for place, one in enumerate(call.args) if place not in positions), *named]


def is_array_like(site: Site, node: ast.expr) -> bool:
    """Whether nothing excludes that `node` is an array: it is not a literal, a string or a Python iterator."""
    return all(_may_be_array(site, held) for held in _given(site, node))


def _given(site: Site, node: ast.expr) -> list[ast.expr]:
    """`node`, or all values of the variable that it names."""
    if not isinstance(node, ast.Name):
        return [node]
    bindings = site.names.bindings_of(node.id, site.names.scope_at(node))
    return [held for one in bindings if (held := site.names.given(one.node)) is not None]


def _may_be_array(site: Site, held: ast.expr) -> bool:
    if (
        isinstance(held, (*_SEQUENCES, ast.Set, ast.SetComp, ast.GeneratorExp))
        or constant_type(held) is not None
    ):
        return False
    if isinstance(held, ast.Call) and isinstance(held.func, ast.Name):
        return site.names.scope_at(held).resolve(held.func.id) is not None
    if isinstance(held, ast.Call) and (site.names.qualified(held.func) or "").startswith("random."):
        return False  # lists and Python numbers
    if isinstance(held, ast.Call) and isinstance(held.func, ast.Attribute):
        return held.func.attr not in ("items", "values", "keys", "splitlines", "readlines", "split_lines")
    return True
