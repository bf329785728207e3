"""The hooks under real pre-commit, installed from a local copy of this repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jaxlint import __version__

ROOT = Path(__file__).resolve().parents[2]
BAD = "import jax\n\n\n@jax.jit\ndef step(x):\n    if x > 0:\n        return x\n    return -x\n"
OLD = "import jax\n\n\ndef double(tree):\n    return jax.tree_map(lambda x: 2 * x, tree)\n"
GOOD = "import jax\nimport jax.numpy as jnp\n\n\n@jax.jit\ndef step(x):\n    return jnp.abs(x)\n"


class Repository:
    """A git repository with its own settings, so that the user's do not matter."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        folder.mkdir()
        home.mkdir(exist_ok=True)
        outside = {
            key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT"))
        }
        self.environment = {
            **outside,
            "PRE_COMMIT_HOME": str(home / "pre-commit"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_AUTHOR_NAME": "A Tester",
            "GIT_AUTHOR_EMAIL": "tester@example.org",
            "GIT_COMMITTER_NAME": "A Tester",
            "GIT_COMMITTER_EMAIL": "tester@example.org",
        }
        self.git("init", "--quiet", "--initial-branch", "main")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def git(self, *arguments: str) -> str:
        done = self.run("git", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def commit(self, name: str, text: str) -> subprocess.CompletedProcess[str]:
        """Tries to commit one file."""
        (self.folder / name).write_text(text)
        self.git("add", name)
        return self.run("git", "commit", "--message", f"Add {name}")


def copy_of_this_repository(folder: Path, home: Path) -> Repository:
    """The files as they are now, except those that git ignores, in one commit."""
    repository = Repository(folder, home)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    repository.git("add", "--all", "--force")
    repository.git("commit", "--quiet", "--message", "A copy")
    return repository


def sample(page: Path) -> str:
    """The configuration of pre-commit that a page shows."""
    found = re.search(r"```yaml\n(repos:\n.+?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_readme_and_the_page_show_the_same_sample() -> None:
    assert sample(ROOT / "README.md") == sample(ROOT / "docs" / "pre-commit.md")


@pytest.mark.slow
def test_the_sample_of_the_readme_fixes_first_and_stops_a_bad_commit(tmp_path: Path) -> None:
    home = tmp_path / "home"
    source = copy_of_this_repository(tmp_path / "source", home)
    source.git("tag", f"v{__version__}")
    user = Repository(tmp_path / "user", home)
    shown = sample(ROOT / "README.md")
    assert re.findall(r"- id: (\S+)", shown) == ["jaxlint-fix", "jaxlint-check"]
    here = re.sub(r"repo: .+", f"repo: {source.folder}", shown)
    assert here != shown
    (user.folder / ".pre-commit-config.yaml").write_text(here)
    user.git("add", ".pre-commit-config.yaml")
    installed = user.run(sys.executable, "-m", "pre_commit", "install", "--install-hooks")
    assert installed.returncode == 0, installed.stdout + installed.stderr

    stopped = user.commit("bad.py", BAD)
    output = stopped.stdout + stopped.stderr
    assert stopped.returncode == 1, output
    assert output.index("jaxlint fix") < output.index("jaxlint check")
    assert "bad.py:6:8: error JAX101" in output
    user.git("rm", "--quiet", "--cached", "bad.py")

    passed = user.commit("good.py", GOOD)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert user.git("ls-files").split() == [".pre-commit-config.yaml", "good.py"]

    fixed = user.commit("old.py", OLD)
    output = fixed.stdout + fixed.stderr
    assert fixed.returncode == 1, output
    assert "files were modified by this hook" in output
    assert "error JAX901" not in output  # the check that comes after sees what the fix has written
    assert (user.folder / "old.py").read_text() == OLD.replace("jax.tree_map", "jax.tree.map")
    user.git("add", "old.py")
    assert user.run("git", "commit", "--message", "Add old.py").returncode == 0

    packages = {
        path.name for path in (home / "pre-commit").glob("repo*/py_env-*/lib/python*/site-packages/*")
    }
    assert {"jaxlint", "jaxlint_rules", "libcst", "click"} <= packages
    assert not {"jax", "jaxlib", "numpy", "flax"} & packages
