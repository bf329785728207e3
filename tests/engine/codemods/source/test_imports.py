"""Imports that rewrites need, leave unused, or must not touch."""

from __future__ import annotations

import pytest

DEVICE_ARRAY = {"old": "jax.numpy.DeviceArray", "new": "jax.Array"}
JAXPR = {"old": "jax.core.Jaxpr", "new": "jax.extend.core.Jaxpr", "module": "jax.extend.core"}

# Each program uses `core` or `jnp` once; afterwards nothing does, and `jax` is needed.
INSERTED = {
    "no imports but the old one": (
        "import jax.numpy as jnp\n\nx: «jnp.DeviceArray»\n",
        "import jax\n\nx: jax.Array\n",
    ),
    "after the docstring and the future": (
        '"""Doc."""\nfrom __future__ import annotations\nimport jax.numpy as jnp\nx: «jnp.DeviceArray» = jnp.ones(1)\n',
        '"""Doc."""\nfrom __future__ import annotations\nimport jax\nimport jax.numpy as jnp\n'
        "x: jax.Array = jnp.ones(1)\n",
    ),
    "before the imports from jax": (
        "import os\n\nimport jax.numpy as jnp\nfrom jax import jit\n\nx: «jnp.DeviceArray» = jit(jnp.ones)\n",
        "import os\n\nimport jax\nimport jax.numpy as jnp\nfrom jax import jit\n\nx: jax.Array = jit(jnp.ones)\n",
    ),
    "only from imports": (
        "from absl import app\nfrom jax import numpy as jnp\n\nx: «jnp.DeviceArray» = app.run(jnp.ones)\n",
        "import jax\nfrom absl import app\nfrom jax import numpy as jnp\n\nx: jax.Array = app.run(jnp.ones)\n",
    ),
    "old import in a function": (
        "import os\n\ndef f():\n    import jax.numpy as jnp\n    x: «jnp.DeviceArray» = jnp.ones(os.getpid())\n",
        "import os\nimport jax\n\ndef f():\n    import jax.numpy as jnp\n    x: jax.Array = jnp.ones(os.getpid())\n",
    ),
    "no imports at the top at all": (
        "# Licence\n\ndef f():\n    import jax.numpy as jnp\n    x: «jnp.DeviceArray» = jnp.ones(1)\n",
        "# Licence\n\nimport jax\n\ndef f():\n    import jax.numpy as jnp\n    x: jax.Array = jnp.ones(1)\n",
    ),
}
KEPT = {
    "in __all__": "import jax\nimport jax.numpy as jnp\n__all__ = ['jnp']\nx: «jnp.DeviceArray»\n",
    "in a quoted annotation": "import jax\nimport jax.numpy as jnp\nx: «jnp.DeviceArray»\ny: 'jnp.ndarray'\n",
    "with a comment": "import jax\nimport jax.numpy as jnp  # noqa: F401\nx: «jnp.DeviceArray»\n",
    "re-exported by name": "import jax\nfrom jax import numpy as numpy\nx: «numpy.DeviceArray»\n",
    "used elsewhere": "import jax\nimport jax.numpy as jnp\nx: «jnp.DeviceArray»\ny = jnp.ones(1)\n",
    "used in a nested function": (
        "import jax\nimport jax.numpy as jnp\nx: «jnp.DeviceArray»\ndef f():\n    return lambda: jnp\n"
    ),
    "under an if": "import jax\nif x:\n    import jax.numpy as jnp\nx: «jnp.DeviceArray»\n",
    "not used before either": "import jax\nimport os\nimport jax.numpy as jnp\nx = [«jnp.DeviceArray», jnp]\n",
}
DROPPED = {
    "whole line": (
        "import jax\nimport jax.numpy as jnp\nx: «jnp.DeviceArray»\n",
        "import jax\nx: jax.Array\n",
    ),
    "one of several": (
        "import jax\nfrom jax import jit, numpy as jnp, vmap\nx: «jnp.DeviceArray» = jit(vmap)\n",
        "import jax\nfrom jax import jit, vmap\nx: jax.Array = jit(vmap)\n",
    ),
    "the last of several": (
        "import jax\nfrom jax import (\n    jit,\n    numpy as jnp\n)\nx: «jnp.DeviceArray» = jit(f)\n",
        "import jax\nfrom jax import (\n    jit\n)\nx: jax.Array = jit(f)\n",
    ),
    "a paragraph of its own": (
        "import jax\n\nimport jax.numpy as jnp\n\nx: «jnp.DeviceArray»\n",
        "import jax\n\nx: jax.Array\n",
    ),
    "in a function": (
        "import jax\ndef f():\n    import jax.numpy as jnp\n    x: «jnp.DeviceArray»\n",
        "import jax\ndef f():\n    x: jax.Array\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), INSERTED.values(), ids=INSERTED)
def test_inserts_in_the_tidy_place(rewrite, before, after):
    assert rewrite("rename-api", before, **DEVICE_ARRAY) == after


@pytest.mark.parametrize("before", KEPT.values(), ids=KEPT)
def test_keeps_what_others_may_use(rewrite, before):
    new = before.replace("«jnp.DeviceArray»", "jax.Array").replace("«numpy.DeviceArray»", "jax.Array")
    assert rewrite("rename-api", before, **DEVICE_ARRAY) == new


@pytest.mark.parametrize(("before", "after"), DROPPED.values(), ids=DROPPED)
def test_drops_what_it_left_unused(rewrite, before, after):
    assert rewrite("rename-api", before, **DEVICE_ARRAY) == after


def test_keeps_the_imports_of_a_package_interface(rewrite):
    before = "import jax\nimport jax.numpy as jnp\nx: «jnp.DeviceArray»\n"
    assert "import jax.numpy as jnp" in rewrite("rename-api", before, path="lib/__init__.py", **DEVICE_ARRAY)


def test_an_import_for_type_checkers_is_not_there_at_run_time(rewrite):
    before = (
        "from typing import TYPE_CHECKING\nimport jax.numpy as jnp\nif TYPE_CHECKING:\n    import jax\n"
        "x = g(«jnp.DeviceArray», jnp, TYPE_CHECKING)\n"
    )
    after = rewrite("rename-api", before, **DEVICE_ARRAY)
    assert after.splitlines()[1:3] == ["import jax", "import jax.numpy as jnp"]


def test_an_import_further_down_is_not_there_yet(rewrite):
    before = "import jax.numpy as jnp\nx = «jnp.DeviceArray»\nimport jax\ny = jax.jit(jnp.ones)\n"
    after = rewrite("rename-api", before, **DEVICE_ARRAY)
    assert after.startswith("import jax\nimport jax.numpy as jnp\nx = jax.Array\n")


def test_one_import_serves_several_rewrites(rewrite):
    before = "import jax.core\nx: «jax.core.Jaxpr»\ny: «jax.core.Jaxpr»\n"
    assert rewrite("rename-api", before, **JAXPR) == (
        "import jax.extend.core\nx: jax.extend.core.Jaxpr\ny: jax.extend.core.Jaxpr\n"
    )


def test_a_long_string_on_the_line_of_an_import_is_not_cut(rewrite):
    before = 'import jax.numpy as jnp; TEXT = """\nlines\n"""\n\n\ndef f(x: «jnp.DeviceArray»):\n    return jnp.sin(x)\n'
    assert rewrite("rename-api", before, **DEVICE_ARRAY) == (
        'import jax\nimport jax.numpy as jnp; TEXT = """\nlines\n"""\n\n\n'
        "def f(x: jax.Array):\n    return jnp.sin(x)\n"
    )


def test_an_import_follows_the_whole_line_before_it(rewrite):
    before = 'import jax; TEXT = """\nlines\n"""\n\n\ndef f(x: «jax.core.Jaxpr»):\n    return jax.jit(x)\n'
    assert rewrite("rename-api", before, **JAXPR) == (
        'import jax; TEXT = """\nlines\n"""\nimport jax.extend.core\n\n\n'
        "def f(x: jax.extend.core.Jaxpr):\n    return jax.jit(x)\n"
    )
