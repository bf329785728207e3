"""Large arrays that a jitted function captures."""

from __future__ import annotations

import ast
import math

from jaxlint.finding import Severity
from jaxlint.jaxapi.transforms import JIT_KINDS
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import TransformEvent
from jaxlint.staging.project import Module
from jaxlint.staging.shapes import least_size
from jaxlint.staging.syntax_facts import all_parameters, dotted, name_loads, names_stored
from jaxlint.staging.values import (
    UNKNOWN,
    Array,
    BoundMethod,
    ClassValue,
    DictValue,
    ExternalObject,
    Function,
    Instance,
    ListValue,
    Partial,
    Transformed,
    TupleValue,
    Value,
)
from jaxlint_rules._compiled_methods import captured_self, reads_of_self
from jaxlint_rules.memory._sizes import ARRAYS, Size, size_of, size_of_attribute, size_of_name
from jaxlint_rules.memory._weights import weights_of

WHOLE_MODEL: Size = -1.0
MAX_CALLS = 3  # how deep functions are followed
LARGE = 1 << 16  # elements; 256 KiB of float32
Captured = tuple[str, Size, ast.AST]  # its name, and where it is read


class CapturedConstant(Rule):
    """A jitted function captures a large array.

    ## What it does
    Finds jitted functions that read an array of 65,536 elements or more, one that was loaded from a file, or the variables of a
    flax or haiku module from the scope around them instead of taking it as an argument; `functools.partial` binds in the same way, and
    so does a method whose `self` is static or bound.

    ## Why is this bad?
    What is captured becomes a constant of the program. It is copied into it, held in memory beside the original, hashed,
    and sent to the compiler: capturing 16 MB made the program's text 34 MB long and compiling five times as
    long. A later change of the array is not seen.

    ## Example
    ```python
    table = jnp.asarray(np.load("table.npy"))

    @jax.jit
    def look_up(i):
        return table[i]
    ```

    ## Use instead
    ```python
    @jax.jit
    def look_up(table, i):
        return table[i]
    ```

    ## Fix safety
    There is no automatic fix: the callers have to pass the array.

    ## When not to fix
    When the array is needed at compile time.

    ## References
    - [JAX: captured constants](https://docs.jax.dev/en/latest/internals/constants.html)
    """

    code = "JAX603"
    name = "captured-constant"
    category = "memory"
    severity = Severity.WARNING
    examples = (
        Example(
            "tables, random matrices and data sets from outside",
            """
from functools import partial
import jax
import jax.numpy as jnp
import numpy as np

TABLE = jnp.zeros((4096, 512))
DATA = np.load("data.npy")

@jax.jit
def look_up(i):
    return TABLE[i]  # finding

@jax.jit
def loss(w):
    return jnp.mean((DATA @ w) ** 2)  # finding

def make_potential(n, rows):
    stiffness = jnp.asarray(np.random.default_rng(0).random((n, rows), dtype=np.float32))
    return jax.jit(lambda u: jnp.sum((stiffness @ u) ** 2))  # finding

potential = make_potential(512, 512)

def energy(matrix, u):
    return u @ matrix @ u

big = jax.random.normal(jax.random.key(0), (1000, 1000))
bound = jax.jit(partial(energy, big))  # finding
""",
        ),
        Example(
            "attributes of an object that is kept, sizes that follow from others",
            """
from functools import partial
import jax
import jax.numpy as jnp
import numpy as np

class Interpolator:
    def __init__(self, n=512):
        self.table = jnp.sin(jnp.arange(n * n, dtype=jnp.float32)).reshape(n, n)
        self.small = jnp.zeros(8)

    @partial(jax.jit, static_argnums=0)
    def look_up(self, i):
        return self.table[i] + self.small[0]  # finding

    @jax.jit
    def plain(self, i):
        return self.table[i]

class Kept:
    def __init__(self, rng):
        self.basis = jnp.asarray(rng.normal(size=(512, 512)))
        self._project = jax.jit(self.project)

    def project(self, x):
        return self.basis @ x  # finding

class Sized:
    def __init__(self, n):
        self.basis = jnp.eye(n) + 0.1 * jnp.ones((n, n))
        self._project = jax.jit(self.project)

    def project(self, x):
        return self.basis @ x  # finding

sized = Sized(512)

POSITIONS = np.random.default_rng(1).normal(size=(1000, 3))
DISTANCES = np.sqrt(((POSITIONS[:, None] - POSITIONS[None]) ** 2).sum(-1))

@jax.jit
def potential(charges):
    return charges @ (jnp.exp(-DISTANCES) @ charges)  # finding

def score(query):
    return POSITIONS @ DISTANCES @ query  # finding

best = jax.jit(lambda query: jnp.argmax(score(query)))

@jax.jit
def center(x):
    return x - POSITIONS.mean(0)
""",
        ),
        Example(
            "the variables of a module",
            """
import functools
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(10)(x)

def serve(key, x):
    net = Net()
    variables = net.init(key, x)
    predict = jax.jit(lambda x: net.apply(variables, x))  # finding
    better = jax.jit(net.apply)
    return predict(x) + better(variables, x)

critic = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([300, 1])(x)))

def judge(key, x):
    params = critic.init(key, x)
    score = jax.jit(lambda x: critic.apply(params, x))  # finding
    return score(x), jax.jit(critic.apply)(params, x)

def bound(key, x):
    net = Net()
    variables = net.init(key, x)
    apply = functools.partial(net.apply, variables)
    late = functools.partial(net.apply, method="__call__")
    return jax.jit(functools.partial(net.apply, variables)), jax.jit(apply), jax.jit(late)  # finding
""",
        ),
        Example(
            "modules that hold their weights",
            """
import equinox as eqx
import jax
import jax.numpy as jnp
from flax import nnx

class Policy(eqx.Module):
    torso: eqx.nn.MLP
    heads: list

    def __init__(self, width, key):
        self.torso = eqx.nn.MLP(8, width, width, 3, key=key)
        self.heads = [eqx.nn.Linear(width, 2, key=k) for k in jax.random.split(key, 2)]

    def __call__(self, x):
        h = self.torso(x)
        return [head(h) for head in self.heads]

def make_act(policy):
    @jax.jit
    def act(obs):
        return jax.vmap(policy)(obs)  # finding
    return act

def make_small(policy):
    return jax.jit(lambda obs: jax.vmap(policy)(obs))

@jax.jit
def passed(policy, obs):
    return jax.vmap(policy)(obs)

def make_parted(policy):
    weights, rest = eqx.partition(policy, eqx.is_array)
    forward = jax.jit(lambda weights, obs: jax.vmap(eqx.combine(weights, rest))(obs))
    return lambda obs: forward(weights, obs)

policy = Policy(512, jax.random.key(0))
act, small, parted = make_act(policy), make_small(Policy(16, jax.random.key(0))), make_parted(policy)
embed = nnx.Embed(10_000, 64, rngs=nnx.Rngs(0))
look_up = jax.jit(lambda ids: embed(ids))  # finding
batched = jax.jit(jax.vmap(eqx.nn.Linear(512, 512, key=jax.random.key(1))))  # finding
traced = eqx.filter_jit(eqx.nn.Linear(512, 512, key=jax.random.key(1)))
print(passed(policy, jnp.ones((3, 8))))
""",
        ),
        Example(
            "what a partial holds, and what the maker of a function was given",
            """
import functools
import jax
import jax.numpy as jnp
import numpy as np

def density(theta, x):
    return jnp.sum((x @ theta) ** 2)

def make_kernel(x, scale):
    density_of = functools.partial(density, x=x)
    scaled = functools.partial(density, x=scale)

    @jax.jit
    def kernel(theta):
        return theta - jax.grad(density_of)(theta) + scaled(theta)  # finding

    return kernel

def make_loss(x):
    @jax.jit
    def loss(theta):
        return density(theta, x)  # finding
    return loss

x = jax.random.normal(jax.random.key(0), (200_000, 20))
kernel = make_kernel(x, jnp.eye(20))
loss = make_loss(x)

def fit(features, labels):
    @jax.jit
    def objective(w):
        return jnp.mean((features @ w - labels) ** 2)  # finding
    return objective(jnp.zeros(20))

rows = np.random.default_rng(0)
fit(jnp.asarray(rows.normal(size=(50_000, 20))), jnp.asarray(rows.normal(size=50_000)))

class Regression:
    def __init__(self, features, targets):
        self.features = features
        self.targets = targets
        self.scale = jnp.ones(20)

    def loss(self, w, features):
        return jnp.mean((features @ w) ** 2) + self.scale @ w + self.features.shape[0]

    def whole(self, w):
        return self.loss(w, self.features)

    def fit(self):
        step = jax.jit(lambda w: jax.grad(self.whole)(w))  # finding
        passed = jax.jit(lambda w, x: jax.grad(self.loss)(w, x))
        return step(jnp.zeros(20)), passed(jnp.zeros(20), self.features)

Regression(x, x[:, 0]).fit()

class Samples:
    def __init__(self, seed, n=50_000):
        rng = np.random.default_rng(seed)
        self.x = jnp.asarray(rng.normal(size=(n, 32)))
        self.y = jnp.asarray(rng.normal(size=8))

def from_archive(path):
    table = np.load(path)
    x, y = jnp.asarray(table["x"]), 2.0

    def loss(w):
        return jnp.mean((x @ w) ** 2) + y  # finding
    return jax.jit(jax.value_and_grad(loss))

def make_objective(samples):
    def objective(w):
        return jnp.mean((samples.x @ w) ** 2) + samples.y.sum()  # finding
    return objective

gradient = jax.jit(jax.value_and_grad(make_objective(Samples(0))))
""",
        ),
        Example(
            "grids and operators that a factory or an object holds",
            """
import jax
import jax.numpy as jnp

def build_laplacian(n):
    rows = jnp.concatenate([jnp.arange(n - 1), jnp.arange(1, n)])
    weights = jnp.full(rows.shape, -1.0)

    def matvec(v):
        return 2.0 * v + weights.sum() * v[rows[::2]]  # finding

    return matvec

def build_stencil(n):
    weights = jnp.ones((n, n))
    return lambda v: weights @ v

class Pupil:
    def __init__(self, n):
        x, y = jnp.meshgrid(jnp.linspace(-1, 1, n), jnp.linspace(-1, 1, n))
        self.masks = {"inside": x**2 + y**2 < 1, "tilt": x}
        self.gains = {"inside": jnp.ones(3)}

    @property
    def inside(self):
        return self.masks["inside"]

    def __call__(self, field):
        return field * self.masks["tilt"]

    def weighted(self, field):
        return field.sum() * self.masks["tilt"]  # finding

    def images(self, fields):
        seen = jax.jit(lambda field: jnp.abs(field * self.inside))  # finding
        scaled = jax.jit(lambda field: field * self.gains["inside"][0])
        return [seen(field) + scaled(field) for field in fields]

class Gram:
    def __init__(self, points, few):
        self.gram = jnp.exp(-((points[:, None] - points[None]) ** 2).sum(-1)) + 0.1 * jnp.eye(len(points))
        self.few = jnp.exp(-((few[:, None] - few[None]) ** 2).sum(-1)) + 0.1 * jnp.eye(len(few))
        self.solve = jax.jit(self._solve)
        self.solve_few = jax.jit(self._solve_few)

    def _solve(self, targets):
        return jnp.linalg.solve(self.gram, targets)  # finding

    def _solve_few(self, targets):
        return jnp.linalg.solve(self.few, targets)

gram = Gram(jnp.ones((1000, 2)), jnp.ones((10, 2)))

class Propagator:
    def __init__(self, n, distance):
        f = jnp.fft.fftfreq(n)
        fx, fy = jnp.meshgrid(f, f)
        self.transfer = jnp.exp(1j * distance * jnp.sqrt(1.0 - fx**2 - fy**2))
        self.half = jnp.fft.rfftfreq(n)
        self.forward = jax.jit(self._forward)
        self.filtered = jax.jit(self._filtered)

    def _forward(self, field):
        return jnp.fft.ifft2(jnp.fft.fft2(field) * self.transfer)  # finding

    def _filtered(self, signal):
        return jnp.fft.rfft(signal) * self.half

def smooth(n=1_000_000):
    apply, pupil, stencil = build_laplacian(n), Pupil(512), build_stencil(8)

    @jax.jit
    def step(v):
        return v + 0.1 * apply(v) + stencil(v[:8]).sum()

    tilted = jax.jit(lambda field: pupil(field).sum())  # finding
    kept = jax.jit(pupil.weighted)
    return step(jnp.ones(n)), tilted(jnp.ones((512, 512))), kept(jnp.ones(3)), pupil.images([jnp.ones((512, 512))])

print(smooth(), Propagator(512, 3.0).forward(jnp.ones((512, 512))))
""",
        ),
        Example(
            "arguments, small arrays, sizes that are not known, arrays made inside",
            """
import jax
import jax.numpy as jnp
import numpy as np

KERNEL = jnp.array([1.0, 2.0, 1.0])
TABLE = jnp.zeros((4096, 512))

@jax.jit
def smooth(x):
    return jnp.convolve(x, KERNEL)

@jax.jit
def look_up(table, i):
    return table[i] + jnp.zeros((4096, 512)).sum()

@jax.jit
def shadowed(TABLE):
    return TABLE.sum() + TABLE.shape[0]

@jax.jit
def shadowed_inside(x):
    return jax.tree.map(lambda TABLE: TABLE.sum(), x)

@jax.jit
def shape_only(x):
    return x * TABLE.shape[0]

def fit(data, w):
    @jax.jit
    def loss(w):
        return jnp.mean((data @ w) ** 2)
    return loss(w)

print(look_up(TABLE, 3))
""",
        ),
    )

    def __init__(self) -> None:
        self.methods: list[TransformEvent] = []

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        transformed = event.transformed
        if transformed.kind not in JIT_KINDS or event.frame.stage.staged or report.module.is_test:
            return
        self.methods.append(event)
        target: Value = transformed.target
        found: list[Captured] = []
        if isinstance(target, Partial) and isinstance(event.node, ast.Call) and event.node.args:
            found += _bound(target, event.node, event, report)
        target = _innermost(target)
        if isinstance(target, Function):
            found += self.captured(target, report)
        elif (
            transformed.kind == "jit" and weights_of(target) >= LARGE
        ):  # equinox passes what it is given as arguments
            found.append((transformed.label, WHOLE_MODEL, event.node))
        self.tell(event, found, report)

    def finish(self, report: Reporter) -> None:
        """Methods that keep `self`, once the classes are complete."""
        for event in self.methods:
            report.event = event
            cls, method, _ = captured_self(event, report)
            bound = _innermost(event.transformed.target)
            owner = bound.receiver if isinstance(bound, BoundMethod) else None
            if isinstance(owner, Instance) and owner.staged is None and isinstance(bound, BoundMethod):
                cls, method = owner.cls, bound.function if isinstance(bound.function, Function) else None
            if cls is None or method is None or method.module is not report.module:
                continue
            fields = owner.fields if isinstance(owner, Instance) else {}
            found: list[Captured] = []
            for name, (read, _) in dict(reads_of_self(cls, method, set())).items():
                if not _asks_metadata(read, report):
                    found.append((f"self.{name}", _size_held(cls, fields.get(name), name, report), read))
            self.tell(event, found, report)

    @staticmethod
    def tell(event: TransformEvent, found: list[Captured], report: Reporter) -> None:
        large = [part for part in found if part[1] >= LARGE or part[1] == WHOLE_MODEL]
        if not large:
            return
        name, size, node = max(large, key=lambda part: part[1])
        if size == WHOLE_MODEL:
            amount = "the variables of a model"
        else:
            amount = (
                "an array loaded from a file" if math.isinf(size) else f"an array of {int(size):,} elements"
            )
        transformed = event.transformed
        report(
            node,
            f"`{transformed.label}` captures `{name}`, {amount}: it becomes a constant of the program; pass it as an argument",
            reason=f"{transformed.why.explain(report.module)}, and `{name}` is bound outside of it",
        )

    def captured(
        self, function: Function, report: Reporter, seen: frozenset[ast.AST] = frozenset()
    ) -> list[Captured]:
        """What it reads of the scopes around, itself or through the functions that it calls."""
        if function.module is not report.module or function.node in seen or len(seen) > MAX_CALLS:
            return []
        seen |= {function.node}
        through: list[Captured] = []
        own = {parameter.arg for parameter in all_parameters(function.node)}
        own |= names_stored(function.node)
        found: dict[str, Captured] = {}
        for child in name_loads(function.node):
            if child.id in own or child.id in found or _asks_metadata(child, report):
                continue
            held = function.scope.lookup(child.id)
            called = held[0] if held is not None else None
            if isinstance(called, Function) and _is_called(child, report):
                through += self.captured(called, report, seen)
            if (
                held is not None
                and isinstance(held[0], ARRAYS)
                and not getattr(held[0], "staged", False)
                and not _is_parameter(child, function.node, report)
            ):
                size = max(
                    size_of_name(child.id, function.scope, report.module),
                    _size_of(held[0]),
                    _size_written(held[0], report.module),
                )
                if _is_variables(held[0]):
                    size = WHOLE_MODEL
                found[child.id] = (child.id, size, child)
            elif isinstance(called, (Instance, ExternalObject)) and called.staged is None:
                if weights_of(called) >= LARGE and _is_whole(child, report):
                    found[child.id] = (child.id, WHOLE_MODEL, child)
                elif isinstance(called, Instance):
                    through += _read_of(called, child, report)
            elif isinstance(called, Partial):
                size = _worst([*called.args, *called.kwargs.values()])
                found[child.id] = (child.id, size, child)
        return [*found.values(), *through]


