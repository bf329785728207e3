"""A PRNG key used more than once."""

from __future__ import annotations

import ast
import re

from jaxlint.finding import Severity
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import KeyEvent
from jaxlint.staging.keys import name_in
from jaxlint.staging.project import Module
from jaxlint.staging.syntax_facts import dotted, names_stored
from jaxlint_rules._fixes import propose
from jaxlint_rules._loops import runs_once

_SELECTIONS = ("permutation", "choice", "shuffle")
_EVALUATION = re.compile(r"(^|_)(eval(uat\w*)?|val(id(ation)?)?|test)(_|$)")


class KeyReuse(Rule):
    """A PRNG key is used more than once.

    ## What it does
    Follows keys from `jax.random` and from parameters through assignments, splits, branches, loops and calls, and finds
    those that are used up twice, or in every iteration of a loop.

    ## Why is this bad?
    The same key gives the same numbers: noise, dropout masks and initial weights that should be independent are equal,
    and nothing says so.

    ## Example
    ```python
    key = jax.random.key(0)
    w = jax.random.normal(key, (3,))
    b = jax.random.normal(key, (3,))
    ```

    ## Use instead
    ```python
    w_key, b_key = jax.random.split(jax.random.key(0))
    w = jax.random.normal(w_key, (3,))
    b = jax.random.normal(b_key, (3,))
    ```
    In a loop, `key, sub = jax.random.split(key)` or `jax.random.fold_in(key, i)`.

    ## Fix safety
    Unsafe: the program then draws other numbers, as it was meant to. The key is split before the statement that used it
    first, `key, subkey = jax.random.split(key)`, which gets `subkey`; what follows uses the new `key`. Keys that a nested
    function or a comprehension reads, attributes, arrays of keys, and statements that use a key twice are left alone.

    ## When not to fix
    When the same numbers are wanted twice (common random numbers). Test files are not checked.

    ## References
    - [JAX: pseudorandom numbers](https://docs.jax.dev/en/latest/random-numbers.html)
    """

    code = "JAX301"
    name = "key-reuse"
    category = "random"
    severity = Severity.WARNING
    fixable = "unsafe"
    examples = (
        Example(
            "a function at two places under the same random numbers, and two draws",
            """
import jax
import jax.numpy as jnp

def estimate(theta, key):
    return jnp.mean(jnp.exp(theta * jax.random.normal(key, (64,))))

def slope(theta, key, h):
    return (estimate(theta + h, key) - estimate(theta - h, key)) / (2 * h)

def antithetic(thetas, keys, eps):
    above = jax.vmap(estimate)(thetas + eps, keys)
    below = jax.vmap(estimate)(thetas - eps, keys)
    return (above - below).mean()

def shifted(theta, key, h):
    return estimate(theta + h, key), estimate(theta + 2 * h, key)  # finding

def difference(key):
    return jax.random.normal(key) - jax.random.normal(key)  # finding

def both(theta, key):
    return estimate(theta, key), estimate(2 * theta, key)  # finding
""",
        ),
        Example(
            "twice, after a split, in a loop, through functions",
            """
import jax

def init(key, n):
    return jax.random.normal(key, (n,))

def noise(x, key):
    return x + jax.random.normal(key, x.shape)

def main(seed, batches):
    key = jax.random.key(seed)
    w = init(key, 3)
    b = jax.random.uniform(key, (3,))  # finding
    key, sub = jax.random.split(jax.random.key(1))
    for batch in batches:
        w = w + noise(batch, sub).sum()  # finding
    return w + b

def late(key):
    x = jax.random.normal(key)
    key, sub = jax.random.split(key)  # finding
    return x + jax.random.normal(sub)
""",
        ),
        Example(
            "the same dropout key at every step",
            """
import flax.linen as nn
import jax

model = nn.Dropout(0.5, deterministic=False)

@jax.jit
def step(params, batch, key):
    return model.apply({"params": params}, batch, rngs={"dropout": key}).mean()

def train(params, batches):
    key = jax.random.key(0)
    variables = model.init({"params": key, "dropout": key}, batches[0])
    for batch in batches:
        params = step(params, batch, key)  # finding
    return params, variables

@jax.jit
def update(params, batch, key):
    def loss(p):
        return model.apply({"params": p}, batch, rngs={"dropout": key}).mean()

    return jax.grad(loss)(params)

def fit(params, batches, key):
    for batch in batches:
        params = update(params, batch, key)  # finding
    for i, batch in enumerate(batches):
        params = update(params, batch, jax.random.fold_in(key, i))
    return params
""",
        ),
        Example(
            "a part of the key, with the number of the step folded in",
            """
import jax

def noise(key, step):
    part, _ = jax.random.split(key)
    return jax.random.normal(jax.random.fold_in(part, step))

def dropped(key):
    part, _ = jax.random.split(key)
    return jax.random.normal(jax.random.fold_in(part, jax.lax.axis_index("data")))

def train(key, steps):
    total = noise(key, 0) + noise(key, 1)
    for step in range(steps):
        total = total + noise(key, step)
    for step in range(steps):
        total = total + dropped(key)  # finding
    return total
""",
        ),
        Example(
            "keys of variables",
            """
import jax

def init(key, n):
    w = jax.random.normal(key, (n,))
    b = jax.random.uniform(key, (n,))  # finding
    return w, b, jax.random.split(key)  # finding

def noise(x, key, steps):
    for _ in range(steps):
        x = x + jax.random.normal(key, x.shape)  # finding
    return x
""",
            """
import jax

def init(key, n):
    key, subkey = jax.random.split(key)
    w = jax.random.normal(subkey, (n,))
    key, subkey = jax.random.split(key)
    b = jax.random.uniform(subkey, (n,))  # finding
    return w, b, jax.random.split(key)  # finding

def noise(x, key, steps):
    for _ in range(steps):
        key, subkey = jax.random.split(key)
        x = x + jax.random.normal(subkey, x.shape)  # finding
    return x
""",
        ),
        Example(
            "tests of which both may hold",
            """
import jax

class Noise:
    def __init__(self, key):
        self.values = jax.random.normal(key, (3,))

def of_kind(kind, size, key):
    noise = mask = None
    if kind == "one":
        noise = Noise(key)
    if size == "large":
        mask = Noise(key)  # finding
    return noise, mask

def renamed(kind, key):
    noise = mask = None
    if kind == "one":
        noise = Noise(key)
        kind = "other"
    if kind == "other":
        mask = Noise(key)  # finding
    return noise, mask
""",
        ),
        Example(
            "split, folded, exclusive branches, carried",
            """
import jax

def init(key, n, kind):
    if kind == "normal":
        return jax.random.normal(key, (n,))
    return jax.random.uniform(key, (n,))

def main(seed, batches):
    key = jax.random.key(seed)
    key, sub = jax.random.split(key)
    w = init(sub, 3, "normal")
    for i, batch in enumerate(batches):
        key, sub = jax.random.split(key)
        w = w + jax.random.normal(sub, batch.shape)
        w = w + jax.random.normal(jax.random.fold_in(key, i), batch.shape)
    key, sub = jax.random.split(key)
    inputs = jax.random.permutation(sub, batches)
    labels = jax.random.permutation(sub, batches)
    key, sub = jax.random.split(key)
    columns = [jax.random.permutation(sub, column) for column in (inputs, labels)]
    keys = jax.random.split(key, 3)
    a = jax.random.normal(keys[0])
    b = jax.random.normal(keys[1])
    draws = [jax.random.normal(k) for k in jax.random.split(keys[2], 4)]
    return w, a, b, draws, inputs, labels, columns

class Noise:
    def __init__(self, key):
        self.values = jax.random.normal(key, (3,))

def of_kind(kind, key):
    noise = None
    if kind == "one":
        noise = Noise(key)
    if kind == "other":
        noise = Noise(key)
    return noise

def two_draws(x, first, second):
    return x + jax.random.normal(first, x.shape) + jax.random.uniform(second, x.shape)

def spread(arguments, n):
    return [two_draws(*[argument[i] for argument in arguments]) for i in range(n)]

def carried(key, xs):
    def body(carry, x):
        key, total = carry
        key, sub = jax.random.split(key)
        return (key, total + x * jax.random.normal(sub)), None
    return jax.lax.scan(body, (key, 0.0), xs)
""",
        ),
        Example(
            "evaluations in a loop",
            """
import jax

@jax.jit
def evaluate_batch(params, batch, key):
    return (params * batch + jax.random.normal(key)).sum()

@jax.jit
def train_batch(params, batch, key):
    return params - (batch + jax.random.normal(key)).mean()

def run(params, batches, key, other):
    total = 0.0
    for batch in batches:
        total += evaluate_batch(params, batch, key)
        params = train_batch(params, batch, other)  # finding
    return params, total
""",
        ),
        Example(
            "a key for evaluations, which are to be compared",
            """
import jax

@jax.jit
def score(params, key):
    return params * jax.random.normal(key, params.shape)

def train(step, params, key):
    key, eval_key = jax.random.split(key)
    for _ in range(10):
        key, draw = jax.random.split(key)
        params = step(params, draw)
        print(score(params, eval_key))
""",
        ),
        Example(
            "a twin that begins as the first does",
            """
import jax

def create_state(key, size):
    return jax.random.normal(key, (size,))

class Agent:
    def __init__(self, key):
        self.critic = create_state(key, 3)
        self.target_critic = create_state(key, 3)
        self.actor = create_state(key, 3)  # finding

def noise(key):
    return jax.random.normal(key) - jax.random.normal(key)  # finding

Agent(jax.random.key(0)), noise(jax.random.key(1))
""",
        ),
        Example(
            "one iteration alone draws",
            """
import jax

def forward(layers, x, key):
    for i, layer in enumerate(layers):
        if i < len(layers) - 1:
            x = layer(x)
        else:
            x = x + jax.random.normal(key, x.shape)
    return x

def walk(x, n, key):
    for i in range(n):
        if i == 0:
            x = x + jax.random.normal(key, x.shape)
        x = x * 2
    return x
""",
        ),
        Example(
            "a call whose result is dropped, to compile first",
            """
import jax

@jax.jit
def epoch(params, key):
    key, draw = jax.random.split(key)
    return params + jax.random.normal(draw, params.shape), key

def train(params, key):
    _ = epoch(params, key)
    epoch(params, key)
    jax.block_until_ready(epoch(params, key))
    for _ in range(10):
        params, key = epoch(params, key)
    return params
""",
        ),
    )

    def on_key_reuse(self, event: KeyEvent, report: Reporter) -> None:
        frame = event.frame
        if frame.module.is_test or (frame.function is not None and frame.function.name.startswith("test")):
            return
        if event.how == "again" and _keeps_aligned(event.first, event.node):
            return
        if event.how == "again" and event.callee and _compares(event):
            return
        if event.how == "again" and (_exclude_each_other(event) or _makes_a_twin(event)):
            return
        name = name_in(frame, event.origin).removesuffix(".rngs")
        through = f" (in `{event.callee}`)" if event.callee else ""
        if event.how == "loop":
            loop = frame.in_loop()
            if (
                loop is None
                or (loop.trips is not None and loop.trips < 2)
                or _shuffles_each(event.node, loop.node)
                or runs_once(event.node, loop.node, frame.module)
                or _EVALUATION.search(name)  # each evaluation is to see the same
                or _EVALUATION.search(event.callee)
            ):
                return
            message = f"the key `{name}` is used{through} in every iteration of the loop, each time with the same result"
            reason = f"`{name}` is not split or rebound inside the loop at line {getattr(loop.node, 'lineno', loop_line(loop.node))}"
        else:
            message = f"the key `{name}` is used again{through}; the result repeats earlier random numbers"
            reason = f"`{name}` was used up at line {getattr(event.first, 'lineno', '?')}"
        # Of many keys in one array each would have to be split.
        splits = hasattr(event.first, "lineno") and not event.origin.batch
        summary = f"Split `{name}` first"
        fix = propose(report, event.first, "split-key", summary, safe=False, key=name) if splits else None
        report(event.node, message, reason=reason, fix=fix)


