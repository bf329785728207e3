"""Static arguments that cannot be hashed."""

from __future__ import annotations

import ast

from jaxlint.finding import FixRequest, Safety, Severity, Step
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.consequences import WrongStatic
from jaxlint.staging.events import StaticArgumentEvent, StaticFieldEvent
from jaxlint.staging.values import (
    Array,
    ClassValue,
    DictValue,
    ExternalObject,
    Instance,
    ListValue,
    NumpyArray,
    Static,
    TupleValue,
    Value,
)


class UnhashableStaticArgument(Rule):
    """A static argument cannot be hashed.

    ## What it does
    Finds lists, dicts, sets, arrays, namespaces and instances of non-frozen dataclasses, or of classes with `__eq__` and
    no `__hash__`, that are passed for a parameter declared static, by themselves or inside a tuple, a frozen dataclass or a
    module of equinox, and arrays in pytree fields declared static (`pytree_node=False`, `eqx.field(static=True)`,
    `meta_fields`) or that `tree_flatten` gives beside the leaves.

    ## Why is this bad?
    Compiled programs are cached by the hash of static values: `ValueError: Non-hashable static arguments`.

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
    For configurations use a frozen dataclass, for arrays an ordinary (traced) argument.

    ## Fix safety
    Safe where the argument is a list or set written at the call and becomes a tuple or frozenset, or a variable with a list or set of hashable
    items, which is handed over as `tuple(sizes)`: the call raised before.

    ## When not to fix
    Tuples, strings, numbers, functions and frozen dataclasses are hashable, and not reported.

    ## References
    - [jax.jit: static_argnums](https://docs.jax.dev/en/latest/_autosummary/jax.jit.html)
    """

    code = "JAX107"
    name = "unhashable-static-argument"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    fixable = "safe"
    examples = (
        Example(
            "a list at the call",
            """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="shape")
def zeros(shape):
    return jnp.zeros(shape)

def main():
    return zeros([2, 3])  # finding
""",
            """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="shape")
def zeros(shape):
    return jnp.zeros(shape)

def main():
    return zeros((2, 3))  # finding
""",
        ),
        Example(
            "a list in a variable",
            """
from functools import partial
import jax

SIZES = [2, 3]

@partial(jax.jit, static_argnums=1)
def reshape(x, sizes):
    return x.reshape(sizes)

def main(x):
    return reshape(x, SIZES)  # finding
""",
            """
from functools import partial
import jax

SIZES = [2, 3]

@partial(jax.jit, static_argnums=1)
def reshape(x, sizes):
    return x.reshape(sizes)

def main(x):
    return reshape(x, tuple(SIZES))  # finding
""",
        ),
        Example(
            "lists inside, and objects that Python took the hash from",
            """
import argparse
import dataclasses
from functools import partial
import jax

@dataclasses.dataclass(frozen=True)
class Sizes:
    widths: list

class Model:
    def __init__(self, width):
        self.width = width

    def __eq__(self, other):
        return self.width == other.width

    @partial(jax.jit, static_argnums=0)
    def apply(self, x):
        return x * self.width

@partial(jax.jit, static_argnums=1)
def forward(x, config):
    return x

def main(x):
    forward(x, Sizes([1, 2]))  # finding
    forward(x, (1, [2, 3]))  # finding
    forward(x, argparse.ArgumentParser().parse_args())  # finding
    forward(x, Sizes((1, 2)))
    forward(x, (1, (2, 3)))
    return Model(3).apply(x)  # finding
""",
        ),
        Example(
            "a dict, an array and a dataclass",
            """
import dataclasses
import jax
import jax.numpy as jnp

@dataclasses.dataclass
class Config:
    width: int = 4

def apply(x, options, table, config):
    return x

fast = jax.jit(apply, static_argnums=(1, 2, 3))

def main(x):
    options = {"width": 3}
    return fast(x, options, jnp.ones(3), Config())  # finding
""",
        ),
        Example(
            "the default of a field",
            """
import dataclasses
from functools import partial
import jax
import jax.numpy as jnp

@dataclasses.dataclass(frozen=True)
class Config:
    hidden: list = dataclasses.field(default_factory=lambda: [8, 8])
    names: dict = dataclasses.field(default_factory=dict)
    shape: tuple = dataclasses.field(default=(2, 3))

@partial(jax.jit, static_argnames="sizes")
def zeros(sizes):
    return jnp.zeros(sizes)

config = Config()

def build():
    a = zeros(sizes=[4] + config.hidden)  # finding
    b = zeros(sizes=config.names)  # finding
    return a, b, zeros(sizes=(4, *config.hidden)), zeros(sizes=config.shape)
""",
        ),
        Example(
            "hashable static arguments and traced lists",
            """
import dataclasses
from functools import partial
import jax
import jax.numpy as jnp

@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 4

@partial(jax.jit, static_argnums=(2,), static_argnames=("config", "act"))
def forward(params, x, depth, config, act=jnp.tanh):
    for layer in params:
        x = act(x @ layer)
    return x

def main(x):
    return forward([jnp.eye(3)], x, 2, config=Config(), act=jax.nn.relu), forward([x], x, (1, 2), Config())
""",
        ),
        Example(
            "arrays that a class keeps beside its leaves",
            """
import jax
import jax.numpy as jnp
import numpy as np

@jax.tree_util.register_pytree_node_class
class Basis:
    def __init__(self, coeffs, knots, order):
        self.coeffs, self.knots, self.order = coeffs, knots, order

    def tree_flatten(self):
        return (self.coeffs,), (np.asarray(self.knots), self.order)  # finding

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, *aux)

@jax.tree_util.register_pytree_node_class
class Grid:
    def __init__(self, values, edges):
        self.values, self.edges = values, edges
        self.cache = None

    def tree_flatten(self):
        kept = (tuple(self.edges.tolist()), self.edges.shape)
        return (self.values,), kept

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, np.array(aux[0]))

@jax.jit
def evaluate(basis, grid):
    return basis.coeffs.sum() + grid.values.sum() * basis.order

for scale in (1.0, 2.0):
    knots = np.linspace(0, scale, 4)
    print(evaluate(Basis(jnp.ones(4), knots, 3), Grid(jnp.ones(4), knots)))
""",
        ),
        Example(
            "arrays in a dataclass that is registered by a call",
            """
import dataclasses
import jax
import jax.numpy as jnp
import numpy as np

@dataclasses.dataclass
class Stencil:
    scale: jax.Array
    offsets: np.ndarray  # finding

@dataclasses.dataclass
class Grid:
    values: jax.Array
    spacing: tuple
    order: int = 2

jax.tree_util.register_dataclass(Stencil, data_fields=["scale"], meta_fields=["offsets"])
jax.tree_util.register_dataclass(Grid, ["values"], ["spacing", "order"])

@jax.jit
def apply(stencil, grid):
    return stencil.scale * sum(jnp.roll(grid.values, int(offset)) for offset in stencil.offsets) ** grid.order

for width in (1, 2):
    print(apply(Stencil(jnp.float32(0.1), np.array([-width, width])), Grid(jnp.ones(8), (0.1, 0.1))))
""",
        ),
        Example(
            "modules of equinox, which are hashed by their fields",
            """
from functools import partial
import equinox as eqx
import jax
import jax.numpy as jnp

class Tower(eqx.Module):
    layers: list

    def __init__(self, key):
        self.layers = [eqx.nn.Linear(4, 4, key=k) for k in jax.random.split(key, 3)]

    def __call__(self, x):
        for layer in self.layers:
            x = jax.nn.relu(layer(x))
        return x

class Stack(eqx.Module):
    layers: tuple

    def __init__(self, key):
        self.layers = tuple(eqx.nn.Linear(4, 4, key=k) for k in jax.random.split(key, 3))

    def __call__(self, x):
        return self.layers[0](x)

class Scale(eqx.Module):
    factor: jax.Array

    @partial(jax.jit, static_argnums=0)
    def __call__(self, x):
        return x * self.factor

@partial(jax.jit, static_argnums=1)
def loss(params, static, x):
    return jnp.mean(jax.vmap(eqx.combine(params, static))(x) ** 2)

def main(key, x):
    params, static = eqx.partition(Tower(key), eqx.is_array)
    total = loss(params, static, x)  # finding
    params, static = eqx.partition(Stack(key), eqx.is_array)
    return total + loss(params, static, x) + Scale(jnp.ones(4))(x)  # finding
""",
        ),
        Example(
            "sets and comprehensions at the call, and a dict, which has no hashable twin",
            """
import jax
import jax.numpy as jnp

def total(params, frozen, sizes=(), options=None):
    return sum(v.sum() for k, v in params.items() if k not in frozen)

fast = jax.jit(total, static_argnames=("frozen", "sizes", "options"))
p = {"a": jnp.ones(2), "b": jnp.ones(2)}
fast(p, frozen={"b"})  # finding
fast(p, frozen=frozenset({"b"}), sizes=[n + 1 for n in (3, 2)])  # finding
fast(p, frozen=("b",), options={"act": "relu"})  # finding
fast(p, frozen=("b",), sizes=tuple([3, 2]))
""",
            fixed="""
import jax
import jax.numpy as jnp

def total(params, frozen, sizes=(), options=None):
    return sum(v.sum() for k, v in params.items() if k not in frozen)

fast = jax.jit(total, static_argnames=("frozen", "sizes", "options"))
p = {"a": jnp.ones(2), "b": jnp.ones(2)}
fast(p, frozen=frozenset({"b"}))
fast(p, frozen=frozenset({"b"}), sizes=tuple(n + 1 for n in (3, 2)))
fast(p, frozen=("b",), options={"act": "relu"})
fast(p, frozen=("b",), sizes=tuple([3, 2]))
""",
        ),
        Example(
            "optimisers, which are tuples of functions",
            """
from functools import partial
import jax
import optax

@partial(jax.jit, static_argnames="tx")
def step(params, state, grads, tx):
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state

def train(params, grads):
    tx = optax.inject_hyperparams(optax.sgd)(learning_rate=0.1)
    return step(params, tx.init(params), grads, tx=tx)
""",
        ),
    )

    def on_static_argument(self, event: StaticArgumentEvent, report: Reporter) -> None:
        kind = unhashable(event.value)
        if kind is None or (isinstance(event.value, Array) and event.value.staged):
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
            f"`{event.parameter}` of `{event.transformed.label}` is static, and {kind} cannot be hashed",
            reason=f"{event.transformed.why.explain(report.module)}, with `{event.parameter}` among its static arguments",
            fix=fix,
            cause=_wrong_position(event),
            severity=Severity.WARNING if module else None,  # before 0.13 equinox hashed the leaves alone
        )

    def on_static_field(self, event: StaticFieldEvent, report: Reporter) -> None:
        value = event.value
        if not isinstance(value, NumpyArray) and not (
            isinstance(value, Array) and value.certain and not value.tree
        ):
            return  # lists and dicts are compared, which works
        report(
            event.node,
            f"the static field `{event.name}` of `{event.cls.name}` holds an array; a second instance cannot be compared",
            reason=f"an instance is passed to `{event.transformed.label}`, whose cache compares static fields with `==`; "
            f"{event.transformed.why.explain(report.module)}",
            severity=Severity.WARNING,
        )


