"""`steps-between-looks`: steps that the host looks at now and then become one jitted loop between two looks, and which loops stay."""

from __future__ import annotations

import contextlib
import io
import itertools

import pytest

from tests.engine.codemods.conftest import Rewrite

pytestmark = pytest.mark.usefixtures("compiled_quickly")

HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\ndef move(x):\n    return jnp.sin(x) + 0.1\n\n\n"


def loop(*body: str, over: str = "range(10)", before: str = "", after: str = "    return x\n") -> str:
    """A function with a loop of these lines, and a call of it."""
    lines = "".join(f"        {line}\n" for line in body)
    return f"{HEAD}def f(x, every):\n{before}    for i in «{over}»:\n{lines}{after}\n\nprint(f(jnp.ones(3), 4))\n"


LOOK = ("if i % 4 == 0:", "    print(i, jnp.sum(x), flush=True)")
PROGRAMS: dict[str, str] = {
    "a look after the step": loop("x = move(x)", *LOOK),
    "a look before the step": loop(*LOOK, "x = move(x)"),
    "a look at numbers of the function": loop("x = move(x)", "if i % every == every - 1:", "    print(i, x)"),
    "a look on one line": loop("x = move(x)", "if i % 4 == 0: print(i, x)"),
    "a look that writes what no step reads": loop(
        "x = move(x)",
        "if i % 3 == 0:",
        "    best.append(x)",
        before="    best = []\n",
        after="    return best, x\n",
    ),
    "two looks": loop("x = move(x)", *LOOK, "if i % 3 == 0:", "    print('third', i, x)"),
    "a look that changes the state": loop("x = move(x)", "if i % 4 == 0:", "    x = x * 0.5", "    print(x)"),
    "a look that ends the loop": loop(
        "x = move(x)", "if i % 4 == 3:", "    print(i)", "    if float(x[0]) > 0.9: break"
    ),
    "a look that returns": loop("x = move(x)", "if i == 6:", "    return x * 2"),
    "what the last step computed besides": loop(
        "y = move(x)", "x = y * 0.5", "if i % 4 == 0:", "    print(y)", after="    return x, y\n"
    ),
    "the number of the step": loop("x = move(x) * i", *LOOK, over="range(2, 9)"),
    "a count beside": loop(
        "x = move(x)", "n += 1", "if n % 4 == 0:", "    print(n, i, x)", before="    n = 0\n"
    ),
    "a number of steps that a look changes": loop(
        "x = move(x)", *LOOK, "    box.steps = 3", over="range(box.steps)", before="    box = Box()\n"
    ).replace("def move", "class Box:\n    def __init__(self):\n        self.steps = 9\n\n\ndef move"),
    "no step": loop("x = move(x)", *LOOK, over="range(0)", before="    x = np.ones(3)\n"),
    "a NumPy array at the first look": loop(*LOOK, "x = move(x)", before="    x = np.ones(3, np.float32)\n"),
}


def outcome(program: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(program, "program.py", "exec"), {"__name__": "__main__"})
    return out.getvalue()


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_lines_and_values(name: str, rewrite: Rewrite) -> None:
    marked = PROGRAMS[name]
    new = rewrite("steps-between-looks", marked, once=True)
    assert "fori_loop" in new, new
    plain = marked.replace("«", "").replace("»", "")
    assert outcome(new) == outcome(plain)


def test_every_length_and_interval_gives_the_same(rewrite: Rewrite) -> None:
    for first, end, every, before in itertools.product((0, 1, 3), (0, 1, 5, 8), (1, 2, 5), (True, False)):
        look = (f"if i % {every} == 0:", "    print(i, x)")
        body = (*look, "x = move(x)") if before else ("x = move(x)", *look)
        marked = loop(*body, over=f"range({first}, {end})")
        new = rewrite("steps-between-looks", marked, once=True)
        assert outcome(new) == outcome(marked.replace("«", "").replace("»", "")), (first, end, every, before)


def test_a_carry_that_begins_as_a_number(rewrite: Rewrite) -> None:
    for first, end, every, after in itertools.product((0, 3), (0, 1, 5, 8), (1, 5), ("x", "x, y")):
        look = (f"if i % {every} == 0:", "    print(i, x)")
        body = (*look, "v = 0.5 * v + x", "y = 0.5 * x - v", "x = y * 0.5")
        marked = loop(
            *body,
            over=f"range({first}, {end})",
            before="    v = 0\n    y = x\n",
            after=f"    return {after}\n",
        )
        new = rewrite("steps-between-looks", marked, once=True, apart=True)
        assert "first = step(start, (v, x))" in new, new
        assert outcome(new) == outcome(marked.replace("«", "").replace("»", "")), (first, end, every)


