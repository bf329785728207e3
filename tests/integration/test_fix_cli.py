"""`jaxlint fix` as a user runs it: what it prints, writes and leaves alone, and how it exits."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.helpers.command_line import jaxlint

OLD = "import jax\n\n\ndef double(tree):\n    return jax.tree_map(lambda x: 2 * x, tree)  # twice\n"
NEW = OLD.replace("tree_map", "tree.map")
UNFIXABLE = "from jax.experimental.maps import xmap\n\n\ndef lower(f):\n    return xmap(f, in_axes=['a'], out_axes=['a'])\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "old.py").write_text(OLD)
    return tmp_path


def test_fixes_and_says_so(project: Path) -> None:
    run = jaxlint("fix", ".", cwd=project)
    assert (project / "old.py").read_text() == NEW
    assert "Fixed 1 finding in 1 file:" in run.stdout
    assert "1 x JAX901 removed-api" in run.stdout
    assert run.returncode == 0
    again = jaxlint("fix", ".", cwd=project)
    assert again.stdout == "Nothing to fix.\n"
    assert again.returncode == 0
    assert (project / "old.py").read_text() == NEW


def test_a_diff_writes_nothing(project: Path) -> None:
    run = jaxlint("fix", "--diff", ".", cwd=project)
    assert run.returncode == 1
    assert (project / "old.py").read_text() == OLD
    assert run.stdout.splitlines()[:3] == ["--- old.py", "+++ old.py", "@@ -2,4 +2,4 @@"]
    assert "-    return jax.tree_map(lambda x: 2 * x, tree)  # twice" in run.stdout
    assert "+    return jax.tree.map(lambda x: 2 * x, tree)  # twice" in run.stdout
    assert "Would fix 1 finding in 1 file:" in run.stderr
    (project / "old.py").write_text(NEW)
    clean = jaxlint("fix", "--diff", ".", cwd=project)
    assert (clean.returncode, clean.stdout) == (0, "")


def test_the_diff_can_be_applied(project: Path) -> None:
    run = jaxlint("fix", "--diff", ".", cwd=project)
    subprocess.run(["git", "apply", "-p0", "-"], cwd=project, input=run.stdout.encode(), check=True)
    assert (project / "old.py").read_text() == NEW


def test_what_is_left_is_said_with_the_reason(project: Path) -> None:
    (project / "left.py").write_text(UNFIXABLE)
    (project / "kept.py").write_text(
        "import jax.numpy as jnp\n\n\ndef check(x):\n    return isinstance(x, jnp.DeviceArray)\n"
    )
    run = jaxlint("fix", ".", cwd=project)
    assert run.returncode == 1
    assert "2 findings left:" in run.stdout
    assert "left.py:1:35: error JAX901 `jax.experimental.maps.xmap` was removed in jax 0.4.31" in run.stdout
    assert "kept.py:5:26: error JAX901 `jax.numpy.DeviceArray` was removed in jax 0.4.14" in run.stdout
    assert "not fixed: the fix may change what the program does" in run.stdout


def test_unsafe_fixes_are_made_on_request_only(project: Path) -> None:
    text = "import jax\n\n\ndef deal(key, deck):\n    return jax.random.shuffle(key, deck)\n"
    (project / "old.py").write_text(text)
    run = jaxlint("fix", ".", cwd=project)
    assert (project / "old.py").read_text() == text
    assert "--unsafe-fixes applies it" in run.stdout
    assert run.returncode == 1
    assert jaxlint("fix", "--unsafe-fixes", ".", cwd=project).returncode == 0
    assert "jax.random.permutation(key, deck, independent=True)" in (project / "old.py").read_text()


def test_rules_can_be_selected(project: Path) -> None:
    run = jaxlint("fix", "--ignore", "JAX901", ".", cwd=project)
    assert run.returncode == 0
    assert (project / "old.py").read_text() == OLD


def test_standard_input_goes_to_standard_output(project: Path) -> None:
    run = jaxlint("fix", "-", cwd=project, stdin=OLD.replace("\n", "\r\n").encode())
    assert run.stdout == NEW.replace("\n", "\r\n")
    assert "Fixed 1 finding" in run.stderr
    assert run.returncode == 0
    unchanged = jaxlint("fix", "-", cwd=project, stdin=b"x = 1\n")
    assert (unchanged.returncode, unchanged.stdout) == (0, "x = 1\n")


def test_bytes_outside_the_edit_mode_and_links_are_kept(project: Path) -> None:
    real = project / "real.py"
    data = b"\xef\xbb\xbf# caf\xc3\xa9\r\n" + OLD.replace("\n", "\r\n").encode() + b"\x0c\r\n# end"
    real.write_bytes(data)
    real.chmod(0o751)
    (project / "old.py").unlink()
    (project / "old.py").symlink_to("real.py")
    run = jaxlint("fix", "old.py", cwd=project)
    assert run.returncode == 0, run.stdout + run.stderr
    assert real.read_bytes() == data.replace(b"tree_map", b"tree.map")
    assert stat.S_IMODE(real.stat().st_mode) == 0o751
    assert (project / "old.py").is_symlink()
    assert sorted(path.name for path in project.iterdir() if not path.name.startswith(".")) == [
        "old.py",
        "pyproject.toml",
        "real.py",
    ]


def test_latin_1_is_kept(project: Path) -> None:
    data = b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + OLD.encode()
    (project / "old.py").write_bytes(data)
    assert jaxlint("fix", ".", cwd=project).returncode == 0
    assert (project / "old.py").read_bytes() == data.replace(b"tree_map", b"tree.map")


def test_one_broken_file_does_not_keep_the_others_from_being_fixed(project: Path) -> None:
    (project / "broken.py").write_text("import jax\ndef f(:\n")
    (project / "binary.py").write_bytes(b"import jax\x00\n")
    run = jaxlint("fix", ".", "missing.py", cwd=project)
    assert run.returncode == 2
    assert (project / "old.py").read_text() == NEW
    assert run.stderr.count("error: ") == 3
    assert (project / "broken.py").read_text() == "import jax\ndef f(:\n"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_file_that_cannot_be_written_is_said(project: Path) -> None:
    (project / "old.py").chmod(0o444)
    run = jaxlint("fix", ".", cwd=project)
    assert run.returncode == 2
    assert "error: old.py: read-only" in run.stderr


def test_a_file_that_changed_meanwhile_is_left_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check takes the text as it was read; somebody saves the file before the fix is written."""
    from click.testing import CliRunner

    from jaxlint import rewriting
    from jaxlint.cli import main

    monkeypatch.chdir(project)
    saved = OLD + "# saved meanwhile\n"
    original = rewriting.fix_sources

    def slow(*arguments, **options):
        result = original(*arguments, **options)
        (project / "old.py").write_text(saved)
        return result

    monkeypatch.setattr(rewriting, "fix_sources", slow)
    run = CliRunner().invoke(main, ["fix", "old.py"])
    assert run.exit_code == 2
    assert "changed on disk since it was read" in run.stderr
    assert "Fixed" not in run.stdout
    assert "1 finding left:" in run.stdout
    assert (project / "old.py").read_text() == saved