def _shuffles_each(node: ast.AST, loop: object) -> bool:
    """Every array that a loop runs over is shuffled alike."""
    target = getattr(loop, "target", None)
    if (
        not isinstance(node, ast.Call)
        or dotted(node.func).rpartition(".")[2] not in _SELECTIONS
        or target is None
    ):
        return False
    names = names_stored(target)
    return any(isinstance(argument, ast.Name) and argument.id in names for argument in node.args[1:2])


def _keeps_aligned(first: ast.AST, second: ast.AST) -> bool:
    """Two arrays are shuffled alike: the same selection of each, as of inputs and labels."""
    if not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    if dotted(first.func).rpartition(".")[2] not in _SELECTIONS:
        return False

    def shape(call: ast.Call) -> list[str]:
        rest = [*call.args[:1], *call.args[2:], *(keyword.value for keyword in call.keywords)]
        return [dotted(call.func), *(ast.unparse(part) for part in rest)]

    return shape(first) == shape(second) and len(first.args) > 1


def _compares(event: KeyEvent) -> bool:
    """`f(x + h, key)` and `f(x - h, key)`, or the difference of any two: their random numbers cancel."""
    first, second = event.first, event.node
    if not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    if ast.unparse(first.func) != ast.unparse(second.func):
        return False
    if any(map(_is_mirrored, first.args, second.args)):
        return True
    return any(
        isinstance(around, ast.BinOp)
        and isinstance(around.op, (ast.Sub, ast.Div))
        and any(part is first for part in ast.walk(around.left))
        and any(part is second for part in ast.walk(around.right))
        for around in event.frame.module.ancestors(second)
    )


