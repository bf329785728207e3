"""Errors of rules that follow calls: they are warnings where what they rest on lies in another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Severity
from tests.helpers.projects import findings_in

_CLIPPED = """import jax

def clipped(x):
    if x > 1:
        return 1.0
    return x
"""


def severities(folder: Path, files: dict[str, str], rule: str) -> dict[str, Severity]:
    return {
        f"{one.path}:{one.span.line}": one.severity for one in findings_in(folder, files) if one.name == rule
    }


def test_a_branch_on_a_tracer_is_an_error_where_the_same_file_jits_it(tmp_path: Path) -> None:
    files = {"ops.py": _CLIPPED + "\nfast = jax.jit(clipped)\n"}
    assert severities(tmp_path, files, "tracer-branch") == {"ops.py:4": Severity.ERROR}


def test_it_is_a_warning_where_another_file_jits_it(tmp_path: Path) -> None:
    files = {"ops.py": _CLIPPED, "train.py": "import jax\nimport ops\n\nfast = jax.jit(ops.clipped)\n"}
    assert severities(tmp_path, files, "tracer-branch") == {"ops.py:4": Severity.WARNING}


def test_it_is_a_warning_where_a_jitted_function_of_another_file_calls_it(tmp_path: Path) -> None:
    step = "import jax\nimport ops\n\n@jax.jit\ndef step(x):\n    return ops.clipped(x) + 1\n"
    assert severities(tmp_path, {"ops.py": _CLIPPED, "train.py": step}, "tracer-branch") == {
        "ops.py:4": Severity.WARNING
    }


@pytest.mark.parametrize("other", ["a_train.py", "z_train.py"])
def test_a_reason_in_the_same_file_counts_whichever_was_seen_first(tmp_path: Path, other: str) -> None:
    files = {
        "ops.py": _CLIPPED + "\n@jax.jit\ndef step(x):\n    return clipped(x) + 1\n",
        other: "import jax\nimport ops\n\n@jax.vmap\ndef rows(x):\n    return ops.clipped(x) * 2\n",
    }
    assert severities(tmp_path, files, "tracer-branch") == {"ops.py:4": Severity.ERROR}


def test_what_is_passed_to_a_jitted_function_of_another_file_is_a_warning(tmp_path: Path) -> None:
    jitted = "from functools import partial\nimport jax\n\n@partial(jax.jit, static_argnums=1)\ndef f(x, sizes):\n    return x\n"
    call = "print(f(1.0, [1, 2]))\n"
    assert severities(tmp_path, {"ops.py": jitted + call}, "unhashable-static-argument") == {
        "ops.py:7": Severity.ERROR
    }
    assert severities(
        tmp_path, {"ops.py": jitted, "main.py": "from ops import f\n" + call}, "unhashable-static-argument"
    ) == {"main.py:2": Severity.WARNING}


def test_what_the_lines_themselves_show_stays_an_error_whoever_calls_it(tmp_path: Path) -> None:
    ops = "import jax.numpy as jnp\n\ndef filled(n):\n    a = jnp.zeros(3)\n    a[0] = n\n    return a\n"
    main = "import jax\nimport ops\n\nprint(jax.jit(ops.filled)(2.0))\n"
    assert severities(tmp_path, {"ops.py": ops, "main.py": main}, "array-item-assignment") == {
        "ops.py:5": Severity.ERROR
    }


_DONATING = """from functools import partial
import jax

@partial(jax.jit, donate_argnums=0)
def step(params, batch):
    return jax.tree.map(lambda p: p - batch.mean(), params)
"""


def test_a_donated_array_that_comes_back_and_is_read_by_its_name_is_an_error(tmp_path: Path) -> None:
    text = (
        _DONATING
        + "\ndef run(params, batch):\n    new = step(params, batch)\n    return jax.tree.map(abs, params), new\n"
    )
    assert list(severities(tmp_path, {"a.py": text}, "use-after-donation").values()) == [Severity.ERROR]


def test_it_is_a_warning_under_another_name(tmp_path: Path) -> None:
    text = _DONATING + (
        "\ndef run(params, batch):\n    old = params\n    params = step(params, batch)\n    return jax.tree.map(abs, old), params\n"
    )
    assert list(severities(tmp_path, {"a.py": text}, "use-after-donation").values()) == [Severity.WARNING]


_ENCODER = """from functools import partial
import jax
import jax.numpy as jnp

