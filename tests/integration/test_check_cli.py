"""`jaxlint check`, `rules` and `explain` as a user runs them, with the real analysis and the built-in rules."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.command_line import jaxlint
from tests.helpers.small_programs import BRANCH

CLEAN = """\
import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return jnp.where(x > 0, x, -x)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/branch.py").write_text(BRANCH)
    (tmp_path / "src/clean.py").write_text(CLEAN)
    return tmp_path


def test_findings_with_frame_reason_and_summary(project: Path) -> None:
    done = jaxlint("check", "src", cwd=project)
    assert done.returncode == 1
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("src/branch.py:6:8: error JAX101 ")
    assert lines[0].endswith("[tracer-branch]")
    assert "6 |     if x > 0:" in lines
    assert any(line.strip().startswith("| ") and set(line.split("|")[1].strip()) == {"^"} for line in lines)
    assert any("= reason:" in line and "jit" in line for line in lines)
    assert lines[-1].startswith("Found 1 error in 2 files.")


def test_clean_code_exits_with_zero(project: Path) -> None:
    done = jaxlint("check", "src/clean.py", cwd=project)
    assert (done.returncode, done.stdout, done.stderr) == (0, "No findings in 1 file.\n", "")


def test_json_follows_the_contract(project: Path) -> None:
    done = jaxlint("check", "--output-format", "json", "src", cwd=project)
    (finding,) = json.loads(done.stdout)
    assert done.returncode == 1
    assert list(finding) == [
        "path",
        "line",
        "column",
        "end_line",
        "end_column",
        "cell",
        "code",
        "name",
        "category",
        "severity",
        "message",
        "reason",
        "function",
        "fix",
        "url",
    ]
    place = {key: finding[key] for key in ("path", "line", "column", "end_line", "end_column", "function")}
    assert place == {
        "path": "src/branch.py",
        "line": 6,
        "column": 8,
        "end_line": 6,
        "end_column": 13,
        "function": "step",
    }
    assert (finding["code"], finding["category"], finding["severity"]) == ("JAX101", "tracing", "error")


def test_everything_wrong_is_one_line_each_and_the_rest_is_checked(project: Path) -> None:
    deep = {"sum": "+".join(["1"] * 10_000), "brackets": "[" * 5_000 + "]" * 5_000}
    for name, expression in deep.items():
        (project / f"{name}.py").write_text(f"import jax\nx = {expression}\n")
    (project / "elif.py").write_text(
        "import jax\nif a == 0:\n    x = 0\n" + "elif a == 1:\n    x = 1\n" * 500
    )
    (project / "syntax.py").write_text("import jax\nf(\n")
    (project / "binary.py").write_bytes(b"\0\1\2")
    (project / "latin.py").write_bytes("# é\n".encode("latin-1"))
    done = jaxlint("check", "--output-format", "concise", ".", "missing.py", cwd=project)
    assert done.returncode == 2
    complaints = dict(line.removeprefix("error: ").split(":", 1) for line in done.stderr.splitlines())
    assert sorted(complaints) == ["binary.py", "brackets.py", "latin.py", "missing.py", "sum.py", "syntax.py"]
    assert done.stdout.startswith("src/branch.py:6:8: error JAX101 ")


def test_folder_without_python_is_a_warning(project: Path) -> None:
    (project / "docs").mkdir()
    done = jaxlint("check", "docs", cwd=project)
    assert (done.returncode, done.stderr) == (0, "warning: no Python files in docs\n")


def test_bad_configuration_is_one_line(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.jaxlint]\nignroe = []\n")
    done = jaxlint("check", "src", cwd=project)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "error: pyproject.toml: unknown key 'ignroe'; did you mean 'ignore'?\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["check", "--select", "tracer-brunch"], "did you mean tracer-branch?", id="rule"),
        pytest.param(["check", "--colour"], "No such option", id="option"),
        pytest.param(["check", "--jobs", "0"], "--jobs", id="value"),
        pytest.param(["check", "--config", "none.toml"], "none.toml: cannot be read", id="configuration"),
        pytest.param(["check", "--stdin-filename", "a.py"], "--stdin-filename goes with `-`", id="stdin"),
        pytest.param(["chekc"], "did you mean `check`?", id="command"),
        pytest.param(["explain", "tracer-brunch"], "did you mean tracer-branch?", id="explain"),
    ],
)
def test_bad_usage_is_one_line(project: Path, arguments: list[str], message: str) -> None:
    done = jaxlint(*arguments, cwd=project)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_selection_and_exit_zero(project: Path) -> None:
    assert jaxlint("check", "src", "--ignore", "tracer-branch", cwd=project).returncode == 0
    assert jaxlint("check", "src", "--select", "migration", cwd=project).returncode == 0
    assert jaxlint("check", "src", "--exclude", "branch.py", cwd=project).returncode == 0
    zero = jaxlint("check", "src", "--exit-zero", cwd=project)
    assert zero.returncode == 0
    assert "JAX101" in zero.stdout


