"""Recursion, depth and sheer size: the analysis ends, in time, and gives up into silence and never into a guess."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jaxlint.source.read import read_source
from jaxlint.staging.module import Module
from jaxlint.staging.project import Project
from tests.helpers.projects import expected, facts_of, findings_in, reported, write_project

RECURSIVE = {
    "a function that calls itself with a static count": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        def power(x, n):
            if n == 0:
                return jnp.ones_like(x)
            if n % 2:
                return x * power(x, n - 1)
            half = power(x, n // 2)
            return half * half

        @partial(jax.jit, static_argnames="n")
        def f(x, n):
            return power(x, n)

        f(jnp.ones(3), n=5)
    """,
    "a function that calls itself with a tracer": """
        import jax

        def countdown(x):
            if x > 0:  # finding: tracer-branch
                return countdown(x - 1)
            return x

        jax.jit(countdown)
    """,
    "two functions that call each other": """
        import jax
        import jax.numpy as jnp

        def even(x, n):
            return x if n == 0 else odd(x + 1, n - 1)

        def odd(x, n):
            return -x if n == 0 else even(x * 2, n - 1)

        @jax.jit
        def f(x):
            y = even(x, 4)
            if x.sum() > 0:  # finding: tracer-branch
                return y
            return jnp.zeros(3)

        f(jnp.ones(3))
    """,
    "a tree walk": """
        import jax
        import jax.numpy as jnp

        def total(tree):
            if isinstance(tree, dict):
                return sum(total(value) for value in tree.values())
            if isinstance(tree, (list, tuple)):
                return sum(total(value) for value in tree)
            if tree is None:
                return 0
            return tree.sum()

        @jax.jit
        def f(tree):
            return total(tree)

        f({"a": [jnp.ones(2), (jnp.ones(3), None)]})
    """,
    "a lambda that is its own argument": """
        import jax

        fix = lambda f: (lambda x: x(x))(lambda x: f(lambda *a: x(x)(*a)))
        walk = fix(lambda self: lambda n, x: x if n == 0 else self(n - 1, x * 2))

        @jax.jit
        def f(x):
            return walk(3, x)
    """,
    "a class that holds itself": """
        import jax

        class Node:
            def __init__(self):
                self.child = self
                self.children = [self]

            def value(self, x):
                if self.child is None:
                    return x
                return self.child.value(x) + self.children[0].value(x)

        @jax.jit
        def f(x):
            return Node().value(x)
    """,
    "containers that hold themselves": """
        import jax

        loop = []
        loop.append(loop)
        table = {}
        table["self"] = table

        @jax.jit
        def f(x):
            if loop and table:
                return x
            return (x, loop, table)
    """,
}


@pytest.mark.parametrize("name", RECURSIVE)
def test_recursion_ends(name: str, tmp_path: Path) -> None:
    files = {"program.py": RECURSIVE[name]}
    assert reported(findings_in(tmp_path, files)) == expected(files)


def chain(length: int) -> str:
    functions = [f"def f{i}(x):\n    return f{i + 1}(x * 2)\n" for i in range(length)]
    last = f"def f{length}(x):\n    if x > 0:\n        return x\n    return -x\n"
    return "\n".join(["import jax", *functions, last, "run = jax.jit(f0)"])


def test_a_chain_of_calls_is_followed(tmp_path: Path) -> None:
    (finding,) = findings_in(tmp_path, {"program.py": chain(20)})
    assert finding.name == "tracer-branch"
    assert finding.function == "f20"


def test_a_chain_without_end_is_given_up_silently(tmp_path: Path) -> None:
    assert findings_in(tmp_path, {"program.py": chain(300)}) == []