def test_an_import_with_many_names_is_fixed_in_one_go(project: Path) -> None:
    (project / "old.py").write_text(
        "from jax import (\n    jit,\n    tree_leaves,\n    tree_map,\n    tree_structure,\n)\n"
    )
    assert jaxlint("fix", ".", cwd=project).returncode == 0
    assert (project / "old.py").read_text() == (
        "from jax import (\n    jit,\n)\nfrom jax.tree_util import tree_leaves, tree_map, tree_structure\n"
    )


MASKS = """\
import jax


@jax.jit
def f(x, y):
    m = x > 0
    return (x[m] * y[m]).sum(), x[x > 0]


@jax.jit
def g(x):
    while x > 1:
        x = x / 2
    return x.sum()
"""


def test_check_and_fix_say_the_same_of_every_fix(project: Path) -> None:
    """Whether there is one, whether it has to be asked for, and why it is refused: by text, JSON and `fix`."""
    (project / "old.py").write_text(OLD + MASKS.replace("import jax\n", ""))
    records = json.loads(jaxlint("check", "--output-format", "json", "old.py", cwd=project).stdout)
    text = jaxlint("check", "old.py", cwd=project).stdout
    run = jaxlint("fix", "old.py", cwd=project)
    safeties = [record["fix"]["safety"] if record["fix"] else None for record in records]
    assert sorted(map(str, safeties)) == ["None", "None", "None", "safe", "unsafe"]
    refused = [line.partition("no fix: ")[2] for line in text.splitlines() if "no fix: " in line]
    left = [line.partition("not fixed: ")[2] for line in run.stdout.splitlines() if "not fixed: " in line]
    assert len(refused) == 3
    assert sorted(left) == sorted(
        [*refused, "the fix may change what the program does; --unsafe-fixes applies it"]
    )
    assert "1 x JAX901" in run.stdout
    asked = jaxlint("fix", "--unsafe-fixes", "--diff", "old.py", cwd=project)
    assert "Would fix 1 finding in 1 file:" in asked.stderr
    assert jaxlint("fix", "--unsafe-fixes", "old.py", cwd=project).stdout.count("not fixed: ") == 3


def test_a_later_round_sees_the_rest_of_the_project(project: Path) -> None:
    """The caller in another file says how the function is used, also after the first fix."""
    (project / "caller.py").write_text(
        "import jax\nimport old\n\n\ndef main(x):\n    return jax.jit(old.double)(x), jax.jit(old.halve)(x)\n"
    )
    (project / "old.py").write_text(
        OLD + "\n\ndef halve(x):\n    if x > 1:\n        return x / 2\n    return x\n"
    )
    before = jaxlint("check", "--output-format", "concise", "old.py", cwd=project).stdout
    assert "JAX101" in before
    run = jaxlint("fix", "old.py", cwd=project)
    assert "JAX101" in run.stdout
    assert "1 x JAX901" in run.stdout


def test_a_file_that_is_too_long_for_libcst_has_findings_and_no_fix(tmp_path: Path) -> None:
    """The tree that keeps comments would take gigabytes; what is wrong is said all the same."""
    text = "import jax\nprint(jax.tree_map)\n" + "x = 1\n" * 60_000
    (tmp_path / "tables.py").write_text(text)
    done = jaxlint("check", "--no-cache", "tables.py", cwd=tmp_path)
    assert "tables.py:2:7: error JAX901" in done.stdout
    assert "no fix: too long to be rewritten (more than 150,000 tokens); split the file" in done.stdout
    done = jaxlint("fix", "tables.py", cwd=tmp_path)
    assert "Nothing could be fixed." in done.stdout
    assert (tmp_path / "tables.py").read_text() == text
