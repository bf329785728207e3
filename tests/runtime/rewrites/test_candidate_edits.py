"""Edits of the source as candidates: what is proposed, what counts as the same, and what a whole program proves."""

from __future__ import annotations

import ast
import dataclasses
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.finding import Finding, FixRequest, Safety, Severity, Span, Step
from jaxlint.source import read_source
from jaxlint_runtime.apply.apply_proven import apply_proven
from jaxlint_runtime.capture.observed_results import Observer, read
from jaxlint_runtime.capture.trial_run import _compare
from jaxlint_runtime.request import Request
from jaxlint_runtime.rewrites import edit_timing
from jaxlint_runtime.rewrites.candidate_edits import with_compiled
from jaxlint_runtime.rewrites.eager_functions import eager_functions, eager_methods
from jaxlint_runtime.rewrites.loop_edits import from_compiled, from_loops
from jaxlint_runtime.rewrites.model_calls import from_model_calls
from jaxlint_runtime.rewrites.printed_output import compared_lines, differs
from jaxlint_runtime.rewrites.proposals import Rewrite, from_findings, packages_to_load, to_jit
from jaxlint_runtime.rewrites.trial_runs import Trials
from jaxlint_runtime.rewrites.tried_edit import edited, outermost, ways_of
from jaxlint_runtime.run import Run
from jaxlint_runtime.verify import Verification
from jaxlint_runtime.workers.cleanup import cleaned_up

# ---- what is printed ----


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ("step 1 loss 0.5001", None),
        ("step 1 loss 0.52", "instead of"),
        ("step 2 loss 0.5000", "instead of"),
        ("step 1 error 0.5000", "instead of"),
        ("step 1 loss nan", "instead of"),
        ("step 1 loss 0.5000\nstep 1 loss 0.5000", "2 lines instead of 1"),
        ("", "0 lines instead of 1"),
    ],
)
def test_printed_numbers_may_move_by_rounding_and_nothing_else(found: str, problem: str | None) -> None:
    difference = differs("step 1 loss 0.5000\n", ["step 1 loss 0.5000\n"], found)
    assert difference is None if problem is None else problem in str(difference)


def test_a_program_that_computes_in_16_bits_may_print_what_these_round_to() -> None:
    assert differs("loss 0.5000\n", ["loss 0.5000\n"], "loss 0.507\n") is not None
    assert differs("loss 0.5000\n", ["loss 0.5000\n"], "loss 0.507\n", coarse=True) is None
    assert differs("loss 0.5000\n", ["loss 0.5000\n"], "loss 0.530\n", coarse=True) is not None


def test_what_does_not_repeat_and_what_tells_the_time_is_not_compared() -> None:
    assert differs("drew 17\n", ["drew 23\n"], "drew 20\n") is None
    assert differs("took 0.31 s\n", ["took 0.31 s\n"], "took 0.01 s\n") is None
    assert differs("loss 0.30\n", ["loss 0.38\n"], "loss 0.45\n") is None
    assert differs("loss 0.30\n", ["loss 0.38\n"], "loss 0.95\n") is not None


def test_lines_that_do_not_repeat_are_no_proof() -> None:
    printed = "model of 3 layers\nloss 0.30\ndrew 17\ntook 0.3 s\ndone\n"
    assert compared_lines(printed, [printed.replace("17", "23")]) == (4, 2)
    assert compared_lines("", []) == (0, 0)
    assert compared_lines("a 1\n", ["a 1\na 2\n"]) == (0, 0)


def test_generators_without_a_seed_repeat_in_another_process() -> None:
    program = (
        "from jaxlint_runtime.capture.fixed_seeds import seed_the_unseeded; seed_the_unseeded()\n"
        "import random, numpy as np\n"
        "print(random.random(), np.random.rand(), np.random.default_rng().random(), np.random.default_rng().random())"
    )
    runs = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True) for _ in "ab"]
    assert runs[0].stdout == runs[1].stdout
    assert len(set(runs[0].stdout.split())) == 4


# ---- what is proposed ----

EAGER = """
import jax
import jax.numpy as jnp
import numpy as np

def loss(w, x):
    return jnp.sum((x @ w) ** 2)

def step(w, x, mode):
    return w - jax.grad(loss)(w, x)

@jax.jit
def quick(w):
    return w + 1

def host(x):
    return np.mean(x)

def outer(w):
    return step(w, w, "a")
"""


def test_functions_that_may_run_eagerly_are_known_by_what_they_call() -> None:
    assert {one.name for one in eager_functions(ast.parse(EAGER))} == {"loss", "step", "outer"}