def calls_with_flags() -> str:
    """Each function calls the next in every combination of flags: ever more contexts, if all were followed."""
    lines = ["import jax", "import jax.numpy as jnp"]
    for level in range(14):
        following = f"f{level + 1}"
        lines += [
            f"def f{level}(x, a, b, c, d):",
            f"    y = {following}(x, a, b, c, not d) + {following}(x, a, b, not c, d)",
            f"    y = y + {following}(x, a, not b, c, d) + {following}(x, not a, b, c, {level})",
            f"    return y + {following}([x, y], (a, b), {{'c': c}}, x, d)",
        ]
    lines += [
        "def f14(x, a, b, c, d):",
        "    if a and b and c:",
        "        return jnp.sum(x)",
        "    return 0.0",
    ]
    lines += ["@jax.jit", "def run(x):", "    return f0(x, True, False, True, None)"]
    return "\n".join(lines)


def nested_loops() -> str:
    """As many loops in each other as Python compiles; each is evaluated twice."""
    lines = ["import jax", "@jax.jit", "def run(x, n=3):", "    y = x"]
    for depth in range(19):
        lines.append("    " * (depth + 1) + f"for i{depth} in range(4):")
    lines += ["    " * 20 + "y = y + x * i0", "    return y"]
    return "\n".join(lines)


def nested_comprehensions() -> str:
    expression = "x"
    for depth in range(18):
        expression = f"[{expression} for i{depth} in range(3)]"
    return f"import jax\n@jax.jit\ndef run(x):\n    return {expression}\n"


def many_branches() -> str:
    lines = ["import jax", "import jax.numpy as jnp", "@jax.jit", "def run(x, cfg):", "    out = {}"]
    for i in range(600):
        lines += [
            f"    if option{i % 7}():",
            f"        out['k{i}'] = x * {i}",
            "    else:",
            "        out = dict(out)",
        ]
    lines += ["    return out"]
    return "\n".join(lines)


def deep_nesting_of_branches() -> str:
    lines = ["import jax", "def run(x, o):", "    y = x"]
    for depth in range(80):
        lines.append("    " * (depth + 1) + f"if o.a{depth}:")
        lines.append("    " * (depth + 2) + f"y = y + {depth}")
    return "\n".join([*lines, "    return y", "fast = jax.jit(run, static_argnums=1)"])


def long_elif_chain() -> str:
    lines = ["import jax", "@jax.jit", "def run(x, mode='a'):", "    if mode == 'm':", "        return x"]
    for i in range(900):
        lines += [f"    elif mode == 'm{i}':", f"        return x * {i}"]
    return "\n".join([*lines, "    return x"])


def long_expression() -> str:
    return "import jax\n@jax.jit\ndef run(x):\n    return " + " + ".join(["x"] * 900) + "\n"


def closures_in_closures() -> str:
    lines = ["import jax"]
    for depth in range(15):
        pad = "    " * depth
        lines.append(f"{pad}def f{depth}(x{depth}):")
    lines.append("    " * 15 + "return " + " + ".join(f"x{i}" for i in range(15)))
    for depth in reversed(range(14)):
        lines.append(
            "    " * (depth + 1)
            + f"return jax.jit(f{depth + 1})(x{depth}) + jax.vmap(f{depth + 1})(x{depth})"
        )
    lines.append("run = jax.jit(f0)")
    return "\n".join(lines)


def many_transformations() -> str:
    lines = ["import jax", "def base(x, y):", "    return x * y", "f0 = base"]
    for i in range(120):
        transform = ("jax.jit", "jax.vmap", "jax.grad", "jax.checkpoint")[i % 4]
        lines.append(f"f{i + 1} = {transform}(f{i})")
    lines += ["def run(x, y):", "    return f120(x, y)", "print(run(1.0, 2.0))"]
    return "\n".join(lines)


def functions_as_data() -> str:
    """Every function is handed every other one."""
    lines = ["import jax"]
    names = [f"g{i}" for i in range(12)]
    for name in names:
        others = ", ".join(f"f({other}, x)" for other in names)
        lines += [f"def {name}(f, x):", f"    return [x, {others}]"]
    lines += ["@jax.jit", "def run(x):", "    return g0(g1, x)"]
    return "\n".join(lines)


