"""Tracers that outlive their trace."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Iterator

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import LeakEvent
from jaxlint.staging.project import Module
from jaxlint.staging.syntax_facts import dotted, place_of, walk
from jaxlint.staging.values import find_array
from jaxlint_rules._reasons import guarded, staged_because


class TracerLeak(Rule):
    """A traced value is kept outside of the trace.

    ## What it does
    Finds staged code that appends traced values to an outer list, deque or queue, or stores them in a global, an outer
    dict, a default argument or an attribute of an ordinary object, a class or a function.

    ## Why is this bad?
    After tracing, the stored object is a dead tracer: using it raises `UnexpectedTracerError`. On later calls, which do
    not run the Python code, nothing is stored at all.

    ## Example
    ```python
    seen = []

    @jax.jit
    def f(x):
        seen.append(x * 2)
        return x
    ```

    ## Use instead
    ```python
    @jax.jit
    def f(x):
        return x, x * 2
    ```

    ## Fix safety
    There is no automatic fix: the function must return the value.

    ## When not to fix
    Lists, dicts and objects that are made inside the staged function are fine, and not reported. An attribute that nothing
    else in the file reads is a warning: the dead tracer keeps its trace in memory and does no more harm.

    ## References
    - [JAX errors: UnexpectedTracerError](https://docs.jax.dev/en/latest/errors.html#jax.errors.UnexpectedTracerError)
    """

    code = "JAX201"
    name = "tracer-leak"
    category = "purity"
    severity = Severity.ERROR
    examples = (
        Example(
            "a cached function that is called under a trace",
            """
import functools
import jax
import jax.numpy as jnp
import numpy as np

@functools.lru_cache(maxsize=None)  # finding
def table(n):
    return jnp.cos(jnp.linspace(0.0, 1.0, n))

@functools.cache
def host_table(n):
    return np.cos(np.linspace(0.0, 1.0, n))

@functools.cache
def compiled(order):
    return jax.jit(lambda x: x**order)

@functools.cache
def eager_table(n):
    return jnp.arange(n)

@jax.jit
def rotate(x):
    return x * table(x.shape[0]) + host_table(x.shape[0]) + compiled(2)(x)

def main():
    return rotate(jnp.ones(3)) + eager_table(3)
""",
        ),
        Example(
            "a cached property of an object from outside",
            """
from functools import cached_property
import jax
import jax.numpy as jnp
import numpy as np

class Grid:
    def __init__(self, n):
        self.n = n

    @cached_property  # finding
    def points(self):
        return jnp.linspace(0.0, 1.0, self.n)

    @cached_property
    def weights(self):
        return np.full(self.n, 1.0 / self.n)

class Own:
    def __init__(self, x):
        self.x = x

    @cached_property
    def square(self):
        return self.x * self.x

grid = Grid(8)

@jax.jit
def integrate(x):
    return Own(x).square @ (grid.points * grid.weights)
""",
        ),
        Example(
            "attributes under names made at run time, and containers made for what is stored",
            """
import jax
import jax.numpy as jnp

class Probe:
    def capture(self, name, value):
        setattr(self, f"last_{name}", value)  # finding

class Log:
    def __init__(self):
        self.values = {}

    def log(self, name, value):
        self.values.setdefault(name, []).append(value)  # finding

    def note(self, name, value):
        self.values.setdefault(name, []).append(value)

class History:
    def __init__(self):
        self.values = {"x": []}

    def add(self, value):
        self.values["x"].append(value)  # finding

history = History()
probe = Probe()
log = Log()

@jax.jit
def f(x):
    probe.capture("x", x * 2)
    log.log("x", x * 2)
    history.add(x * 2)
    own = Probe()
    own.capture("x", x)
    named = {}
    named.setdefault("x", []).append(x)
    return x

def host(x):
    log.note("x", f(x))
""",
        ),
        Example(
            "an outer list, a global and a cache",
            """
import jax
import jax.numpy as jnp

SEEN = []
CACHE = {}
last = None

def remember(h):
    SEEN.append(h)  # finding

@jax.jit
def f(x):
    global last
    last = x * 2  # finding
    remember(x)
    CACHE["x"] = jnp.sin(x)  # finding
    return x
""",
        ),
        Example(
            "other containers, defaults, classes and functions",
            """
from collections import defaultdict, deque
import queue
import jax

RECENT = deque(maxlen=3)
BY_NAME = defaultdict(list)
PENDING = queue.Queue()

class Meter:
    values = []

    @classmethod
    def add(cls, value):
        cls.values.append(value)  # finding
        cls.last = value  # finding

def collect(x, into):
    into.append(x)  # finding
    return x

@jax.jit
def f(x, seen=[]):
    RECENT.append(x)  # finding
    BY_NAME["x"].append(x)  # finding
    BY_NAME.update(y=x)  # finding
    PENDING.put(x)  # finding
    seen.append(x)  # finding
    Meter.add(x)
    return x

f(1.0)

def h(x):
    h.last = x  # finding
    return x

jax.jit(h)
results = []
g = jax.jit(lambda x: collect(x * 2, results))
""",
        ),
        Example(
            "an object that another one holds",
            """
import jax
import jax.numpy as jnp

class Norm:
    def __init__(self):
        self.mean = jnp.zeros(3)

    def __call__(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)  # finding
        return x - self.mean

class Scratch:
    def put(self, x):
        self.last = x
        return x

class Policy:
    def __init__(self):
        self.norm = Norm()
        self.act = jax.jit(lambda w, x: self.norm(x) @ w)
        self.score = jax.jit(self._score)

    def _score(self, x):
        return Scratch().put(x).sum()

policy = Policy()
policy.act(jnp.ones(3), jnp.ones((4, 3)))
policy.score(jnp.ones(3))
""",
        ),
        Example(
            "put back at the end, by a context manager and by the method that stores it",
            """
from contextlib import contextmanager
import jax

_current = None

@contextmanager
def current(x):
    global _current
    before = _current
    _current = x
    try:
        yield
    finally:
        _current = before

@contextmanager
def lasting(x):
    global _current
    _current = x  # finding
    yield

@jax.jit
def scale(x):
    with current(x), lasting(x):
        return x * 2

class Model:
    def __init__(self, data):
        self.data = data

    def set_data(self, data):
        self.data = data

    def keep(self, data):
        self.data = data  # finding

def gains(model, candidates):
    before = model.data

    def gain(data):
        model.set_data(data)
        return model.data.sum()

    found = jax.vmap(gain)(candidates)
    model.set_data(before)
    return found

def kept(model, candidates):
    def gain(data):
        model.keep(data)
        return model.data.sum()

    return jax.vmap(gain)(candidates)

held = {}

def holding(function, key):
    def run(x):
        before = held.get(key)
        try:
            held[key] = x
            return function()
        finally:
            held[key] = before

    return run

def noting(function, key):
    def run(x):
        try:
            held[key] = x  # finding
            return function()
        finally:
            held["last"] = None

    return run

double = jax.jit(holding(lambda: held["double"] * 2, "double"))
triple = jax.jit(noting(lambda: held["triple"] * 3, "triple"))
print(double(1.0), triple(1.0))
gains(Model(None), jax.numpy.ones((3, 2))), kept(Model(None), jax.numpy.ones((3, 2)))
""",
        ),
        Example(
            "containers made inside, and functional state",
            """
from collections import defaultdict, deque
import jax
import jax.numpy as jnp

@jax.jit
def f(layers, x):
    outputs = []
    named = defaultdict(list)
    recent = deque()
    for i, layer in enumerate(layers):
        x = jnp.tanh(x @ layer)
        outputs.append(x)
        named[i].append(x)
        recent.append(x)
    return outputs, named

class Fit:
    def fit(self, params, xs):
        def epoch(params, x):
            self.params = params * x
            return self.params, x.sum()

        params, losses = jax.lax.scan(epoch, params, xs)
        self.params = params
        return losses

    def branches(self, index, xs):
        def branch(function):
            def run(state):
                self.params, self.count = state
                self.params = function(self.params)
                return self.params, self.count + 1
            return run
        state = jax.lax.switch(index, [branch(jnp.sin), branch(jnp.cos)], (self.params, 0))
        self.params, self.count = state

def host(xs):
    results = []
    for x in xs:
        results.append(f([x], x))
    return results
""",
        ),
    )

    def on_leak(self, event: LeakEvent, report: Reporter) -> None:
        array = find_array(event.value, True)
        if array is None or not array.certain or not event.frame.stage.certain or guarded(event):
            return
        if _is_overwritten(event) or _is_put_back(event) or _is_set_again(event):
            return
        report(
            event.node,
            f"a traced value is stored in {event.where}, which outlives the trace",
            reason=staged_because(event.frame),
            severity=Severity.ERROR if _is_read(event) else Severity.WARNING,
        )


def _is_read(event: LeakEvent) -> bool:
    """Whether what is stored may be read when the trace is over: no attribute that its own function alone uses, after storing it."""
    stored = event.node
    if not isinstance(stored, ast.Attribute):
        return True
    module = event.frame.module
    owner = next((above for above in module.ancestors(stored) if isinstance(above, ast.FunctionDef)), None)
    inside = set(walk(owner)) if owner is not None else set()
    first = next((s for s in getattr(owner, "body", []) if _stores(s, stored.attr)), None)
    begun = (first.end_lineno or 0) if first is not None else sys.maxsize
    return any(
        (read not in inside or read.lineno <= begun) and not _are_of_two_classes(stored, read, module)
        for read in _reads(module.tree, stored.attr)
    )


def _are_of_two_classes(stored: ast.Attribute, read: ast.expr, module: Module) -> bool:
    """Whether both are attributes of `self`, in classes that no object of this file has both of."""
    one, other = _class_of_self(stored, module), _class_of_self(read, module)
    if not one or not other or one == other:
        return False
    bases = {
        part.name: {dotted(base).rpartition(".")[2] for base in part.bases}
        for part in walk(module.tree)
        if isinstance(part, ast.ClassDef)
    }
    for name in bases:
        above, waiting = set[str](), {name}
        while waiting:
            above |= waiting
            waiting = set[str]().union(*(bases.get(base, ()) for base in waiting)) - above
        if {one, other} <= above:
            return False
    return True


def _class_of_self(node: ast.expr, module: Module) -> str:
    """The class in whose method `node` is an attribute of the first parameter, or ""."""
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return ""
    around = [a for a in module.ancestors(node) if isinstance(a, (ast.FunctionDef, ast.ClassDef))]
    for method, cls in itertools.pairwise(around):
        if isinstance(method, ast.FunctionDef) and isinstance(cls, ast.ClassDef):
            parameters = method.args.args
            return cls.name if parameters and parameters[0].arg == node.value.id else ""
    return ""


def _reads(tree: ast.AST, attribute: str) -> Iterator[ast.expr]:
    """Where an attribute of this name is read, of whatever object."""
    for part in walk(tree):
        node = part.target if isinstance(part, ast.AugAssign) else part
        if isinstance(node, ast.Attribute):
            if node.attr == attribute and (node is not part or isinstance(node.ctx, ast.Load)):
                yield node
        elif isinstance(node, ast.Constant) and node.value == attribute:  # `getattr(self, "level")`
            yield node


def _stores(statement: ast.stmt, attribute: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Attribute) and target.attr == attribute for target in targets)


def _is_put_back(event: LeakEvent) -> bool:
    """Whether a `finally` of the same function stores something else there: a context manager, or one written out."""
    place = _stored(event.node)
    function = event.frame.function
    if not place or function is None:
        return False
    return any(
        _stored(part) == place
        for block in ast.walk(function.node)
        if isinstance(block, ast.Try)
        for statement in block.finalbody
        for part in ast.walk(statement)
        if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(part.ctx, ast.Load)
    )


def _stored(node: ast.AST) -> str:
    """The name, attribute or item that is stored, as text."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        node = node.targets[0]
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else ""


def _is_set_again(event: LeakEvent) -> bool:
    """Whether the function around the staged one calls the method that stores it again afterwards, as `model.set_data(old)`."""
    frames = [event.frame, *event.frame.callers()]
    for setter, caller in itertools.pairwise(frames):
        if setter.function is None or setter.function.cls is None or caller.function is None:
            continue
        inner = caller.function.node
        outer = caller.module.parents.get(inner)
        if not isinstance(outer, ast.FunctionDef) or inner not in outer.body:
            continue
        name = setter.function.name
        for statement in outer.body[outer.body.index(inner) + 1 :]:
            call = statement.value if isinstance(statement, ast.Expr) else None
            method = call.func if isinstance(call, ast.Call) else None
            if isinstance(method, ast.Attribute) and method.attr == name:
                return True
    return False


def _is_overwritten(event: LeakEvent) -> bool:
    """Whether the function around the staged one stores something else in the same attribute afterwards."""
    place = place_of(event.node) if isinstance(event.node, ast.Attribute) else ""
    if not place:
        return False
    functions = [n for n in event.frame.module.ancestors(event.node) if isinstance(n, ast.FunctionDef)]
    for inner, outer in itertools.pairwise(functions):
        if inner not in outer.body:
            continue
        for statement in outer.body[outer.body.index(inner) + 1 :]:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            parts = [part for target in targets for part in getattr(target, "elts", [target])]
            if any(place_of(part) == place for part in parts):
                return True
    return False
