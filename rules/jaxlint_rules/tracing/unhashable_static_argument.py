"""Static arguments that are not hashable."""

from __future__ import annotations

import ast

from jaxlint.api import (
    CallEvent,
    Reporter,
    Rule,
    StaticArgumentEvent,
    StaticFieldEvent,
    WrongStatic,
    concerns,
)
from jaxlint.api.syntax import FunctionNode, cache, dotted, nodes_of
from jaxlint.api.values import (
    Array,
    BoundMethod,
    ClassValue,
    DictValue,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    NumpyArray,
    Static,
    TupleValue,
    Value,
    of_document,
    symbolic_shape,
)
from jaxlint.finding import FixRequest, Safety, Severity, Step
from jaxlint_rules._callables import innermost


class UnhashableStaticArgument(Rule):
    """A static argument is not hashable.

    ## What it does
    Finds unhashable values passed for a static parameter: lists, dicts, sets, arrays, namespaces,
    instances of non-frozen dataclasses, and instances of classes with `__eq__` and no `__hash__`.
    The value may be inside a tuple, a frozen dataclass, or a module of equinox or flax.linen. Also
    finds arrays in the static part of a pytree: fields declared static (`pytree_node=False`,
    `eqx.field(static=True)`, `meta_fields`), and auxiliary data that `tree_flatten` returns. Also
    finds arrays, lists and dicts passed to a function under `functools.lru_cache` or
    `functools.cache`. A sequence from JSON, YAML or TOML is a list, and so is an option of argparse
    with `nargs`.

    ## Why is this bad?
    JAX caches compiled programs by the hash of static arguments. It raises
    `ValueError: Non-hashable static arguments are not supported`. An array in a static field fails
    when the cache compares two instances. The caches of `functools` hash all arguments, and raise
    `TypeError: unhashable type`.

    ## Example
    ```python
    @partial(jax.jit, static_argnames="shape")
    def zeros(shape):
        return jnp.zeros(shape)

    zeros([2, 3])
    ```

    ## Use instead
    ```python
    zeros((2, 3))
    ```
    Use a frozen dataclass for a configuration. Pass arrays as traced arguments.

    ## Fix safety
    Safe: the call raised before. A list or set written in the call becomes a tuple or frozenset. A
    variable that holds a list or set of hashable items is passed as `tuple(sizes)` or
    `frozenset(sizes)`.

    ## When not to fix
    Always fix it: the call raises. Tuples, strings, numbers, functions and frozen dataclasses are
    hashable and not reported.

    ## References
    - [jax.jit: static_argnums](https://docs.jax.dev/en/latest/_autosummary/jax.jit.html)
    """

    code = "JAX107"
    name = "unhashable-static-argument"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    fixable = "safe"

    def on_static_argument(self, event: StaticArgumentEvent, report: Reporter) -> None:
        kind = unhashable(event.value)
        if kind is None and of_document(event.value) and _takes_items_of(event):
            kind = "a list of a document"
        if kind is None or (isinstance(event.value, Array) and event.value.staged) or event.is_caught():
            return
        place = event.argument or event.node
        fix = None
        if isinstance(event.argument, _WRITTEN_OUT):
            step = Step("tuple-static-argument", report.path, report.span(event.argument))
            twin = "frozenset" if isinstance(event.argument, (ast.Set, ast.SetComp)) else "tuple"
            fix = FixRequest(Safety.SAFE, f"Pass a {twin}", (step,))
        elif isinstance(event.argument, (ast.Name, ast.Attribute)) and (
            function := _hashable_twin(event.value)
        ):
            step = Step("wrap-call", report.path, report.span(event.argument), {"function": function})
            fix = FixRequest(Safety.SAFE, f"Pass a {function}", (step,))
        module = isinstance(event.value, Instance) and event.value.cls.kind == "equinox"
        report(
            place,
            f"static `{event.parameter}` of `{event.transformed.label}` must be hashable: ValueError for {kind}",
            reason=f"{event.transformed.why.explain(report.module)}; static arguments must be hashable",
            fix=fix,
            cause=_wrong_position(event),
            # Before 0.13 equinox only hashed the leaves. A document may hold a text, whose items are characters.
            severity=Severity.WARNING if module or of_document(event.value) else None,
        )

    @concerns(callees=("Function", "BoundMethod"))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """An argument of a function that `functools` caches."""
        callee = event.callee
        function = callee.function if isinstance(callee, BoundMethod) else callee
        if not isinstance(function, Function) or not function.cached or function.kind or event.is_caught():
            return
        for value in (*event.args, *event.kwargs.values()):
            kind = unhashable(value)
            if kind is None or (isinstance(value, Array) and value.staged):
                continue
            report(
                event.node,
                f"`{function.name}` hashes its arguments: TypeError for {kind}; pass a hashable value",
                reason="a cache of `functools` looks up calls by the hash of their arguments",
            )
            return

    def on_static_field(self, event: StaticFieldEvent, report: Reporter) -> None:
        value = event.value
        if not isinstance(value, NumpyArray) and not (
            isinstance(value, Array) and value.certain and not value.tree
        ):
            return  # lists and dicts are compared, which works
        report(
            event.node,
            f"static field `{event.name}` of `{event.cls.name}` holds an array: the second call raises ValueError; make it a tuple",
            reason=f"the cache of `{event.transformed.label}` compares static fields; {event.transformed.why.explain(report.module)}",
            severity=Severity.WARNING,
        )