def _bound(partial: Partial, jit: ast.Call, event: TransformEvent, report: Reporter) -> list[Captured]:
    """What the partial binds that `jit` is given; arrays that it is handed have no better place than the call."""
    made, values = jit.args[0], [*partial.args, *partial.kwargs.values()]
    if not isinstance(made, ast.Call):
        return [(dotted(made) or "the partial", _worst(values), jit)]
    nodes = [*made.args[1:], *(keyword.value for keyword in made.keywords)]
    known: list[Value] = values if len(values) == len(nodes) else [UNKNOWN] * len(nodes)
    return [
        (node.id, _worst([value], size_of_name(node.id, event.frame.scope, report.module)), jit)
        for node, value in zip(nodes, known, strict=True)
        if isinstance(node, ast.Name)
    ]


def _worst(values: list[Value], known: Size = 0) -> Size:
    """The size to tell of, of values that are captured together; `known` is what their text says."""
    whole = any(map(_is_variables, values))
    return WHOLE_MODEL if whole else max([known, *map(_size_of, values)])


def _innermost(target: Value) -> Value:
    """The function that partials bind and other transformations than jit are made of."""
    while isinstance(target, Partial) or (isinstance(target, Transformed) and target.kind not in JIT_KINDS):
        target = target.function if isinstance(target, Partial) else target.target
    return target


