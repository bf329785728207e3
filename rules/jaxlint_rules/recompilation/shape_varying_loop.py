"""Jitted functions that see another shape in every iteration."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.finding import Severity
from jaxlint.jaxapi.transforms import JIT_KINDS
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent, StagedReturnEvent
from jaxlint.staging.frame import Loop
from jaxlint.staging.memo import cache
from jaxlint.staging.syntax_facts import dotted, nodes_of, walk
from jaxlint.staging.values import Array, Instance, Origin, Transformed, TupleValue, Unknown, Value, parts_of
from jaxlint_rules._loops import (
    GROWING,
    SIZED,
    assigned_once,
    bodies,
    counters,
    growing,
    host_loops,
    names_in,
    rebound,
)
from jaxlint_rules.recompilation._gathered import gathered
from jaxlint_rules.recompilation._ragged import CONVERTING, drawn, ragged, text_length

_STACKING = frozenset({"array", "asarray", "stack", "concatenate", "vstack", "hstack"})
_MASKS = frozenset({"isnan", "isfinite", "isinf", "isin", "logical_not", "logical_and", "logical_or"})
_EVEN = frozenset({"range", "arange", "linspace"})


class ShapeVaryingLoop(Rule):
    """A jitted function is called with a new shape in every iteration.

    ## What it does
    Finds calls of jitted functions in a loop whose argument is longer each time: a slice up to the loop variable
    (`x[:i]`), an array that grows by `jnp.concatenate`, in the loop or in the jitted function that returns it, a list or dict
    that grows, also one that an object keeps; and those whose argument is as long as the data of the iteration is: the words of a text, the rows of a class
    (`x[labels == c]`), what lies between two offsets (`x[starts[i] : starts[i + 1]]`), what is drawn at a random size, what a function of the project pads to the longest of a batch or collects until something happens.

    ## Why is this bad?
    JAX compiles a program per shape. A function that runs in microseconds is then traced and compiled in every iteration:
    for a `tanh` and a sum that took over 100 ms a call on a CPU, and 0.01 ms a call with one shape.

    ## Example
    ```python
    for i in range(1, length):
        logits = next_token(params, tokens[:, :i])
    ```

    ## Use instead
    ```python
    for i in range(1, length):
        logits = next_token(params, tokens, i)  # with the positions from i on masked inside
    ```
    Or keep a buffer of the final size and write to it with `.at[i].set(...)`, or `jax.lax.dynamic_slice` windows of one size.

    ## Fix safety
    There is no automatic fix, in no case that this rule reports. One compile needs arguments of one shape, so what is
    not filled yet has to be left out of every sum, softmax, norm and mean inside the function: masks that only its
    author can place. Static arguments do not help, since each value of a static argument is a compile as well. Where
    sizes come from data, rounding them up to a few (powers of two) bounds the number of compiles, with the same masks.
    `jaxlint verify` names the array that grows, and what its compiles took. (A list of parts of one shape that is
    stacked after the loop compiles once; `append-loop` has a fix for it.)

    ## When not to fix
    When the loop runs a few times, or the sizes repeat from run to run and compiled programs are kept on disk.

    ## References
    - [JAX: just-in-time compilation and caching](https://docs.jax.dev/en/latest/jit-compilation.html#jit-and-caching)
    """

    code = "JAX403"
    name = "shape-varying-loop"
    category = "recompilation"
    severity = Severity.WARNING
    examples = (
        Example(
            "slices up to the loop variable, arrays and lists that grow",
            """
import jax
import jax.numpy as jnp

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def prefixes(x, n):
    total = 0.0
    for i in range(1, n):
        total += score(x[:i])  # finding
    return total

def decode(tokens, n):
    i = 1
    while i < n:
        head = tokens[:, :i]
        logit = score(head)  # finding
        i += 1
    return logit

def generate(tokens, n):
    for _ in range(n):
        nxt = score(tokens)  # finding
        tokens = jnp.concatenate([tokens, nxt[None]])
    return tokens

def history(xs, n):
    seen = []
    for x in xs:
        seen.append(x)
        print(score(jnp.stack(seen)))  # finding
""",
        ),
        Example(
            "windows of one size, buffers, a few chosen sizes, slices inside of jit",
            """
import jax
import jax.numpy as jnp

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

@jax.jit
def inside(x):
    return sum(score(x[:i]) for i in range(1, 5))

def windows(x, n, size):
    for i in range(n):
        end = i + size
        print(score(x[i:end]), score(x[i * size : (i + 1) * size]), score(x[i : i + 8]), score(x[i]))

def buffer(x, n):
    out = jnp.zeros(n)
    for i in range(n):
        out = out.at[i].set(score(x))
    return out

def sizes(x):
    for n in (10, 100, 1000):
        print(score(x[:n]))

def batches(xs, n):
    for epoch in range(n):
        batch = []
        for x in xs:
            batch.append(x)
            if len(batch) == 8:
                print(score(jnp.stack(batch)))
                batch = []

def last_batch_padded(data, n, size):
    for i in range(0, n, size):
        batch = data[i : i + size]
        if len(batch) < size:
            batch = jnp.concatenate([batch, jnp.zeros(size - len(batch))])
        print(score(batch))

def padded(texts, tokenizer, labels, x, label):
    for text in texts:
        print(score(jnp.array(tokenizer.encode(text, padding="max_length"))))
        print(score(jnp.where(labels == text, 1.0, 0.0)), score(x[labels == label]))
""",
        ),
        Example(
            "an array that the jitted function itself makes longer, a dict that gains keys",
            """
from typing import NamedTuple
import jax
import jax.numpy as jnp

@jax.jit
def decode(cache, token):
    keys = jnp.concatenate([cache["k"], token[None]])
    return token + keys.sum(), {"k": keys}

@jax.jit
def roll(window, token):
    return jnp.concatenate([window[1:], token[None]])

@jax.jit
def shift(window, token):
    return jnp.tanh(token), jnp.concatenate([window[1:], token[None]])

@jax.jit
def update(w, history):
    return w + sum(history.values())

class State(NamedTuple):
    bounds: jax.Array
    rows: jax.Array

@jax.jit
def iterate(x, state):
    rows = jnp.concatenate([state.bounds, x[None]])
    return x + rows.sum(), State(bounds=state.bounds, rows=rows)

def solve(x, state, n):
    for _ in range(n):
        x, state = iterate(x, state)
    return x

def generate(cache, token, n):
    for _ in range(n):
        token, cache = decode(cache, token)  # finding
    return token

def windows(window, token, n):
    for _ in range(n):
        window = roll(window, token)
        token, window = shift(window, token)
    return window

def fit(w, n):
    history, named = {}, {"loss": 0.0}
    for i in range(n):
        w = update(w, history)  # finding
        history[f"loss {i}"] = w
        named["loss"] = w
        w = update(w, named)
    return w
""",
        ),
        Example(
            "batches padded to their longest, episodes of any length",
            """
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def collate(texts):
    longest = max(len(text) for text in texts)
    out = np.zeros((len(texts), longest))
    for row, text in enumerate(texts):
        out[row, : len(text)] = text
    return out

def batches(corpus, size):
    for start in range(0, len(corpus), size):
        yield collate(corpus[start : start + size])

def rollout(env):
    seen, rewards, done = [], [], False
    while not done:
        obs, reward, done = env.step()
        seen.append(obs)
        rewards.append(reward)
    return np.stack(seen), np.sum(rewards)

def train(corpus, env, n):
    for batch in batches(corpus, 8):
        score(batch)  # finding
    for _ in range(n):
        seen, total = rollout(env)
        score(seen)  # finding
        score(total)
""",
        ),
        Example(
            "batches padded to one length, or to a few, episodes of one length",
            """
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def fixed(texts, size, length):
    out = np.zeros((size, length))
    for row, text in enumerate(texts):
        out[row, : len(text)] = text[:length]
    return out

def bucketed(texts, size):
    longest = 64 * -(-max(len(text) for text in texts) // 64)
    return np.zeros((size, longest))

def padded(corpus):
    return np.zeros((len(corpus), max(len(text) for text in corpus)))

def whole(corpus, size):
    longest = max(len(text) for text in corpus)
    for start in range(0, len(corpus), size):
        out = np.zeros((size, longest))
        yield out

def rollout(env, n):
    seen = []
    for _ in range(n):
        seen.append(env.step())
    return np.stack(seen)

def train(corpus, env, n):
    for start in range(0, len(corpus), 8):
        score(fixed(corpus[start : start + 8], 8, 100))
        texts = bucketed(corpus[start : start + 8], 8)
        score(texts)
    for batch in whole(corpus, 8):
        score(batch)
    for _ in range(n):
        seen = rollout(env, 100)
        score(seen)
        score(padded(corpus))
""",
        ),
        Example(
            "parts that each iteration gathers anew",
            """
import jax
import jax.numpy as jnp

@jax.jit
def together(parts, rewards):
    return jnp.concatenate(parts), rewards

def train(queue, steps):
    for _ in range(steps):
        parts = []
        for _ in range(4):
            parts.append(queue.get())
        parts, rewards = together(parts, queue.rewards())
    return parts

@jax.jit
def longer(parts, x):
    return jnp.concatenate([parts, x]), x

def gather(parts, x, steps):
    for _ in range(steps):
        parts, x = longer(parts, x)  # finding
    return parts
""",
        ),
        Example(
            "parts between offsets, sizes that are drawn",
            """
import itertools
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def parts(x, starts):
    total = 0.0
    for lo, hi in zip(starts[:-1], starts[1:]):
        total += score(x[lo:hi])  # finding
    for i in range(len(starts) - 1):
        total += score(jnp.asarray(x[starts[i] : starts[i + 1]]))  # finding
    return total + sum(score(x[lo:hi]) for lo, hi in itertools.pairwise(starts))  # finding

def sample_size(rng):
    return int(rng.integers(20, 60))

def crops(x, rng, n):
    for _ in range(n):
        size = sample_size(rng)
        image = rng.normal(size=(2, size, size))
        score(image)  # finding
        length = np.random.randint(10, 100)
        score(x[:length])  # finding
""",
        ),
        Example(
            "parts of one length, crops of one size at random places",
            """
import itertools
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def parts(x, n):
    edges = range(0, n, 32)
    return [score(x[lo:hi]) for lo, hi in itertools.pairwise(edges)]

def crops(x, rng, n):
    size = int(rng.integers(20, 60))
    for _ in range(n):
        place = int(rng.integers(0, 60))
        score(x[place : place + 8])
        score(rng.normal(size=(2, size)))
        score(rng.normal(loc=place, size=8))
""",
        ),
        Example(
            "texts of any length, the rows of each class",
            """
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def encode(line, vocabulary):
    ids = [vocabulary.get(word, 0) for word in line.split()]
    return jnp.asarray(ids)

def texts(lines, vocabulary, tokenizer):
    out = []
    for line in lines:
        ids = np.array([vocabulary[word] for word in line.split()])
        out.append(score(ids))  # finding
        out.append(score(jnp.array(tokenizer.encode(line))))  # finding
        out.append(score(encode(line, vocabulary)))  # finding
    return out

def classes(x, labels):
    return [score(x[labels == c]) for c in range(10)]  # finding

def rows(x, labels):
    for c in np.unique(labels):
        members = np.nonzero(labels == c)[0]
        print(score(x[members]), score(members))  # finding

def measured(batches):
    for values in batches:
        known = values[~np.isnan(values) & (values > 0)]
        score(known)  # finding
        score(np.where(np.isnan(values), 0.0, values))

def neighbours(positions, cutoff):
    return np.nonzero(np.abs(positions[:, None] - positions) < cutoff)

def at_most(positions, cutoff):
    return jnp.nonzero(positions < cutoff, size=8)

def simulate(frames, table):
    for positions in frames:
        senders, receivers = neighbours(positions, 0.3)
        score(senders)  # finding
        (first,) = at_most(positions, 0.3)
        score(first)
        left, right = neighbours(table, 0.3)
        score(left)

def clipped(clips, some):
    for clip in clips:
        keep = np.abs(clip).max(axis=1) < 3.0
        score(clip[keep])  # finding
        score(clip * keep[:, None])
        score(clip[some])
""",
        ),
        Example(
            "texts that are made as long as each other",
            """
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def padded(line, vocabulary, length):
    ids = [vocabulary.get(word, 0) for word in line.split()]
    ids.extend([0] * (length - len(ids)))
    return np.array(ids)

def filled(line, vocabulary, length):
    ids = [vocabulary.get(word, 0) for word in line.split()]
    ids += [0] * (length - len(ids))
    return np.array(ids)

def first_words(line, vocabulary, length):
    return np.array([vocabulary.get(word, 0) for word in line.split()][:length])

def named(vocabulary):
    return np.array([vocabulary[word] for word in "one two three".split()])

def texts(lines, vocabulary):
    for line in lines:
        score(padded(line, vocabulary, 64))
        score(filled(line, vocabulary, 64))
        score(first_words(line, vocabulary, 8))
        score(named(vocabulary))
        ids = [vocabulary.get(word, 0) for word in line.split()]
        ids += [0] * (64 - len(ids))
        score(np.array(ids))
""",
        ),
        Example(
            "all that an object has gathered",
            """
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def fit(w, xs, ys):
    return w - 0.1 * jnp.mean(xs @ w - ys)

class Memory:
    def __init__(self):
        self.xs, self.ys, self.last = [], [], []

    def add(self, x, y):
        self.xs.append(x)
        self.ys.append(y)
        self.last.append(x)
        if len(self.last) > 8:
            self.last.pop(0)

    def everything(self):
        return np.stack(self.xs), np.array(self.ys)

    def recent(self):
        return np.stack(self.last)

    def draw(self, rows):
        return np.stack([self.xs[i] for i in rows])

class Learner:
    def __init__(self, w):
        self.w, self.memory, self.seen = w, Memory(), []

    def observe(self, x, y):
        self.memory.add(x, y)
        xs, ys = self.memory.everything()
        self.w = fit(self.w, xs, ys)  # finding
        self.w = fit(self.w, self.memory.recent(), 0.0)
        self.w = fit(self.w, self.memory.draw([0, 0, 0]), 0.0)

    def follow(self, x):
        self.seen.append(x)
        self.w = fit(self.w, jnp.stack(self.seen), 0.0)  # finding

    def refit(self, epochs):
        xs, ys = self.memory.everything()
        for _ in range(epochs):
            self.w = fit(self.w, xs, ys)

def run(data):
    learner = Learner(jnp.ones(3))
    for x, y in data:
        learner.observe(x, y)
        learner.follow(x)
    learner.refit(10)
    return learner.w

run([(np.ones(3), 1.0)] * 9)
""",
        ),
    )

    def __init__(self) -> None:
        # Of jitted functions: parameters that they return longer, with the part that grows and which result it is in.
        self.grown: dict[ast.AST, dict[tuple[str, int], str]] = {}
        self.carried: list[
            tuple[CallEvent, Transformed, Loop, list[str]]
        ] = []  # calls in loops, and their targets

    def on_staged_return(self, event: StagedReturnEvent, report: Reporter) -> None:
        if event.transformed.kind not in JIT_KINDS:
            return
        given = {
            value.origin: name
            for name, value in event.parameters.items()
            if isinstance(value, (Array, Unknown)) and value.origin is not None
        }
        several = isinstance(event.value, TupleValue) and event.value.items is not None
        for position, value in enumerate(parts_of(event.value) if several else [event.value]):
            for origin in _lengthened(value):
                if origin.root() in given:
                    grown = self.grown.setdefault(event.transformed.node, {})
                    grown[given[origin.root()], position] = origin.name

    def finish(self, report: Reporter) -> None:
        interpreter = report.interpreter
        assert interpreter is not None
        for event, callee, loop, targets in self.carried:
            node = event.node
            assert isinstance(node, ast.Call)
            given = dict(zip(interpreter.signature(callee.target), node.args, strict=False))
            given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
            for (name, position), part in self.grown.get(callee.node, {}).items():
                if name in given and position < len(targets) and dotted(given[name]) == targets[position]:
                    if _begins_anew(targets[position], loop.node, node):
                        continue
                    report.event = event
                    how = f"it returns `{part}` longer than it was, and is given that again"
                    self.tell(event, callee, given[name], how, loop, report)
                    break

    @concerns(callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee, node, frame = event.callee, event.node, event.frame
        if (
            not isinstance(callee, Transformed)
            or callee.kind not in JIT_KINDS
            or not isinstance(node, ast.Call)
        ):
            return
        if frame.stage.staged or frame.module.is_test:
            return
        for loop, body in bodies(frame):
            for argument in [*node.args, *(k.value for k in node.keywords)]:
                how = gathered(argument, body, frame)
                if how:
                    self.tell(event, callee, argument, how, loop, report)
                    return
        if not frame.loops:
            return
        for loop in host_loops(frame, comprehensions=True):
            for argument in [*node.args, *(k.value for k in node.keywords)]:
                how = (
                    _varies(argument, loop, report)
                    or ragged(argument, loop.node, frame)
                    or drawn(argument, loop.node, frame)
                )
                if how:
                    self.tell(event, callee, argument, how, loop, report)
                    return
        loop = frame.loops[-1]
        targets = _targets(event)
        if targets and not frame.guarded_in_loop() and loop in host_loops(frame):
            self.carried.append((event, callee, loop, targets))

    def tell(
        self, event: CallEvent, callee: Transformed, node: ast.expr, how: str, loop: Loop, report: Reporter
    ) -> None:
        line = getattr(loop.node, "lineno", None) or getattr(event.node, "lineno", "?")
        report(
            event.node,
            f"`{callee.label}` is compiled anew in every iteration: {how}",
            reason=f"{callee.why.explain(report.module)}, and called in the loop at line {line}",
        )


def _begins_anew(name: str, loop: ast.AST, call: ast.AST) -> bool:
    """Whether each iteration gives `name` another value besides what the call returns: `parts = []`."""
    return any(
        statement.value is not call and any(dotted(target) == name for target in statement.targets)
        for statement in nodes_of(loop, ast.Assign)
    )


def _lengthened(value: Value, depth: int = 3, field: str = "") -> Iterator[Origin]:
    """What the arrays in a value were, before something was put behind or in front of them.

    `field`: the attribute that holds the value, which is given to the next call in the place of that attribute alone.
    """
    made = value.made if isinstance(value, Array) else None
    if made is not None and made.name in GROWING and made.args:
        parts = parts_of(made.args[0]) if not isinstance(made.args[0], Array) else made.args[:2]
        for part in parts:
            if isinstance(part, Array) and part.origin is not None:
                if not field or part.origin.name.rpartition(".")[2] == field:
                    yield part.origin
    elif depth > 0:
        for name, part in _attributes(value).items() or ((field, part) for part in parts_of(value)):
            yield from _lengthened(part, depth - 1, name)


def _attributes(value: Value) -> dict[str, Value]:
    """What an object, or a named tuple, holds under which name."""
    if isinstance(value, Instance):
        return value.fields
    if isinstance(value, TupleValue) and value.cls is not None:
        return dict(zip(value.cls.all_fields(), value.elements(), strict=False))
    return {}


def _targets(event: CallEvent) -> list[str]:
    """The names that the results of a call are assigned to."""
    statement = event.frame.facts.get("assign")
    if not isinstance(statement, ast.Assign) or statement.value is not event.node:
        return []
    target = statement.targets[0]
    return [dotted(part) for part in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])]


def _varies(node: ast.expr, loop: Loop, report: Reporter, depth: int = 0) -> str:
    """Why the shape of an argument differs between the iterations of `loop`; "" when it is not known to."""
    changing = counters(loop.node)
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            if isinstance(part, ast.Slice) and part.step is None:
                moving = changing | rebound(loop.node)
                lower = bool(part.lower is not None and names_in(part.lower) & moving)
                upper = bool(part.upper is not None and names_in(part.upper) & moving)
                bound = part.lower if lower else part.upper
                if _between_offsets(part, loop, report.module.tree):
                    return f"the slice `{ast.unparse(node)}` is as long as two offsets are apart"
                if (
                    lower != upper
                    and bound is not None
                    and names_in(bound) & changing
                    and not _bounded(bound)
                ):
                    name = sorted(names_in(part.lower or part) & changing | names_in(part) & changing)[0]
                    return f"the slice `{ast.unparse(node)}` has another length for each `{name}`"
        return _selects(node, loop)
    name = dotted(node)
    if name:
        if name in growing(loop.node):
            return f"`{name}` grows"
        bound = assigned_once(loop.node).get(name) if depth == 0 else None
        return _varies(bound, loop, report, depth + 1) if bound is not None else ""
    if isinstance(node, ast.Call):
        last = dotted(node.func).rpartition(".")[2]
        base = dotted(node.func).partition(".")[0]
        if last in _STACKING and node.args and dotted(node.args[0]) in growing(loop.node):
            return f"the list `{dotted(node.args[0])}` grows"
        if last in CONVERTING and base in ("jnp", "np", "jax", "numpy") and len(node.args) > 0:
            sliced = isinstance(node.args[0], ast.Subscript) and _varies(node.args[0], loop, report, depth)
            return sliced or text_length(
                node.args[0], loop.node, assigned_once(loop.node), _bound_names(loop)
            )
        if last in SIZED and base in ("jnp", "np", "jax", "numpy") and node.args:
            sizes = [node.args[0]] if last != "linspace" else node.args[2:3]
            used = set().union(*(names_in(size) for size in sizes)) & changing
            if used and last != "full" and not any(_bounded(size) for size in sizes):
                return f"`{ast.unparse(node)}` has another size for each `{sorted(used)[0]}`"
    return ""


def _between_offsets(part: ast.Slice, loop: Loop, tree: ast.AST) -> bool:
    """`x[starts[i] : starts[i + 1]]`, and `x[lo:hi]` of `zip(starts[:-1], starts[1:])`: parts as long as the data says."""
    lower, upper = part.lower, part.upper
    if isinstance(lower, ast.Subscript) and isinstance(upper, ast.Subscript):
        offsets = dotted(lower.value)
        apart = isinstance(upper.slice, ast.BinOp) and isinstance(upper.slice.op, ast.Add)
        counted = isinstance(lower.slice, ast.Name) and lower.slice.id in counters(loop.node)
        return bool(
            counted and apart and offsets == dotted(upper.value) and offsets not in _evenly_spaced(tree)
        )
    target, iterable = getattr(loop.node, "target", None), getattr(loop.node, "iter", None)
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(iterable, ast.Call):
        return False
    if [dotted(name) for name in target.elts] != [dotted(lower or part), dotted(upper or part)]:
        return False
    how = dotted(iterable.func).rpartition(".")[2]
    given = iterable.args
    if how == "pairwise" and len(given) == 1:
        offsets = dotted(given[0])
    elif how == "zip" and len(given) == 2 and isinstance(given[1], ast.Subscript):
        first = given[0].value if isinstance(given[0], ast.Subscript) else given[0]
        offsets = dotted(given[1].value) if dotted(first) == dotted(given[1].value) else ""
    else:
        return False
    return bool(offsets) and offsets not in _evenly_spaced(tree)


@cache
def _evenly_spaced(tree: ast.AST) -> frozenset[str]:
    """Names that are bound to numbers at one distance, anywhere in a module."""
    return frozenset(
        dotted(target)
        for statement in nodes_of(tree, ast.Assign)
        for target in statement.targets
        if any(
            isinstance(child, ast.Call) and dotted(child.func).rpartition(".")[2] in _EVEN
            for child in walk(statement.value)
        )
    )


def _bound_names(loop: Loop) -> frozenset[str]:
    """The names that an iteration binds, its variable among them."""
    target = getattr(loop.node, "target", None)
    return rebound(loop.node) | (names_in(target) if target is not None else set())


def _selects(node: ast.Subscript, loop: Loop) -> str:
    """`x[y == c]` and `np.nonzero(y == c)[0]`: as many rows as are true in this iteration."""
    chosen: ast.AST = node.slice
    if isinstance(node.value, ast.Call) and dotted(node.value.func).rpartition(".")[2] in (
        "nonzero",
        "where",
    ):
        if len(node.value.args) != 1 or node.value.keywords:
            return ""
        chosen = node.value.args[0]
    if isinstance(chosen, ast.Name):
        chosen = assigned_once(loop.node).get(chosen.id, chosen)
    if not _is_mask(chosen) or not names_in(chosen) & _bound_names(loop):
        return ""
    return f"`{ast.unparse(node)}` selects another number of rows"


def _is_mask(node: ast.AST) -> bool:
    """A comparison, a question for NaNs and the like, and what `~`, `&` and `|` make of such."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return _is_mask(node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
        return _is_mask(node.left) or _is_mask(node.right)
    if isinstance(node, ast.Call):
        return dotted(node.func).rpartition(".")[2] in _MASKS
    compared = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], compared)


def _bounded(node: ast.expr | None) -> bool:
    """A bound that takes few values, or stops growing: `i % 4`, `min(i, n)`."""
    return node is not None and any(
        (isinstance(child, ast.BinOp) and isinstance(child.op, (ast.Mod, ast.FloorDiv)))
        or (isinstance(child, ast.Call))
        for child in ast.walk(node)
    )
