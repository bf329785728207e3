"""What a project requires, raised in the text of its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.config import ConfigError
from jaxlint.requirements import declared_versions
from jaxlint.upgrade.pins import raise_pins, raised_clauses
from jaxlint.upgrade.targets import Aim, aims

JAX = Aim("jax", "0.10.2", "0.10.2")
RANGE = Aim("jax", "0.10", "0.12.0.1")
TARGETS = {"jax": JAX, "flax": Aim("flax", "0.12.8", "0.12.8")}


@pytest.mark.parametrize(
    ("clauses", "exact", "ranged"),
    [
        ("==0.4.20", "==0.10.2", "==0.12.0.1"),
        ("== 0.4.20", "== 0.10.2", "== 0.12.0.1"),
        (">=0.1.55", ">=0.10.2", ">=0.10"),
        (">=0.4.1,<0.5", ">=0.10.2", ">=0.10"),
        (">= 0.4.1, <1", ">= 0.10.2,<1", ">= 0.10,<1"),
        ("<0.5", ">=0.10.2", ">=0.10"),
        ("~=0.4.20", ">=0.10.2", ">=0.10"),
        ("==0.4.*", ">=0.10.2", ">=0.10"),
        (">=0.4,!=0.4.5", ">=0.10.2", ">=0.10"),
        (">0.4,!=0.11", ">=0.10.2,!=0.11", ">=0.10,!=0.11"),
        ("==0.10.2", "==0.10.2", "==0.12.0.1"),
        (">=0.10.2", ">=0.10.2", ">=0.10.2"),
        ("!=0.4.1", "!=0.4.1", "!=0.4.1"),
    ],
)
def test_clauses(clauses: str, exact: str, ranged: str) -> None:
    assert raised_clauses(clauses, JAX) == exact
    assert raised_clauses(clauses, RANGE) == ranged
    assert raised_clauses(exact, JAX) == exact, "a second run changes nothing"
    assert raised_clauses(ranged, RANGE) == ranged


FILES = {
    "pyproject.toml": (
        '[project]\nname = "jax-thing"  # "jax>=0.1"\ndependencies = [\n  "jax[cuda12] >=0.3",  # why\n  "flax<0.7", "numpy<2",\n]\n'
        "[project.optional-dependencies]\na = ['jaxlib>=0.3,<0.5; python_version > \"3.8\"']\n"
        '[tool.poetry.dependencies]\npython = "^3.8"\njax = "^0.3.1"\nflax = { version = "0.6.1", optional = true }\n'
        '[tool.other]\njax = "0.3.1"\n',
        '[project]\nname = "jax-thing"  # "jax>=0.10.2"\ndependencies = [\n  "jax[cuda12] >=0.10.2",  # why\n  "flax>=0.12.8", "numpy<2",\n]\n'
        "[project.optional-dependencies]\na = ['jaxlib>=0.10.2; python_version > \"3.8\"']\n"
        '[tool.poetry.dependencies]\npython = "^3.8"\njax = ">=0.10.2"\nflax = { version = "0.12.8", optional = true }\n'
        '[tool.other]\njax = "0.3.1"\n',
    ),
    "setup.cfg": (
        "[metadata]\nname = a\n[options]\npython_requires = >=3.7\ninstall_requires =\n    jax>=0.3\n    numpy\n    # flax==0.1\n[options.extras_require]\nall = flax==0.6.1\n",
        "[metadata]\nname = a\n[options]\npython_requires = >=3.7\ninstall_requires =\n    jax>=0.10.2\n    numpy\n    # flax==0.1\n[options.extras_require]\nall = flax==0.12.8\n",
    ),
    "setup.py": (
        "from setuptools import setup\nsetup(\n    name='jax>=0.1',\n    install_requires=['jax >= 0.3.0', \"flax\", f'numpy{1}'],\n    é=['flax==0.6'],\n)\n",
        "from setuptools import setup\nsetup(\n    name='jax>=0.1',\n    install_requires=['jax >= 0.10.2', \"flax\", f'numpy{1}'],\n    é=['flax==0.12.8'],\n)\n",
    ),
    "requirements.txt": (
        "# jax==0.1\r\njax==0.3.1 ; python_version > '3'\r\njaxlib==0.3.0+cuda11.cudnn82 # gpu\r\nnumpy\r\n-r other.txt",
        "# jax==0.1\r\njax==0.10.2 ; python_version > '3'\r\njaxlib==0.10.2 # gpu\r\nnumpy\r\n-r other.txt",
    ),
    "requirements/test.txt": ("Flax>=0.3\n", "Flax>=0.12.8\n"),
    "requirements.in": ("jax>=0.3  # as low as it works\n", "jax>=0.10.2  # as low as it works\n"),
    "environment.yml": (
        "name: a\ndependencies:\n- python=3.9\n- pip:  # from PyPI\n  - jax[cpu]==0.3.1  # pinned\r\n\n  - 'flax>=0.3'\n- numpy=1.2\nprefix: /jax\n",
        "name: a\ndependencies:\n- python=3.9\n- pip:  # from PyPI\n  - jax[cpu]==0.10.2  # pinned\r\n\n  - 'flax>=0.12.8'\n- numpy=1.2\nprefix: /jax\n",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_the_rest_of_a_file_stays(tmp_path: Path, name: str) -> None:
    before, after = FILES[name]
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(before.encode())
    pins = raise_pins(tmp_path, lambda path: path.name, TARGETS)
    assert pins.texts == {path.name: after}
    assert pins.left == []
    path.write_bytes(after.encode())
    assert raise_pins(tmp_path, lambda path: path.name, TARGETS).texts == {}
    if name not in ("requirements/test.txt", "requirements.in"):
        declared = declared_versions(tmp_path, frozenset({"jax"})).values()
        assert {version.replace(" ", "") for version in declared} <= {">=0.10.2", "==0.10.2"}


def test_folders_with_sources_are_looked_at(tmp_path: Path) -> None:
    """A repository of several projects, and requirements beside the tests or the documentation."""
    for name in ("pyproject.toml", "packages/a/pyproject.toml", "other/pyproject.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('[project]\nname = "a"\ndependencies = ["jax>=0.3"]\n')
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/requirements.txt").write_text("jax==0.3\n")
    folders = [tmp_path / "packages/a", tmp_path / "packages", tmp_path / "docs"]
    pins = raise_pins(tmp_path, lambda path: path.relative_to(tmp_path).as_posix(), TARGETS, folders=folders)
    assert set(pins.texts) == {"pyproject.toml", "packages/a/pyproject.toml", "docs/requirements.txt"}


def test_what_is_left_to_a_person(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(
        "jax==0.3.1 \\\n    --hash=sha256:00\nflax==0.6 --hash=sha256:00\n"
    )
    (tmp_path / "environment.yml").write_text(
        "dependencies:\n  - python=3.9\n  - jax=0.4.13=py310_0\n  - pip:\n    - flax==0.12.8\n"
    )
    (tmp_path / "setup.py").write_text(
        "from setuptools import setup\nsetup(install_requires=['jax>=' '0.3'])\n"
    )
    pins = raise_pins(tmp_path, lambda path: path.name, TARGETS)
    assert pins.texts == {}
    assert [(pin.path, pin.line, pin.before, pin.problem) for pin in pins.left] == [
        ("setup.py", 2, "jax>=0.3", "not a plain string; raise it by hand"),
        ("requirements.txt", 1, "jax==0.3.1", "pinned with hashes; compile the file again"),
        ("requirements.txt", 3, "flax==0.6 --hash=sha256:00", "pinned with hashes; compile the file again"),
        (
            "environment.yml",
            3,
            "jax=0.4.13=py310_0",
            "an environment of conda; raise it by hand to 0.10.2",
        ),
    ]


@pytest.mark.parametrize("data", [b"\xff\xfe", b"[project\n", b"", b"x" * 100_000])
def test_files_that_say_nothing(tmp_path: Path, data: bytes) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    assert raise_pins(tmp_path, lambda path: path.name, TARGETS).texts == {}


@pytest.mark.parametrize(
    ("wanted", "package", "low", "newest"),
    [
        ("jax==0.10.2", "jax", "0.10.2", "0.10.2"),
        ("0.10.2", "jax", "0.10.2", "0.10.2"),
        ("jax 0.10.2", "jax", "0.10.2", "0.10.2"),
        (" jax >= 0.10 ", "jax", "0.10", "0.12.0.1"),
        ("haiku==0.0.16", "dm-haiku", "0.0.16", "0.0.16"),
        ("dm_haiku==0.0.16", "dm-haiku", "0.0.16", "0.0.16"),
        ("flax", "flax", "0.12.12", "0.12.12"),
    ],
)
def test_what_is_aimed_at(wanted: str, package: str, low: str, newest: str) -> None:
    found = aims([wanted])
    assert (found[package].low, found[package].newest) == (low, newest)
    assert set(found) == {"jax", "flax", "optax", "chex", "dm-haiku", "orbax-checkpoint"}


@pytest.mark.parametrize(
    "wanted", ["", "jax<0.5", "numpy==2", "jaxx==0.1", "jax==0.99", "jax==", ">=0.10", "jax==a"]
)
def test_what_is_no_release(wanted: str) -> None:
    with pytest.raises(ConfigError, match="--to: ") as caught:
        aims([wanted])
    assert "\n" not in str(caught.value)