METHODS = """
import jax.numpy as jnp
from flax import linen as nn

class Model(nn.Module):
    @nn.compact
    def __call__(self, xs):
        cell, h, hs = nn.GRUCell(4), jnp.zeros(4), []
        for x in xs:
            h, _ = cell(h, x)
        return h

    def head(self, h):
        return jnp.tanh(h)

class Report:
    def lines(self, values):
        return [str(value) for value in values]
"""


STEPS = """
import jax

class Agent:
    def __init__(self, loss):
        self.grad = jax.grad(loss)

    def step(self, x):
        return self.grad(x)  # it mentions nothing of JAX

    @property
    def rate(self):
        return 0.1
"""


def test_methods_of_classes_that_compute_are_counted(tmp_path: Path) -> None:
    (method,) = eager_methods(ast.parse(STEPS))
    assert method.name == "step"
    (head,) = eager_methods(ast.parse(METHODS))  # `__call__` is decorated
    assert head.name == "head"
    path = tmp_path / "model.py"
    path.write_text(METHODS)
    entry = watched(path, function="Model.__call__", line=6, calls=0, inner_calls=2, arguments=None)
    (found,) = from_loops([entry], {str(path): read_source(path, str(path))})
    assert (found.name, found.function) == ("loops:for-to-scan", "Model.__call__")


def watched(path: Path, **changes: Any) -> dict[str, Any]:
    entry = {
        "function": "step",
        "path": str(path),
        "line": 9,
        "calls": 20,
        "seconds": 2.0,
        "arguments": [
            {"name": "w", "type": "ArrayImpl", "leaves": [{}]},
            {"name": "x", "type": "ArrayImpl", "leaves": [{}]},
            {"name": "mode", "type": "str", "value": "'a'"},
        ],
    }
    return {**entry, **changes}