def _wrong_position(event: StaticArgumentEvent) -> WrongStatic | None:
    """An array for what a position makes static: another parameter may have been meant."""
    if "static_argnums" not in event.transformed.options or not isinstance(event.value, (Array, NumpyArray)):
        return None
    return WrongStatic(event.transformed, frozenset({event.parameter}))


_WRITTEN_OUT = (ast.List, ast.ListComp, ast.Set, ast.SetComp, ast.Dict, ast.DictComp)  # at the call
_HASHABLE = {"list": "tuple", "set": "frozenset"}


def _hashable_twin(value: Value) -> str | None:
    """What makes a hashable twin of a list or set of hashable items; None for anything else."""
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
    """What makes `value` unhashable, in words; None when it may be hashable."""
    if isinstance(value, ListValue) and value.kind in ("list", "set"):
        return f"a {value.kind}"
    if isinstance(value, TupleValue) and value.items is not None and value.cls is None and depth > 0:
        parts = (unhashable(part, depth - 1) for part in value.items)
        return next((f"{part} in a tuple" for part in parts if part is not None), None)
    if isinstance(value, ExternalObject) and value.name in _UNHASHABLE:
        return f"a `{value.name.rpartition('.')[2]}`"
    if isinstance(value, DictValue):
        return "a dict"
    if isinstance(value, NumpyArray) and value.fresh:
        return "a NumPy array"
    if isinstance(value, Array) and value.role == "optimizer state":
        return "the state of an optimiser"
    if isinstance(value, Array) and value.role == "variables" and value.certain:
        return "a dict of arrays"
    if isinstance(value, Array) and value.certain and not value.tree:
        return "an array"
    if isinstance(value, Instance) and value.cls.kind == "dataclass" and not _hashable_dataclass(value):
        return f"a `{value.cls.name}` (a dataclass that is not frozen)"
    if isinstance(value, Instance) and value.cls.kind == "dataclass" and depth > 0:
        return _unhashable_field(value, depth)
    if isinstance(value, Instance) and value.cls.kind == "equinox" and depth > 0:
        return _unhashable_part(value, list(value.fields), depth)
    if isinstance(value, Instance) and value.cls.kind == "plain" and _compares_without_hash(value.cls):
        return f"a `{value.cls.name}` (its class has `__eq__` and no `__hash__`)"
    return None


def _compares_without_hash(cls: ClassValue) -> bool:
    """Whether Python took the hash from the class, as it does from one that defines `__eq__` alone."""
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
    """The options that a `dataclass` decorator is given; None when there is no such decorator."""
    for decorator in cls.node.decorator_list:
        if "dataclass" in ast.unparse(decorator):
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            return {keyword.arg or "" for keyword in keywords}
    return None


def _unhashable_field(value: Instance, depth: int) -> str | None:
    """A frozen dataclass is hashed by its fields."""
    if _dataclass_options(value.cls) != {"frozen"}:
        return None
    compared: list[str] = []
    for name, declared in value.cls.all_fields().items():
        options = declared.default.keywords if isinstance(declared.default, ast.Call) else []
        if name in value.fields and not any(option.arg in ("hash", "compare") for option in options):
            compared.append(name)
    return _unhashable_part(value, compared, depth)


def _unhashable_part(value: Instance, names: list[str], depth: int) -> str | None:
    """What cannot be hashed in one of the fields that an object is hashed by."""
    if value.cls.lookup("__hash__") is not None:
        return None
    for name in names:
        found = unhashable(value.fields[name], depth - 1)
        if found is not None:
            return f"{found} in the field `{name}` of `{value.cls.name}`"
    return None
