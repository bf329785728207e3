"""The command line of `jaxlint verify`, as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import verify

# memory-bound, so that the donation gains on any machine, a busy one included
PROGRAM = """import operator
import sys
import jax
import jax.numpy as jnp

kept = {}


def remember(value):
    operator.setitem(kept, "average", value)  # which the source does not tell


@jax.jit
def track(average, sample):
    new = jax.tree.map(lambda old, value: old + 0.1 * (value - old), average, sample)
    return new, jnp.mean(sample["w"])


def main():
    average = {"w": jnp.zeros((1500, 1500))}
    sample = {"w": jnp.ones((1500, 1500))}
    if "--remember" in sys.argv:
        remember(average)
    means = []
    print("starting")
    for i in range(30):
        average, mean = track(average, sample)
        means.append(float(mean))
    if kept:
        print("first", kept["average"]["w"].sum())


if __name__ == "__main__":
    main()
"""

# a step whose microbatches, which are advice, need less memory still than its donation, which can be written
LARGE_BATCH = """import jax
import jax.numpy as jnp


def loss(params, x, y):
    hidden = jnp.tanh(x @ params["first"])
    hidden = jnp.tanh(hidden @ params["second"])
    return jnp.mean((hidden @ params["last"] - y) ** 2)


@jax.jit
def _step(params, x, y):
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, gradients), value


def main():
    keys = jax.random.split(jax.random.key(0), 5)
    params = {
        "first": jax.random.normal(keys[0], (128, 256)) / 16,
        "second": jax.random.normal(keys[1], (256, 256)) / 16,
        "last": jax.random.normal(keys[2], (256, 128)) / 16,
    }
    x, y = jax.random.normal(keys[3], (2048, 128)), jax.random.normal(keys[4], (2048, 128))
    for _ in range(8):
        params, value = _step(params, x, y)
    print(f"{float(value):.4f}")


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text(PROGRAM)
    return tmp_path


def report_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.stdout, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


QUICK = ("--transform", "donation", "--timing", "0.5")
# no call fits in, so that the donation is judged by its memory alone
UNTIMED = ("--transform", "donation", "--timing", "1e-6")


@pytest.mark.flaky(reruns=2)  # rests on times, which other processes disturb
def test_the_reports_have_what_the_contract_names_and_the_gates_close(project: Path) -> None:
    gate = ("--fail-under", "100", "--save", "baseline.json")
    done = verify(project, "--calls", "20", "--output-format", "json", *QUICK, *gate, "train.py")
    assert done.returncode == 1, done.stderr
    assert "jaxlint: wrote baseline.json" in done.stderr
    report = report_of(done)
    assert report["schema_version"] == 1
    (run,) = report["runs"]
    assert set(run) >= {"target", "device", "versions", "compiles", "syncs", "results"}
    assert run["target"] == "cpu"
    assert set(run["versions"]) >= {"python", "jax", "jaxlib", "numpy"}
    (compiled,) = run["compiles"]
    assert (compiled["function"], compiled["path"], compiled["line"]) == ("track", "train.py", 13)
    assert (compiled["count"], compiled["calls"]) == (1, 20)
    assert compiled["causes"][0]["cause"] == "first call"
    assert compiled["compile_s"] > 0
    # the sync is tied to what check says of the same line
    (sync,) = run["syncs"]
    assert (sync["path"], sync["kind"], sync["per_step"]) == ("train.py", "float(x)", 1.0)
    assert [finding["name"] for finding in sync["findings"]] == ["host-sync-in-loop"]
    (function,) = run["functions"]
    assert [finding["name"] for finding in function["findings"]] == ["missing-donation"]
    assert function["call_ms"] > 0
    # what holds findings and is not jitted was counted as well; what a jitted function shows is not repeated
    (flagged,) = run["flagged"]
    assert (flagged["function"], flagged["path"], flagged["calls"]) == ("main", "train.py", 1)
    assert [finding["name"] for finding in flagged["findings"]] == ["host-sync-in-loop"]
    assert flagged["seconds"] > function["seconds"]
    as_written, result = run["results"]  # the first one for the baseline
    assert (as_written["candidate"], as_written["reason"]) == ("original", "as written")
    assert set(result) >= {
        *("function", "path", "line", "code", "candidate", "status", "evidence", "reason"),
        *("before", "after", "speedup", "numerics"),
    }
    assert (result["candidate"], result["path"], result["line"]) == ("donation", "train.py", 13)
    assert result["status"] == "verified"
    assert result["after"]["peak_bytes"] < result["before"]["peak_bytes"]
    assert result["before"]["time_ms"]["low"] <= result["before"]["time_ms"]["median"]
    assert result["numerics"]["passed"]
    # what the program printed, and what was decided for the user, is on stderr
    assert "starting" in done.stderr
    assert "stopped the program after 20 calls of track (see --calls and --for)" in done.stderr

    # the text of another version, in a file, compared with the first one
    (project / "train.py").write_text(PROGRAM.replace("(1500, 1500)", "(2000, 2000)"))
    compared = ("--compare", "baseline.json", "--output", "report.txt")
    done = verify(project, "-q", *QUICK, *compared, "train.py")
    assert done.returncode == 1, done.stderr
    text = (project / "report.txt").read_text()
    for part in ("track", "same bits", "MiB", "host-sync-in-loop", "1 of 1 candidate proven."):
        assert part in text
    assert "\x1b" not in text
    assert "starting" not in done.stderr
    assert done.stdout == ""
    assert "worse than the baseline: train.py::track" in text
    assert "nothing costs more" not in done.stderr