def test_a_busy_function_is_proposed_for_jit_with_its_strings_static(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(EAGER)
    sources = {str(path): read_source(path, str(path))}
    (rewrite,) = to_jit([watched(path)], sources)
    assert rewrite.instead is None
    new = edited(rewrite.fixes, sources)
    assert isinstance(new, dict)
    assert '@functools.partial(jax.jit, static_argnames="mode")\ndef step(' in new[str(path)].text
    assert "import functools" in new[str(path)].text
    assert to_jit([watched(path, calls=1)], sources) == []
    assert to_jit([watched(path, arguments=[])], sources) == []


def test_what_haiku_transforms_is_not_jitted_inside(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    text = "import haiku as hk\n\ndef forward(x):\n    return hk.Linear(3)(x)\n\ndef other(x):\n    return x + 1\n\n"
    path.write_text(text + "model = hk.without_apply_rng(hk.transform(forward))\n")
    sources = {str(path): read_source(path, str(path))}
    arguments = [{"name": "x", "type": "ArrayImpl", "leaves": [{}]}]
    entries = [
        watched(path, function=name, line=line, arguments=arguments)
        for name, line in (("forward", 3), ("other", 6))
    ]
    assert [one.function for one in to_jit(entries, sources)] == ["other"]


def test_numbers_are_traced_first_and_static_when_that_fails(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(EAGER)
    arguments = [
        {"name": "w", "type": "ArrayImpl", "leaves": [{}]},
        {"name": "mode", "type": "int", "value": "3"},
    ]
    (rewrite,) = to_jit([watched(path, arguments=arguments)], {str(path): read_source(path, str(path))})
    assert rewrite.fixes[0].steps[0].parameters["static_argnames"] == []
    assert rewrite.instead is not None
    assert rewrite.instead.fixes[0].steps[0].parameters["static_argnames"] == ["mode"]


def finding(path: Path, name: str, category: str, severity: Severity = Severity.WARNING) -> Finding:
    span = Span(9, 1, 9, 4)
    fix = FixRequest(Safety.UNSAFE, "Jit", (Step("add-jit", str(path), span),))
    return Finding(str(path), span, "JAX000", name, category, severity, "m", "r", "step", fix=fix)


def test_findings_that_cost_time_are_tried_and_those_that_fail_where_it_fails(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    found = [
        finding(path, "jit-in-loop", "recompilation"),
        finding(path, "missing-donation", "memory"),
        finding(path, "key-reuse", "random"),
        finding(path, "tracer-branch", "tracing", Severity.ERROR),
    ]
    assert [one.name for one in from_findings(found, {}, errors=False)] == ["fix:jit-in-loop"]
    assert [one.name for one in from_findings(found, {}, errors=True)] == ["fix:tracer-branch"]


def test_a_fix_learns_that_a_run_called_its_function_again(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    found = finding(path, "eager-update", "recompilation")
    step = Step("region-to-jit", str(path), found.span, {"around": True})
    found = dataclasses.replace(found, fix=FixRequest(Safety.UNSAFE, "Jit", (step,)))
    for calls, told in ((1, {}), (5, {"again": True, "often": False}), (80, {"again": True, "often": True})):
        seen = {(os.path.realpath(path), "step"): calls}
        (rewrite,) = from_findings([found], {}, errors=False, calls=seen)
        assert rewrite.fixes[0].steps[0].parameters == {"around": True, **told}


def test_packages_are_loaded_ahead_unless_the_environment_is_set_first(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").touch()
    path = tmp_path / "program.py"
    path.write_text("import json\nimport helpers\nfrom os import path\n")
    assert packages_to_load([read_source(path, str(path))], [str(tmp_path)]) == ["json", "os"]
    path.write_text("import os\nos.environ['JAX_ENABLE_X64'] = '1'\nimport jax\n")
    assert packages_to_load([read_source(path, str(path))], [str(tmp_path)]) == []


# ---- what a run keeps ----


def test_results_are_kept_of_plain_and_of_jitted_functions(tmp_path: Path) -> None:
    source = """
    import jax

    def plain(x):
        if x < 0:
            return -x
        return x

    @jax.jit
    def jitted(x):
        return plain(x * x)

    for i in range(5):
        plain(i - 2)
        jitted(float(i))
    jitted.lower(1.0)
    """
    from jaxlint_runtime import compat

    path = tmp_path.resolve() / "program.py"
    folder = tmp_path / "kept"
    folder.mkdir()
    observer = Observer({str(path): ["plain", "jitted"]}, folder, compat.is_tracing)
    code = observer.compile(textwrap.dedent(source).replace("if x < 0", "if x is None").encode(), str(path))
    assert code is not None
    exec(code, {"__name__": "program"})
    kept = {(name, number): found.leaves[0].item() for name, number, found in read(folder)}
    assert kept == {
        **{("plain", n): n - 3 for n in (1, 2, 3, 4)},
        **{("jitted", n): float((n - 1) ** 2) for n in (1, 2, 3, 4)},
    }
    assert {one.qualname: one.calls for one in observer.records} == {"plain": 5, "jitted": 5}


def test_calls_that_an_edit_compiles_into_their_caller_are_not_taken_for_others(tmp_path: Path) -> None:
    """The first call of `scores` is traced in the second program, so that its first on the host is another one."""
    from jaxlint_runtime import compat

    source = "import jax\nimport jax.numpy as jnp\n\ndef scores(n):\n    return jnp.ones(n) * {0}\n\ndef twice(n):\n    return scores(n) * 2\n"
    programs = {
        "original": source.format(1) + "twice(1)\nscores(5)\n",
        "edited": source.format(1) + "jax.jit(twice, static_argnums=0)(1)\nscores(5)\n",
        "wrong": source.format(2) + "twice(1)\nscores(5)\n",
    }
    path = tmp_path.resolve() / "program.py"
    for name, text in programs.items():
        (tmp_path / name).mkdir()
        observer = Observer({str(path): ["scores"]}, tmp_path / name, compat.is_tracing)
        code = observer.compile(text.encode(), str(path))
        assert code is not None
        exec(code, {"__name__": "program"})
        observer.close()
    edited, wrong = (_compare(tmp_path / name, [tmp_path / "original"], None) for name in ("edited", "wrong"))
    assert edited is not None
    assert (edited.calls, edited.problem) == (0, None)
    assert wrong is not None
    assert "relative error" in wrong.problem


def test_what_differs_from_run_to_run_is_told(tmp_path: Path) -> None:
    """Within how far two runs of the original are apart, nothing is seen of an edit."""
    from jaxlint_runtime import compat

    def kept(name: str, value: float) -> Path:
        (tmp_path / name).mkdir()
        observer = Observer({}, tmp_path / name, compat.is_tracing)
        observer.keep("loss", 1, np.float32([value, 2.0]))
        observer.close()
        return tmp_path / name

    original, again, edited = kept("original", 1.0), kept("again", 1.05), kept("edited", 1.1)
    found = _compare(edited, [original, again], None)
    assert found is not None
    assert found.problem is None
    assert found.apart == pytest.approx(0.05 / 5**0.5, rel=1e-3)
    alone = _compare(edited, [original, kept("same", 1.0)], None)
    assert alone is not None
    assert (alone.apart, alone.problem is None) == (0.0, False)


@pytest.mark.parametrize(
    ("off", "double", "same"),
    [
        (1e-13, True, True),
        (1e-12, True, True),
        (1e-9, True, False),
        (1e-9, False, True),
        (1e-3, False, False),
    ],
)
def test_rounding_of_float64_grows_over_a_run(tmp_path: Path, off: float, double: bool, same: bool) -> None:
    """Where JAX computes in float32, so do the numbers of the host that follow from its results."""
    import jax

    from jaxlint_runtime import compat

    def kept(name: str, value: float) -> Path:
        (tmp_path / name).mkdir()
        observer = Observer({}, tmp_path / name, compat.is_tracing)
        observer.keep("total", 1, np.float64([value, 2.0]))
        observer.close()
        return tmp_path / name

    with jax.enable_x64(double):
        found = _compare(kept("edited", 1.0 + off), [kept("original", 1.0)], None)
    assert found is not None
    assert (found.problem is None) == same


# ---- whole programs ----

SLOW = """
import jax
import jax.numpy as jnp

count = 0

def step(w, x):
    for _ in range(4):
        w = w - 0.01 * jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w) ** 2))(w)
    return w

def counted(w):
    global count
    count += 1
    for _ in range(1000):  # so much that it is worth a try beside a compiled `step`
        w = jnp.sin(w)
    return jnp.sum(w) + count

def main():
    w, x = jnp.ones((8, 8)), jnp.ones((4, 8)) * 0.1
    for i in range(30):
        w = step(w, x)
        total = counted(w)
    print("norm", jnp.linalg.norm(w), "total", total)

main()
"""

FAILS = """
import jax
import jax.numpy as jnp

@jax.jit
def clip(x, limit):
    if jnp.sum(x) > limit:
        y = x * 0.5
    else:
        y = x
    return y

print("clipped", clip(jnp.ones(4), 3.0))
"""


def verified(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Verification:
    (folder / "pyproject.toml").touch()
    (folder / "program.py").write_text(text)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    monkeypatch.setattr(edit_timing, "_PAIRS", (2, 2))
    verification = Verification(Request("script", "program.py", calls=None, transforms=("source",)))
    with cleaned_up():
        verification.run()
    return verification


@pytest.mark.flaky(reruns=2)  # rests on times, which other processes disturb
def test_an_eager_step_is_jitted_and_one_with_effects_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = verified(tmp_path, SLOW, monkeypatch)
    lost = [r["reason"] for _, r in found.document.results if r["function"] == "counted"]
    assert any("changes the variable `count` of the module" in reason for reason in lost)
    assert not any(r["status"] == "verified" for _, r in found.document.results if r["function"] == "counted")
    (good,) = [r for _, r in found.document.results if r["status"] == "verified"]
    assert good["function"] == "step"
    assert good["speedup"]["median"] > 1.5
    assert good["numerics"]["passed"]
    assert "results and 1 printed lines" in good["evidence"]
    apply_proven(found, allow_dirty=True)
    text = (tmp_path / "program.py").read_text()
    assert "@jax.jit\ndef step(" in text
    assert "jit\ndef counted(" not in text
    assert [entry["kept"] for entry in found.document.applied] == [True]


ROLLOUT = """
import jax
import jax.numpy as jnp

@jax.jit
def play(state, key):
    state = 0.9 * state + jax.random.normal(key, state.shape)
    return state, jnp.sum(state, axis=-1)

def rollout(key, state, length):
    states, rewards = [], []
    for _ in range(length):
        key, sub = jax.random.split(key)
        states.append(state)
        state, reward = play(state, sub)
        rewards.append(reward)
    batch = (states, rewards)
    return state, [jnp.stack(x) for x in batch]

def returns(rewards):
    result, after = [], jnp.zeros_like(rewards[0])
    for t in reversed(range(len(rewards))):
        after = rewards[t] + 0.9 * after
        result.append(after)
    return jnp.stack(result[::-1])

def main():
    state, total = jnp.ones((4, 3)), 0.0
    for step in range(200):
        state, (states, rewards) = rollout(jax.random.key(step), state, 16)
        total += float(returns(rewards).mean())
    print("return", total)

main()
"""


def test_loops_are_proposed_with_jit_where_the_host_calls_them(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(ROLLOUT)
    sources = {str(path): read_source(path, str(path))}
    arrays = [
        {"name": "key", "type": "ArrayImpl", "leaves": [{}]},
        {"name": "state", "type": "A", "leaves": [{}]},
    ]
    length = {"name": "length", "type": "int", "value": "60"}
    one = watched(path, function="rollout", line=10, arguments=[*arrays, length], inner_calls=0)
    (rewrite,) = from_loops([one], sources)
    names = []
    while rewrite is not None:
        names.append(rewrite.name)
        new = edited(rewrite.fixes, sources)
        assert isinstance(new, dict)
        assert "(states, rewards) = jax.lax.scan(" in new[str(path)].text
        rewrite = rewrite.instead  # type: ignore[assignment]
    # what a range is made of must be known, so that it is static first
    assert names == [
        "loops:for-to-scan + add-jit:jax.jit, length static",
        "loops:for-to-scan + add-jit:jax.jit",
        "loops:for-to-scan",
    ]
    (inner,) = from_loops(
        [watched(path, function="returns", line=20, calls=0, seconds=0.0, inner_calls=3)], sources
    )
    assert inner.name == "loops:for-to-scan"
    idle = watched(path, function="returns", line=20, calls=0, seconds=0.0, inner_calls=0)
    assert from_loops([idle], sources) == []
    rows = watched(
        path, function="returns", line=20, arguments=[{"name": "rewards", "type": "list", "leaves": [{}]}]
    )
    assert from_loops([rows], {str(path): dataclasses.replace(sources[str(path)], text=ROLLOUT.replace("reversed(range(len(rewards)))", "rewards"))}) == []  # fmt: skip


SUMMING = """
import jax.numpy as jnp

def loss(w, xs):
    total = 0.0
    for x in xs:
        total = total + jnp.sum(jnp.tanh(x @ w) ** 2)
    return total / len(xs)
"""


def test_a_sum_over_rows_is_mapped_first_and_scanned_where_that_is_too_much(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(SUMMING)
    sources = {str(path): read_source(path, str(path))}
    inside = watched(path, function="loss", line=4, calls=0, seconds=0.0, inner_calls=3)
    (rewrite,) = from_loops([inside], sources)
    assert "adds in another order" in rewrite.summary
    assert rewrite.instead is not None
    texts = []
    for one in (rewrite, rewrite.instead):
        new = edited(one.fixes, sources)
        assert isinstance(new, dict)
        texts.append(new[str(path)].text)
    assert "total = total + jnp.sum(total_parts, axis=0)" in texts[0]
    assert "jax.lax.scan(body_fun, total, xs)" in texts[1]
    assert rewrite.instead.instead is None


CONVERGING = """
import jax
import jax.numpy as jnp

def fit(x, tolerance):
    for count in range(100):
        new = 0.5 * (x + 2.0 / x)
        if jnp.max(jnp.abs(new - x)) < tolerance:
            break
        x = new
    return x, jnp.asarray(count)
"""


def test_a_loop_that_stops_early_is_proposed_with_jit(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(CONVERGING)
    sources = {str(path): read_source(path, str(path))}
    arguments = [{"name": "x", "type": "ArrayImpl", "leaves": [{}]}]
    (rewrite,) = from_loops(
        [watched(path, function="fit", line=5, arguments=arguments, inner_calls=0)], sources
    )
    assert rewrite.name == "loops:break-to-while-loop + add-jit:jax.jit"
    new = edited(rewrite.fixes, sources)
    assert isinstance(new, dict)
    assert "@jax.jit\ndef fit(" in new[str(path)].text
    assert "jax.lax.while_loop(cond_fun, body_fun, (-1, False, x))" in new[str(path)].text


def test_loops_of_jitted_functions_are_proposed_where_they_compile_long(tmp_path: Path) -> None:
    text = ROLLOUT.replace("def returns(", "@jax.jit\n@functools.partial(jax.vmap, in_axes=1)\ndef returns(")
    path = tmp_path.resolve() / "program.py"
    path.write_text(text)
    sources = {str(path): read_source(path, str(path))}
    line = text.splitlines().index("def returns(rewards):") - 1  # that of the first decorator
    compiled = {"trace_s": 0.4, "lower_s": None, "compile_s": 2.0}
    one = {"path": str(path), "function": "vmap.<locals>.vmap_f", "line": line, "compiles": [compiled]}
    (rewrite,) = from_compiled([one, one], sources)
    assert (rewrite.function, rewrite.name, rewrite.estimate) == ("returns", "loops:for-to-scan", 2.4)
    assert from_compiled([{**one, "compiles": [{**compiled, "compile_s": 0.1}]}], sources) == []


def test_loops_that_a_jitted_function_calls_are_proposed_at_what_that_costs(tmp_path: Path) -> None:
    text = (
        ROLLOUT
        + "\n\n@jax.jit\ndef loss(w):\n    return score(w)\n\n\ndef score(w):\n    return jnp.mean(returns(w))\n"
    )
    path = tmp_path.resolve() / "program.py"
    path.write_text(text)
    sources = {str(path): read_source(path, str(path))}
    compiled = {"trace_s": 0.5, "lower_s": None, "compile_s": 2.5}
    line = text.splitlines().index("def loss(w):")
    one = {"path": str(path), "function": "loss", "line": line, "compiles": [compiled]}
    found = from_compiled([one], sources)
    assert [(one.function, one.name, one.estimate) for one in found] == [
        ("returns", "loops:for-to-scan", 3.0)
    ]
    (cheap,) = (dataclasses.replace(one, estimate=0.1) for one in found)
    assert with_compiled([cheap], found) == found
    assert with_compiled([], found) == found
    other = dataclasses.replace(found[0], function="other")
    assert with_compiled([other], found) == [other, *found]


RECURRENT = """
import jax
import jax.numpy as jnp

def run(w, xs):
    h = jnp.zeros(xs.shape[1])
    outputs = []
    for t in range(xs.shape[0]):
        h = jnp.tanh(h @ w + xs[t])
        outputs.append(h)
    return outputs

print([float(h.sum()) for h in run(jnp.eye(3) / 2, jnp.arange(12.0).reshape(4, 3) / 9)])
"""


def test_a_list_that_a_function_returns_is_made_of_the_rows_of_a_scan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(RECURRENT)
    sources = {str(path): read_source(path, str(path))}
    (rewrite,) = from_loops([watched(path, function="run", line=5, arguments=[], inner_calls=0)], sources)
    new = edited(rewrite.fixes, sources)
    assert isinstance(new, dict)
    assert "        outputs = list(outputs)\n    return outputs\n" in new[str(path)].text
    for text in (RECURRENT, new[str(path)].text):
        exec(text, {})
    before, after = map(ast.literal_eval, capsys.readouterr().out.splitlines())
    assert before == pytest.approx(after, rel=1e-5)


@pytest.mark.flaky(reruns=2)  # rests on times, which other processes disturb
def test_a_rollout_and_its_returns_become_compiled_scans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = verified(tmp_path, ROLLOUT, monkeypatch)
    proven = [r for _, r in found.document.results if r["status"] == "verified"]
    (good,) = [r for r in proven if r["candidate"].startswith("source")]
    assert good["speedup"]["median"] > 1.5
    (change,) = found.rewritten
    assert change.text.count("jax.lax.scan(") >= 2  # a third one if all steps of `main` become one as well
    assert "reverse=True" in change.text
    assert '@functools.partial(jax.jit, static_argnames="length")\ndef rollout(' in change.text


@pytest.mark.flaky(reruns=2)  # rests on times, which other processes disturb
def test_a_program_that_fails_is_held_against_itself_without_jit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = verified(tmp_path, FAILS, monkeypatch)
    (result,) = [r for _, r in found.document.results if r["candidate"].startswith("source")]
    assert (result["status"], result["code"], result["function"]) == ("verified", "JAX101", "clip"), result
    assert "without jit" in result["reason"]
    assert "4 values of 1 results and 1 printed lines" in result["evidence"]
    (change,) = found.rewritten
    assert "if jnp.sum" not in change.text


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", "was killed by SIGKILL"),
        ("while True:\n    pass\n", "took longer than 4 s"),
        ("hoard = []\nwhile True:\n    hoard.append(bytearray(20_000_000))\n", "over the limit of 1.20 GiB"),
        ("raise KeyError('lost')\n", "the program raised KeyError: 'lost'"),
    ],
)
def test_an_edit_that_crashes_hangs_or_eats_memory_costs_its_own_run_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, failure: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    path = tmp_path.resolve() / "program.py"
    path.write_text("print('fine')\n")
    source = read_source(path, str(path))
    request = Request("script", "program.py", memory_limit=int(1.2 * 2**30))
    trials = Trials(Run(request), [], [], tmp_path)
    trial, _ = trials.run(
        {str(path): dataclasses.replace(source, text=text)}, limit=4.0 if "pass" in text else 60.0
    )
    assert failure in str(trial.failure)
    assert path.read_text() == "print('fine')\n"


AGENT = """
import random

import jax
import jax.numpy as jnp
from flax import linen as nn

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x)

def act(network, params, obs, epsilon):
    if random.random() < epsilon:
        return random.randint(0, 1)
    return int(jnp.argmax(network.apply(params, obs)))

def loss(network, params, obs):
    return jnp.mean(network.apply(params, obs))

def report(optimizer, params, batches):
    for batch in batches:
        print(len(batch))
"""


def test_calls_of_models_in_code_that_stays_on_the_host_are_compiled_apart(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "agent.py"
    path.write_text(AGENT)
    sources = {str(path): read_source(path, str(path))}
    lines = {name: AGENT.splitlines().index(line) + 1 for line in AGENT.splitlines() for name in ("act", "loss", "report") if line.startswith(f"def {name}(")}  # fmt: skip
    arguments = [
        {"name": "network", "type": "Net", "value": "Net()"},
        {"name": "params", "type": "dict", "leaves": [{}]},
    ]
    entries = [watched(path, function=name, line=line, arguments=arguments) for name, line in lines.items()]
    (rewrite,) = from_model_calls(entries, sources)  # the loss can be jitted as it is
    assert rewrite.function == "act"
    new = edited(rewrite.fixes, sources)
    assert isinstance(new, dict)
    assert "int(jnp.argmax(network_apply(network, params, obs)))" in new[str(path)].text
    assert [one.function for one in to_jit(entries, sources)] == ["loss"]
    assert from_model_calls([{**entries[0], "calls": 2}], sources) == []
    assert from_model_calls([{**entries[0], "seconds": 0.01}, entries[1]], sources) == []


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        ("if jnp.linalg.norm(x) < 1.0: raise ValueError(x)", True),
        ("while jnp.linalg.norm(x) > 1.0: x = x / 2", True),
        ("return x if jnp.ndim(x) == 1 else x[0]", False),
        ("print(x)", True),
        ("x = x.sum().item()", True),
        ("x = float(jnp.sum(x))", True),
        ("x = x * float(3)", False),
    ],
)
def test_what_no_jitted_function_can_do_is_not_tried(tmp_path: Path, line: str, stays: bool) -> None:
    path = tmp_path.resolve() / "train.py"
    path.write_text(f"import jax.numpy as jnp\n\ndef step(x):\n    {line}\n    return x\n")
    sources = {str(path): read_source(path, str(path))}
    arguments = [{"name": "x", "type": "ArrayImpl", "leaves": [{}]}]
    assert bool(to_jit([watched(path, line=3, arguments=arguments)], sources)) is not stays


SAMPLER = """import jax
import jax.numpy as jnp

def metropolis(key, x, width):
    move, accept = jax.random.split(key)
    new = x + width * jax.random.normal(move, x.shape)
    if jnp.log(jax.random.uniform(accept)) < 0.5 * (jnp.sum(x**2) - jnp.sum(new**2)):
        return new, jnp.array(True)
    return x, jnp.array(False)
"""


def test_a_step_that_accepts_or_rejects_chooses_and_is_jitted(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "sampler.py"
    path.write_text(SAMPLER)
    sources = {str(path): read_source(path, str(path))}
    arguments = [{"name": name, "type": "ArrayImpl", "leaves": [{}]} for name in ("key", "x")]
    arguments.append({"name": "width", "type": "float", "value": "1.0"})
    (rewrite,) = to_jit([watched(path, function="metropolis", line=4, arguments=arguments)], sources)
    assert rewrite.codemods == "branch-to-select + add-jit"
    assert rewrite.summary.startswith("Use `jnp.where` or `lax.cond` and compile metropolis as a whole")
    new = edited(rewrite.fixes, sources)
    assert isinstance(new, dict)
    text = new[str(path)].text
    assert "@jax.jit\ndef metropolis" in text
    steps = []
    for program in (SAMPLER, text):
        names: dict[str, Any] = {}
        exec(program, names)
        x, chain = jnp.ones(3), []
        for number in range(20):
            x, accepted = names["metropolis"](jax.random.key(number), x, 1.0)
            chain.append((bool(accepted), x))
        steps.append(chain)
    assert [one for one, _ in steps[0]] == [one for one, _ in steps[1]]
    assert {one for one, _ in steps[0]} == {True, False}
    np.testing.assert_allclose(*(np.stack([x for _, x in chain]) for chain in steps), rtol=1e-5)


def test_the_jit_of_nnx_comes_first_where_modules_are_handed_over(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "train.py"
    path.write_text("from flax import nnx\n\ndef step(model, x):\n    return model(x)\n")
    sources = {str(path): read_source(path, str(path))}
    names = []
    for kind in ("Net", "ArrayImpl"):
        arguments = [{"name": name, "type": kind, "leaves": [{}]} for name in ("model", "x")]
        (rewrite,) = to_jit([watched(path, line=3, arguments=arguments)], sources)
        names.append(rewrite.name)
    assert names == ["jit:nnx.jit", "jit:jax.jit"]


def test_a_number_that_a_function_of_modules_slices_by_is_static(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "train.py"
    path.write_text("from flax import nnx\n\ndef step(model, x, n):\n    return model(x)[:, n:]\n")
    sources = {str(path): read_source(path, str(path))}
    arguments = [
        {"name": "model", "type": "Net", "leaves": [{}]},
        {"name": "x", "type": "ArrayImpl", "leaves": [{}]},
    ]
    (rewrite,) = to_jit(
        [watched(path, line=3, arguments=[*arguments, {"name": "n", "type": "int"}])], sources
    )
    assert [one.name for one in ways_of(rewrite)][:2] == ["jit:nnx.jit, n static", "jit:nnx.jit"]


TRIALS = """
import jax.numpy as jnp

def loss(w, trials):
    total = 0.0
    for dose, seen in trials:
        told = jnp.tanh(w * dose)
        total += jnp.mean((told - seen) ** 2)
    return total + jnp.sum(w**2)
"""


def test_a_loop_over_a_list_of_equal_items_runs_over_the_stacked_items(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(TRIALS)
    sources = {str(path): read_source(path, str(path))}

    def names(*shapes: list[int], **changes: Any) -> list[str]:
        leaves = [
            {"place": f"[{n}][{part}]", "shape": shape, "dtype": "float32", "weak_type": False}
            for n, shape in enumerate(shapes)
            for part in range(2)
        ]
        trials = {"name": "trials", "type": "list", "holds": ["ArrayImpl"], "leaves": leaves, **changes}
        arguments = [{"name": "w", "type": "ArrayImpl", "leaves": [{}]}, trials]
        found = from_loops([watched(path, function="loss", line=4, arguments=arguments)], sources)
        way, texts = found[0] if found else None, []
        while way is not None:
            new = edited(way.fixes, sources)
            assert isinstance(new, dict)
            assert "jax.tree.map(lambda *leaves: jnp.stack(leaves), *trials)" in new[str(path)].text
            texts.append(way.name)
            way = way.instead
        return texts

    assert {"loops:for-to-vmap", "loops:for-to-scan"} < set(names([4], [4], [4]))
    assert names([4], [5]) == names([4]) == []
    assert names([4], [4], holds=["ArrayImpl", "str"]) == names([4], [4], more_leaves=2) == []


LAYERED = """
class Chain:
    def inner(self, x):
        y = x + 1
        return y * 2

    def middle(self, x):
        return self.inner(x) + 1

    def run(self, x):
        for _ in range(9):
            x = self.middle(x)
            x = x * 2
            print(x)

    def score(self, x):
        y = x + 1
        return y * 2


chain = Chain()
chain.run(chain.score(3))
"""


def test_what_only_compiled_code_calls_is_not_compiled_by_itself(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"

    def region(function: str, line: int, estimate: float) -> Rewrite:
        step = Step("region-to-jit", str(path), Span(line, 9, line + 1, 20), {})
        fix = FixRequest(Safety.UNSAFE, "Compile", (step,))
        return Rewrite(
            "region-to-jit:jax.jit", None, f"Chain.{function}", str(path), line, "", (fix,), estimate
        )

    rewrites = [region("inner", 4, 1.0), region("run", 12, 9.0), region("score", 17, 0.5)]

    def chosen(text: str) -> list[str]:
        path.write_text(text)
        return [one.function for one in outermost(rewrites, {str(path): read_source(path, str(path))})]

    assert chosen(LAYERED) == ["Chain.run", "Chain.score"]
    assert chosen(LAYERED + "print(chain.inner(3))\n") == ["Chain.run", "Chain.inner", "Chain.score"]
    assert chosen(LAYERED + "calls = [chain.inner]\n") == ["Chain.run", "Chain.inner", "Chain.score"]


def test_a_call_beside_a_compiled_expression_is_not_compiled(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text("def loss(x):\n    return x\n\n\nprint(loss(1), norm(loss(2)))\n")
    inner = FixRequest(Safety.UNSAFE, "Jit", (Step("add-jit", str(path), Span(1, 1, 1, 4), {}),))
    one = Rewrite("jit:jax.jit", None, "loss", str(path), 1, "", (inner,), 1.0)

    def chosen(column: int, end: int) -> list[str]:
        outer = FixRequest(
            Safety.UNSAFE, "Compile", (Step("region-to-jit", str(path), Span(5, column, 5, end), {}),)
        )
        region = Rewrite("region-to-jit:jax.jit", None, "<module>", str(path), 5, "", (outer,), 9.0)
        return [each.name for each in outermost([region, one], {str(path): read_source(path, str(path))})]

    assert chosen(16, 29) == ["region-to-jit:jax.jit", "jit:jax.jit"]
    assert chosen(1, 30) == ["region-to-jit:jax.jit"]
