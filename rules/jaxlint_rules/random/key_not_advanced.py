"""A PRNG key that a loop or an object uses at every step without renewing it."""

from __future__ import annotations

import ast
import re

from jaxlint.finding import Severity
from jaxlint.jaxapi.transforms import JIT_KINDS
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent, KeptKeyEvent
from jaxlint.staging.keys import name_in
from jaxlint.staging.syntax_facts import dotted, none_branch
from jaxlint.staging.values import ClassValue, Function, Transformed
from jaxlint_rules.random._draws import is_draw, renews
from jaxlint_rules.random._same_keys import made_anew


class KeyNotAdvanced(Rule):
    """A loop, or an object, draws with the same PRNG key at every step.

    ## What it does
    Finds bodies of `lax.scan`, `fori_loop`, `while_loop`, `lax.map` and `jax.tree.map` that use up a key from outside of the
    loop, carries whose key is used up and handed on as it was, functions that return a key which they have used up as part of a
    state, methods that draw with `self.key` and never renew it, and loops that make the key of their jitted step anew of the same
    seed in each iteration.

    ## Why is this bad?
    Every step draws the same numbers: the noise of all steps is one vector, a sampler proposes the same move for ever.
    Nothing says so, and JAX's own key checker does not see `PRNGKey`.

    ## Example
    ```python
    def body(x, _):
        return x + jax.random.normal(key, x.shape), None
    x, _ = jax.lax.scan(body, x, length=100)
    ```

    ## Use instead
    ```python
    def body(x, key):
        return x + jax.random.normal(key, x.shape), None
    x, _ = jax.lax.scan(body, x, jax.random.split(key, 100))
    ```
    In a carry, `key, sub = jax.random.split(key)`; in an object, `self.key, sub = jax.random.split(self.key)`.

    ## Fix safety
    There is no automatic fix: it changes the numbers that the program draws.

    ## When not to fix
    When all steps are to share their numbers, as a dropout mask that is the same at each time step. Tests are not checked.

    ## References
    - [JAX: pseudorandom numbers](https://docs.jax.dev/en/latest/random-numbers.html)
    """

    code = "JAX304"
    name = "key-not-advanced"
    category = "random"
    severity = Severity.WARNING
    examples = (
        Example(
            "from outside of the loop, in the carry, over leaves, in an object",
            """
import jax
import jax.numpy as jnp
from jax import random

def walk(key, x):
    def body(x, _):
        return x + random.normal(key, x.shape), None  # finding
    return jax.lax.scan(body, x, length=100)

def anneal(key, x):
    return jax.lax.fori_loop(0, 10, lambda i, y: y + i * random.normal(key, y.shape), x)  # finding

def sample(key, xs):
    def body(carry, x):
        key, total = carry
        total = total + x * random.normal(key)  # finding
        return (key, total), total
    return jax.lax.scan(body, (key, 0.0), xs)

def perturb(key, params):
    return jax.tree.map(lambda p: p + random.normal(key, p.shape), params)  # finding

class Agent:
    def __init__(self, seed):
        self.key = jax.random.key(seed)

    def act(self, logits):
        return jax.random.categorical(self.key, logits)  # finding
""",
        ),
        Example(
            "renewed, or meant to be the same",
            """
import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import random

def walk(key, x):
    def body(x, key):
        return x + random.normal(key, x.shape), None
    return jax.lax.scan(body, x, random.split(key, 100))

def anneal(key, x):
    return jax.lax.fori_loop(0, 10, lambda i, y: y + random.normal(random.fold_in(key, i), y.shape), x)

def picked(key, x):
    def body(i, y):
        return y + random.normal(random.split(key, 10)[i], y.shape)
    return jax.lax.fori_loop(0, 10, body, x)

def sample(key, xs):
    def body(carry, x):
        key, total = carry
        key, sub = random.split(key)
        total = total + x * random.normal(sub)
        return (key, total), total
    return jax.lax.scan(body, (key, 0.0), xs)

def shuffled(key, batch):
    return jax.tree.map(lambda x: random.permutation(key, x), batch)

def conditional(key, logits, greedy):
    if greedy:
        return key, jnp.argmax(logits)
    key, sub = random.split(key)
    return key, random.categorical(sub, logits)

class Layer(nn.Module):
    key: jax.Array

    @nn.compact
    def __call__(self, x):
        return x @ self.param("w", lambda _: random.normal(self.key, (3, 3)))

class Sampler:
    def __init__(self, seed):
        self.init_key = jax.random.key(seed)

    def start(self):
        return random.normal(self.init_key, (3,))

class Agent:
    def __init__(self, seed):
        self.key = jax.random.key(seed)
        self.weights = random.normal(jax.random.fold_in(self.key, 0), (3,))

    def act(self, logits):
        self.key, sub = jax.random.split(self.key)
        return jax.random.categorical(sub, logits)

import equinox as eqx

class Sampler(eqx.Module):
    key: jax.Array

    def __call__(self, x):
        return x + jax.random.normal(self.key, x.shape)
""",
        ),
        Example(
            "a copy of a state in which all but the key is new",
            """
from dataclasses import dataclass, replace
import jax
import jax.numpy as jnp

@jax.jit
def walk(state):
    move, accept = jax.random.split(state.key)  # finding
    return state._replace(x=state.x + jax.random.normal(move, state.x.shape))

def env_step(state, action):
    noise = jax.random.normal(state.rng, state.x.shape)  # finding
    return state.replace(x=state.x + action + noise), -state.x

step = jax.jit(env_step)

@dataclass
class Particles:
    x: jax.Array
    key: jax.Array

def resample(particles, weights):
    rows = jax.random.categorical(particles.key, weights, shape=weights.shape)  # finding
    return replace(particles, x=particles.x[rows])

def track(steps):
    particles = Particles(jnp.ones(8), jax.random.key(0))
    for _ in range(steps):
        particles = resample(particles, particles.x)
    return particles

track(10)

@jax.jit
def renewed(state):
    key, move = jax.random.split(state.key)
    return state.replace(x=state.x + jax.random.normal(move, state.x.shape), key=key)

@jax.jit
def by_parts(state):
    key, move = jax.random.split(state.key)
    state = state.replace(x=state.x + jax.random.normal(move, state.x.shape))
    return state._replace(key=key)

@jax.jit
def given(state, **changes):
    key, move = jax.random.split(state.key)
    return state.replace(x=jax.random.normal(move, state.x.shape), **changes)

@jax.jit
def folded(state):
    move = jax.random.fold_in(state.key, state.step)
    return state.replace(x=jax.random.normal(move, state.x.shape), step=state.step + 1)

def value_at(keys, step):
    return jax.vmap(lambda key: jax.random.normal(jax.random.fold_in(key, step)))(keys)

@jax.jit
def counted(state, grid):
    keys = jax.random.split(state.key, 4)
    values = grid.advance(state.core, keys, state.step)
    return state._replace(x=values, step=state.step + 1)

@jax.jit
def folded_later(state):
    keys = jax.random.split(state.key, 4)
    return state.replace(x=value_at(keys, state.age), age=state.age + state.dt)

@jax.jit
def unpacked(state):
    x, step, key = state
    key, move = jax.random.split(key)
    return state._replace(x=x + jax.random.normal(move, x.shape), key=key)

def critic(state):
    return state.replace(x=state.x + jax.random.normal(state.noise, state.x.shape))

@jax.jit
def update(state):
    key, noise = jax.random.split(state.key)
    return critic(state.replace(key=key, noise=noise))
""",
        ),
        Example(
            "a method of one of two classes, whose key is another argument",
            """
import jax

class Buffer:
    def sample(self, key, size):
        return jax.random.randint(key, (size,), 0, 10)

class Table:
    def sample(self, size, key):
        return jax.random.normal(key, (size,))

def collect(state, config, key):
    def body(carry, _):
        carry, part = jax.random.split(carry)
        rows = state.buffer.sample(part, config.batch_size)
        return carry, rows
    return jax.lax.scan(body, key, None, length=8)
""",
        ),
        Example(
            "a key that is made of the same seed for each step",
            """
import haiku as hk
import jax

SEED = 42

@jax.jit
def step(w, key):
    return w + jax.random.normal(key, w.shape), w.sum()

@jax.jit
def evaluate(w, key):
    return w, jax.random.normal(key, w.shape).sum()

def next_key():
    keys = hk.PRNGSequence(SEED)
    return next(keys)

def train(w, steps, seed):
    for _ in range(steps):
        w, _ = step(w, jax.random.PRNGKey(0))  # finding
        w, _ = step(w, next_key())  # finding
        w, _ = step(w, {"noise": next_key()})  # finding
        key = jax.random.key(seed)  # finding
        w, _ = step(w, key)
    return w

class Trainer:
    def __init__(self, w, seed):
        self.w, self.seed = w, seed

    def update(self):
        self.w, loss = step(self.w, jax.random.key(self.seed))  # finding
        return loss

    def fit(self, steps):
        for _ in range(steps):
            loss = self.update()
        return loss

def renewed(w, steps, keys, seeds):
    sequence = hk.PRNGSequence(SEED)
    for i in range(steps):
        w, _ = step(w, next(sequence))
        w, _ = step(w, jax.random.key(i))
        w, _ = step(w, jax.random.fold_in(jax.random.key(0), i))
        w, _ = evaluate(w, jax.random.key(0))
        start, _ = step(keys, jax.random.key(0))
    for seed in seeds:
        w, _ = step(w, jax.random.key(seed))
    return w, start

train(1.0, 10, 0), Trainer(1.0, 0).fit(10), renewed(1.0, 10, [], [0])
""",
        ),
        Example(
            "a layer of equinox that keeps its key",
            """
import equinox as eqx
import jax

class Block(eqx.Module):
    linear: eqx.nn.Linear
    drop: eqx.nn.Dropout
    key: jax.Array

    def __init__(self, key):
        key, self.key = jax.random.split(key)
        self.linear = eqx.nn.Linear(4, 4, key=key)
        self.drop = eqx.nn.Dropout(0.5)

    def __call__(self, x):
        return self.drop(self.linear(x), key=self.key)  # finding

class Drawn(eqx.Module):
    linear: eqx.nn.Linear

    def __init__(self, key):
        self.linear = eqx.nn.Linear(4, 4, key=key)

    def __call__(self, x, key):
        return self.linear(x) + jax.random.normal(key, (4,))
""",
        ),
    )

    @concerns(callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        """`state = step(state, jax.random.key(0))`, in a loop."""
        node, frame = event.node, event.frame
        if frame.stage.staged or frame.module.is_test or not isinstance(node, ast.Call):
            return
        if not isinstance(event.callee, Transformed) or event.callee.kind not in JIT_KINDS:
            return
        if _ASIDE.search(event.callee.label):
            return
        found = made_anew(node, frame)
        if found is None:
            return
        made, loop = found
        line = getattr(loop.node, "lineno", "?")
        report(
            made,
            f"`{ast.unparse(made)}` is the same key in every iteration: each step of `{event.callee.label}` draws the same numbers",
            reason=f"the loop at line {line} hands on what the step returns, and makes the key of the same seed each time",
        )

    def on_kept_key(self, event: KeptKeyEvent, report: Reporter) -> None:
        frame = event.frame
        function = frame.function
        if frame.module.is_test or (function is not None and function.name.startswith("test")):
            return
        name = name_in(frame, event.origin)
        if event.how == "closure":
            if event.label.rpartition(".")[2] in ("vmap", "filter_vmap", "vectorize"):
                return
            if name in _NAMELESS or not _draws_anew(event, report):
                return
            what = "leaf" if event.label == "jax.tree.map" else "iteration"
            message = f"every {what} of `{event.label}` draws the same numbers with the key `{name}`"
            reason = f"`{name}` comes from outside of the function that `{event.label}` runs"
        elif event.how == "carry":
            what = "a key" if name in _NAMELESS else f"the key `{name}`"
            message = f"{what} is used up and goes into the next iteration of `{event.label}` as it was"
            reason = "what the body returns as its carry holds the key that it was given"
        elif event.how == "returned":
            if "." not in name and "[" not in name:
                if not event.label:
                    return
                name = event.label
            if _goes_with_a_counter(event):
                return
            message = (
                f"the key `{name}` is used up and returned as it was: the next step draws the same numbers"
            )
            reason = f"`{name}` was used up at line {getattr(event.used, 'lineno', '?')}"
        else:
            if function is None or function.cls is None or not _is_step(event, function.cls):
                return
            if "init" in event.label or (
                function.cls.kind in _IMMUTABLE and not _is_layer(function, event.label)
            ):
                return  # an argument of a module that is made for one call, or a key for what happens once
            message = f"`self.{event.label}` is used up and never renewed: each call draws the same numbers"
            reason = (
                f"no method of `{function.cls.name}` assigns `self.{event.label}` after this one has used it"
            )
        report(event.node, message, reason=reason)


def _goes_with_a_counter(event: KeptKeyEvent) -> bool:
    """Whether the state that holds the key counts steps, too, and hands the count to what draws: `draw(keys, state.step)`."""
    function, owner = event.frame.function, event.origin.name.rpartition(".")[0]
    if function is None or not owner:
        return False
    nodes = list(ast.walk(function.node))
    counted = {
        dotted(node.left)
        for node in nodes
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and isinstance(node.right, ast.Constant)
    }
    handed = {dotted(given) for node in nodes if isinstance(node, ast.Call) for given in node.args}
    return any(name.startswith(f"{owner}.") for name in counted & handed)


def _draws_anew(event: KeptKeyEvent, report: Reporter) -> bool:
    """Whether using the same key at each iteration gives the same numbers."""
    node = event.used
    if event.label == "jax.tree.map":
        return is_draw(node) and _has_many_leaves(event, report)
    parent = report.module.parents.get(node)
    if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == "split":
        return not (isinstance(parent, ast.Subscript) and not isinstance(parent.slice, ast.Constant))
    return True


# Each evaluation is to see the same, and beginnings are made once.
_ASIDE = re.compile(r"(^|_)(eval(uat\w*)?|val(id\w*)?|test|init\w*|reset|create|make)(_|$)")
_IMMUTABLE = ("linen", "equinox", "haiku")


def _is_layer(method: Function, label: str) -> bool:
    """Whether a module of equinox keeps a key from its own `__init__`, beside its layers, to draw from when it is called."""
    cls = method.cls
    init = cls.lookup("__init__") if cls is not None else None
    if cls is None or cls.kind != "equinox" or method.name != "__call__" or not isinstance(init, Function):
        return False
    made = {dotted(call.func) for call in ast.walk(init.node) if isinstance(call, ast.Call)}
    return any(".nn." in f".{name}" for name in made) and any(
        isinstance(node.ctx, ast.Store) and dotted(node) == f"self.{label}"
        for node in ast.walk(init.node)
        if isinstance(node, ast.Attribute)
    )


_NAMELESS = ("item", "element")  # parts of what is not known
_TREES = ("param", "grad", "tree", "weight", "theta", "update", "variables", "state")


def _has_many_leaves(event: KeptKeyEvent, report: Reporter) -> bool:
    """Whether `jax.tree.map` runs over parameters or their like; other trees may be single arrays."""
    for node in [event.node, *report.module.ancestors(event.node)]:
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in ("map", "tree_map"):
            names = [dotted(argument).lower() for argument in node.args[1:]]
            return any(part in name for name in names for part in _TREES)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return any(
                isinstance(call, ast.Call)
                and any(dotted(argument) == node.name for argument in call.args[:1])
                and any(part in dotted(tree).lower() for tree in call.args[1:] for part in _TREES)
                for call in ast.walk(report.module.tree)
            )
    return False


_ONCE = ("init", "setup", "build", "create", "reset", "make", "load", "new", "from_", "post_init")


def _is_step(event: KeptKeyEvent, cls: ClassValue) -> bool:
    """Whether a method is called many times: it is no part of making the object."""
    frame = event.frame
    names = [frame.function.name] if frame.function is not None else []
    names += [caller.function.name for caller in frame.callers() if caller.function is not None]
    if any(name.strip("_").startswith(_ONCE) for name in names):
        return False
    bases = " ".join([cls.name, *cls.external_bases()])
    if any(word in bases for word in ("Test", "Key", "Rng", "RNG")) or renews(cls, event.label):
        return False
    # What is computed once and kept: `if self.table is None:`.
    return not any(
        isinstance(node, ast.If) and none_branch(node.test) is not None
        for node in cls.module.ancestors(event.used)
    )
