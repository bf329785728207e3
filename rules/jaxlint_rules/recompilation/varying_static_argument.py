"""Static arguments that are new in every iteration."""

from __future__ import annotations

import ast
import re

from jaxlint.finding import FixRequest, Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import StaticArgumentEvent, TracedArgumentEvent
from jaxlint.staging.syntax_facts import dotted, nodes_of
from jaxlint.staging.values import Array, Instance, Static
from jaxlint_rules._fixes import declare_traced
from jaxlint_rules._loops import assigned_once, bodies, host_loops
from jaxlint_rules.recompilation._following import fields_given, follows, follows_calls


class VaryingStaticArgument(Rule):
    """A static argument has another value in every iteration.

    ## What it does
    Finds calls of jitted functions in a loop that pass a function that is made there, a counter of the loop, something
    computed from it (also by a function of the project, or as a field of a config), a count that an object keeps, or the length
    of a list that grows, for a parameter that is declared static; also in a function that the loop calls. For `eqx.filter_jit` every Python number is static, also one in a field of a module; for
    `jax.jit` the fields of a dataclass that are declared so.

    ## Why is this bad?
    JAX compiles a program for each value of a static argument. A step counter or a learning rate makes every
    iteration compile: over 100 ms a call for a multiplication that takes 0.01 ms with a traced argument (on a CPU).

    ## Example
    ```python
    step = jax.jit(update, static_argnames="i")
    for i in range(steps):
        params = step(params, batch, i=i)
    ```

    ## Use instead
    ```python
    step = jax.jit(update)
    for i in range(steps):
        params = step(params, batch, i=i)
    ```
    With `jnp.where` or `lax.cond` in place of Python branches on `i`.

    ## Fix safety
    Unsafe: the parameter is taken out of what is static. It is then a number of the device (32 bits, weakly typed), not one
    of Python, which rounds otherwise. Only where the function is defined in the same file and does no more than compute with
    it: one that makes a shape, a slice, a range or a Python branch of it, or hands it to a function that might, has to know it.

    ## When not to fix
    When the values are few and come back, as with the levels of a pyramid: each is compiled once.

    ## References
    - [JAX: static arguments](https://docs.jax.dev/en/latest/_autosummary/jax.jit.html)
    """

    code = "JAX402"
    name = "varying-static-argument"
    category = "recompilation"
    severity = Severity.WARNING
    fixable = "unsafe"
    examples = (
        Example(
            "a step counter, a schedule, the length of a list",
            """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames=("i", "lr", "n"))
def step(w, i=0, lr=0.1, n=1):
    return w * lr + i / n

def train(w, steps, decay):
    seen = []
    for i in range(steps):
        w = step(w, i=i)  # finding
        lr = 0.1 * decay**i
        w = step(w, lr=lr)  # finding
        seen.append(w)
        w = step(w, n=len(seen))  # finding
    return w
""",
        ),
        Example(
            "a schedule that a function computes, a config that carries the step, a number for filter_jit",
            """
from dataclasses import dataclass, replace
from functools import partial
import equinox as eqx
import jax
import jax.numpy as jnp

@dataclass(frozen=True)
class Config:
    width: int = 8
    step: int = 0

    def at(self, step):
        return replace(self, step=step)

def temperature(step, start=1.0):
    return max(0.1, start * 0.97**step)

@partial(jax.jit, static_argnames=("tau", "cfg", "name"))
def step(w, tau=1.0, cfg=Config(), name=""):
    return w * tau + cfg.width

@eqx.filter_jit
def filtered(w, count):
    return w * count

def train(w, steps, cfg):
    for i in range(steps):
        tau = temperature(i)
        w = step(w, tau=tau)  # finding
        w = step(w, cfg=cfg.at(i))  # finding
        w = step(w, cfg=replace(cfg, step=i))  # finding
        w = step(w, name=f"step {i}")  # finding
        w = filtered(w, i)  # finding
        w = apply(lambda x: x * 2.0, w)  # finding
        w = apply(partial(jnp.power, i), w)  # finding
        w = apply(jnp.sin, w)
    return w

@partial(jax.jit, static_argnums=0)
def apply(function, w):
    return function(w)

train(jnp.ones(3), 100, Config())
""",
        ),
        Example(
            "a temperature that decays, fields that are no leaves",
            """
from functools import partial
import equinox as eqx
import jax
import jax.numpy as jnp

class Source(eqx.Module):
    flux: jax.Array
    offset: int

class Kernel(eqx.Module):
    scale: jax.Array
    order: int = eqx.field(static=True)

@partial(jax.jit, static_argnames="tau")
def soften(x, tau):
    return jax.nn.softmax(x / tau)

@eqx.filter_jit
def render(source):
    return source.flux * source.offset

@jax.jit
def smooth(kernel):
    return kernel.scale ** kernel.order

def anneal(x, steps, rate):
    tau, beta = 5.0, 1.0
    for _ in range(steps):
        x = soften(x, tau=tau)  # finding
        x = soften(x, tau=beta)  # finding
        tau = max(0.5, tau * 0.97)
        beta *= rate
    return x

def positions(source, n):
    found = []
    for i in range(n):
        found.append(render(Source(jnp.ones(()), i)))  # finding
        found.append(render(eqx.tree_at(lambda s: s.offset, source, i)))  # finding
        kernel = Kernel(jnp.ones(3), i)
        found.append(smooth(kernel))  # finding
    return found

anneal(jnp.ones(3), 100, 0.9)
positions(Source(jnp.ones(()), 0), 100)
""",
        ),
        Example(
            "levels that are few, fields that are arrays or stay the same",
            """
from functools import partial
import equinox as eqx
import jax
import jax.numpy as jnp

class Source(eqx.Module):
    flux: jax.Array
    offset: jax.Array
    order: int = eqx.field(static=True, default=2)

@partial(jax.jit, static_argnames="level")
def soften(x, level):
    return jax.nn.softmax(x * level)

@eqx.filter_jit
def render(source):
    return source.flux * source.offset

def climb(x, steps):
    level = 0
    for _ in range(steps):
        x = soften(x, level=level)
        level = min(level + 1, 3)
    return x

def positions(n, order):
    return [render(Source(jnp.ones(()), jnp.asarray(i), order)) for i in range(n)]

climb(jnp.ones(3), 100)
positions(100, 3)
""",
        ),
        Example(
            "the length of a prompt",
            """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="length")
def score(tokens, length):
    return jnp.sum(tokens[:length])

def rank(prompts, batches):
    scores = []
    for prompt in prompts:
        scores.append(score(jnp.array(prompt), length=len(prompt)))  # finding
    for batch in batches:
        scores.append(score(jnp.array(batch), length=len(batch)))
    return scores

rank([[1, 2], [3]], [[1, 2], [3, 4]])
""",
        ),
        Example(
            "what compiles ahead",
            """
from functools import partial
import jax

@partial(jax.jit, static_argnames="count")
def insert(x, count):
    return x[:count]

def precompile(x):
    for count in range(1, 64):
        insert(x, count=count)

def fill(x):
    for count in range(1, 64):
        insert(x, count=count)  # finding
""",
        ),
        Example(
            "functions of the counter that take few values, arrays for filter_jit",
            """
from dataclasses import dataclass, replace
from functools import partial
import equinox as eqx
import jax
import jax.numpy as jnp

@dataclass(frozen=True)
class Config:
    width: int = 8
    level: int = 0

def level(step):
    return step // 1000

def phase(step):
    if step < 100:
        return "warm"
    return "main"

@partial(jax.jit, static_argnames=("level", "cfg", "phase"))
def step(w, level=0, cfg=Config(), phase="main"):
    return w * level + cfg.width

@eqx.filter_jit
def filtered(w, count, scale):
    return w * count * scale

def train(w, steps, cfg, scale):
    for i in range(steps):
        w = step(w, level=level(i), phase=phase(i))
        w = step(w, level=min(i, 3))
        w = step(w, cfg=replace(cfg, level=i % 3))
        w = filtered(w, jnp.asarray(i), 2.0)
        w = filtered(w, jnp.asarray(i), scale)
    return w

train(jnp.ones(3), 100, Config(), 0.5)
""",
        ),
        Example(
            "a counter that is computed with, and one that makes a shape",
            """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames=("i", "n"))
def step(w, i, n):
    return w * 0.9**i + jnp.ones(n)

def train(w, steps):
    for i in range(steps):
        w = step(w, i, 3)  # finding
    return w

@partial(jax.jit, static_argnums=1)
def window(w, i):
    return w[:i].sum()

def sums(w, steps):
    total = 0.0
    for i in range(steps):
        total += window(w, i)  # finding
    return total
""",
            fixed="""
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="n")
def step(w, i, n):
    return w * 0.9**i + jnp.ones(n)

def train(w, steps):
    for i in range(steps):
        w = step(w, i, 3)
    return w

@partial(jax.jit, static_argnums=1)
def window(w, i):
    return w[:i].sum()

def sums(w, steps):
    total = 0.0
    for i in range(steps):
        total += window(w, i)
    return total
""",
        ),
        Example(
            "in a method that a loop calls: a function that it makes, a count that its object keeps",
            """
from dataclasses import dataclass
from functools import partial
import jax
import jax.numpy as jnp

@dataclass
class State:
    w: jax.Array
    updates: int = 0

@partial(jax.jit, static_argnums=0)
def rollout(policy, x):
    return policy(x)

@partial(jax.jit, static_argnames=("step", "name"))
def update(w, step, name="sgd"):
    return w * step

def linear(w, x):
    return w @ x

class Search:
    def __init__(self, w):
        self.w, self.calls = w, 0
        self.state = State(w)
        self.policy = partial(linear, w)

    def score(self, candidate):
        policy = partial(linear, candidate)
        return rollout(policy, self.w)  # finding

    def nested(self, candidate):
        def policy(x):
            return candidate @ x
        return rollout(policy, self.w)  # finding

    def train(self):
        self.calls += 1
        self.w = update(self.w, self.calls)  # finding
        self.state = State(update(self.state.w, step=self.state.updates), self.state.updates + 1)  # finding

    def kept(self, quick):
        self.w = update(self.w, step=self.calls % 4)
        self.w = rollout(self.policy, self.w)
        if quick:
            self.w = update(self.w, step=self.calls)

    def run(self, candidates):
        for candidate in candidates:
            self.train()
            self.kept(len(candidate) > 3)
            self.score(candidate) + self.nested(candidate)

    def once(self):
        return rollout(partial(linear, self.w), self.w)

Search(jnp.ones(3)).run([jnp.ones(3)] * 9)
Search(jnp.ones(3)).once()
""",
        ),
        Example(
            "traced arguments, few values, the same value each time",
            """
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames=("training", "level"))
def step(w, i, training=True, level=0):
    return w + i if training else w * level

def train(w, steps, size):
    for i in range(steps):
        w = step(w, i)
        w = step(w, i, training=i < 10)
        w = step(w, i, training=i % 100 == 0, level=i % 4)
        w = step(w, i, level=size)
    for level in (1, 2, 3):
        w = step(w, 0, level=level)
    for level in range(3):
        w = step(w, 0, level=level)
    return w
""",
        ),
    )

    def on_static_argument(self, event: StaticArgumentEvent, report: Reporter) -> None:
        if isinstance(event.value, Static) and event.value.kind == "bool":
            return
        fix = declare_traced(event.transformed.node, event.transformed.module, event.parameter)
        self.check(event, "its static argument `{}` follows `{}`", report, fix)

    def on_traced_argument(self, event: TracedArgumentEvent, report: Reporter) -> None:
        """`filter_jit` takes arrays alone for traced: a Python number is part of what it compiles."""
        if event.transformed.kind == "filter_jit" and isinstance(event.value, Static):
            self.check(
                event, "`{}` is a Python number, which `filter_jit` keeps static, and follows `{}`", report
            )
        elif isinstance(event.value, Instance):
            self.check_fields(event, event.value, report)

    def check_fields(self, event: TracedArgumentEvent, value: Instance, report: Reporter) -> None:
        """A field that is no leaf is part of what is compiled: one declared static, and for `filter_jit` any Python number."""
        frame = event.frame
        if event.argument is None or frame.stage.staged or frame.module.is_test:
            return
        declared = value.cls.all_fields()
        for loop in host_loops(frame):
            if len(frame.guards) > loop.guards:
                return
            for name, given in fields_given(event.argument, loop.node, frame).items():
                static = name in declared and declared[name].static
                if event.transformed.kind == "filter_jit":
                    static = static or isinstance(value.fields.get(name), Static)
                followed = follows(given, loop.node, frame) if static else ""
                if followed:
                    line = getattr(loop.node, "lineno", "?")
                    report(
                        event.argument,
                        f"`{event.transformed.label}` is compiled anew in every iteration: the field `{name}` of its argument "
                        f"is no array, and follows `{followed}`",
                        reason=f"{event.transformed.why.explain(report.module)}, and called in the loop at line {line}",
                    )
                    return

    def check(
        self,
        event: StaticArgumentEvent | TracedArgumentEvent,
        why: str,
        report: Reporter,
        fix: FixRequest | None = None,
    ) -> None:
        frame, argument = event.frame, event.argument
        if argument is None or frame.stage.staged or frame.module.is_test:
            return
        if isinstance(event.value, Array) and event.value.staged:
            return
        if frame.function is not None and _AHEAD.search(frame.function.name.lower()):
            return
        for loop, body in bodies(frame):
            name = follows(argument, body, frame) if body is loop.node else follows_calls(argument, frame)
            if name or _is_made_anew(argument, body):
                said = (
                    why.format(event.parameter, name)
                    if name
                    else f"`{event.parameter}` is a new function each time"
                )
                line = getattr(loop.node, "lineno", "?")
                report(
                    argument,
                    f"`{event.transformed.label}` is compiled anew in every iteration: {said}",
                    reason=f"{event.transformed.why.explain(report.module)}, and called in the loop at line {line}",
                    fix=fix,
                )
                return


_AHEAD = re.compile(r"(^|_)(pre_?compil|warm_?up|compile_all)")  # it is there to compile what comes later


def _is_made_anew(node: ast.expr, body: ast.AST) -> bool:
    """Whether a function is another object, hence another program, whenever `body` runs."""
    if isinstance(node, ast.Name):
        if any(
            definition.name == node.id
            for definition in nodes_of(body, ast.FunctionDef)
            if definition is not body
        ):
            return True
        made = assigned_once(body).get(node.id)
        return made is not None and not isinstance(made, ast.Name) and _is_made_anew(made, body)
    called = dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.Lambda) or called == "partial"