def _size_held(cls: ClassValue, held: Value | None, name: str, report: Reporter) -> Size:
    """The elements of what an object of the class holds under `name`, by its value or its constructor; 0 if not known."""
    maker = cls.lookup("__init__")
    written: Size = 0
    if isinstance(maker, Function) and isinstance(maker.node, ast.FunctionDef):
        if maker.module is report.module:
            written = size_of_attribute(maker.node, name, maker.scope, report.module)
    return max(written, _size_of(held))


def _size_of(value: Value | None) -> Size:
    """The elements of a concrete array, or of the arrays in a container; 0 where they are not known."""
    if isinstance(value, (DictValue, ListValue, TupleValue)):
        return sum(map(_size_of, value.elements()))
    return least_size(value) if isinstance(value, Array) and not value.staged else 0


def _size_written(value: Value, module: Module) -> Size:
    """The elements of an array that was made of one of NumPy, elsewhere in the file, by the text that made it."""
    made = value.made if isinstance(value, Array) and not value.staged else None
    if made is None or made.name not in ("array", "asarray") or not isinstance(made.node, ast.Call):
        return 0
    return size_of(made.node, module.scope, module)


def _read_of(owner: Instance, name: ast.Name, report: Reporter) -> list[Captured]:
    """The arrays of an object that its attribute is, `model.table`, or that the method reads which it is: `model.loss`.

    An object that is called is its `__call__`: `model(x)`.
    """
    read: ast.AST | None = report.module.parents.get(name)
    if isinstance(read, ast.Attribute):
        attribute = read.attr
    elif isinstance(read, ast.Call) and read.func is name:
        attribute, read = "__call__", name
    else:
        return []
    method = owner.cls.lookup(attribute)
    names = [attribute] if method is None else []
    if isinstance(method, Function):
        names = [
            held
            for held, (place, _) in reads_of_self(owner.cls, method, set())
            if not _asks_metadata(place, report)
        ]
    return [
        (f"{name.id}.{held}", _size_held(owner.cls, owner.fields.get(held), held, report), read)
        for held in names
    ]