def test_what_a_person_reads(rewrite: Rewrite) -> None:
    new = rewrite("steps-between-looks", loop("x = move(x)  # one step", "# a look", *LOOK), once=True)
    assert new.startswith(
        HEAD + "@jax.jit\n"
        "def f_steps(x, start, stop):\n"
        "    def step(_, x):\n"
        "        x = move(x)  # one step\n"
        "        return x\n"
        "\n"
        "    return jax.lax.fori_loop(start, stop, step, x)\n\n\n"
        "def f(x, every):\n"
        "    done = 0\n"
        "    for i in range(10):\n"
        "        # a look\n"
        "        if i % 4 == 0:\n"
        "            x = f_steps(x, done, i + 1)\n"
        "            done = i + 1\n"
        "            print(i, jnp.sum(x), flush=True)\n"
        "    if done < 10:\n"
        "        x = f_steps(x, done, 10)\n"
        "    return x\n"
    )


def test_a_progress_bar_stays(rewrite: Rewrite) -> None:
    program = "from tqdm import tqdm\n" + loop("x = move(x)", *LOOK, over="tqdm(range(10))")
    assert "for i in tqdm(range(10)):\n        if i % 4 == 0:\n            x = f_steps(" in rewrite(
        "steps-between-looks", program
    )


REFUSALS: dict[str, tuple[str, str]] = {
    "each step is kept": (
        loop("x = move(x)", "kept.append(x)", *LOOK, before="    kept = []\n"),
        "more than assign",
    ),
    "the host asks for a value in each step": (
        loop("x = move(x)", "if float(x[0]) > 0.5:", "    print(x)"),
        "no step",
    ),
    "the look asks for a variable of the step": (
        loop("y = x > 0", "x = move(x)", "if i % 2 == 0 and y.size:", "    print(x)"),
        "at each step",
    ),
    "the look asks the clock": (
        "import time\n" + loop("x = move(x)", "if time.time() > i:", "    print(x)"),
        "no step",
    ),
    "a look between two parts of a step": (loop("y = move(x)", *LOOK, "x = y * 2"), "middle of a step"),
    "a look leaves out the step": (
        loop("if i % 2 == 0:", "    continue", "x = move(x)"),
        "skips part of a step",
    ),
    "a look before the step reads what the last one computed": (
        loop("if i % 4 == 3:", "    print(y)", "y = move(x)", "x = y * 0.5"),
        "previous step",
    ),
    "the host does something else in some steps": (
        loop("x = move(x)", "if i % 4 == 0:", "    print(x)", "else:", "    print(i)"),
        "no step",
    ),
    "the host reads a value at every step": (
        loop("x = move(x)", "if every:", "    print(x)"),
        "every step, or at none",
    ),
    "the host counts what the step computes with": (
        loop("x = move(x) * n", "n += 1", *LOOK, before="    n = 0\n"),
        "compute with it",
    ),
    "the host counts after a look": (
        loop("x = move(x)", *LOOK, "n += 1", before="    n = 0\n"),
        "counts after it reads",
    ),
    "the step draws a number of NumPy": (loop("x = move(x) + np.random.rand()", *LOOK), "random"),
    "the step prints": (
        loop("x = show(x)", *LOOK).replace(
            "def f(", "def show(x):\n    print(x)\n    return x + 1\n\n\ndef f("
        ),
        "print",
    ),
    "a generator hands its steps out": (
        loop("x = move(x)", "if i % 4 == 0:", "    yield x", after=""),
        "no step",
    ),
    "an exception would show another step": (
        loop("x = move(x)", *LOOK)
        .replace("    for i", "    try:\n     for i")
        .replace("    return x", "    except ValueError:\n        pass\n    return x")
        .replace("        x = move", "            x = move")
        .replace("        if i", "            if i")
        .replace("            print(i", "                print(i"),
        "handler",
    ),
    "the first look decides about the second": (
        loop("x = move(x)", "if i % 2 == 0:", "    every = 3", "if i % every == 0:", "    print(x)"),
        "decides when the next",
    ),
    "the range changes": (
        loop("x = move(x)", "if i % 2 == 0:", "    every = 3", over="range(every)"),
        "bounds of the range change",
    ),
    "a number of Python would come back as an array": (
        loop("t = t + 0.1", "x = move(x)", *LOOK, before="    t = 0.0\n", after="    return x, t\n"),
        "may return a Python number",
    ),
    "what the step calls reads a variable that the loop changes": (
        loop("x = move(x) + other()", *LOOK, before="    def other():\n        return x * 2\n\n"),
        "reads `x`, which is set in a loop",
    ),
    "a global variable that the loop changes": (
        HEAD
        + "def other(y):\n    return y + x\n\n\nx = jnp.ones(3)\nfor i in «range(10)»:\n    x = other(x)\n    if i % 4 == 0:\n        print(x)\n",
        "reads `x`, which is set in a loop",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_left_alone(name: str, rewrite: Rewrite) -> None:
    text, reason = REFUSALS[name]
    refused = rewrite("steps-between-looks", text, once=True)
    assert refused.startswith("refused: "), refused
    assert reason in refused