def test_suppression_comments(project: Path) -> None:
    for comment in ("# jaxlint: ignore[tracer-branch]", "# noqa: JAX101"):
        (project / "src/branch.py").write_text(BRANCH.replace("if x > 0:", f"if x > 0:  {comment}"))
        assert jaxlint("check", "src", cwd=project).returncode == 0
    (project / "src/clean.py").write_text(CLEAN + "x = 1  # jaxlint: ignore[tracer-branch]\n")
    done = jaxlint("check", "src", "--report-unused-suppressions", "--output-format", "concise", cwd=project)
    assert done.stdout.startswith("src/clean.py:8:8: warning JAX001 [*] ")


def test_standard_input(project: Path) -> None:
    done = jaxlint(
        "check",
        "-",
        "--stdin-filename",
        "src/clean.py",
        "--output-format",
        "concise",
        cwd=project,
        stdin=BRANCH,
    )
    assert done.returncode == 1
    assert done.stdout.startswith("src/clean.py:6:8: error JAX101 ")


def test_statistics(project: Path) -> None:
    done = jaxlint("check", "src", "--statistics", "--output-format", "json", cwd=project)
    assert [(row["code"], row["count"]) for row in json.loads(done.stdout)] == [("JAX101", 1)]
    assert "1  JAX101" in jaxlint("check", "src", "--statistics", cwd=project).stdout


