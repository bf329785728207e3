"""`jaxlint.check` and `jaxlint.fix`, as other programs use them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import jaxlint
from tests.helpers import command_line
from tests.helpers.small_programs import BRANCH, OLD


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[tool.jaxlint.per-file-ignores]\n"quiet.py" = ["ALL"]\n')
    (tmp_path / "branch.py").write_text(BRANCH)
    (tmp_path / "quiet.py").write_text(BRANCH)
    (tmp_path / "old.py").write_text(OLD)
    return tmp_path


def test_check(project: Path) -> None:
    report = jaxlint.check(project)
    assert [(Path(one.path).name, one.code) for one in report.findings] == [
        ("branch.py", "JAX101"),
        ("old.py", "JAX901"),
    ]
    assert not report.ok
    assert report.files == 3
    first, second = report.findings
    assert (first.severity, first.span.line, first.function) == (jaxlint.Severity.ERROR, 6, "step")
    assert isinstance(second.fix, jaxlint.Fix)
    assert second.fix.edits[0].content
    assert not (project / ".jaxlint_cache").exists()
    assert jaxlint.check([project / "quiet.py"]).ok


def test_the_report_is_that_of_the_command(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    done = command_line.jaxlint("check", "--output-format", "json-document", cwd=project)
    assert jaxlint.check().as_dict() == json.loads(done.stdout)


def test_options(project: Path) -> None:
    assert [one.code for one in jaxlint.check(project, select=["migration"]).findings] == ["JAX901"]
    assert [one.code for one in jaxlint.check(project, ignore=["JAX1", "JAX9"]).findings] == []
    assert [one.code for one in jaxlint.check(project, target_jax="==0.4.20", select=["JAX9"]).findings] == [
        "JAX902"
    ]
    (project / "base.jsonl").write_text('{"jaxlint-baseline": 1}\n')
    assert len(jaxlint.check(project, baseline=project / "base.jsonl").findings) == 2
    (project / "other.toml").write_text('select = ["migration"]\n')
    assert len(jaxlint.check(project, config=project / "other.toml").findings) == 1


@pytest.mark.parametrize(
    "options", [{"select": ["nope"]}, {"severity": "bad"}, {"target_jax": "x"}, {"config": "/nowhere.toml"}]
)
def test_mistakes_are_errors(project: Path, options: dict[str, object]) -> None:
    with pytest.raises(jaxlint.ConfigError) as caught:
        jaxlint.check(project, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read(project: Path) -> None:
    (project / "broken.py").write_text("x = (\n")
    report = jaxlint.check(str(project))
    assert [Path(error.path).name for error in report.errors] == ["broken.py"]
    assert len(report.findings) == 2


def test_fix(project: Path) -> None:
    report = jaxlint.fix(project, write=False)
    assert (project / "old.py").read_text() == OLD
    [(path, text)] = report.texts.items()
    assert Path(path).name == "old.py"
    assert [one.code for one in report.applied] == ["JAX901"]
    assert [one.code for one in report.remaining] == ["JAX101"]
    assert [one.finding.code for one in report.refused] == ["JAX101"]
    assert "--unsafe-fixes" in report.refused[0].reason
    again = jaxlint.fix(project)
    assert (project / "old.py").read_text() == text
    assert again.texts == report.texts
    assert jaxlint.fix(project, unsafe=True).ok
    assert jaxlint.check(project).ok


def test_importing_it_loads_little_and_names_are_there() -> None:
    program = "import sys, jaxlint; assert 'jaxlint.engine' not in sys.modules; print(*(getattr(jaxlint, n) for n in jaxlint.__all__))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with pytest.raises(AttributeError):
        jaxlint.nothing  # noqa: B018


def test_it_is_typed(tmp_path: Path) -> None:
    """A type checker sees the types of an installed jaxlint."""
    assert (Path(jaxlint.__file__).parent / "py.typed").is_file()
    program = tmp_path / "use.py"
    program.write_text(
        "import jaxlint\n\n"
        "report = jaxlint.check(['a.py'], severity='error')\n"
        "reveal_type(report.findings)\nreveal_type(jaxlint.fix('.').texts)\njaxlint.check(jobs='two')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", str(program)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert 'Revealed type is "tuple[jaxlint.finding.Finding, ...]"' in done.stdout.replace("builtins.", "")
    assert "Mapping" in done.stdout
    assert 'Argument "jobs" to "check" has incompatible type "str"' in done.stdout
