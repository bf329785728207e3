"""Which files are evaluated together, and that files which are not say the same of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.registry import all_rules
from jaxlint.source import SourceFile
from jaxlint.source.read import read_source
from jaxlint.staging import Analysis, analyze, import_components
from jaxlint.staging.import_components import shards_of
from jaxlint.staging.project import Project

TRACED = """\
import jax

@jax.jit
def step(x):
    if x > 0:
        return x
    return -x
"""


def written(folder: Path, files: dict[str, str]) -> list[SourceFile]:
    (folder / "pyproject.toml").write_text("")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return [read_source(folder / name, name) for name in sorted(files)]


def groups(folder: Path, files: dict[str, str]) -> list[list[str]]:
    found = shards_of(Project(written(folder, files)))
    return [sorted(path.relative_to(folder).as_posix() for path in part.paths) for part in found]


@pytest.fixture(autouse=True)
def each_component_is_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_components, "SHARD_LINES", 1)


def test_files_that_import_nothing_of_each_other_are_parts_of_their_own(tmp_path: Path) -> None:
    assert groups(tmp_path, {"a.py": TRACED, "b.py": TRACED}) == [["a.py"], ["b.py"]]


@pytest.mark.parametrize(
    "statement",
    [
        "import b",
        "import os, b",
        "import os, \\\n    b",
        "from b import step",
        "from b import (\n    step,\n)",
        "def f():\n    from b import step",
    ],
)
def test_an_import_connects(tmp_path: Path, statement: str) -> None:
    assert groups(tmp_path, {"a.py": f"{TRACED}{statement}\n", "b.py": TRACED}) == [["a.py", "b.py"]]


@pytest.mark.parametrize(
    "statement",
    [
        "from lib import (\n    one,  # (the first)\n    two,\n)",
        "from lib import one, \\\n    two",
        "import lib.two as two",
        "import lib\nlib.two.step(1)",
    ],
)
def test_modules_of_a_folder_without_init_are_found(tmp_path: Path, statement: str) -> None:
    files = {"a.py": f"import jax\n{statement}\n", "lib/one.py": TRACED, "lib/two.py": TRACED, "z.py": TRACED}
    part = next(part for part in groups(tmp_path, files) if "a.py" in part)
    assert "lib/two.py" in part
    assert "z.py" not in part


def test_files_of_a_package_belong_together(tmp_path: Path) -> None:
    files = {
        "p/__init__.py": "import jax\n",
        "p/a.py": TRACED,
        "p/q/__init__.py": "import jax\n",
        "p/q/b.py": TRACED,
    }
    assert groups(tmp_path, files) == [sorted(files)]


def test_fixtures_connect_tests(tmp_path: Path) -> None:
    files = {
        "conftest.py": TRACED,
        "tests/test_a.py": TRACED,
        "tests/test_b.py": TRACED,
        "program.py": TRACED,
    }
    assert groups(tmp_path, files) == [["conftest.py", "tests/test_a.py", "tests/test_b.py"], ["program.py"]]


def test_small_components_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_components, "SHARD_LINES", 2 * TRACED.count("\n"))
    large = TRACED + TRACED.replace("step", "other")
    files = {"a.py": TRACED, "b.py": large, "c.py": TRACED, "d.py": TRACED, "plain.py": "x = 1\n" * 50}
    assert groups(tmp_path, files) == [["a.py", "c.py"], ["b.py"], ["d.py", "plain.py"]]


def test_parts_follow_the_first_of_their_files_and_say_how_much_they_hold(tmp_path: Path) -> None:
    sources = written(
        tmp_path, {"a.py": "import jax\n", "b.py": "import z, jax\n" * 3, "z.py": "import jax\n" * 2}
    )
    assert [part.lines for part in shards_of(Project(sources))] == [1, 5]


def test_context_belongs_to_what_it_imports(tmp_path: Path) -> None:
    sources = written(
        tmp_path, {"a.py": TRACED, "b.py": TRACED, "caller.py": "from b import step\n", "other.py": TRACED}
    )
    project = Project(sources[:2])
    project.add_context(sources[2:])
    found = shards_of(project)
    assert [{path.name for path in part.paths} for part in found] == [{"a.py"}, {"b.py", "caller.py"}]
    assert {part.sharing for part in found} == {1}  # no other part has callers to evaluate


def test_a_part_is_reported_as_it_is_in_the_whole(tmp_path: Path) -> None:
    sources = written(
        tmp_path, {"a.py": TRACED, "b.py": TRACED + "step(1)\n", "c.py": "from b import step\nstep(2)\n"}
    )
    rules = all_rules()
    whole = analyze(sources, [rule() for rule in rules]).findings
    divided = [
        finding
        for part in shards_of(Project(sources))
        for finding in analyze(sources, [rule() for rule in rules], only=part.paths).findings
    ]
    assert len(whole) == 2
    assert sorted(divided, key=lambda one: one.sort_key) == sorted(whole, key=lambda one: one.sort_key)


def test_what_is_done_is_told_meanwhile(tmp_path: Path) -> None:
    seen: list[Analysis] = []
    result = analyze(written(tmp_path, {"a.py": TRACED, "b.py": TRACED}), [], meanwhile=seen.append)
    assert seen
    assert seen[-1] is result
    assert (result.files, result.functions) == (2, 2)


def test_functions_that_jax_cannot_reach_wait_for_a_call(tmp_path: Path) -> None:
    plain = "def asked(x):\n    return x\n\ndef unasked(x):\n    return x\n"
    sources = written(tmp_path, {"a.py": f"import plain\n{TRACED}plain.asked(1)\n", "plain.py": plain})
    assert analyze(sources, []).functions == 0  # nobody waits for the count
    assert analyze(sources, [], meanwhile=lambda analysis: None).functions == 2