def test_report_in_a_file(project: Path) -> None:
    plain = jaxlint("check", "src", "--output-format", "json", cwd=project)
    done = jaxlint("check", "src", "--output-format", "json", "-o", "report.json", cwd=project)
    assert (done.returncode, done.stdout) == (1, "")
    assert (project / "report.json").read_text() == plain.stdout
    done = jaxlint("check", "src", "-o", "none/report.txt", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: none/report.txt: there is no such folder to write the report to\n"


def test_quiet_shows_the_findings_alone(project: Path) -> None:
    plain = jaxlint("check", "src", "--output-format", "concise", cwd=project).stdout.splitlines()
    quiet = jaxlint("check", "-q", "src", "--output-format", "concise", cwd=project)
    assert (quiet.returncode, quiet.stdout.splitlines()) == (1, plain[:-1])
    clean = jaxlint("check", "-q", "src/clean.py", cwd=project)
    assert (clean.returncode, clean.stdout, clean.stderr) == (0, "", "")


def test_colours(project: Path) -> None:
    forced = jaxlint("check", "src", cwd=project, FORCE_COLOR="1")
    assert "\x1b[" in forced.stdout
    assert "\x1b[" not in jaxlint("check", "src", cwd=project, FORCE_COLOR="1", NO_COLOR="1").stdout


def test_cache_gives_the_same_output(project: Path) -> None:
    plain = jaxlint("check", "src", "--no-cache", cwd=project)
    assert not (project / ".jaxlint_cache").exists()
    cold, warm = (jaxlint("check", "src", cwd=project) for _ in range(2))
    assert (project / ".jaxlint_cache").is_dir()
    for done in (cold, warm):
        assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_module_in_another_file_is_context(project: Path) -> None:
    (project / "pkg").mkdir()
    (project / "pkg/__init__.py").write_text("")
    (project / "pkg/helper.py").write_text("def loss(x):\n    if x > 0:\n        return x\n    return -x\n")
    (project / "pkg/train.py").write_text("import jax\nfrom pkg.helper import loss\n\nstep = jax.jit(loss)\n")
    together = jaxlint("check", "pkg", "--output-format", "concise", cwd=project)
    assert together.stdout.startswith("pkg/helper.py:2:8: warning JAX101 ")
    # A file that is only context is not reported.
    alone = jaxlint("check", "pkg/train.py", cwd=project)
    assert alone.returncode == 0, alone.stdout


def loaded_by(folder: Path, *arguments: str) -> tuple[int, set[str]]:
    """The exit code of a command line, and the modules that it has loaded."""
    script = (
        "import json, sys\n"
        "from jaxlint.cli import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n"
        "    print(json.dumps([end.code or 0, list(sys.modules)]), file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stderr.splitlines()[-1])
    return code, set(modules)


def test_neither_jax_nor_numpy_is_imported(project: Path) -> None:
    code, loaded = loaded_by(project, "check", "src")
    assert code == 1
    assert {"jax", "jaxlib", "numpy", "jaxlint_runtime"} & loaded == set()


def test_what_has_no_fix_waits_for_no_codemods(tmp_path: Path) -> None:
    """libcst and the codemods take as long to load as all else of a check of a clean file."""
    (tmp_path / "clean.py").write_text("import jax\nprint(jax.devices())\n")
    code, loaded = loaded_by(tmp_path, "check", "--no-cache", "clean.py")
    assert code == 0
    assert {"libcst", "jaxlint.codemods", "rich", "pygls"} & loaded == set()


def test_rules_and_explain(project: Path) -> None:
    listed = json.loads(jaxlint("rules", "--output-format", "json", cwd=project).stdout)
    names = {rule["name"]: rule for rule in listed}
    assert names["tracer-branch"]["code"] == "JAX101"
    table = jaxlint("rules", cwd=project).stdout
    for rule in listed:
        assert f"{rule['code']}  {rule['name']}" in table
        page = jaxlint("explain", rule["code"], cwd=project) if rule["name"] == "tracer-branch" else None
        assert page is None or page.stdout.startswith("# tracer-branch (JAX101)\n")
    assert "\x1b[" in jaxlint("explain", "tracer-branch", cwd=project, FORCE_COLOR="1").stdout
    assert jaxlint("explain", "unused-suppression", cwd=project).stdout.startswith(
        "# unused-suppression (JAX001)"
    )


def test_missing_runtime_says_what_to_install(project: Path) -> None:
    script = (
        "import sys\n"
        "sys.modules['jaxlint_runtime'] = None\n"
        "from jaxlint.cli import main\n"
        "main(['verify', 'train.py'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: `jaxlint verify` needs jaxlint_runtime; ")
    assert "'jaxlint-suite[verify]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_version_is_quick(project: Path) -> None:
    """Seconds of the processor, not of the clock: this is to notice a heavy import, not a busy machine."""
    seconds = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert jaxlint("--version", cwd=project).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(seconds) < 0.4


def rule_pack(folder: Path, source: str) -> None:
    """An installed package `house-rules` with an entry point into the module `house`."""
    information = folder / "house_rules-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[jaxlint.rules]\nhouse = house:rules\n")
    (folder / "house.py").write_text(source)


OWN_RULE = """\
from jaxlint.finding import Severity
from jaxlint.rule import Rule

class Own(Rule):
    code, name, category, severity = "{code}", "own-rule", "house", Severity.WARNING

def rules():
    return [Own]
"""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import nowhere_at_all\n", "does not load (ModuleNotFoundError"),
        ("def rules():\n    return ['JAX101']\n", "gives 'JAX101', which is not a subclass"),
        (OWN_RULE.format(code="JAX101"), "brings a rule JAX101 (own-rule), a code that tracer-branch"),
    ],
)
def test_a_rule_pack_that_cannot_be_used_is_named_in_one_line(tmp_path: Path, source: str, said: str) -> None:
    rule_pack(tmp_path / "packs", source)
    (tmp_path / "train.py").write_text(BRANCH)
    run = jaxlint("check", "train.py", cwd=tmp_path, PYTHONPATH=str(tmp_path / "packs"))
    assert run.returncode == 2
    assert not run.stdout
    assert "of house-rules" in run.stderr
    assert said in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_a_rule_pack_of_ones_own_is_listed(tmp_path: Path) -> None:
    rule_pack(tmp_path / "packs", OWN_RULE.format(code="HOUSE1"))
    run = jaxlint("rules", cwd=tmp_path, PYTHONPATH=str(tmp_path / "packs"))
    assert run.returncode == 0, run.stderr
    assert "own-rule" in run.stdout
