"""A file that is checked alone says what it says in the whole project, or less: what was not read is unknown, not absent."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from benchmarks.corpora.alone import CONTEXT, LONE, compare
from jaxlint.config import load_config
from jaxlint.engine import check

POLICY = """import jax
from jax.ad_checkpoint import checkpoint_name

from {package}blocks import block


def layer(w, h):
    return checkpoint_name(h @ w, "out")


kept = jax.checkpoint(block, policy=jax.checkpoint_policies.save_only_these_names("query", "key"))
"""
BLOCKS = """import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name


def block(w, h):
    return jnp.tanh(checkpoint_name(h @ w, "query"))
"""
WIDE = """import jax.numpy as jnp

from {package}settings import SEED


def count(x):
    return jnp.sum(x).astype(jnp.int64) + SEED
"""
SCAN = """import jax
from {package}util import not_jax_tracer


def scan(length, x, xs):
    def body(carry, x):
        i, state = carry
        init = True if (not_jax_tracer(i) and i in range(length)) else False
        name = "_" * (length - i) if init else ""
        return (i + 1, state + len(name)), x + 1

    return jax.lax.scan(body, (0, x), xs)
"""
UTIL = """import jax


def not_jax_tracer(x):
    return not isinstance(x, jax.core.Tracer)


def cases(*values):
    def decorate(test):
        def run(self):
            for value in values:
                test(self, value)

        return run

    return decorate
"""
TEST = """import unittest

import jax
from {package}util import cases

WAYS = (
    lambda f: (lambda x: jax.lax.while_loop(lambda s: s[0] < 1, lambda s: [1, f(s[1])], (0, x))),
    jax.checkpoint,
)


class WayTest(unittest.TestCase):
    @cases(*WAYS)
    def test_fails(self, way):
        with self.assertRaises(TypeError):
            way(abs)(1.0)
"""
PACKAGES = {
    "scan.py": SCAN,
    "util.py": UTIL,
    "way_test.py": TEST,
    "policy.py": POLICY,
    "blocks.py": BLOCKS,
    "unused.py": BLOCKS.replace("query", "key"),
    "wide.py": WIDE,
    "settings.py": "import jax\n\nSEED = 1\njax.config.update('jax_enable_x64', True)\n",
}


def codes(path: Path) -> list[str]:
    return [one.code for one in check([path], load_config([path]), use_cache=False).findings]


@pytest.fixture(params=[".", "pkg._src.", "distrax._src."])
def package(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    top = request.param.partition(".")[0] or "pkg"
    folder = tmp_path / "project" / top / "_src"
    folder.mkdir(parents=True)
    for above in (folder, folder.parent):
        (above / "__init__.py").write_text("")
    for name, text in PACKAGES.items():
        (folder / name).write_text(text.format(package=request.param))
    return folder


@pytest.mark.parametrize("name", ["policy.py", "wide.py", "scan.py", "way_test.py"])
def test_what_another_file_gives_is_not_missing(package: Path, name: str, tmp_path: Path) -> None:
    top = package.parents[1]
    assert codes(package / name) == []  # no project around it
    (top / "pyproject.toml").write_text("")
    assert codes(top) == []
    assert codes(package / name) == []
    lone = tmp_path / "lone"
    lone.mkdir()
    assert codes(Path(shutil.copy(package / name, lone))) == []


def test_a_file_that_is_a_program_of_its_own_is_whole(tmp_path: Path) -> None:
    alone = POLICY.replace("from {package}blocks import block", "block = None")
    (tmp_path / "policy.py").write_text(alone)
    (tmp_path / "wide.py").write_text(WIDE.replace("from {package}settings import SEED", "SEED = 1"))
    assert codes(tmp_path / "policy.py") == ["JAX604"]
    assert codes(tmp_path / "wide.py") == ["JAX1001"]


def test_a_private_function_of_a_library_may_return_anything(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "import jax\nfrom optax.losses import _fenchel\n\nloss = jax.jit(_fenchel.make_loss(max))\n"
    )
    assert codes(path) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "ways", "sample"), [("optax", (LONE,), 6), ("chex", (CONTEXT,), 3), ("equinox", (LONE,), 6)]
)
def test_a_sample_of_files_says_no_more_alone(name: str, ways: tuple[str, ...], sample: int) -> None:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.submodule_search_locations
    found = compare(Path(spec.submodule_search_locations[0]), ways, sample, seed=24)
    assert [f"{where}:{one.span.line} {one.code} {one.message}" for where, one in found.more] == []
