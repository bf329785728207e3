"""tools/api_history.py: what a new release adds to the tables, and what it refuses to read."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from jaxlint.jaxapi.api_names import known_names

TOOLS = Path(__file__).resolve().parents[2] / "tools"
OLD = {
    "__init__.py": "from jax._src.core import add as add, mul as mul\nimport functools\n",
    "_src/core.py": "def add(): ...\ndef mul(): ...\ndef sub(): ...\n",
    "ops.py": "from jax._src.core import add as add, sub as sub\n",
}
NEW = {
    "__init__.py": "from jax._src.core import add as add\n_deprecations = {'mul': ('Use jax.ops.mul instead.', 1)}\n",
    "_src/core.py": "def add(): ...\ndef mul(): ...\ndef sub(): ...\n",
    "ops.py": "from jax._src.core import mul as mul\nfrom jax._src.core import sub as sub\n",
}


@pytest.fixture
def tool(monkeypatch, tmp_path):
    """The tool, writing to files of its own that know one release."""
    monkeypatch.syspath_prepend(str(TOOLS))
    spec = importlib.util.spec_from_file_location("api_history_tool", TOOLS / "api_history.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    names, rows = tmp_path / "api_names.txt", tmp_path / "api_history.jsonl"
    rows.write_text("")
    monkeypatch.setattr(module, "DATA", names)
    monkeypatch.setattr(module, "HISTORY", rows)
    monkeypatch.setattr("jaxlint.jaxapi.api_names.DATA", names)
    known_names.reread()
    yield module
    monkeypatch.undo()
    known_names.reread()


def release(tool, folder: Path, files: dict[str, str]):
    for name, text in files.items():
        path = folder / "jax" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tool.Release(folder)


def test_a_new_release_is_taken_in(tool, tmp_path, capsys):
    before, after = release(tool, tmp_path / "jax-0.1.0", OLD), release(tool, tmp_path / "jax-0.2.0", NEW)
    tool.rebuild([tmp_path / "jax-0.1.0"])
    tool.take_in("0.2.0", after, before)
    assert known_names.versions() == ["0.1.0", "0.2.0"]
    assert known_names.what_became_of("jax.add") == "there"
    assert known_names.what_became_of("jax.ops.add") == "0.2.0"
    assert known_names.what_became_of("jax.ops.mul") == "there"
    rows = {row["name"]: row for row in map(json.loads, tool.HISTORY.read_text().splitlines())}
    assert rows["jax.ops.add"] | {"note": ""} == {
        "name": "jax.ops.add", "kind": "moved", "form": "name", "tier": "public", "removed_in": "0.2.0",
        "replacement": "jax.add", "since": "0.2.0", "rewrite": "rename", "note": "",
    }  # fmt: skip
    assert rows["jax.mul"]["replacement"] == "jax.ops.mul"
    assert rows["jax.mul"]["kind"] == "deprecated"
    assert set(rows) == {"jax.ops.add", "jax.mul"}
    tool.take_in("0.3.0", release(tool, tmp_path / "jax-0.3.0", NEW), after)
    assert known_names.versions() == ["0.1.0", "0.2.0", "0.3.0"]
    assert len(tool.HISTORY.read_text().splitlines()) == 2
    assert "functools" not in capsys.readouterr().out.partition("0.3.0")[0].replace("+", "")


def test_what_this_python_cannot_read_is_not_taken_for_gone(tool, tmp_path):
    before = release(tool, tmp_path / "jax-0.1.0", OLD)
    tool.rebuild([tmp_path / "jax-0.1.0"])
    after = release(tool, tmp_path / "jax-0.2.0", {**NEW, "ops.py": "def f[[: pass\n"})
    with pytest.raises(SystemExit, match=r"jax\.ops of jax 0\.2\.0 cannot be read by Python"):
        tool.take_in("0.2.0", after, before)
    assert known_names.versions() == ["0.1.0"]


def test_parameters_and_names_that_neighbours_lost(tool, tmp_path):
    def made(folder, text):
        path = tmp_path / folder / "chex"
        path.mkdir(parents=True)
        (path / "__init__.py").write_text(text)
        return tool.Release(tmp_path / folder, "chex")

    old = made(
        "chex-1",
        "import os\ndef f(a, b): ...\ndef g(a): ...\ndef h(a, b): ...\nclass A:\n    def __init__(self, x): ...\n",
    )
    new = made(
        "chex-2", "def f(a): ...\ndef h(a, **options): ...\nclass A:\n    def __init__(self, y): ...\n"
    )
    found = {(loss.name, loss.param) for loss in tool.losses([("1", old), ("2", new)])}
    assert found == {("chex.f", "b"), ("chex.g", ""), ("chex.A", "x")}
