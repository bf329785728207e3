"""Names across files: whichever way a function is imported, it is the same function."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.config import Config
from jaxlint.engine import read_sources
from jaxlint.source.read import read_source
from jaxlint.staging.project import Project
from tests.helpers.projects import expected, findings_in, reported

BRANCH = """
    def step(x):
        if x.sum() > 0:  # finding: tracer-branch
            return x
        return -x
"""
JIT = """
    import jax
    {imports}

    fast = jax.jit({name})
"""


def jits(imports: str, name: str = "step") -> str:
    return JIT.format(imports=imports, name=name)


PROJECTS = {
    "a folder called jax inside a package": {
        "pkg/__init__.py": "",
        "pkg/jax/__init__.py": "",
        "pkg/jax/model.py": BRANCH,
        "pkg/train.py": jits("from pkg.jax.model import step"),
    },
    "a module beside": {"train.py": jits("from model import step"), "model.py": BRANCH},
    "a module by its name": {"train.py": jits("import model", "model.step"), "model.py": BRANCH},
    "under another name": {"train.py": jits("import model as m", "m.step"), "model.py": BRANCH},
    "a function under another name": {
        "train.py": jits("from model import step as s", "s"),
        "model.py": BRANCH,
    },
    "relative, beside": {
        "pkg/__init__.py": "",
        "pkg/train.py": jits("from .model import step"),
        "pkg/model.py": BRANCH,
    },
    "relative, a module": {
        "pkg/__init__.py": "",
        "pkg/train.py": jits("from . import model", "model.step"),
        "pkg/model.py": BRANCH,
    },
    "relative, from the package above": {
        "pkg/__init__.py": "",
        "pkg/run/__init__.py": "",
        "pkg/run/train.py": jits("from ..parts.model import step"),
        "pkg/parts/__init__.py": "",
        "pkg/parts/model.py": BRANCH,
    },
    "absolute, from the package's own name": {
        "pkg/__init__.py": "",
        "pkg/run/__init__.py": "",
        "pkg/run/train.py": jits("from pkg.parts.model import step"),
        "pkg/parts/__init__.py": "",
        "pkg/parts/model.py": BRANCH,
    },
    "in a package, a folder without __init__.py": {
        "pkg/__init__.py": "",
        "pkg/_src/train.py": jits("from pkg._src.model import step"),
        "pkg/_src/model.py": BRANCH,
    },
    "a dotted import": {
        "pyproject.toml": "",
        "train.py": jits("import pkg.parts.model", "pkg.parts.model.step"),
        "pkg/__init__.py": "",
        "pkg/parts/__init__.py": "",
        "pkg/parts/model.py": BRANCH,
    },
    "a dotted import under another name": {
        "pyproject.toml": "",
        "train.py": jits("import pkg.model as m", "m.step"),
        "pkg/__init__.py": "",
        "pkg/model.py": BRANCH,
    },
    "a src layout, from a script": {
        "pyproject.toml": "",
        "scripts/train.py": jits("from pkg.model import step"),
        "src/pkg/__init__.py": "",
        "src/pkg/model.py": BRANCH,
    },
    "re-exported through __init__": {
        "pyproject.toml": "",
        "train.py": jits("from pkg import step"),
        "pkg/__init__.py": "from pkg.model import step as step",
        "pkg/model.py": BRANCH,
    },
    "re-exported twice, relatively": {
        "pyproject.toml": "",
        "train.py": jits("import pkg", "pkg.step"),
        "pkg/__init__.py": "from .parts import step",
        "pkg/parts/__init__.py": "from .model import step",
        "pkg/parts/model.py": BRANCH,
    },
    "a star import": {"train.py": jits("from model import *"), "model.py": BRANCH},
    "a star import through __init__": {
        "pyproject.toml": "",
        "train.py": jits("from pkg import *"),
        "pkg/__init__.py": "from .model import *",
        "pkg/model.py": BRANCH,
    },
    "namespace packages, without __init__": {
        "pyproject.toml": "",
        "scripts/train.py": jits("from pkg.parts.model import step"),
        "pkg/parts/model.py": BRANCH,
    },
    "a module of a namespace package": {
        "pyproject.toml": "",
        "scripts/train.py": jits("from pkg.parts import model", "model.step"),
        "pkg/parts/model.py": BRANCH,
    },
    "a cycle": {
        "train.py": """
            import jax
            import model

            scale = 2.0

            def run(x):
                return fast(x)

            fast = jax.jit(model.step)
        """,
        "model.py": """
            import train

            def step(x):
                if x.sum() > 0:  # finding: tracer-branch
                    return x * train.scale
                return -x
        """,
    },
    "a cycle of packages with names from each other": {
        "pyproject.toml": "",
        "pkg/__init__.py": "from .a import first\nfrom .b import second",
        "pkg/a.py": """
            import jax
            from pkg import b

            def first(x):
                return jax.jit(b.second)(x)
        """,
        "pkg/b.py": """
            from pkg.a import first

            def second(x):
                if x.sum() > 0:  # finding: tracer-branch
                    return x
                return first
        """,
    },
    "a fallback for a missing library": {
        "train.py": """
            import jax

            try:
                from fancy_library import step
            except ImportError:
                from model import step

            fast = jax.jit(step)
        """,
        "model.py": """
            def step(x):
                return x
        """,
    },
    "a fallback around JAX itself": {
        "train.py": """
            try:
                import jax
                import jax.numpy as jnp
            except ImportError:
                jax = None
                import numpy as jnp

            def step(x):
                if jnp.sum(x) > 0:  # finding: tracer-branch
                    return x
                return -x

            fast = jax.jit(step)
        """,
    },
    "imports for type checkers alone": {
        "train.py": """
            from __future__ import annotations

            from typing import TYPE_CHECKING

            import jax

            if TYPE_CHECKING:
                from model import State

            @jax.jit
            def update(state: State, x):
                if state is None or x is None:
                    return x
                return state.x + x
        """,
        "model.py": """
            from typing import NamedTuple

            import jax

            class State(NamedTuple):
                x: jax.Array
        """,
    },
    "an import inside the function": {
        "train.py": """
            import jax

            @jax.jit
            def run(x):
                from model import step

                return step(x)
        """,
        "model.py": BRANCH,
    },
    "jit that a module of the project hands on": {
        "compat.py": """
            import jax
            import jax.numpy as jnp

            jit = jax.jit
            np = jnp
        """,
        "train.py": """
            from compat import jit, np

            @jit
            def f(x):
                if np.sum(x) > 0:  # finding: tracer-branch
                    return x
                return -x
        """,
    },
    "a helper of the project that wraps jit": {
        "compile.py": """
            from functools import partial

            import jax

            def compiled(f=None, **options):
                if f is None:
                    return partial(compiled, **options)
                return jax.jit(f, **options)
        """,
        "train.py": """
            from compile import compiled

            @compiled(static_argnames="n")
            def f(x, n):
                if n > 2:
                    return x
                return x if x > 0 else -x  # finding: tracer-branch
        """,
    },
    "a class whose base is in another file": {
        "base.py": """
            import jax

            class Base:
                def __init__(self):
                    self.run = jax.jit(self.step)

                def step(self, x):
                    raise NotImplementedError
        """,
        "train.py": """
            from base import Base

            class Mine(Base):
                deep = True

                def step(self, x):
                    if self.deep:
                        x = x * 2
                    if x.sum() > 0:  # finding: tracer-branch
                        return x
                    return -x

            model = Mine()
            model.run(1.0)
        """,
    },
    "a setting of another file that the program changes between two calls": {
        "settings.py": """
            gamma = 0.9
            scale = 1.0
        """,
        "main.py": """
            import jax
            import settings

            @jax.jit
            def discount(reward):
                return reward * settings.gamma * settings.scale  # finding: stale-capture

            def main():
                settings.scale = 2.0
                print(discount(1.0))
                settings.gamma = 0.5
                print(discount(1.0))
        """,
    },
    "an import that falls back on jit, and one on what runs on the host": {
        "main.py": """
            try:
                from accelerators import jit as compiled
            except ImportError:
                from jax import jit as compiled
            try:
                from accelerators import jit as maybe
            except ImportError:
                def maybe(f):
                    return f
            import jax.numpy as jnp

            @compiled
            def sign(x):
                if x.sum() > 0:  # finding: tracer-branch
                    return x
                return -x

            @maybe
            def on_host(x):
                if x.sum() > 0:
                    return x
                return -x

            print(sign(jnp.ones(2)), on_host(jnp.ones(2)))
        """,
    },
    "activations under flax's names, and a function of one's own called so": {
        "mine.py": """
            def tanh(x):
                return 1.0
        """,
        "main.py": """
            import jax
            import mine
            from flax import linen as nn, nnx

            @jax.jit
            def f(x):
                if nn.tanh(x).mean() > 0:  # finding: tracer-branch
                    x = 2 * x
                if nnx.relu(x).mean() > 0:  # finding: tracer-branch
                    x = 2 * x
                if nn.max_pool(x, (2, 2)).mean() > 0:  # finding: tracer-branch
                    x = 2 * x
                if mine.tanh(x) > 0:
                    x = 2 * x
                return x
        """,
    },
    "a core of haiku that is unrolled, and one that is called step by step": {
        "main.py": """
            import haiku as hk
            import jax
            import jax.numpy as jnp

            class Core(hk.RNNCore):
                def initial_state(self, batch_size):
                    return jnp.zeros(2)

                def __call__(self, x, state):
                    if state.sum() > 10:  # finding: tracer-branch
                        state = jnp.zeros_like(state)
                    return x + state, state

            def step(x, state):
                if state.sum() > 10:
                    state = jnp.zeros_like(state)
                return x + state, state

            def unrolled(xs):
                core = Core()
                return hk.dynamic_unroll(core, xs, core.initial_state(None))

            def stepped(xs):
                state = jnp.zeros(2)
                for x in xs:
                    y, state = step(x, state)
                return y

            f = hk.transform(unrolled)
            params = f.init(jax.random.key(0), jnp.ones((3, 2)))
            g = hk.transform(stepped)
            print(g.apply({}, None, jnp.ones((3, 2))))
        """,
    },
    "a module called as a library is": {
        "train.py": """
            import jax
            import jax.numpy as jnp
            from random import choice

            import random

            @jax.jit
            def f(x):
                return x * random.scale + choice
        """,
        "random.py": """
            scale = 2.0
            choice = 1.0
        """,
    },
}


@pytest.mark.parametrize("name", PROJECTS)
def test_whole_project(name: str, tmp_path: Path) -> None:
    files = PROJECTS[name]
    python = {path: text for path, text in files.items() if path.endswith(".py")}
    for path in set(files) - set(python):
        (tmp_path / path).write_text(files[path])
    assert reported(findings_in(tmp_path, python)) == expected(python)


@pytest.mark.parametrize(
    "name", ["relative, beside", "a src layout, from a script", "re-exported twice, relatively"]
)
def test_a_file_alone_is_seen_with_the_project_around_it(name: str, tmp_path: Path) -> None:
    """Only `model.py` is examined; what jits its function is in another file."""
    files = {"pyproject.toml": "", **PROJECTS[name]}
    for path in set(files) - {path for path in files if path.endswith(".py")}:
        (tmp_path / path).write_text(files[path])
    python = {path: text for path, text in files.items() if path.endswith(".py")}
    model = next(path for path in python if path.endswith("model.py"))
    assert reported(findings_in(tmp_path, python, only=model)) == expected(python)


def test_a_context_file_that_cannot_be_parsed_costs_nothing(tmp_path: Path) -> None:
    files = {
        "train.py": """
            import jax
            import broken
            from broken import helper

            @jax.jit
            def f(x):
                if x > 0:  # finding: tracer-branch
                    return helper(x)
                return broken.other(x)
        """,
        "broken.py": "def helper(x:\n",
    }
    assert reported(findings_in(tmp_path, files, only="train.py")) == expected(files)


def test_the_caller_of_another_file_is_named_with_its_place(tmp_path: Path) -> None:
    (finding,) = findings_in(tmp_path, {"train.py": jits("from model import step"), "model.py": BRANCH})
    assert "`x`, a parameter of `step` (`jax.jit`, train.py:4)" in finding.reason


def test_what_calls_a_file_is_evaluated_up_to_a_bound_the_nearest_program_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "a_test.py": jits("from model import step"),
        "far.py": "import near\n",
        "near.py": jits("from model import step"),
        "other.py": jits("from model import other", "other"),
        "model.py": BRANCH
        + """
    def other(x):
        return x if x > 0 else -x