def _is_called(node: ast.Name, report: Reporter) -> bool:
    """Whether the function is called, or handed to what will most likely call it."""
    return isinstance(report.module.parents.get(node), ast.Call)


def _is_variables(value: Value) -> bool:
    """What `init` of a module of flax or haiku gives."""
    if not isinstance(value, Array) or not value.certain:
        return False
    return value.role == "variables" or (value.made is not None and value.made.name == "hk.init")


def _is_parameter(node: ast.Name, owner: ast.AST, report: Reporter) -> bool:
    """Whether the name is a parameter of a function or lambda between it and `owner`."""
    for ancestor in report.module.ancestors(node):
        if ancestor is owner:
            return False
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and any(
            parameter.arg == node.id for parameter in all_parameters(ancestor)
        ):
            return True
    return False


def _is_whole(node: ast.Name, report: Reporter) -> bool:
    """Whether a module is read with its weights: not one attribute, nor the part without them that `combine` is given."""
    parent = report.module.parents.get(node)
    together = isinstance(parent, ast.Call) and dotted(parent.func).rpartition(".")[2] in ("combine", "merge")
    return not together and not isinstance(parent, ast.Attribute)


def _asks_metadata(node: ast.expr, report: Reporter) -> bool:
    parent = report.module.parents.get(node)
    return isinstance(parent, ast.Attribute) and parent.attr in ("shape", "ndim", "dtype", "size")
