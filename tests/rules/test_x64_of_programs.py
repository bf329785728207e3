"""Which files an option holds for: those that run with a file that sets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.config import load_config
from jaxlint.engine import check

WIDE = "import jax.numpy as jnp\n\nprint(jnp.zeros(3, dtype=jnp.float64))\n"
ENABLES = 'import jax\n\njax.config.update("jax_enable_x64", True)\n'


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"train.py": WIDE, "plot.py": ENABLES}, True),
        ({"train.py": "import setup_jax\n" + WIDE, "setup_jax.py": ENABLES}, False),
        ({"train.py": WIDE, "main.py": ENABLES + "import train\n"}, False),
        ({"steps/train.py": WIDE, "main.py": ENABLES + "import steps.train\n"}, False),
        (
            {
                "package/__init__.py": "",
                "package/train.py": WIDE,
                "package/plugins.py": ENABLES + "import importlib\n",
            },
            False,
        ),
        ({"train.py": WIDE, "main.py": ENABLES + "import os\n\nos.system('python train.py')\n"}, False),
        ({"train.py": WIDE, "Makefile": "run:\n\tJAX_ENABLE_X64=1 python train.py\n"}, False),
        ({"tests/test_train.py": WIDE, "tests/conftest.py": ENABLES}, False),
    ],
    ids=[
        "another program",
        "what it imports",
        "what imports it",
        "a folder",
        "its package",
        "what starts it",
        "the settings",
        "a test",
    ],
)
def test_x64_holds_for_what_runs_together(files: dict[str, str], told: bool, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    result = check([tmp_path], load_config([tmp_path]), use_cache=False)
    named = [one.path for one in result.findings if one.name == "float64-without-x64"]
    assert any(path.endswith("train.py") for path in named) is told
