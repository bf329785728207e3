"""An exception in the middle of the analysis costs what was being evaluated, and changes nothing of what is found later."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import jaxlint.staging
import jaxlint_rules
from jaxlint.registry import all_rules
from jaxlint.source.read import read_source, source_from_bytes
from jaxlint.specimens import FOLDER as SPECIMENS
from jaxlint.staging import Analysis, analysis
from jaxlint.staging.evaluator import scopes
from jaxlint.staging.evaluator.calls import Calls
from jaxlint.staging.evaluator.expressions import Expressions
from jaxlint.staging.evaluator.externals import Externals
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.interpreter import Interpreter
from jaxlint.staging.listeners import Listeners
from jaxlint.staging.transforms.boundary import Boundary

# Code that opens every scope there is; what it computes does not matter.
EVERYTHING = """
import contextlib
import functools

import chex
import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from shared import helper, scaled


class Model:
    def apply(self, x):
        return jnp.tanh(x)

    def act(self, f):
        return f(jnp.ones(3))


class Other:
    def apply(self, x):
        return jnp.sin(x)

    def act(self, f):
        return jnp.sin(f(1.0))


class Config(eqx.Module):
    rate: jax.Array
    names: list = eqx.field(static=True)

    def scaled(self, x):
        return self.rate * x


class Layer(nn.Module):
    @nn.compact
    def __call__(self, x):
        return jnp.sin(nn.Dense(3)(x))