PATHOLOGICAL: list[Callable[[], str]] = [
    calls_with_flags,
    nested_loops,
    nested_comprehensions,
    many_branches,
    deep_nesting_of_branches,
    long_elif_chain,
    long_expression,
    closures_in_closures,
    many_transformations,
    functions_as_data,
]


@pytest.mark.parametrize("generate", PATHOLOGICAL, ids=lambda generate: generate.__name__)
def test_pathological_programs_end_without_false_claims(generate: Callable[[], str], tmp_path: Path) -> None:
    program = generate()
    compile(program, "program.py", "exec")
    started = time.process_time()
    findings = findings_in(tmp_path, {"program.py": program})
    seconds = time.process_time() - started
    assert findings == []
    assert seconds < 30  # a few seconds; without its bounds it would not end


@pytest.mark.parametrize("given", ["run", "run, None"])
def test_functions_of_a_factory_are_told_apart_by_what_they_have_captured(tmp_path: Path, given: str) -> None:
    many = 30
    steps = "".join(f"def step_{i}(x):\n    return x + {i}\n\n" for i in range(many))
    taken = "pair[0]" if "," in given else "pair"
    program = f"""import jax
import jax.numpy as jnp

def holding(f):
    def held(x):
        return f(x)
    return held

def wrapped(f):
    def run(x):
        return f(x)
    return {given}

{steps}"""
    program += "".join(
        f"pair = wrapped(holding(step_{i}))\njax.jit({taken})(jnp.ones(3))\n" for i in range(many)
    )
    facts = facts_of(tmp_path, program)
    assert all(facts[f"step_{i}"].params == {"x": "traced"} for i in range(many))


def test_what_goes_through_one_combinator_in_many_forms_is_seen_to_the_end(tmp_path: Path) -> None:
    """Each closure is called with arguments of a dozen forms, more in all than are evaluated one by one."""
    many = 120
    forms = [
        "x",
        "{'a': x}",
        "(x, x)",
        "[x]",
        "(x, (x,))",
        "{'a': {'b': x}}",
        "(x, None)",
        "[x, x, x]",
        "((x,), x)",
    ]
    program = """import jax
import jax.numpy as jnp

def chained(*steps):
    def update(tree, state=None):
        for step in steps:
            tree = step(tree)
        return tree, state
    return update

"""
    for i in range(many):
        program += f"def step_{i}(tree):\n    return jax.tree.map(lambda leaf: leaf + {i}, tree)\n\n"
        program += f"def run_{i}(x):\n    update = chained(step_{i})\n"
        program += "".join(f"    update({form})\n    update({form}, x)\n" for form in forms)
        program += f"    return x\n\njax.jit(run_{i})(jnp.ones(3))\n\n"
    facts = facts_of(tmp_path, program)
    assert all(facts[f"step_{i}"].params == {"tree": "traced"} for i in range(many))


def test_whether_files_reach_jax_is_found_out_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many files import one that imports JAX beside much that does not: the way there is gone once."""
    count = 60
    hub = "import computing\n" + "".join(f"import plain{n}\n" for n in range(count))
    files = {f"part{n}.py": f"import hub\n\ndef f{n}(x):\n    return x\n" for n in range(count)}
    files |= {f"plain{n}.py": "import os\n" for n in range(count)}
    files |= {"computing.py": "import jax\n", "hub.py": hub}
    sources = [read_source(path, path.name) for path in write_project(tmp_path, files)]
    project = Project(sources)
    read: list[str] = []
    imports = Project.imports

    def counted(self: Project, module: Module) -> list[Module]:
        read.append(module.name)
        return imports(self, module)

    monkeypatch.setattr(Project, "imports", counted)
    reached = [module.name for module in list(project.by_path.values()) if project.reaches_jax(module)]
    assert reached == [*(f"part{n}" for n in range(count)), "computing", "hub"]
    assert len(read) < 4 * count