class Encoder:
    @partial(jax.jit, static_argnums=0)
    def forward(self, x):
        self.table = jnp.zeros(x.shape)
        self.table = self.table + jnp.cos(x)
        return x + self.table

    @partial(jax.jit, static_argnums=0)
    def update(self, x):
        self.level = x.mean()
        return x - self.level
"""


# The second store of one attribute in one function is told with the first.
_LEAKS = {"a.py:8": Severity.WARNING, "a.py:9": Severity.INFO, "a.py:14": Severity.WARNING}


def test_a_tracer_in_an_attribute_that_nothing_else_reads_is_a_warning(tmp_path: Path) -> None:
    assert severities(tmp_path, {"a.py": _ENCODER}, "tracer-leak") == _LEAKS


@pytest.mark.parametrize(
    "reader",
    [
        "    def shown(self):\n        return float(self.level)\n",
        "    def shown(self):\n        return getattr(self, 'level')\n",
        "    @partial(jax.jit, static_argnums=0)\n    def later(self, x):\n        y = x + self.level\n        self.level = y\n        return y\n",
        "    @partial(jax.jit, static_argnums=0)\n    def grown(self, x):\n        self.level += x.mean()\n        return x\n",
        "class Shown(Encoder):\n    def shown(self):\n        return float(self.level)\n",
    ],
)
def test_it_is_an_error_where_it_is_read_before_it_is_stored_again(tmp_path: Path, reader: str) -> None:
    found = severities(tmp_path, {"a.py": _ENCODER + "\n" + reader}, "tracer-leak")
    assert found["a.py:14"] is Severity.ERROR
    assert found["a.py:8"] is Severity.WARNING
    assert found["a.py:9"] is Severity.INFO


def test_it_is_a_warning_beside_a_class_that_has_an_attribute_of_that_name(tmp_path: Path) -> None:
    other = "\nclass Gauge:\n    def __init__(self, level):\n        self.level = level\n\n    def shown(self):\n        return float(self.level)\n"
    assert severities(tmp_path, {"a.py": _ENCODER + other}, "tracer-leak") == _LEAKS


@pytest.mark.parametrize(
    ("name", "severity"), [("test_ops.py", Severity.INFO), ("checks.py", Severity.WARNING)]
)
def test_what_a_test_leads_to_is_advice(tmp_path: Path, name: str, severity: Severity) -> None:
    calls = "import jax\nimport ops\n\ndef test_clipped():\n    assert jax.jit(ops.clipped)(2.0) == 1\n"
    files = {"ops.py": _CLIPPED, name: calls}
    assert severities(tmp_path, files, "tracer-branch") == {"ops.py:4": severity}


def test_what_merely_stands_in_a_file_of_tests_is_as_sure_as_elsewhere(tmp_path: Path) -> None:
    files = {"test_ops.py": _CLIPPED + "\nfast = jax.jit(clipped)\n"}
    assert severities(tmp_path, files, "tracer-branch") == {"test_ops.py:4": Severity.ERROR}


def test_what_a_fixture_and_set_up_lead_to_is_advice(tmp_path: Path) -> None:
    fixture = "import jax\nimport ops\nimport pytest\n\n@pytest.fixture\ndef made():\n    return jax.jit(ops.clipped)(2.0)\n"
    set_up = "import unittest\nimport jax\nimport ops\n\nclass TestAll(unittest.TestCase):\n    def setUp(self):\n        self.made = jax.jit(ops.clipped)(2.0)\n"
    for text in (fixture, set_up):
        files = {"ops.py": _CLIPPED, "test_ops.py": text}
        assert severities(tmp_path, files, "tracer-branch") == {"ops.py:4": Severity.INFO}


_TABLE = """
import jax
import unittest
from .cases import cases


def grown(xs):
    return jax.lax.scan(lambda c, x: ((c, x), None), xs, xs)


WAYS = (grown, lambda f: (lambda x: jax.lax.while_loop(lambda s: s[0] < 1, lambda s: [1, f(s[1])], (0, x))))
"""
_TESTS = """