class Linear(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.weight = nnx.Param(jnp.ones(3))

    def __call__(self, x):
        return jnp.dot(x, self.weight)


@jax.custom_vjp
def squared(x):
    return jnp.sin(x) ** 2


def forward(x):
    return squared(x), jnp.cos(x)


def backward(kept, gradient):
    return (jnp.sin(kept) * gradient,)


squared.defvjp(forward, backward)


def loss(x):
    return jnp.sum(squared(x)) + jnp.sum(jnp.sin(x))


@jax.jit
def unknown_model(model, x):
    return model.apply(jnp.sin(x))


@jax.jit
def of_a_table(x, name="sin"):
    method = {"sin": jnp.sin, "cos": jnp.cos}[name]
    chosen = Model() if x.ndim == 1 else Other()
    return method(jnp.cos(x)) + chosen.act(lambda y: jnp.sin(y))


@jax.jit
def paths(x, mode=None, flag=False):
    try:
        y = jnp.sin(x)
    except jax.errors.TracerBoolConversionError:
        y = jnp.cos(x)
    if mode is None:
        y = y + jnp.sin(y)
    else:
        y = jnp.cos(y)
    if hasattr(jax, "shard_map"):
        y = jnp.sin(y)
    z = jnp.sin(y) if hasattr(jax.numpy, "sinc") and jnp.sinc(y) is not None else jnp.cos(y)
    z = jnp.sin(z) if isinstance(z, jax.core.Tracer) else jnp.cos(z)
    if flag:
        raise ValueError(jnp.sin(z))
    for i in range(3):
        z = jnp.sin(z)
    parts = [jnp.sin(part) for part in (x, y, z)]
    more = [jnp.cos(a) for a in parts for _ in range(2)]
    while mode:
        z = jnp.sin(z)
    match mode:
        case 1:
            z = jnp.sin(z)
    return sum(parts) + sum(more)


def missing_arguments(a, b):
    return jnp.sin(a)


def run_all(settings):
    x = jnp.ones(3)
    if settings["fast"]:
        x = jnp.sin(x)
    jax.grad(loss)(x)
    jax.jacfwd(loss)(x)
    with jax.disable_jit():
        jax.jit(lambda y: jnp.sin(y))(x)
        jax.vmap(lambda y: jnp.sin(y))(x)
    with chex.fake_pmap():
        jnp.sin(x)
    model = Layer()
    variables = model.init(jax.random.key(0), x)
    jax.grad(lambda v: jnp.sum(model.apply(v, x)))(variables)
    linear = Linear(nnx.Rngs(0))
    nnx.jit(lambda m, y: m(y))(linear, x)
    config = Config(x, ["a"])
    eqx.filter_jit(lambda c, y: c.scaled(jnp.sin(y)))(config, x)
    jax.jit(lambda c, y: c.scaled(jnp.sin(y)))(config, x)
    jax.lax.cond(x.sum() > 0, lambda y: jnp.sin(y), lambda y: jnp.cos(y), x)
    jax.jit(lambda y: jnp.sin(y)).lower(x)
    jax.eval_shape(lambda y: jnp.sin(y), x)
    missing_arguments(x)
    network = hk.transform(lambda y: jnp.sin(hk.Linear(3)(y)))
    network.apply(network.init(jax.random.key(1), x), None, x)
    helper(x)
    return scaled(x, 2)


def decorated(option):
    return functools.partial(jax.jit, static_argnames=option)


@decorated(jnp.sin(1.0))
def with_options(x):
    return jnp.sin(x)


@functools.lru_cache
def cached(n):
    return jnp.sin(n)


class Table:
    @functools.cached_property
    def entries(self):
        return jnp.sin(jnp.ones(3))


class Agent:
    def learn_from(self, x):
        return jnp.sin(x)


def play(agent, xs):
    for x in xs:
        agent.learn_from(x)


table = Table()
inside = jax.jit(lambda x: table.entries + jnp.sin(x))
run_all({"fast": unknown_name})
"""

EXPECTING = """
import jax
import jax.numpy as jnp
import pytest
from typing import Annotated


@pytest.fixture
def array():
    return jnp.sin(jnp.ones(3))


@pytest.fixture
def doubled(array):
    return array * 2


def step(x: Annotated[jax.Array, jnp.sin(1.0)], n: jnp.ndarray = None):
    return jnp.sin(x)


jitted = jax.jit(step)


def test_raises(doubled):
    with pytest.raises(TypeError):
        jitted(jnp.sin(doubled))
"""

SHARED = """
import jax
import jax.numpy as jnp


@jax.jit
def helper(x):
    y = jnp.sin(x)
    if y.sum() > 0:
        return y
    return -y


def scaled(x, by):
    return jnp.sin(x) * by
"""

# The file after, with findings of every sort.
NEXT = """
import jax
import jax.numpy as jnp
import numpy as np
from shared import helper, scaled

from jax.experimental.maps import xmap


def positive(x):
    return jnp.sin(x) > 0


@jax.jit
def step(x, n=1):
    if positive(x).all():
        x = x + 1
    key = jax.random.key(0)
    a = jax.random.normal(key)
    b = jax.random.normal(key)
    return float(x.sum()) + a + b + np.sin(x)


@jax.jit
def outer(x):
    return step(scaled(x, 2)) + helper(x)


def loss(x):
    if x.sum() > 0:
        return jnp.sqrt(x).sum()
    return x.sum()


gradient = jax.jit(jax.grad(loss))
outer(jnp.ones(3))
gradient(jnp.ones(3))
"""

FILES = {"everything.py": EVERYTHING, "test_expecting.py": EXPECTING, "shared.py": SHARED, "unlike.py": NEXT}
# Where an analysis goes through whatever it evaluates.
PLACES = (
    (Externals, "call_external"),
    (Expressions, "eval"),
    (Boundary, "to_staged"),
    (Boundary, "to_device"),
    (Calls, "call_value"),
    (FunctionCalls, "run_function"),
)


class Injected(Exception):
    """The bug of ours."""


class Open:
    """The scopes that are open, innermost last, and where the bug is to strike."""

    def __init__(self, target: type[scopes.Scope] | None = None) -> None:
        self.target = target
        self.stack: list[type[scopes.Scope]] = []
        self.struck = 0
        self.reached: set[type[scopes.Scope]] = set()

    def pass_by(self) -> None:
        """The analysis gets somewhere: notes what is open since the last call of a function, or strikes there."""
        calls = [i for i, kind in enumerate(self.stack) if kind is scopes.Active]
        inner = self.stack[calls[-1] :] if calls else self.stack
        self.reached.update(inner)
        if self.target in inner and not self.struck:
            self.struck += 1
            raise Injected("injected")


def analyse(
    folder: Path, patch: pytest.MonkeyPatch, watch: Open | None, files: dict[str, str] = FILES
) -> tuple[Analysis, Interpreter]:
    """The analysis of all files, with `watch` told of each scope that opens and closes."""
    made: list[Interpreter] = []
    build = analysis.build

    def kept(*args: Any) -> Interpreter:
        made.append(build(*args))
        return made[-1]

    with patch.context() as patched:
        patched.setattr(analysis, "build", kept)
        if watch is not None:
            for kind in scopes.kinds():
                patched.setattr(kind, "__enter__", entering(kind, kind.__enter__, watch))
                patched.setattr(kind, "__exit__", leaving(kind, kind.__exit__, watch))
            for part, name in PLACES:
                patched.setattr(part, name, passing(getattr(part, name), watch))
        sources = []
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
            sources.append(read_source(folder / name, name))
        result = analysis.analyze(sources, [rule() for rule in all_rules()])
    return result, made[0]


def entering(kind: type[scopes.Scope], enter: Callable[[Any], None], watch: Open) -> Callable[[Any], None]:
    def entered(self: Any) -> None:
        enter(self)
        watch.stack.append(kind)

    return entered


def leaving(kind: type[scopes.Scope], leave: Callable[..., None], watch: Open) -> Callable[..., None]:
    def left(self: Any, *error: object) -> None:
        assert watch.stack.pop() is kind
        leave(self, *error)

    return left


def passing(method: Callable[..., Any], watch: Open) -> Callable[..., Any]:
    def passed(*args: Any, **kwargs: Any) -> Any:
        watch.pass_by()
        return method(*args, **kwargs)

    return passed


def found_in(result: Analysis, name: str) -> list[str]:
    return sorted(
        f"{f.span} {f.code} {f.severity.name} {f.message} {f.reason}"
        for f in result.findings
        if f.path == name
    )


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[Analysis, Open]:
    watch = Open()
    with pytest.MonkeyPatch.context() as patch:
        result, _ = analyse(tmp_path_factory.mktemp("clean"), patch, watch)
    assert result.errors == []
    assert len(found_in(result, "unlike.py")) > 6
    return result, watch


@pytest.mark.parametrize("kind", sorted(set(scopes.kinds()), key=lambda kind: kind.__name__))
def test_a_bug_inside_a_scope_changes_nothing_of_the_next_file(
    kind: type[scopes.Scope], clean: tuple[Analysis, Open], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, seen = clean
    assert kind in seen.reached, (
        f"no file of this test gets anywhere inside {kind.__name__}: add code that does"
    )
    watch = Open(kind)
    result, interpreter = analyse(tmp_path, monkeypatch, watch)
    assert watch.struck
    assert watch.stack == []
    (error,) = result.errors
    assert "internal error (Injected: injected" in str(error)
    assert error.path != "unlike.py"
    assert found_in(result, "unlike.py") == found_in(expected, "unlike.py")
    fresh = Interpreter(interpreter.project, Listeners())
    for scope in scopes.kinds():
        if scope.attribute != "wants_names" and hasattr(fresh, scope.attribute):
            assert getattr(interpreter, scope.attribute) == getattr(fresh, scope.attribute), scope.__name__


# -- without the scopes' names: what a bug in the model of one function did to the file after it

SPECULATIVE = {
    "a method of something unknown": """
        class Model:
            def apply(self, x):
                return jnp.sinc(x)

        @jax.jit
        def run(model, x):
            return model.apply(x)
    """,
    "one of several functions": """
        def first(x):
            return x

        @jax.jit
        def run(x, name="a"):
            return {"a": first, "b": jnp.sinc}[name](x)
    """,
    "a gradient": "run = jax.jit(jax.grad(lambda x: jnp.sinc(x).sum()))\nrun(jnp.ones(3))",
    "arguments that are missing": "f = lambda x, y: jnp.sinc(x)\nrun = jax.jit(lambda x: f(x))\nrun(jnp.ones(3))",
    "the rules of a custom derivative": """
        @jax.custom_vjp
        def f(x):
            return jnp.sinc(x)
        f.defvjp(lambda x: (jnp.sinc(x), x), lambda x, g: (g,))
        run = jax.jit(lambda x: f(x))
        run(jnp.ones(3))
    """,
    "without jit": "with jax.disable_jit():\n    jnp.sinc(jnp.ones(3))",
    "an expected error": """
        import pytest
        def test():
            with pytest.raises(TypeError):
                jnp.sinc(jnp.ones(3))
    """,
    "an annotation": "def f(x: jnp.sinc(1)): return x\nrun = jax.jit(f)",
    "the body of a module": "x = jnp.sinc(1.0)",
}


@pytest.mark.parametrize("name", SPECULATIVE)
def test_a_bug_in_a_library_model_costs_its_own_file_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import textwrap

    first = "import jax\nimport jax.numpy as jnp\n" + textwrap.dedent(SPECULATIVE[name])
    files = {"test_first.py": first, "shared.py": SHARED, "unlike.py": NEXT}
    expected, _ = analyse(tmp_path, monkeypatch, None, files)
    call = Externals.call_external

    def broken(self: Any, callee: Any, *args: Any) -> Any:
        if callee.name == "jax.numpy.sinc":
            raise Injected("a bug\nof ours")
        return call(self, callee, *args)

    monkeypatch.setattr(Externals, "call_external", broken)
    result, _ = analyse(tmp_path, monkeypatch, None, files)
    (error,) = result.errors
    assert error.path == "test_first.py"
    assert len(str(error).splitlines()) == 1
    assert found_in(result, "unlike.py") == found_in(expected, "unlike.py")
    assert found_in(result, "shared.py") == found_in(expected, "shared.py")


def test_a_bug_that_strikes_once_in_a_shared_function_is_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = (
        "import jax.numpy as jnp\ndef sizes(x):\n    return jnp.sinc(x)\ndef both(x):\n    return sizes(x)\n"
    )
    uses = "import jax\nfrom shared import both\n@jax.jit\ndef f(x):\n    if both(x).sum() > 0:\n        return x\n"
    files = {"first.py": uses, "second.py": uses, "shared.py": shared}
    expected, _ = analyse(tmp_path, monkeypatch, None, files)
    call, struck = Externals.call_external, []

    def broken(self: Any, callee: Any, *args: Any) -> Any:
        if callee.name == "jax.numpy.sinc" and not struck:
            struck.append(callee)
            raise Injected("once")
        return call(self, callee, *args)

    monkeypatch.setattr(Externals, "call_external", broken)
    result, _ = analyse(tmp_path, monkeypatch, None, files)
    assert struck
    # Not their reasons: what is remembered of `both` names the file that called it first.
    places = [sorted((f.path, f.span, f.code) for f in one.findings) for one in (expected, result)]
    assert [path for path, _, _ in places[0]] == ["first.py", "second.py"]
    assert places[1] == [place for place in places[0] if place[0] == "second.py"]


def test_what_a_call_that_raised_has_half_changed_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
import jax
import jax.numpy as jnp

class Box:
    def __init__(self):
        self.held = jnp.ones(3)
        self.sizes = [1]

def fill(box, table):
    box.held = 3
    box.sizes.append(None)
    table["n"] = 3
    box.held = jnp.sinc(1.0)

@jax.jit
def run(x):
    box, table = Box(), {"n": x}
    fill(box, table)
    if box.held.sum() > 0:
        x = x + 1
    if table["n"].sum() > 0:
        x = x + 1
    return x
"""
    call = Externals.call_external

    def broken(self: Any, callee: Any, *args: Any) -> Any:
        if callee.name == "jax.numpy.sinc":
            raise Injected("a bug")
        return call(self, callee, *args)

    monkeypatch.setattr(Externals, "call_external", broken)
    result, _ = analyse(tmp_path, monkeypatch, None, {"program.py": text})
    assert sorted(f.span.line for f in result.findings if f.name == "tracer-branch") == [20, 22]


def test_a_bug_in_a_rule_takes_nothing_from_the_others(tmp_path: Path) -> None:
    class Broken(all_rules()[0]):  # type: ignore[misc]
        code, name = "XXX999", "broken"

        def on_call(self, event: object, report: object) -> None:
            raise ZeroDivisionError("a bug of ours")

        def finish(self, report: object) -> None:
            raise ZeroDivisionError("at the end, too")

    sources = [
        source_from_bytes(text.encode(), tmp_path / name, name)
        for name, text in {"unlike.py": NEXT, "shared.py": SHARED}.items()
    ]
    expected = analysis.analyze(sources, [rule() for rule in all_rules()])
    result = analysis.analyze(sources, [Broken(), *(rule() for rule in all_rules())])
    assert sorted(error.path for error in result.errors) == ["shared.py", "unlike.py"]
    others = [line for line in found_in(result, "unlike.py") if "XXX999" not in line]
    assert others == found_in(expected, "unlike.py")


# -- that it stays so

ENGINE = Path(jaxlint.staging.__file__).parent
RULES = Path(jaxlint_rules.__file__).parent
HELPERS = {"scopes.py"}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def changed_and_put_back(function: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """Attributes that a function changes for a while: counted up and down, swapped, stored and restored, pushed and popped."""
    counted: dict[str, set[type[ast.operator]]] = {}
    saved: dict[str, str] = {}
    pushed: set[str] = set()
    steps = [n for n in ast.walk(function) if hasattr(n, "lineno")]
    for node in sorted(steps, key=lambda n: (n.lineno, n.col_offset)):  # type: ignore[attr-defined]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            place = ast.unparse(node.target)
            ways = counted.setdefault(place, set())
            ways.add(type(node.op))
            if isinstance(node.op, ast.Sub) and ast.Add in ways:
                yield node.lineno, f"{place} is counted up and down"
        elif isinstance(node, ast.Assign):
            (target, *_), value = node.targets, node.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = list(zip(target.elts, value.elts, strict=False))
            for left, right in pairs:
                if isinstance(left, ast.Attribute) and isinstance(right, ast.Name):
                    if saved.get(right.id) == ast.unparse(left):
                        yield node.lineno, f"{ast.unparse(left)} is put back by hand"
            for left, right in pairs:
                if isinstance(left, ast.Name):
                    saved.pop(left.id, None)
                    if isinstance(right, ast.Attribute):
                        saved[left.id] = ast.unparse(right)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            place = ast.unparse(node.func.value)
            if isinstance(node.func.value, ast.Attribute) and node.func.attr == "append":
                pushed.add(place)
            elif node.func.attr == "pop" and not node.args and place in pushed:
                yield node.lineno, f"{place} is pushed to and popped from"
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
                    if ast.unparse(target.value) in pushed:
                        yield node.lineno, f"{ast.unparse(target.value)} is pushed to and cut"


@pytest.mark.parametrize(
    "path",
    [
        *sorted(ENGINE.glob("*.py")),
        *sorted(path for path in RULES.rglob("*.py") if SPECIMENS not in path.parts),
    ],
    ids=lambda path: path.stem,
)
def test_nothing_is_put_back_by_hand(path: Path) -> None:
    if path.parent == ENGINE and path.name in HELPERS:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [f"line {line}: {what}" for f in functions(tree) for line, what in changed_and_put_back(f)]
    assert found == [], "use a scope of jaxlint/staging/evaluator/scopes.py"


@pytest.mark.parametrize(
    "text",
    [
        "self.depth += 1\n    work()\n    self.depth -= 1",
        "old = self.mode\n    self.mode = 1\n    work()\n    self.mode = old",
        "old, self.mode = self.mode, 1\n    try:\n        work()\n    finally:\n        self.mode = old",
        "self.stack.append(1)\n    work()\n    self.stack.pop()",
        "frame.loops.append(1)\n    work()\n    del frame.loops[n:]",
    ],
)
def test_that_test_sees_every_way(text: str) -> None:
    (function,) = functions(ast.parse(f"def f(self, frame):\n    {text}\n"))
    assert list(changed_and_put_back(function))