def _is_mirrored(one: ast.expr, other: ast.expr) -> bool:
    """`x + h` and `x - h`, in either order."""
    return (
        isinstance(one, ast.BinOp)
        and isinstance(other, ast.BinOp)
        and {type(one.op), type(other.op)} == {ast.Add, ast.Sub}
        and ast.unparse(one.left) == ast.unparse(other.left)
        and ast.unparse(one.right) == ast.unparse(other.right)
    )


_TWIN = re.compile(r"(^|_)(target|ema|teacher|slow|inference)(_|$)")


def _makes_a_twin(event: KeyEvent) -> bool:
    """The same call twice, for a state and its twin, which begins with the same numbers on purpose: a target network."""
    first, second = event.first, event.node
    if not isinstance(first, ast.Call) or not isinstance(second, ast.Call):
        return False
    if ast.unparse(first) != ast.unparse(second):
        return False
    bound = [event.frame.module.parents.get(call) for call in (first, second)]
    names = [dotted(s.targets[0]).rpartition(".")[2] for s in bound if isinstance(s, ast.Assign)]
    return any(_TWIN.search(name.lower()) for name in names)


def _exclude_each_other(event: KeyEvent) -> bool:
    """Whether the two places lie under tests of one name for different constants, of which one is taken."""
    frame = event.frame
    owner = frame.function.node if frame.function is not None else frame.module.tree
    first, second = _asked(event.first, frame.module), _asked(event.node, frame.module)
    return any(
        name in first and first[name] != value and name not in names_stored(owner)
        for name, value in second.items()
    )


def _asked(node: ast.AST, module: Module) -> dict[str, object]:
    """What `kind == "normal"` and its like say of names where `node` runs."""
    found: dict[str, object] = {}
    inside = node
    for around in module.ancestors(node):
        if isinstance(around, ast.If) and any(inside is statement for statement in around.body):
            test = around.test
            if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
                answer = test.comparators[0]
                if isinstance(answer, ast.Constant) and dotted(test.left):
                    found[dotted(test.left)] = answer.value
        inside = around
    return found


def loop_line(node: object) -> int:
    """The line of a comprehension's generator, which has no position of its own."""
    return getattr(getattr(node, "target", None), "lineno", 0)