""",
    }
    names = {finding.function for finding in findings_in(tmp_path, files, only="model.py")}
    assert names == {"step", "other"}
    monkeypatch.setattr("jaxlint.staging.analysis.CONTEXT_STEPS", 1)
    sources = {path: read_source(tmp_path / path, path) for path in files}
    project = Project([sources["model.py"]])
    project.add_context(sources.values())
    assert [module.display for module in project.importers()] == [
        "near.py",
        "other.py",
        "far.py",
        "a_test.py",
    ]
    names = {finding.function for finding in findings_in(tmp_path, files, only="model.py")}
    assert names == {"step"}  # by way of near.py


def test_an_installed_package_is_a_project_of_its_own(tmp_path: Path) -> None:
    """What is installed beside it is read only where it is checked, too."""
    files = {
        "pyproject.toml": "",
        "train.py": jits("from model import step"),
        "lib/site-packages/model/__init__.py": BRANCH,
        "lib/site-packages/fast/__init__.py": jits("from model import step"),
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    model, fast = (tmp_path / path for path in list(files)[2:])
    alone = Project([read_source(fast)])
    assert alone.find("model", alone.targets[0]) is None
    assert not alone.is_folder("model", alone.targets[0])
    both = Project([read_source(fast), read_source(model)])
    assert both.find("model", both.targets[0]) is both.by_path[model]
    read, rest, _ = read_sources([model], Config(root=tmp_path))
    assert (len(read), rest) == (1, [])


def test_what_another_file_hands_on_is_reported_there(tmp_path: Path) -> None:
    files = {
        "kinds.py": """
            import jax

            Primitive = jax.core.Primitive  # finding: removed-api
        """,
        "package/__init__.py": "",
        "package/old.py": "from jax import tree_map  # finding: removed-api",
        "package/use.py": "from .old import tree_map",
        "use.py": """
            from kinds import Primitive

            mark = Primitive("mark")
        """,
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)
