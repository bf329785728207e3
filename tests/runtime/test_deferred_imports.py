"""What few programs need is imported at its first use: each process of `verify` would spend most of a second on it."""

from __future__ import annotations

import os
import subprocess
import sys

from jaxlint_runtime.deferred_imports import deferred

DEAR = ("jax.experimental.pallas.tpu", "scipy.special")
CODE = f"""
import sys, jax
before = set(sys.modules)
from jaxlint_runtime.exported import restored  # all that measures candidates
print([name for name in {DEAR!r} if name in sys.modules and name not in before])
"""


def test_a_process_that_measures_imports_neither_pallas_nor_scipy() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_a_module_is_imported_when_an_attribute_is_read() -> None:
    sys.modules.pop("colorsys", None)
    module = deferred("colorsys")
    assert "colorsys" not in sys.modules
    assert module.rgb_to_hsv(0.0, 0.0, 0.0) == (0.0, 0.0, 0.0)
    assert "colorsys" in sys.modules
