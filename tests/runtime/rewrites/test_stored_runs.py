"""Runs of whole programs that an earlier run of verify stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.engine import CheckResult
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source.file import SourceFile
from jaxlint.source.read import read_source
from jaxlint_runtime.model import Numerics
from jaxlint_runtime.request import Request
from jaxlint_runtime.rewrites.proposals import Rewrite
from jaxlint_runtime.rewrites.stored_runs import StoredRuns, stored_runs
from jaxlint_runtime.rewrites.trial_runs import Trial
from jaxlint_runtime.rewrites.tried_edit import Tried
from jaxlint_runtime.run import Run

STEP = Step("add-jit", "train.py", Span(1, 0, 2, 4), {"static_argnums": (0,), "names": {"b", "a"}})
REWRITE = Rewrite(
    "jit:step",
    None,
    "step",
    "/here/train.py",
    1,
    "jit it",
    (FixRequest(Safety.UNSAFE, "Jit it", (STEP,)),),
    2.5,
    Rewrite("jit:other", "JAX410", "step", "/here/train.py", 1, "or that", ()),
)
RUN = Trial(None, 2.0, 1.0, 3.0, 2**20, 4, functions={"step": {"calls": 3}}, cut=("a.py", "step", 3))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("")
    (folder / "train.py").write_text("import os\n\nprint(os.environ.get('SIZE_OF_IT'))\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def runs_of(project: Path, *arguments: str, packages: str = "jax 1") -> StoredRuns:
    """The stored runs of the program as it is now."""
    run = Run(Request("script", "train.py", arguments, proofs=True), packages=packages)
    source = read_source(project / "train.py")
    assert isinstance(source, SourceFile)
    run.check = CheckResult(sources={str(project / "train.py"): source})
    found = stored_runs(run)
    assert found is not None
    return found


def test_a_run_comes_back_with_its_date(project: Path) -> None:
    runs_of(project).keep_run("the original", RUN)
    found = runs_of(project).run("the original")
    assert found is not None
    assert found.earlier
    found.earlier = ""
    assert found == RUN


@pytest.mark.parametrize("trial", [Trial("it was killed", died=True), Trial("took long", late=True)])
def test_a_run_that_died_is_run_again(project: Path, trial: Trial) -> None:
    runs_of(project).keep_run("the original", trial)
    assert runs_of(project).run("the original") is None


def test_the_plan_comes_back_with_its_alternatives(project: Path) -> None:
    runs_of(project).keep_plan([REWRITE], [("/here/train.py", "step")])
    assert runs_of(project).plan() == ([REWRITE], [("/here/train.py", "step")])


def test_a_verdict_is_that_on_these_texts(project: Path) -> None:
    source = read_source(project / "train.py")
    assert isinstance(source, SourceFile)
    sources = {"train.py": source}
    numerics = Numerics(0.0, 0.0, None, 1e-6, True)
    runs_of(project).keep_tried(Tried(REWRITE, RUN, sources, "no", numerics, "values"), briefly=False)
    found = runs_of(project).tried(REWRITE, sources, briefly=False)
    assert found is not None
    assert (found.problem, found.numerics, found.evidence) == ("no", numerics, "values")
    assert found.trial.earlier
    assert runs_of(project).tried(REWRITE, sources, briefly=True) is None
    assert runs_of(project).tried(REWRITE, {}, briefly=False) is None


@pytest.mark.parametrize("what", ["source", "data", "arguments", "variable", "packages", "jax"])
def test_what_a_run_depends_on_makes_it_another(
    project: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    (project / "data.csv").write_text("1, 2\n")
    runs_of(project).keep_run("the original", RUN)
    arguments, packages = (), "jax 1"
    if what == "source":
        (project / "train.py").write_text("print(1)\n")
    elif what == "data":
        (project / "data.csv").write_text("1, 3\n")
    elif what == "arguments":
        arguments = ("--steps", "3")
    elif what == "variable":
        monkeypatch.setenv("SIZE_OF_IT", "3")
    elif what == "packages":
        packages = "jax 2"
    else:
        monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    assert runs_of(project, *arguments, packages=packages).run("the original") is None


def test_a_variable_that_the_program_does_not_name_changes_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs_of(project).keep_run("the original", RUN)
    monkeypatch.setenv("NUMBER_OF_THIS_BUILD", "17")
    assert runs_of(project).run("the original") is not None


def test_an_entry_of_another_form_is_as_none(project: Path) -> None:
    runs = runs_of(project)
    runs._entry.keep("the original", {"failure": None})
    runs._entry.keep("plan", {"edits": [{"name": "jit"}], "observe": []})
    again = runs_of(project)
    assert again.run("the original") is None
    assert again.plan() is None