class WayTest(unittest.TestCase):
    @cases(*WAYS)
    def test_fails(self, way):
        with self.assertRaises(Exception):
            way(abs)
"""


@pytest.mark.parametrize(
    ("name", "text", "severity"),
    [
        ("test_ways.py", _TABLE + _TESTS, Severity.INFO),
        ("test_ways.py", _TABLE, Severity.ERROR),
        ("ways.py", _TABLE + _TESTS, Severity.ERROR),
    ],
)
def test_what_is_left_to_tests_beside_it_is_advice(
    tmp_path: Path, name: str, text: str, severity: Severity
) -> None:
    found = severities(tmp_path, {name: text}, "carry-mismatch")
    assert found == {f"{name}:7": severity, f"{name}:10": severity}


def test_what_a_file_of_tests_runs_itself_is_as_sure_as_elsewhere(tmp_path: Path) -> None:
    text = _TABLE + "\n\ngrown(jax.numpy.ones(3))\n" + _TESTS
    assert severities(tmp_path, {"test_ways.py": text}, "carry-mismatch")["test_ways.py:7"] is Severity.ERROR


_WAVE = """import jax.numpy as jnp

def wave(frequency, t):
    phase = 2 * frequency
    return jnp.sin(phase * t)
"""
_SIZES = "jnp.ones(3), jnp.ones(4)"


def test_shapes_that_another_file_gives_are_a_warning(tmp_path: Path) -> None:
    program = f"import jax.numpy as jnp\nimport ops\n\nprint(ops.wave({_SIZES}))\n"
    assert severities(tmp_path, {"ops.py": _WAVE, "run.py": program}, "shape-mismatch") == {
        "ops.py:5": Severity.WARNING
    }


def test_shapes_that_the_same_file_gives_are_an_error(tmp_path: Path) -> None:
    files = {"ops.py": f"{_WAVE}\nprint(wave({_SIZES}))\n"}
    assert severities(tmp_path, files, "shape-mismatch") == {"ops.py:5": Severity.ERROR}


def test_shapes_that_do_not_depend_on_a_caller_are_an_error(tmp_path: Path) -> None:
    ops = (
        "import jax.numpy as jnp\n\ndef total(name):\n    print(name)\n    return jnp.ones(3) + jnp.ones(4)\n"
    )
    files = {"ops.py": ops, "run.py": "import ops\n\nprint(ops.total('x'))\n"}
    assert severities(tmp_path, files, "shape-mismatch") == {"ops.py:5": Severity.ERROR}


_BACKEND = """import numpy as np
WITH = False
try:
    IMPORT
    WITH = True
except ImportError:
    WITH = False
"""
_COPY = """import jax
import jax.numpy as jnp
import numpy as np
from backend import WITH

def copy(x):
    if WITH:
        return jnp.array(x)
    else:
        return np.copy(x)

@jax.jit
def step(x):
    return copy(x) * 2

print(step(jnp.ones(3)))
"""


@pytest.mark.parametrize(
    ("imported", "told"), [("import jax", False), ("import jax\n    import scipy", True)]
)
def test_what_runs_without_jax_meets_no_tracer(imported: str, told: bool, tmp_path: Path) -> None:
    files = {"backend.py": _BACKEND.replace("IMPORT", imported), "ops.py": _COPY}
    assert bool(severities(tmp_path, files, "tracer-to-numpy")) == told


_SHOWN = "def shown(x):\n    print('x', x)\n    return x\n"


def test_a_print_that_only_a_test_compiles_is_advice(tmp_path: Path) -> None:
    program = "import jax\nimport ops\n\nstep = jax.jit(ops.shown)\nprint(step(1.0))\n"
    found = severities(tmp_path, {"ops.py": _SHOWN, "tests/look.py": program}, "impure-call")
    assert found == {"ops.py:2": Severity.INFO}


def test_a_print_in_a_program_by_itself_is_a_warning(tmp_path: Path) -> None:
    program = f"import jax\n\n{_SHOWN}\n\nstep = jax.jit(shown)\nprint(step(1.0))\n"
    assert severities(tmp_path, {"run.py": program}, "impure-call") == {"run.py:4": Severity.WARNING}