@pytest.mark.slow
def test_apply_writes_the_donation_after_the_edited_program_ran(project: Path) -> None:
    done = verify(project, "-q", "--apply", *QUICK, "--output-format", "json", "train.py")
    assert done.returncode == 0, done.stderr
    (applied,) = report_of(done)["applied"]
    assert applied["kept"], applied
    text = (project / "train.py").read_text()
    assert text == PROGRAM.replace("import operator\n", "import functools\nimport operator\n").replace(
        "@jax.jit", "@functools.partial(jax.jit, donate_argnums=(0,))"
    )
    assert "running the edited program in a scratch copy (track)" in done.stderr
    assert not list(Path(os.environ["XDG_STATE_HOME"]).rglob("journals/*"))


@pytest.mark.slow
def test_apply_leaves_a_program_alone_that_uses_what_was_donated(project: Path) -> None:
    done = verify(project, "-q", "--apply", *QUICK, "--output-format", "json", "train.py", "--", "--remember")
    assert done.returncode == 0, done.stderr
    (applied,) = report_of(done)["applied"]
    assert not applied["kept"]
    assert "with the edit, the program raised RuntimeError: Array has been deleted" in applied["message"]
    assert (project / "train.py").read_text() == PROGRAM


@pytest.mark.slow
@pytest.mark.flaky(reruns=2)  # whether a candidate is proven rests on times, which other processes disturb
def test_apply_writes_a_donation_that_advice_beats(project: Path) -> None:
    (project / "train.py").write_text(LARGE_BATCH)
    tried = ("--transform", "donation,microbatch", "--timing", "0.3", "--calls", "4")
    done = verify(project, "-q", "--apply", *tried, "--output-format", "json", "train.py")
    assert done.returncode == 0, done.stderr
    report = report_of(done)
    (run,) = report["runs"]
    peak = {
        one["candidate"]: one["after"]["peak_bytes"] for one in run["results"] if one["status"] == "verified"
    }
    assert peak["microbatch:2"] < peak["donation"]
    kept = {one["candidate"]: one["kept"] for one in report["applied"]}
    assert kept["donation"]
    assert not any(done for name, done in kept.items() if name != "donation")
    assert (project / "train.py").read_text() == LARGE_BATCH.replace(
        "import jax\n", "import functools\n\nimport jax\n", 1
    ).replace("@jax.jit", "@functools.partial(jax.jit, donate_argnums=(0,))")


@pytest.mark.slow
def test_apply_compares_what_a_donating_program_leaves_behind(project: Path) -> None:
    """A program that goes on without a donated array says so in a file alone."""
    text = PROGRAM.replace(
        """        print("first", kept["average"]["w"].sum())
""",
        """        try:
            first = kept["average"]["w"].sum()
        except RuntimeError:
            first = "gone"
        with open("first.txt", "w") as file:
            file.write(f"{first}\\n")
""",
    )
    assert "first.txt" in text
    (project / "train.py").write_text(text)
    done = verify(
        project, "-q", "--apply", *UNTIMED, "--output-format", "json", "train.py", "--", "--remember"
    )
    assert done.returncode == 0, done.stderr
    report = report_of(done)
    assert len(report["applied"]) == 1, report["runs"]
    (applied,) = report["applied"]
    assert not applied["kept"]
    assert "first.txt" in applied["message"]
    assert (project / "train.py").read_text() == text


def test_a_module_with_arguments(project: Path) -> None:
    done = verify(
        project, "-q", *QUICK, "--calls", "2", "--output-format", "json", "-m", "train", "--", "--remember"
    )
    assert done.returncode == 0, done.stderr
    report = report_of(done)
    assert report["program"]["arguments"] == ["--remember"]
    assert report["program"]["ending"]["message"] == "stopped the program after 2 calls of track"


def test_the_command_line_never_imports_jax(project: Path) -> None:
    (project / "empty.py").write_text("print('nothing')\n")
    code = (
        "import sys\nfrom jaxlint.cli import main\n"
        "try:\n    main(['verify', '-q', 'empty.py'])\n"
        "finally:\n    assert not {'jax', 'numpy', 'flax'} & set(sys.modules), 'imported'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "the program does not import jax" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the program to run"),
        (["missing.py"], "missing.py: no such program"),
        (["book.ipynb"], "book.ipynb: a notebook, which verify cannot run"),
        (["."], "the folder has no __main__.py"),
        (["--target", "abacus", "train.py"], "unknown target 'abacus'"),
        (["--target", "cpu, abacus", "train.py"], "unknown target 'abacus'"),
        (["--capture-bytes", "lots", "train.py"], "is not a size; write one like 512MB"),
        (["--python", "/no/such/python", "train.py"], "name a Python interpreter with --python"),
        (["-m", "train", "--pytest"], "-m and --pytest exclude each other"),
        (["--also", "--name 'x", "train.py"], '--also "--name \'x": no closing quotation'),
        (
            ["--also", "--more", "--dim", "batch=2", "train.py"],
            "--also is for edits of the source: leave out --inputs",
        ),
        (["--output", "no/such/folder/report.txt", "train.py"], "there is no such folder"),
        (["--compare", "none.json", "train.py"], "none.json: cannot be read"),
        (["--workers", "slurm", "train.py"], "names no engine; use local:N, submitit[:PARTITION] or ray"),
        (["--workers-wait", "1m", "train.py"], "--workers-wait goes with --workers"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(project: Path, arguments: list[str], message: str) -> None:
    done = verify(project, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
