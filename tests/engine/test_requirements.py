"""What a project asks of JAX in its own files decides what its code is checked against."""

from __future__ import annotations

import textwrap

import pytest

from jaxlint.config import load_config
from jaxlint.requirements import declared_versions

DECLARED = {
    "pyproject.toml": (
        {"pyproject.toml": '[project]\ndependencies = ["numpy", "jax[cuda12]>=0.4.30,<0.7", "jaxlib>=0.4"]'},
        ">=0.4.30,<0.7",
    ),
    "an extra": (
        {"pyproject.toml": '[project.optional-dependencies]\ntest = ["pytest", "jax >= 0.5"]'},
        ">= 0.5",
    ),
    "a dependency group": ({"pyproject.toml": '[dependency-groups]\ndev = ["jax~=0.6.0"]'}, "~=0.6.0"),
    "poetry": ({"pyproject.toml": '[tool.poetry.dependencies]\njax = "^0.4.1"'}, ">=0.4.1,<0.5"),
    "poetry, a table": (
        {"pyproject.toml": '[tool.poetry.dependencies]\njax = {version = ">=0.4", optional = true}'},
        ">=0.4",
    ),
    "setup.cfg": ({"setup.cfg": "[options]\ninstall_requires =\n    numpy\n    jax>=0.2.0; python_version>'3.7'"}, ">=0.2.0"),
    "setup.py": (
        {"setup.py": "from setuptools import setup\nsetup(install_requires=['absl-py', 'jax>=0.1.55'])"},
        ">=0.1.55",
    ),
    "setup.py, a variable": ({"setup.py": "import setuptools\nNEEDS = ['jax>=0.3']\n"}, ">=0.3"),
    "requirements.txt": ({"requirements.txt": "# what it needs\njax==0.4.20  # the last one\njaxlib==0.4.20\n"}, "==0.4.20"),
    "a pin with hashes": (
        {"requirements.txt": "jax==0.3.25 \\\n    --hash=sha256:18be\n    # via flax\nchex==0.1.6 --hash=sha256:2a\n"},
        "==0.3.25",
    ),
    "hashes behind the pin": ({"requirements.txt": "jax==0.3.25 --hash=sha256:18be\n"}, "==0.3.25"),
    "requirements of one part": ({"training_requirements.txt": "jax==0.3.10\n"}, "==0.3.10"),
    "Pipfile": ({"Pipfile": '[packages]\njax = "==0.4.1"\nnumpy = "*"\n'}, "==0.4.1"),
    "pixi.toml": ({"pixi.toml": '[dependencies]\njax = ">=0.4.20,<0.5"\n'}, ">=0.4.20,<0.5"),
    "pixi in pyproject.toml": (
        {"pyproject.toml": '[tool.pixi.pypi-dependencies]\njax = { version = "==0.5.0", extras = ["cuda12"] }\n'},
        "==0.5.0",
    ),
    "an environment of conda": (
        {"environment.yml": "name: x\ndependencies:\n  - python=3.9\n  - jax=0.3.25  # the last\n"},
        "==0.3.25.*",
    ),
    "with its build": ({"environment.yaml": "dependencies:\n- conda-forge::jax=0.4=pyhd8ed1ab_0\n"}, "==0.4.*"),
    "what conda lists": (
        {"requirements.txt": "# platform: linux-64\nflax=0.6.4=pypi_0\njax=0.4.4=pyhd8ed1ab_0\n"},
        "==0.4.4.*",
    ),
    "limits there": ({"conda_env.yml": "dependencies:\n  - 'jax>=0.4,<0.5'\n"}, ">=0.4,<0.5"),
    "pip in an environment": (
        {"environment.yml": "dependencies:\n  - pip\n  - pip:\n    - numpy==1.24\n    - jax[cuda12_pip]==0.4.13\n"},
        "==0.4.13",
    ),
    "the requirement wins over a pin": (
        {"pyproject.toml": '[project]\ndependencies = ["jax>=0.4"]', "requirements.txt": "jax==0.4.20\n"},
        ">=0.4",
    ),
    "no limit there, one here": (
        {"setup.py": "from setuptools import setup\nsetup(install_requires=['jax'])", "requirements.txt": "jax>=0.3\n"},
        ">=0.3",
    ),
}  # fmt: skip
SILENT = {
    "nothing": {},
    "no limit": {"pyproject.toml": '[project]\ndependencies = ["jax"]'},
    "another package": {"requirements.txt": "jaxlib>=0.4\njax-md>=0.2\njaxtyping>=0.2\n"},
    "only one release is bad": {"requirements.txt": "jax!=0.4.32\n"},
    "a path": {"requirements.txt": "jax @ file:///somewhere/jax-0.4.1.whl\n"},
    "not TOML": {"pyproject.toml": "[project\n"},
    "not Python": {"setup.py": "setup(install_requires=['jax>=0.3'"},
    "nonsense": {"requirements.txt": "jax>=\njax>=newest\n"},
    "any version of conda": {"environment.yml": "dependencies:\n  - jax\n  - jax-md=0.2\n  - jaxlib=0.4\n"},
    "not TOML, Pipfile": {"Pipfile": "jax=0.4"},
    "a comment": {"requirements.txt": "# jax>=0.3\n"},
}


def write(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)


@pytest.mark.parametrize(("files", "expected"), DECLARED.values(), ids=DECLARED)
def test_declared(tmp_path, files, expected):
    write(tmp_path, files)
    assert declared_versions(tmp_path, frozenset({"jax"})) == {"jax": expected}


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_says_nothing(tmp_path, files):
    write(tmp_path, files)
    assert declared_versions(tmp_path, frozenset({"jax"})) == {}


def test_the_setting_beats_the_dependency(tmp_path):
    write(tmp_path, {"pyproject.toml": '[project]\ndependencies = ["jax>=0.4", "dm_haiku>=0.0.9"]\n'})
    config = load_config([tmp_path])
    assert config.target_jax == ">=0.4"
    assert dict(config.dependencies) == {"dm-haiku": ">=0.0.9"}
    with (tmp_path / "pyproject.toml").open("a") as file:
        file.write('[tool.jaxlint]\ntarget-jax = ">=0.4.30"\n')
    assert load_config([tmp_path]).target_jax == ">=0.4.30"
    assert load_config([tmp_path]).fingerprint() != config.fingerprint()


def test_only_the_project_of_what_is_checked_counts(tmp_path, monkeypatch):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    write(here, {"requirements.txt": textwrap.dedent("jax>=0.3\n")})
    monkeypatch.chdir(here)
    assert load_config([there]).target_jax is None
    assert load_config([here]).target_jax == ">=0.3"