def _wrong_position(event: StaticArgumentEvent) -> WrongStatic | None:
    """An array at a static position: another parameter may have been meant."""
    if "static_argnums" not in event.transformed.options or not isinstance(event.value, (Array, NumpyArray)):
        return None
    return WrongStatic(event.transformed, frozenset({event.parameter}))


def _takes_items_of(event: StaticArgumentEvent) -> bool:
    """Whether the function takes the items of a static parameter one by one, so that it is a sequence."""
    function = innermost(event.transformed.target)
    return isinstance(function, Function) and event.parameter in _iterated(function.node)


@cache
def _iterated(function: FunctionNode) -> frozenset[str]:
    """The names over which a function loops, alone or in a `zip` or `enumerate`, or that it unpacks."""
    loops: list[ast.For | ast.comprehension] = [*nodes_of(function, ast.For)]
    loops += nodes_of(function, ast.comprehension)
    taken: list[ast.expr] = [loop.iter for loop in loops]
    taken += [part.value for part in nodes_of(function, ast.Starred)]
    for node in list(taken):
        if isinstance(node, ast.Call) and dotted(node.func) in ("zip", "enumerate", "reversed"):
            taken += node.args
    return frozenset(node.id for node in taken if isinstance(node, ast.Name))


_WRITTEN_OUT = (ast.List, ast.ListComp, ast.Set, ast.SetComp, ast.Dict, ast.DictComp)  # at the call
_HASHABLE = {"list": "tuple", "set": "frozenset"}


def _hashable_twin(value: Value) -> str | None:
    """The constructor of a hashable equivalent for a list or set of hashable items; None for anything else."""
    if not isinstance(value, ListValue) or not value.items:
        return None
    hashable = all(isinstance(item, Static) and unhashable(item) is None for item in value.items)
    return _HASHABLE.get(value.kind) if hashable else None


_UNHASHABLE = frozenset(
    [
        *(f"collections.{name}" for name in ("OrderedDict", "defaultdict", "deque", "Counter")),
        "argparse.Namespace",
        "types.SimpleNamespace",
    ]
)


def unhashable(value: Value, depth: int = 2) -> str | None:
    """The part of `value` that is unhashable, in words; None if it may be hashable."""
    if isinstance(value, ListValue) and value.kind in ("list", "set"):
        return f"a {value.kind}"
    if isinstance(value, TupleValue) and value.items is not None and value.cls is None and depth > 0:
        parts = (unhashable(part, depth - 1) for part in value.items)
        return next((f"{part} in a tuple" for part in parts if part is not None), None)
    if isinstance(value, ExternalObject) and value.name in _UNHASHABLE:
        return f"a `{value.name.rpartition('.')[2]}`"
    if isinstance(value, DictValue):
        return "a dict"
    if isinstance(value, NumpyArray) and (value.fresh or symbolic_shape(value)):  # a scalar has a hash
        return "a NumPy array"
    if isinstance(value, Array) and value.role == "optimizer state":
        return "an optimizer state"
    if isinstance(value, Array) and value.role == "variables" and value.certain:
        return "a dict of arrays"
    if isinstance(value, Array) and value.certain and not value.tree:
        return "an array"
    if isinstance(value, Instance) and value.cls.kind == "dataclass" and not _hashable_dataclass(value):
        return f"a `{value.cls.name}` (not frozen)"
    if isinstance(value, Instance) and value.cls.kind in ("dataclass", "linen") and depth > 0:
        return _unhashable_field(value, depth)
    if isinstance(value, Instance) and value.cls.kind == "equinox" and depth > 0:
        return _unhashable_part(value, list(value.fields), depth)
    if isinstance(value, Instance) and value.cls.kind == "plain" and _compares_without_hash(value.cls):
        return f"a `{value.cls.name}` (no `__hash__`)"
    return None


def _compares_without_hash(cls: ClassValue) -> bool:
    """Whether Python removed the class's hash, as for a class that only defines `__eq__`."""
    for known in cls.mro():
        if known.node.decorator_list or known.node.keywords:
            return False
        if "__hash__" in known.namespace:
            return False
        if "__eq__" in known.namespace:
            return True
    return False


def _hashable_dataclass(value: Instance) -> bool:
    if value.cls.lookup("__hash__") is not None:
        return True
    options = _dataclass_options(value.cls)
    if options is None:
        return True
    return not options.isdisjoint({"frozen", "unsafe_hash", "eq"})


def _dataclass_options(cls: ClassValue) -> set[str] | None:
    """The options of a `dataclass` decorator; None if there is no such decorator."""
    for decorator in cls.node.decorator_list:
        if "dataclass" in ast.unparse(decorator):
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            return {keyword.arg or "" for keyword in keywords}
    return None


def _unhashable_field(value: Instance, depth: int) -> str | None:
    """A frozen dataclass is hashed by its fields, and so is a module of flax.linen."""
    if value.cls.kind == "dataclass" and _dataclass_options(value.cls) != {"frozen"}:
        return None
    compared: list[str] = []
    for name, declared in value.cls.all_fields().items():
        options = declared.default.keywords if isinstance(declared.default, ast.Call) else []
        if name in value.fields and not any(option.arg in ("hash", "compare") for option in options):
            compared.append(name)
    return _unhashable_part(value, compared, depth)


def _unhashable_part(value: Instance, names: list[str], depth: int) -> str | None:
    """The unhashable value in one of the fields that enter an object's hash."""
    if value.cls.lookup("__hash__") is not None:
        return None
    for name in names:
        found = unhashable(value.fields[name], depth - 1)
        if found is not None:
            return f"{found} in the field `{name}` of `{value.cls.name}`"
    return None
