"""The table of public names, held against the installed JAX, and the reader that makes it."""

from __future__ import annotations

import importlib
import sys
import types
import warnings
from pathlib import Path

import jax
import pytest

from jaxlint.jaxapi.api_names import known_names
from jaxlint.jaxapi.history import NEWEST

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from api_names import Release  # type: ignore[import-not-found]

MODULES = [
    "jax",
    "jax.numpy",
    "jax.numpy.linalg",
    "jax.lax",
    "jax.nn",
    "jax.random",
    "jax.tree",
    "jax.tree_util",
    "jax.scipy.special",
    "jax.sharding",
    "jax.experimental",
    "jax.experimental.pallas",
    "jax.extend.core",
    "jax.interpreters.ad",
]


@pytest.mark.parametrize("module", MODULES)
def test_what_the_installed_jax_has_is_known(module):
    """Else it would be reported as a name that no release ever had."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = importlib.import_module(module)
    names = known_names(module)
    public = {name for name in dir(found) if not name.startswith("_")}
    assert public - names.there - set(names.gone) == set()


def test_no_object_is_taken_for_a_module():
    """`jax.config` was a module once: what its object has now is not in the table."""
    wrong = []
    for module in known_names.modules():
        names = known_names(module)
        if not names.there or names.is_open:
            continue
        found: object = jax
        for part in module.split(".")[1:]:
            found = getattr(found, part, None)
        if found is not None and not isinstance(found, types.ModuleType):
            wrong.append(module)
    assert not wrong


def test_the_table_ends_with_the_newest_release():
    assert known_names.versions()[-1] == NEWEST


def test_what_became_of():
    assert known_names.what_became_of("jax.numpy.sin") == "there"
    assert known_names.what_became_of("jax.numpy.sin.anything") == "there"
    assert known_names.what_became_of("jax.tree_multimap") == "0.3.17"  # the first sampled release without it
    assert known_names.what_became_of("jax.numpy.softmax") is None


def test_names_are_read_from_the_files(tmp_path):
    package = tmp_path / "jax"
    (package / "_src").mkdir(parents=True)
    (package / "_src" / "ops.py").write_text("def add(x): ...\ndef _hidden(): ...\nscale = 1\n")
    (package / "__init__.py").write_text(
        "from jax._src.ops import add as add\nimport os as _os\nfrom jax import late as late\n"
        "_deprecations = {'old': ('jax.old is deprecated. Use jax.add', add), 'gone': ('jax.gone went', None)}\n"
        "from jax._src.deprecations import deprecation_getattr\n__getattr__ = deprecation_getattr(__name__, _deprecations)\n"
        "temporary = 1\ndel temporary\nif True:\n    both = 1\n"
    )
    (package / "late.py").write_text("from jax._src.ops import *\n")
    (package / "magic.py").write_text("for name in 'ab':\n    globals()[name] = 1\n")
    (package / "made.py").write_text("def __getattr__(name):\n    return name\n")
    release = Release(tmp_path)
    assert release.modules() == ["jax", "jax.late", "jax.made", "jax.magic"]
    found = release.names("jax").names
    assert {name: found.get(name) for name in ("add", "old", "gone", "temporary", "both", "late")} == {
        "add": "present",
        "old": "deprecated",
        "gone": "gone",
        "temporary": None,
        "both": "present",
        "late": "present",
    }
    assert not release.names("jax").is_open
    assert release.names("jax").origin["add"] == "jax._src.ops.add"
    assert "Use jax.add" in release.messages["jax.old"]
    assert set(release.names("jax.late").names) == {"add", "scale"}
    assert release.names("jax.magic").is_open
    assert release.names("jax.made").is_open
