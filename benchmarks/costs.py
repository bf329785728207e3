"""What the patterns that rules on speed speak of cost: a small program that has one against one that has it not.

python -m benchmarks.costs                           # all, as a table
python -m benchmarks.costs --only JAX502 JAX504
python -m benchmarks.costs --write                   # and into benchmarks/results/costs.md

The two programs of a pair run in turns, so that a busy machine slows both. A ratio is that of the medians of two turns;
shown are the median of the ratios and the range of their middle half.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint.registry import all_rules, code_order, find_rule

Program = Callable[[], object]
RESULTS = Path(__file__).with_name("results") / "costs.md"
ROUNDS = 15
WARM_UPS = 2


@dataclass(frozen=True, slots=True)
class Case:
    """A pair of programs. `what` says what each of them does, in the words of a table.

    `memory`: the programs return what they compile, and what counts is the memory that it needs while it runs.
    """

    rule: str
    what: str
    make: Callable[[], tuple[Program, Program]]
    memory: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """Seconds (or bytes) of both programs (medians), and the ratios of the turns: median and quartiles."""

    bad: float
    good: float
    ratio: float
    low: float
    high: float


CASES: list[Case] = []


def case(
    rule: str, what: str, memory: bool = False
) -> Callable[[Callable[[], tuple[Program, Program]]], None]:
    """Adds a function that makes the bad and the good program of a rule."""

    def add(make: Callable[[], tuple[Program, Program]]) -> None:
        CASES.append(Case(rule, what, make, memory))

    return add


def matrix(*shape: int) -> jax.Array:
    return jax.random.normal(jax.random.key(0), shape) / shape[-1] ** 0.5


@case("jit-in-loop", "10 calls; a lambda jitted in each, or one jitted before")
def _() -> tuple[Program, Program]:
    x = matrix(64, 64)
    kept = jax.jit(lambda v: jnp.tanh(v @ v))
    return (
        lambda: [jax.jit(lambda v: jnp.tanh(v @ v))(x) for _ in range(10)],
        lambda: [kept(x) for _ in range(10)],
    )


@case("varying-static-argument", "10 calls with other numbers; static, or traced")
def _() -> tuple[Program, Program]:
    x = matrix(64, 64)
    numbers = iter(range(10**9))

    def scale(v: jax.Array, n: int) -> jax.Array:
        return jnp.tanh(v * n) @ v

    static, traced = jax.jit(scale, static_argnums=1), jax.jit(scale)
    return (
        lambda: [static(x, next(numbers)) for _ in range(10)],
        lambda: [traced(x, next(numbers)) for _ in range(10)],
    )


@case("shape-varying-loop", "sums of 10 prefixes; sliced, or masked")
def _() -> tuple[Program, Program]:
    x = matrix(4096)
    lengths = iter(range(10**9))

    def bad() -> object:
        total = jax.jit(lambda v: jnp.sum(v * v))  # of a new process, so to speak
        return [total(x[: 1000 + next(lengths) % 3000]) for _ in range(10)]

    masked = jax.jit(lambda v, n: jnp.sum(jnp.where(jnp.arange(v.size) < n, v * v, 0.0)))
    return bad, lambda: [masked(x, 1000 + next(lengths) % 3000) for _ in range(10)]


@case("weak-type-flip", "the first 2 calls; with a Python and a JAX number, or with two of JAX")
def _() -> tuple[Program, Program]:
    x = matrix(64, 64)

    def calls(numbers: list[object]) -> Program:
        def run() -> object:
            step = jax.jit(lambda v, rate: v - rate * jnp.tanh(v @ v))
            return [step(x, number) for number in numbers]

        return run

    return calls([0.1, jnp.float32(0.1)]), calls([jnp.float32(0.1), jnp.float32(0.1)])


@case("jit-of-fresh-function", "10 loops of 20 steps; `fori_loop` of a new lambda, or inside of `jit`")
def _() -> tuple[Program, Program]:
    x = matrix(32, 32)
    kept = jax.jit(lambda v: jax.lax.fori_loop(0, 20, lambda i, c: jnp.tanh(c @ v), v))
    return (
        lambda: [jax.lax.fori_loop(0, 20, lambda i, c: jnp.tanh(c @ x), x) for _ in range(10)],
        lambda: [kept(x) for _ in range(10)],
    )


@case("unrolled-loop", "tracing and compiling 150 steps; a Python loop, or `fori_loop`")
def _() -> tuple[Program, Program]:
    x = matrix(16, 16)

    def step(v: jax.Array) -> jax.Array:
        return v + 0.01 * jnp.tanh(v @ v)

    def unrolled(v: jax.Array) -> jax.Array:
        for _ in range(150):
            v = step(v)
        return v

    return (
        lambda: jax.jit(lambda v: unrolled(v)).lower(x).compile(),
        lambda: jax.jit(lambda v: jax.lax.fori_loop(0, 150, lambda i, c: step(c), v)).lower(x).compile(),
    )


@case(
    "host-sync-in-loop", "50 steps, with as much work in Python; a number fetched in each, or all after them"
)
def _() -> tuple[Program, Program]:
    w, x = matrix(256, 256), matrix(256, 256)

    @jax.jit
    def step(w: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        y = jnp.tanh(x @ w) @ w
        return w - 1e-3 * y, jnp.mean(y)

    def host_work() -> int:
        return sum(i * i for i in range(10_000))  # a batch is prepared

    def bad() -> object:
        v, losses = w, []
        for _ in range(50):
            v, loss = step(v, x)
            losses.append(float(loss))
            host_work()
        return losses

    def good() -> object:
        v, losses = w, []
        for _ in range(50):
            v, loss = step(v, x)
            losses.append(loss)
            host_work()
        return jax.device_get(losses)

    return bad, good


@case("array-iteration", "a sum over 1,000 elements; one by one, or at once")
def _() -> tuple[Program, Program]:
    xs = matrix(1000)

    def bad() -> object:
        total: object = 0.0
        for x in xs:
            total = total + x * x  # type: ignore[operator]
        return total

    return bad, lambda: jnp.sum(xs * xs)


@case("device-put-in-loop", "20 steps on 16 MB; from NumPy each time, or put to the device before")
def _() -> tuple[Program, Program]:
    data = np.random.default_rng(0).standard_normal((2000, 2000), dtype=np.float32)
    kept = jnp.asarray(data)
    step = jax.jit(lambda w, x: w - 1e-6 * (x.T @ (x @ w)))
    w = jnp.ones((2000, 1))

    def steps(x: object) -> Program:
        def run() -> object:
            v = w
            for _ in range(20):
                v = step(v, x)
            return v

        return run

    return steps(data), steps(kept)


@case("convergence-loop", "1,300 iterations on a number; a Python `while`, or `lax.while_loop`")
def _() -> tuple[Program, Program]:
    def iterate(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        new = 0.995 * x + 0.0025 * 2.0 / x
        return new, jnp.abs(new - x)

    step, start = jax.jit(iterate), jnp.float32(50.0)

    def bad() -> object:
        x, error = start, jnp.float32(1.0)
        while error > 1e-5:
            x, error = step(x)
        return x

    loop = jax.jit(
        lambda x: jax.lax.while_loop(lambda c: c[1] > 1e-5, lambda c: iterate(c[0]), (x, jnp.float32(1.0)))
    )
    return bad, lambda: loop(start)


@case("missing-donation", "5 updates of 64 MB; into new memory, or into the old")
def _() -> tuple[Program, Program]:
    def update(p: jax.Array) -> jax.Array:
        return p - 0.1 * p

    plain, donated = jax.jit(update), jax.jit(update, donate_argnums=0)
    held = [jnp.ones((4096, 4096)), jnp.ones((4096, 4096))]

    def steps(number: int, step: Callable[[jax.Array], jax.Array]) -> Program:
        def run() -> object:
            for _ in range(5):
                held[number] = step(held[number])
            return held[number]

        return run

    return steps(0, plain), steps(1, donated)


@case("captured-constant", "tracing and compiling with a table of 40 MB; captured, or passed")
def _() -> tuple[Program, Program]:
    table = matrix(10_000, 1000)
    rows = jnp.arange(8)
    return (
        lambda: jax.jit(lambda i: jnp.tanh(table[i])).lower(rows).compile(),
        lambda: jax.jit(lambda t, i: jnp.tanh(t[i])).lower(table, rows).compile(),
    )


@case("remat-whole-function", "the gradient of 8 layers; all of them rematerialised, or none")
def _() -> tuple[Program, Program]:
    ws, x = matrix(8, 256, 256), matrix(256, 256)

    def loss(ws: jax.Array, x: jax.Array) -> jax.Array:
        for w in ws:
            x = x + jnp.tanh(x @ w)
        return jnp.mean(x**2)

    bad, good = jax.jit(jax.grad(jax.checkpoint(loss))), jax.jit(jax.grad(loss))
    return lambda: bad(ws, x), lambda: good(ws, x)


@case(
    "scan-without-remat",
    "the gradient of a scan over 16 blocks of two layers; as it is, or with `checkpoint`",
    True,
)
def _() -> tuple[Program, Program]:
    ups, downs, x = matrix(16, 256, 1024), matrix(16, 1024, 256), matrix(256, 256)

    def block(h: jax.Array, layer: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
        up, down = layer
        return h + jax.nn.gelu(h @ up) @ down, None

    def compiled(body: Callable[..., object]) -> Program:
        def loss(layers: tuple[jax.Array, jax.Array], x: jax.Array) -> jax.Array:
            return jnp.mean(jax.lax.scan(body, x, layers)[0] ** 2)  # type: ignore[arg-type]

        return lambda: jax.jit(jax.grad(loss)).lower((ups, downs), x).compile()

    return compiled(block), compiled(jax.checkpoint(block, prevent_cse=False))


@case("python-loop-over-batch", "64 rows of 32 numbers; one by one, or by `vmap`")
def _() -> tuple[Program, Program]:
    w, xs = matrix(32, 32), matrix(64, 32)

    def predict(x: jax.Array) -> jax.Array:
        return jnp.tanh(x @ w).sum()

    return lambda: jnp.stack([predict(x) for x in xs]), lambda: jax.vmap(predict)(xs)


@case("append-loop", "200 steps of a small recurrence; a Python loop around a jitted step, or `scan`")
def _() -> tuple[Program, Program]:
    w, h, xs = matrix(32, 32), matrix(8, 32), matrix(200, 8, 32)

    def cell(h: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.tanh(h @ w + x)

    step, scanned = (
        jax.jit(cell),
        jax.jit(lambda h, xs: jax.lax.scan(lambda h, x: (cell(h, x),) * 2, h, xs)[1]),
    )

    def bad() -> object:
        state, states = h, []
        for x in xs:
            state = step(state, x)
            states.append(state)
        return jnp.stack(states)

    return bad, lambda: scanned(h, xs)


@case(
    "gradient-accumulation-loop", "tracing and compiling the gradients of 16 parts; a Python loop, or `scan`"
)
def _() -> tuple[Program, Program]:
    w, parts = matrix(4, 64, 64), matrix(16, 8, 64)

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        for layer in w:
            x = x + jnp.tanh(x @ layer)
        return jnp.mean(x**2)

    def unrolled(w: jax.Array, parts: jax.Array) -> jax.Array:
        grads = jnp.zeros_like(w)
        for part in parts:
            grads = grads + jax.grad(loss)(w, part)
        return grads

    def scanned(w: jax.Array, parts: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda g, part: (g + jax.grad(loss)(w, part), None), jnp.zeros_like(w), parts)[0]

    return (
        lambda: jax.jit(lambda w, parts: unrolled(w, parts)).lower(w, parts).compile(),
        lambda: jax.jit(lambda w, parts: scanned(w, parts)).lower(w, parts).compile(),
    )


@case("layer-loop", "tracing and compiling 48 layers; a Python loop, or `scan`")
def _() -> tuple[Program, Program]:
    ws, x = matrix(48, 64, 64), matrix(8, 64)

    def layer(h: jax.Array, w: jax.Array) -> jax.Array:
        return h + jax.nn.gelu(h @ w) @ w.T

    def unrolled(ws: jax.Array, x: jax.Array) -> jax.Array:
        for w in ws:
            x = layer(x, w)
        return x

    return (
        lambda: jax.jit(lambda ws, x: unrolled(ws, x)).lower(ws, x).compile(),
        lambda: (
            jax.jit(lambda ws, x: jax.lax.scan(lambda h, w: (layer(h, w), None), x, ws)[0])
            .lower(ws, x)
            .compile()
        ),
    )


@case("grad-of-jit", "20 gradients; of a jitted loss, or jitted")
def _() -> tuple[Program, Program]:
    w, x = matrix(64, 64), matrix(64, 64)

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.mean(jnp.tanh(x @ w) ** 2)

    bad, good = jax.grad(jax.jit(loss)), jax.jit(jax.grad(loss))
    return lambda: [bad(w, x) for _ in range(20)], lambda: [good(w, x) for _ in range(20)]


@case("broadcast-for-vmap", "one matrix for 64 rows; repeated, or `in_axes=None`")
def _() -> tuple[Program, Program]:
    w, xs = matrix(256, 256), matrix(64, 256)
    bad = jax.jit(lambda w, xs: jax.vmap(lambda w, x: x @ w)(jnp.stack([w] * 64), xs))
    good = jax.jit(jax.vmap(lambda w, x: x @ w, in_axes=(None, 0)))
    return lambda: bad(w, xs), lambda: good(w, xs)


@case("cond-under-vmap", "64 rows of which none takes the costly branch; under `vmap`, or by `lax.map`")
def _() -> tuple[Program, Program]:
    w, xs = matrix(128, 128), jnp.abs(matrix(64, 128))

    def row(x: jax.Array) -> jax.Array:
        costly = lambda v: jax.lax.fori_loop(0, 50, lambda i, c: jnp.tanh(c @ w), v)  # noqa: E731
        return jax.lax.cond(x.sum() < 0, costly, lambda v: v, x)

    bad, good = jax.jit(jax.vmap(row)), jax.jit(lambda xs: jax.lax.map(row, xs))
    return lambda: bad(xs), lambda: good(xs)


@case("one-hot-matmul", "256 rows of a table with 8,192; by a product with a one-hot matrix, or by index")
def _() -> tuple[Program, Program]:
    table, rows = matrix(8192, 128), jnp.arange(256) * 31 % 8192
    bad = jax.jit(lambda t, i: jax.nn.one_hot(i, 8192) @ t)
    good = jax.jit(lambda t, i: t[i])
    return lambda: bad(table, rows), lambda: good(table, rows)


def seconds(program: Program) -> float:
    """How long one run takes, until the device is done."""
    start = time.perf_counter()
    result = program()
    if not isinstance(result, jax.stages.Compiled):
        jax.block_until_ready(result)
    return time.perf_counter() - start


def temporary_bytes(program: Program) -> float:
    """What the compiled program that `program` returns needs beside its arguments and results, by its compiler."""
    compiled = program()
    assert isinstance(compiled, jax.stages.Compiled)
    planned = compiled.memory_analysis()
    assert planned is not None, "this compiler says nothing about memory"
    return float(planned.temp_size_in_bytes)


def measure(one: Case, rounds: int = ROUNDS) -> Result:
    """Runs both programs in turns, after some that do not count; once where it is memory that counts."""
    bad, good = one.make()
    if one.memory:
        more, less = temporary_bytes(bad), temporary_bytes(good)
        return Result(more, less, more / less, more / less, more / less)
    for _ in range(WARM_UPS):
        seconds(bad), seconds(good)
    turns = [(seconds(bad), seconds(good)) for _ in range(rounds)]
    ratios = sorted(slow / fast for slow, fast in turns)
    low, middle, high = statistics.quantiles(ratios, n=4)
    slow, fast = (statistics.median(times) for times in zip(*turns, strict=True))
    return Result(slow, fast, middle, low, high)


def duration(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.2g} us"


def size(value: float) -> str:
    return f"{value / 1e6:.3g} MB"


def number(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def row(one: Case, result: Result) -> str:
    rule = find_rule(one.rule)
    show = size if one.memory else duration
    return (
        f"| {rule.code} | {rule.name} | {one.what} | {show(result.bad)} | {show(result.good)} "
        f"| {number(result.ratio)} | {number(result.low)} to {number(result.high)} |"
    )


HEAD = "| rule | name | what runs | with it | without | ratio | middle half |\n| --- | --- | --- | ---: | ---: | ---: | ---: |"


def description() -> str:
    """Where the figures come from, in words that fit any machine."""
    return (
        f"jax {jax.__version__}, {jax.default_backend()} backend, {platform.machine()}, Python {platform.python_version()}, "
        f"{ROUNDS} turns each"
    )


def main() -> int:
    """Runs the command; 2 for rules that have no case."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.costs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", nargs="+", metavar="RULE", help="by code or name")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} as well")
    options = parser.parse_args()
    codes = {one.rule: find_rule(one.rule).code for one in CASES}
    wanted = {name.upper() for name in options.only or ()}
    chosen = [one for one in CASES if not wanted or {one.rule.upper(), codes[one.rule]} & wanted]
    unknown = wanted - {one.rule.upper() for one in CASES} - set(codes.values())
    if unknown:
        known = {rule.code for rule in all_rules()}
        what = "no rule" if not unknown & known else "no case"
        print(f"error: {what} for {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    lines = [HEAD]
    print(description(), HEAD, sep="\n\n", flush=True)
    for one in sorted(chosen, key=lambda one: code_order(codes[one.rule])):
        lines.append(row(one, measure(one)))
        print(lines[-1], flush=True)
    if options.write:
        RESULTS.write_text(
            f"# What the patterns cost\n\n`python -m benchmarks.costs --write` wrote this: {description()}.\n\n"
            + "\n".join(lines)
            + "\n",
            encoding="utf-8",
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
