"""What runs of edited programs decide: here the runs are made up."""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source import SourceFile, read_source
from jaxlint_runtime.model import Numerics
from jaxlint_runtime.protocol.worker_events import Compared
from jaxlint_runtime.request import Request
from jaxlint_runtime.rewrites import edit_reports
from jaxlint_runtime.rewrites.edit_search import EditSearch
from jaxlint_runtime.rewrites.edit_timing import timed
from jaxlint_runtime.rewrites.original_program import Original
from jaxlint_runtime.rewrites.proposals import Rewrite
from jaxlint_runtime.rewrites.run_figures import at_equal_share, no_promise
from jaxlint_runtime.rewrites.side_effects import Leavings
from jaxlint_runtime.rewrites.trial_runs import IN_DOUBLE, OTHER_ROUNDING, WITHOUT_JIT, Trial
from jaxlint_runtime.rewrites.tried_edit import Tried, is_plain, jit_gains_little, leaves_idle, outermost
from jaxlint_runtime.rewrites.tried_edit import edited as edited_files
from jaxlint_runtime.run import Run
from jaxlint_runtime.spent import Phase

SOURCE = "import jax\n\ndef a(x): ...\n\ndef b(x): ...\n\ndef c(x): ...\n"


def outcome(error: float | None, allowed: float = 3e-5) -> Compared:
    """Values that are off by so much."""
    passed = error is not None and error <= allowed
    far = math.nan if error is None else error
    numerics = Numerics(far, far, None, allowed, passed)
    problem = None if passed else f"relative error {error}"
    return Compared(1, 10, problem, numerics)


_NAMES = {
    str(WITHOUT_JIT): "without jit",
    str(IN_DOUBLE): "double",
    str(OTHER_ROUNDING): "other rounding",
}


class Runs:
    """Runs by which functions are jitted in the text, or without jit."""

    def __init__(self, runs: Mapping[str, Trial]) -> None:
        self.runs = runs
        self.asked: list[str] = []
        self.environments: list[dict[str, str]] = []
        self.references: list[Any] = []
        self.folder = Path("runs")
        self.cut: tuple[str, str, int] | None = None
        self.cut_after: list[float] = []

    def run(
        self, sources: Mapping[str, SourceFile], limit: float, references: Any = (), **options: Any
    ) -> tuple[Trial, Path]:
        (source,) = sources.values()
        lines = source.text.splitlines()
        jitted = [line[4] for before, line in itertools.pairwise(lines) if before == "@jax.jit"]
        name = _NAMES.get(str(options.get("environment")), "".join(jitted))
        if name == "double" and not references:
            name = "original in double"
        self.asked.append(name)
        self.environments.append(dict(options.get("environment") or {}))
        self.references.append(references)
        if options.get("cut_after"):
            self.cut_after.append(options["cut_after"])
            return self.runs[f"{name} cut off"], Path(name)
        return self.runs[name], Path(name)


def search(
    tmp_path: Path, runs: Mapping[str, Trial], source: str = SOURCE
) -> tuple[EditSearch, dict[str, Rewrite]]:
    path = tmp_path / "program.py"
    path.write_text(source)
    sources = {str(path): read_source(path)}
    original = Original(
        Run(Request("script", str(path))),
        Runs(runs),  # type: ignore[arg-type]
        sources,
        time.monotonic() + 60.0,
        base=Trial(run_s=8.0, compile_s=2.0),
        known=True,
    )
    found = EditSearch(original)
    rewrites = {}
    for line, name in ((3, "a"), (5, "b"), (7, "c")):
        fix = FixRequest(Safety.UNSAFE, "Jit", (Step("add-jit", str(path), Span(line, 1, line, 4)),))
        rewrites[name] = Rewrite(f"jit:{name}", None, name, str(path), line, f"compile {name}", (fix,))
    return found, rewrites


def ran(seconds: float, error: float | None = 0.0, failure: str | None = None) -> Trial:
    return Trial(failure, run_s=seconds, compile_s=2.0, compared=outcome(error))


def tried(found: EditSearch, rewrites: Mapping[str, Rewrite], names: str) -> list[Any]:
    return [one for name in names if (one := found._try(rewrites[name], found.original.sources)) is not None]


@pytest.mark.parametrize(
    ("error", "without", "accepted", "runs"),
    [
        (1e-5, 0.0, True, 1),
        (4e-4, 2e-6, True, 2),
        (4e-4, 4e-4, False, 4),
        (0.5, 0.0, False, 1),  # more than compiling rounds
        (None, 0.0, False, 1),  # other integers, or nothing finite
    ],
)
def test_what_compiling_rounds_is_told_by_a_run_without_it(
    tmp_path: Path, error: float | None, without: float, accepted: bool, runs: int
) -> None:
    double = {"original in double": ran(9.0), "double": ran(5.0, without)}
    found, rewrites = search(tmp_path, {"a": ran(4.0, error), "without jit": ran(9.0, without), **double})
    before = found.original.deadline
    good = tried(found, rewrites, "a")
    assert (found.original.deadline > before) == (
        runs > 1
    )  # the run without jit takes no time of other edits
    assert len(good) == accepted
    assert len(found.original.trials.asked) == runs  # type: ignore[attr-defined]
    if accepted:
        assert good[0].numerics.passed
        assert ("how XLA rounds" in good[0].evidence) == (runs == 2)


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        ("return jnp.sum(x[x > 0] if len(names) > 1 else x)", 0),  # names: what the command line says
        ("return jnp.sum(jnp.unique(x) if len(names) > 1 else x)", 0),
        ("return jnp.sum(jnp.where(x > 0, x, 0) if len(names) > 1 else x)", 1),
        ("return jnp.sum(x[:2] if len(names) > 1 else x)", 1),
    ],
)
def test_an_edit_that_would_fail_on_another_path_is_not_run(tmp_path: Path, body: str, runs: int) -> None:
    lines = SOURCE.replace("import jax\n", "import jax, sys, jax.numpy as jnp; names = sys.argv\n")
    found, rewrites = search(tmp_path, {"a": ran(4.0)}, lines.replace("...", body, 1))
    assert len(tried(found, rewrites, "a")) == runs
    assert len(found.original.trials.asked) == runs  # type: ignore[attr-defined]
    told = [result["reason"] for _, result in found.original.run.document.results]
    assert ["JAX104" in one for one in told] == [True] * (1 - runs)


def test_an_error_that_the_program_has_is_no_reason_against_an_edit(tmp_path: Path) -> None:
    already = "@jax.jit\ndef z(x):\n    return x[x > 0]\n"
    found, rewrites = search(tmp_path, {"az": ran(4.0)}, SOURCE + already)
    assert len(tried(found, rewrites, "a")) == 1


@pytest.mark.parametrize(
    ("left", "printed", "accepted"),
    [
        (1e-12, "loss 0.125", True),
        (1e-12, "loss 0.250", False),  # what is printed there is compared, too
        (4e-5, "loss 0.125", False),  # a mistake is as large in double precision
        (None, "loss 0.125", False),
    ],
)
def test_rounding_that_the_program_makes_larger_is_told_in_double_precision(
    tmp_path: Path, left: float | None, printed: str, accepted: bool
) -> None:
    def printing(trial: Trial, text: str) -> Trial:
        return dataclasses.replace(trial, printed=text)

    runs = {
        "a": printing(ran(4.0, 4e-4), "loss 0.126"),
        "b": printing(ran(4.0, 4e-4), "loss 0.126"),
        "without jit": ran(9.0, 4e-4),
        "original in double": printing(ran(9.0), "loss 0.125"),
        "double": printing(ran(5.0, left), printed),
    }
    found, rewrites = search(tmp_path, runs)
    found.original.base = printing(found.original.base, "loss 0.127")
    good = tried(found, rewrites, "ab")
    assert len(good) == 2 * accepted
    asked: list[str] = found.original.trials.asked  # type: ignore[attr-defined]
    assert asked.count("original in double") == 1
    assert all("in float64 it is 1.0e-12" in one.evidence and one.numerics.passed for one in good)


def test_a_program_that_jits_is_compared_without_jit_with_itself_without_jit(tmp_path: Path) -> None:
    """Rounding grows from step to step: what its own jitted functions round, too, must be the same on both sides."""
    found, rewrites = search(
        tmp_path, {"a": ran(4.0, 4e-4), "b": ran(4.0, 4e-4), "without jit": ran(9.0, 2e-6)}
    )
    found.original.references = [Path("compiled")]
    found.original.run.document.functions = [{"function": "c"}]
    assert len(tried(found, rewrites, "ab")) == 2
    runs: Any = found.original.trials
    assert runs.asked == ["a", "without jit", "without jit", "b", "without jit"]  # the original once
    assert runs.references[2] == runs.references[4] == [Path("without jit")]


@pytest.mark.parametrize(
    ("error", "asked"), [(1e-6, ["a", "b"]), (0.5, ["a", "", "other rounding", "a", "b"])]
)
def test_the_original_is_run_again_where_an_edit_is_off(
    tmp_path: Path, error: float, asked: list[str]
) -> None:
    alone = {"a": ran(4.0, error), "b": ran(4.0, error)}
    found, rewrites = search(tmp_path, {**alone, "": ran(8.0), "other rounding": ran(9.0)})
    found.original.known = False
    tried(found, rewrites, "ab")
    runs: Any = found.original.trials
    assert runs.asked == asked
    assert (Path("other rounding") in found.original.references) == (len(asked) > 2)


def test_where_all_at_once_fail_they_are_joined_one_after_the_other(tmp_path: Path) -> None:
    alone = {"a": ran(4.0), "b": ran(5.0), "c": ran(6.0)}
    found, rewrites = search(tmp_path, {**alone, "abc": ran(1.0, 0.5), "ab": ran(2.0, 0.5), "ac": ran(3.0)})
    best = found._combine(tried(found, rewrites, "abc"), [], found.original.sources)
    assert best is not None
    assert [one.rewrite.function for one in best.parts] == ["a", "c"]
    assert found.original.trials.asked[3:] == ["abc", "ab", "ac"]  # type: ignore[attr-defined]
    told = [result["reason"] for _, result in found.original.run.document.results]
    assert any("jit:a in a + jit:b in b + jit:c in c: the results differ" in one for one in told)
    assert any(one.startswith("compile b: no gain on top of the edits kept") for one in told)


def test_after_a_plain_gain_the_others_are_tried_on_top_of_it(tmp_path: Path) -> None:
    runs = {"a": ran(2.0), "ab": ran(1.0), "ac": ran(1.9), "abc": ran(0.9)}
    found, rewrites = search(tmp_path, runs)
    all_of_them = found._most_promising([rewrites[name] for name in "abc"], found.original.sources)
    assert found.original.trials.asked == ["a", "ab", "abc"]  # type: ignore[attr-defined]
    good, others = found._good(all_of_them)
    assert [sorted(one.rewrite.function for one in each.members) for each in good] == [
        ["a"],
        ["a", "b"],
        ["a", "b", "c"],
    ]
    assert others == []
    best = found._combine(good, others, found.original.sources)
    assert best is good[2]  # without another run
    assert len(found.original.trials.asked) == 3  # type: ignore[attr-defined]


def test_what_is_no_gain_on_top_of_a_plain_one_is_left_out(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {"a": ran(2.0), "ab": ran(2.1), "ac": ran(1.0)})
    good, others = found._good(
        found._most_promising([rewrites[name] for name in "abc"], found.original.sources)
    )
    assert others == []
    best = found._combine(good, others, found.original.sources)
    assert best is not None
    assert [one.rewrite.function for one in best.parts] == ["a", "c"]
    assert found.original.trials.asked == ["a", "ab", "ac"]  # type: ignore[attr-defined]
    ((_, told),) = found.original.run.document.results
    assert (told["function"], told["status"]) == ("b", "rejected")
    assert "run 2.00 to 2.10 s" in told["reason"]  # against what it was made on top of


SEVERAL = SOURCE + "\ndef d(x): ...\n"


@pytest.mark.parametrize(
    ("whole", "more", "rejected"),
    [
        (ran(1.9), [], "bcd"),  # less than a tenth is gained: one run for three edits
        (ran(1.0), ["a", "ab", "ac", "ad"], ""),
        (ran(4.0), ["ab", "ac", "ad"], ""),  # one of them costs time, so another may gain
        (ran(2.05, 0.5), ["ab", "ac", "ad"], ""),  # one of them is wrong
    ],
)
def test_what_is_left_after_a_plain_gain_is_tried_at_once(
    tmp_path: Path, whole: Trial, more: list[str], rejected: str
) -> None:
    steps = {"ab": ran(1.9), "ac": ran(1.8), "ad": ran(1.7)}
    found, rewrites = search(tmp_path, {"a": ran(2.0), **steps}, SEVERAL)
    runs: Any = found.original.trials
    runs.runs["abcd"] = whole
    rewrites["d"] = moved(rewrites["c"], "d", 9)
    tried_alone = found._most_promising([rewrites[name] for name in "abcd"], found.original.sources)
    assert runs.asked == ["a", "abcd", *more]
    assert [one.rewrite.function for one in tried_alone] == ["a"] + (list("bcd") if more else [])
    told = found.original.run.document.results
    assert "".join(one["function"] for _, one in told) == rejected
    assert all("at once with 2 others: no gain: run 2.00 to 1.90 s" in one["reason"] for _, one in told)


def test_a_gain_at_once_is_doubted_where_the_run_before_was_slow_by_chance(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {"a": ran(4.0), "abcd": ran(2.1)}, SEVERAL)
    runs: Any = found.original.trials
    rewrites["d"] = moved(rewrites["c"], "d", 9)
    first = runs.run

    def run(*arguments: Any, **options: Any) -> Any:
        result = first(*arguments, **options)
        runs.runs["a"] = ran(2.0)
        return result

    runs.run = run
    (kept,) = found._most_promising([rewrites[name] for name in "abcd"], found.original.sources)
    assert runs.asked == ["a", "abcd", "a"]
    assert kept.trial.run_s == 2.0
    assert [one["function"] for _, one in found.original.run.document.results] == ["b", "c", "d"]


def moved(rewrite: Rewrite, name: str, line: int) -> Rewrite:
    """The same edit of another function."""
    (fix,) = rewrite.fixes
    (step,) = fix.steps
    span = Span(line, step.span.column, line, step.span.end_column)
    fixes = (dataclasses.replace(fix, steps=(dataclasses.replace(step, span=span),)),)
    return dataclasses.replace(rewrite, name=f"jit:{name}", function=name, line=line, fixes=fixes)


def test_what_a_plain_gain_leaves_little_to_do_is_not_tried_after_it(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {"a": ran(2.0), "ac": ran(1.0)})
    runs: Any = found.original.trials
    runs.runs["a"].functions = {
        "b": {"calls": 0, "seconds": 0.0},  # it is traced in `a`
        "c": {"calls": 9, "seconds": 1.0},
    }
    found._most_promising([rewrites[name] for name in "abc"], found.original.sources)
    assert runs.asked == ["a", "ac"]
    assert rewrites["b"].key not in found.seen  # it may be tried where it takes time again


@pytest.mark.parametrize(
    ("known", "whole", "asked"),
    [
        (20.0, ran(8.0), [""]),
        (20.0, Trial("it took longer than 90 s", late=True), ["", ""]),
        (200.0, Trial("it took longer than 90 s", late=True), [""]),
    ],
)
def test_a_program_that_takes_too_long_is_compared_up_to_a_call(
    tmp_path: Path, known: float, whole: Trial, asked: list[str]
) -> None:
    place = ("program.py", "a", 7)
    cut_off = dataclasses.replace(ran(30.0), cut=place)
    found, _ = search(tmp_path, {"": whole, " cut off": cut_off})
    found.original.run.run_seconds = known
    assert found.original.measure()
    runs: Any = found.original.trials
    assert runs.asked == asked
    assert runs.cut == (place if whole.late else None)
    assert (found.original.base.cut is None) == (not whole.late)


def test_with_a_budget_the_original_is_cut_off_within_its_share(tmp_path: Path) -> None:
    cut_off = dataclasses.replace(ran(30.0), cut=("", "<stdout>", 4))
    found, _ = search(tmp_path, {" cut off": cut_off})
    run = found.original.run
    run.request = dataclasses.replace(run.request, ends=time.monotonic() + 1000.0)
    assert found.original.measure()
    assert found.original.trials.cut == ("", "<stdout>", 4)
    (after,) = found.original.trials.cut_after  # type: ignore[attr-defined]
    assert 160.0 < after <= 167.0


def test_where_starts_are_slow_less_is_left_for_the_work_of_each_run(tmp_path: Path) -> None:
    cut_off = dataclasses.replace(ran(30.0), cut=("", "<stdout>", 4))
    found, _ = search(tmp_path, {" cut off": cut_off})
    run = found.original.run
    run.start_seconds = 15.0
    run.request = dataclasses.replace(run.request, ends=time.monotonic() + 38.0)
    assert found.original.measure()
    (after,) = found.original.trials.cut_after  # type: ignore[attr-defined]
    assert 1.5 < after <= 2.0


def test_edits_that_fit_are_run_at_once_and_that_is_all_for_a_plain_gain(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {"": ran(8.0), "abc": ran(2.0)})
    assert found.search(list(rewrites.values()))
    runs: Any = found.original.trials
    assert runs.asked == ["", "abc", "", "abc"]  # the last two are timed
    ((_, told),) = found.original.run.document.results
    assert told["reason"].startswith("Compile a; Compile b; Compile c: without compile time 4.00x as fast")
    assert "one run of each edit" not in told["evidence"]


@pytest.mark.parametrize("line", [7, 99])  # in a function whose decorator is new, elsewhere
def test_what_makes_all_at_once_fail_is_left_out(tmp_path: Path, line: int) -> None:
    failed = ran(1.0, failure="the program raised TypeError: no (program.py:7)")
    path = str(tmp_path / "program.py")
    failed.frames = [(path, 1), (path, line)]
    found, rewrites = search(
        tmp_path, {"": ran(8.0), "abc": failed, "ac": ran(2.0), "a": ran(2.0), "ab": ran(2.0)}
    )
    assert found.search(list(rewrites.values()))
    asked: list[str] = found.original.trials.asked  # type: ignore[attr-defined]
    assert asked[2] == ("ac" if line == 7 else "a")
    told = [result["reason"] for _, result in found.original.run.document.results]
    assert any(one.startswith("compile b: the program raised TypeError") for one in told) == (line == 7)


def test_what_a_function_calls_is_not_jitted_beside_it(tmp_path: Path) -> None:
    source = SOURCE.replace("def b(x): ...", "def b(x): return a(x)")
    found, rewrites = search(tmp_path, {"": ran(8.0), "bc": ran(2.0)}, source)
    assert found.search(list(rewrites.values()))
    assert found.original.trials.asked[1] == "bc"  # type: ignore[attr-defined]


def test_of_two_edits_that_rewrite_one_function_alike_one_is_made_at_once(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {"": ran(8.0), "abc": ran(2.0)})
    other = dataclasses.replace(rewrites["a"], name="fix:eager-update")
    assert outermost([other, *rewrites.values()], found.original.sources) == list(rewrites.values())


CALLING = "import jax\n\ndef a(x): b(x), c(x)\n\ndef b(x): ...\n\ndef c(x): ...\n"  # a line each, as above


def test_what_a_jitted_function_calls_is_not_jitted_too(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {}, CALLING)
    assert outermost(rewrites.values(), found.original.sources) == [rewrites["a"]]


def test_an_edit_that_cannot_be_written_keeps_no_inner_one_out(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {"": ran(8.0), "bc": ran(2.0)}, CALLING)
    (fix,) = rewrites["a"].fixes
    nowhere = dataclasses.replace(fix, steps=(dataclasses.replace(fix.steps[0], span=Span(1, 1, 1, 7)),))
    refused = dataclasses.replace(rewrites["a"], fixes=(nowhere,))
    assert found.search([refused, rewrites["b"], rewrites["c"]])
    assert found.original.trials.asked[:2] == ["", "bc"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("of_b", "of_c", "left"),
    [
        ("a", "b", "a"),  # through another function
        ("a", "", "ac"),  # the host calls it too
        ("", "b", "ab"),  # its caller has an edit of its own
        ("b", "c", "abc"),  # each calls itself alone: no run shows how it began
    ],
)
def test_what_the_run_calls_from_jitted_functions_alone_is_not_jitted(
    tmp_path: Path, of_b: str, of_c: str, left: str
) -> None:
    found, rewrites = search(tmp_path, {})  # no text shows a call
    path = str(tmp_path / "program.py")
    callers = {"a": "", "b": of_b, "c": of_c}
    watched = [
        {"path": path, "function": name, "callers": [[path if by else "", by]]}
        for name, by in callers.items()
    ]
    kept = outermost(rewrites.values(), found.original.sources, watched)
    assert kept == [rewrites[name] for name in left]


def test_two_edits_of_the_same_statements_are_not_made_on_top_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import jax.numpy as jnp\nimport optax\n\n\ndef fit(batches):\n    w = jnp.ones(3)\n"
        "    opt = optax.sgd(0.1)\n    state = opt.init(w)\n    for g in batches:\n"
        "        u, state = opt.update(g, state)\n        w = w + u\n        print(w)\n"
    )
    span = Span(10, 9, 11, 18)
    plain, donating = (
        FixRequest(Safety.UNSAFE, "Jit", (Step("region-to-jit", str(path), span, {"donate": donate}),))
        for donate in (False, True)
    )
    sources = {str(path): read_source(path)}
    assert "donate_argnums" in edited_files([donating], sources)[str(path)].text  # type: ignore[index, union-attr]
    assert edited_files([plain, donating], sources) == "the edits overlap"
    (twice,) = edited_files([plain, plain], sources).values()  # type: ignore[union-attr]
    assert twice.text.count("def train_step") + twice.text.count("def step") == 1


def test_where_all_at_once_gain_nothing_plain_each_is_run_alone(tmp_path: Path) -> None:
    runs = {"": ran(8.0), "abc": ran(7.0), "a": ran(2.0), "ab": ran(2.0), "ac": ran(2.0)}
    found, rewrites = search(tmp_path, runs)
    assert found.search(list(rewrites.values()))
    asked: list[str] = found.original.trials.asked  # type: ignore[attr-defined]
    assert asked[:4] == ["", "abc", "a", "ab"]


def test_without_time_for_each_all_at_once_are_taken_for_a_fair_gain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Original, "has_time", lambda self, runs: runs < 6)
    found, rewrites = search(tmp_path, {"": ran(8.0), "abc": ran(6.0), "a": ran(7.0)})
    (change,) = found.search(list(rewrites.values()))
    assert change.text.count("@jax.jit") == 3
    assert "a" not in found.original.trials.asked  # type: ignore[attr-defined]


def test_all_at_once_are_taken_where_the_best_alone_gain_less(tmp_path: Path) -> None:
    singles = {"a": ran(7.5), "b": ran(9.0), "c": ran(9.0), "ab": ran(9.0), "ac": ran(9.0), "bc": ran(9.0)}
    found, rewrites = search(tmp_path, {"": ran(8.0), "abc": ran(5.8), **singles})
    (change,) = found.search(list(rewrites.values()))
    assert change.text.count("@jax.jit") == 3
    assert "a" in found.original.trials.asked  # type: ignore[attr-defined]


def test_what_its_caller_compiles_is_left_out_of_the_edits_at_once(tmp_path: Path) -> None:
    whole = ran(2.0)
    whole.functions = {"c": {"calls": 0, "path": "", "seconds": 0.0}}
    found, rewrites = search(tmp_path, {"": ran(8.0), "abc": whole, "ab": ran(2.0)})
    assert found.search(list(rewrites.values()))
    assert found.original.trials.asked[:3] == ["", "abc", "ab"]  # type: ignore[attr-defined]


def test_what_compiles_longer_is_kept_more_easily_where_the_program_goes_on() -> None:
    base, edited = Trial(run_s=20.0, compile_s=10.0), Trial(run_s=15.0, compile_s=20.0)
    assert "pays only in runs" in str(no_promise(base, edited))
    assert no_promise(dataclasses.replace(base, cut=("program.py", "a", 7)), edited) is None


def test_a_gain_in_run_time_is_plain_where_the_program_goes_on() -> None:
    base, edited = Trial(run_s=5.0, compile_s=20.0), Trial(run_s=2.0, compile_s=26.0)
    assert not is_plain(base, edited)
    on = dataclasses.replace(base, cut=("program.py", "a", 7))
    assert is_plain(on, edited)
    assert not is_plain(on, dataclasses.replace(edited, compile_s=40.0))


def test_what_cannot_be_written_takes_no_place_of_what_can(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {"a": ran(4.0)})
    (fix,) = rewrites["a"].fixes
    nowhere = dataclasses.replace(fix, steps=(dataclasses.replace(fix.steps[0], span=Span(1, 1, 1, 7)),))
    refused = [dataclasses.replace(rewrites["b"], name=f"jit:{n}", fixes=(nowhere,)) for n in range(9)]
    (good,) = found._most_promising([*refused, rewrites["a"]], found.original.sources)
    assert good.rewrite is rewrites["a"]
    assert found.original.trials.asked == ["a"]  # type: ignore[attr-defined]


def test_only_so_many_edits_are_run_at_a_time(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {"a": ran(7.0)})
    many = [dataclasses.replace(rewrites["a"], name=f"jit:{n}") for n in range(9)]
    assert len(found._most_promising(many, found.original.sources)) == 6


def test_what_takes_the_time_after_an_edit_is_tried_next(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {"a": ran(4.0)})
    (path,) = found.original.sources
    entry = {
        "path": path,
        "calls": 9,
        "inner_calls": 0,
        "arguments": [{"name": "x", "type": "ArrayImpl", "leaves": 1}],
    }
    found.original.run.document.watched = [
        {**entry, "function": name, "line": line, "seconds": seconds}
        for name, line, seconds in (
            ("a", 3, 60.0),
            ("b", 5, 1.0),
            ("c", 7, 0.1),
        )  # beside `a` all others are little
    ]
    (best,) = tried(found, rewrites, "a")
    best.trial.functions = {
        name: {"path": path, "calls": 9, "seconds": seconds}
        for name, seconds in (("a", 2.0), ("b", 1.0), ("c", 0.1))
    }
    (next_one,) = found._again(best.sources, best)
    assert (next_one.name, next_one.function, next_one.line) == ("jit:jax.jit", "b", 6)


def test_other_parts_of_a_function_follow_an_edit_of_one(tmp_path: Path) -> None:
    source = (
        "import jax\nimport jax.numpy as jnp\n\n\ndef a(batches):\n    w = jnp.ones(3)\n    for x in batches:\n"
        "        w = w - jnp.sin(w * x)\n        assert w.size\n        v = jnp.cos(w) + jnp.sum(x * w)\n        print(v)\n"
    )
    found, _ = search(tmp_path, {"s": ran(4.0)}, source)
    (path,) = found.original.sources
    entry = {"path": path, "function": "a", "calls": 2, "seconds": 9.0}
    found.original.run.document.watched = [{**entry, "line": 5, "arguments": None}]
    step = Step("region-to-jit", path, Span(8, 9, 8, 31))
    fix = Rewrite(
        "fix:eager-update", "JAX410", "a", path, 8, "Jit", (FixRequest(Safety.UNSAFE, "Jit", (step,)),)
    )
    (best,) = tried(found, {"a": fix}, "a")
    best.trial.functions = {"a": entry}
    (rest,) = found._again(best.sources, best)
    assert (rest.name, rest.what) == ("region-to-jit:jax.jit", "v = jnp.cos(w) + jnp.sum(x * w)")
    both = edited_files(rest.fixes, best.sources)
    assert both[path].text.count("@jax.jit") == 2  # type: ignore[index, union-attr]
    found.seen.add(rest.key)  # it has run and gained nothing
    assert found._again(best.sources, best) == []


def test_a_part_of_a_function_that_its_caller_compiles_is_left_as_it_is(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {"a": ran(4.0)})
    (outer,) = tried(found, rewrites, "a")
    outer.trial.functions = {"b": {"calls": 0, "seconds": 0.0}, "c": {"calls": 3, "seconds": 2.0}}
    parts = [dataclasses.replace(rewrites[name], name="region-to-jit:jax.jit", what="y = x") for name in "bc"]
    assert [leaves_idle(outer.trial, part) for part in parts] == [True, False]
    assert [bool(jit_gains_little(part, outer.trial)) for part in parts] == [True, False]


def test_a_function_that_another_edit_compiles_is_left_as_it_is(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {"a": ran(4.0), "b": ran(5.0)})
    inner, outer = tried(found, rewrites, "ab")
    outer.trial.functions = {"a": {"calls": 0}}  # it is traced in `b`, and no longer called from the host
    inner.trial.functions = {"b": {"calls": 3}}
    chosen, _ = found._together([inner, outer], found.original.sources)
    assert [one.rewrite.function for one in chosen] == ["b"]


def test_a_run_that_got_less_of_the_machine_is_seen_as_if_it_had_got_as_much() -> None:
    base = Trial(run_s=2.0, compile_s=2.0, cpu_s=4.0)
    disturbed = Trial(run_s=3.0, compile_s=6.0, cpu_s=3.0)
    assert (at_equal_share(base, disturbed).run_s, at_equal_share(base, disturbed).compile_s) == (1.0, 2.0)
    slower = Trial(run_s=3.0, compile_s=6.0, cpu_s=9.0)
    assert at_equal_share(base, slower) == slower
    luckier = Trial(run_s=1.0, compile_s=1.0, cpu_s=4.0)
    assert at_equal_share(base, luckier) == luckier


@pytest.mark.parametrize(("seconds", "runs"), [(2.0, 2), (4.4, 4), (6.0, 6), (7.2, 16), (7.8, 6)])
def test_a_plain_gain_is_timed_in_one_or_two_pairs_and_a_small_one_in_more(
    tmp_path: Path, seconds: float, runs: int
) -> None:
    found, rewrites = search(tmp_path, {"": Trial(run_s=8.0, compile_s=2.0), "a": ran(seconds)})
    (kept,) = tried(found, rewrites, "a")
    before = len(found.original.trials.asked)  # type: ignore[attr-defined]
    pairs = timed(found.original, kept)
    assert len(found.original.trials.asked) - before == runs  # type: ignore[attr-defined]
    assert len(pairs) == max(2, runs // 2)  # with the runs that values were compared in where there is one


@pytest.mark.parametrize(("processor_s", "runs"), [(2.0, ["a"]), (5.0, ["", "a"]), (0.0, ["", "a"])])
def test_an_ample_gain_needs_no_second_run_of_the_original(
    tmp_path: Path, processor_s: float, runs: list[str]
) -> None:
    """5.0: the load made the original slow, or the edited program waits less. 0.0: not known."""
    base = Trial(run_s=18.0, compile_s=2.0, cpu_s=10.0)
    edited = dataclasses.replace(ran(2.0), cpu_s=processor_s)
    found, rewrites = search(tmp_path, {"": dataclasses.replace(base), "a": edited})
    found.original.base = base
    (kept,) = tried(found, rewrites, "a")
    asked = found.original.trials.asked  # type: ignore[attr-defined]
    del asked[:]
    pairs = timed(found.original, kept)
    assert asked == runs
    assert len(pairs) == 2
    assert found.reports.conclude(kept, [kept])
    ((_, told),) = found.original.run.document.results
    assert ("the original ran once" in told["evidence"]) is (runs == ["a"])


@pytest.mark.parametrize(
    ("processor_s", "pairs"), [(7.0, 2), (9.5, 1)]
)  # 9.5: the load made the original slow
def test_where_time_is_left_for_one_pair_the_runs_before_count_as_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processor_s: float, pairs: int
) -> None:
    base = dataclasses.replace(ran(8.0), cpu_s=10.0)
    found, rewrites = search(tmp_path, {"": base, "a": dataclasses.replace(ran(5.5), cpu_s=processor_s)})
    found.original.base = base
    (kept,) = tried(found, rewrites, "a")
    times = iter((True, False))
    monkeypatch.setattr(Request, "has_time", lambda self, seconds: next(times))
    assert len(timed(found.original, kept)) == pairs


def poor(found: EditSearch, used: float) -> None:
    """The program takes 10 s of processor time, and so much of the 50 s is spent."""
    run = found.original.run
    run.request = dataclasses.replace(run.request, price=5.0)
    run.spent.program_s = 10.0
    run.spent.phases["before"] = Phase(used, used)


def test_an_edit_that_would_be_too_dear_is_not_tried(tmp_path: Path) -> None:
    runs = {"": dataclasses.replace(ran(8.0), cpu_s=10.0), "abc": ran(9.0), "a": ran(9.0)}
    found, rewrites = search(tmp_path, runs)
    poor(found, 34.0)
    assert not found.search(list(rewrites.values()))
    assert found.original.trials.asked == ["", "abc"]  # type: ignore[attr-defined] # the first is always tried
    reasons = [told["reason"] for _, told in found.original.run.document.results]
    assert (
        sum("5 times the processor time of the program (--budget gives it more)" in one for one in reasons)
        == 3
    )


@pytest.mark.parametrize(("used", "runs"), [(0.0, 16), (40.0, 6)])
def test_a_small_gain_gets_the_pairs_that_can_be_paid(tmp_path: Path, used: float, runs: int) -> None:
    base = dataclasses.replace(ran(8.0), cpu_s=10.0)
    found, rewrites = search(tmp_path, {"": base, "a": dataclasses.replace(ran(7.2), cpu_s=9.0)})
    found.original.base = base
    (kept,) = tried(found, rewrites, "a")
    poor(found, used)
    asked = found.original.trials.asked  # type: ignore[attr-defined]
    del asked[:]
    timed(found.original, kept)
    assert len(asked) == runs


def test_rounding_is_told_from_errors_only_where_that_can_be_paid(tmp_path: Path) -> None:
    base = dataclasses.replace(ran(8.0), cpu_s=10.0)
    runs = {"": base, "other rounding": base, "without jit": ran(20.0), "a": ran(7.0, error=1e-3)}
    found, rewrites = search(tmp_path, runs)
    found.original.base, found.original.known = base, False
    poor(found, 40.0)
    found.original.tried(rewrites["a"], found._edited(rewrites["a"].fixes, found.original.sources))  # type: ignore[arg-type]
    assert found.original.trials.asked == ["a"]  # type: ignore[attr-defined]


def test_an_edit_with_an_error_does_not_stop_the_others_at_once(tmp_path: Path) -> None:
    body = "import jax\n\ndef a(x): ...\n\ndef b(x):\n    if x > 0:\n        return x\n\ndef c(x): ...\n"
    found, rewrites = search(tmp_path, {"": ran(8.0), "ac": ran(2.0)}, body)
    fix = FixRequest(Safety.UNSAFE, "Jit", (Step("add-jit", rewrites["c"].path, Span(9, 1, 9, 4)),))
    rewrites["c"] = dataclasses.replace(rewrites["c"], line=9, fixes=(fix,))
    assert found.search(list(rewrites.values()))
    assert found.original.trials.asked[:2] == ["", "ac"]  # type: ignore[attr-defined]


def test_an_edit_of_little_time_does_not_run_alone(tmp_path: Path) -> None:
    found, rewrites = search(tmp_path, {"": ran(8.0), "ab": ran(8.5), "a": ran(7.9)})
    found.original.run.run_seconds = 10.0
    rewrites["a"] = dataclasses.replace(rewrites["a"], estimate=6.0)
    rewrites["b"] = dataclasses.replace(rewrites["b"], estimate=0.1)
    found.search([rewrites["a"], rewrites["b"]])
    assert "b" not in found.original.trials.asked  # type: ignore[attr-defined]
    reasons = [told["reason"] for _, told in found.original.run.document.results]
    assert "compile b: not tried: b takes only 0.10 s of 10.0 s" in reasons


@pytest.mark.parametrize(
    ("totals", "proven"), [((5.0, 16.0), False), ((5.0, 9.0), True), ((5.0, 16.0, 5.0), True)]
)
def test_two_pairs_prove_nothing_if_the_program_is_slower_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, totals: tuple[float, ...], proven: bool
) -> None:
    """Each is four times as fast without compile time."""
    before = Trial(run_s=8.0, compile_s=2.0)
    pairs = [(before, Trial(run_s=2.0, compile_s=total - 2.0)) for total in totals]
    found, rewrites = search(tmp_path, {"": before, "a": ran(2.0)})
    (kept,) = tried(found, rewrites, "a")
    monkeypatch.setattr(edit_reports, "timed", lambda original, kept: pairs)
    assert found.reports.conclude(kept, [kept]) == proven


def test_more_pairs_follow_if_the_program_is_slower_in_the_first(tmp_path: Path) -> None:
    slow = Trial(run_s=2.0, compile_s=14.0, compared=outcome(0.0))
    found, rewrites = search(tmp_path, {"": Trial(run_s=8.0, compile_s=2.0), "a": slow})
    kept = Tried(rewrites["a"], slow, found.original.sources, None)
    assert len(timed(found.original, kept)) >= 3


def test_edits_that_are_proven_together_are_one_result(tmp_path: Path) -> None:
    runs = {"": Trial(run_s=8.0, compile_s=2.0), "a": ran(4.0), "b": ran(5.0), "ab": ran(2.0)}
    found, rewrites = search(tmp_path, runs)
    best = found._combine(tried(found, rewrites, "ab"), [], found.original.sources)
    assert best is not None
    assert found.reports.conclude(best, best.parts)
    ((_, told),) = found.original.run.document.results
    assert told["status"] == "verified"
    assert told["reason"].startswith(
        "Compile a; Compile b: without compile time 4.00x as fast, 4.00 to 4.00; "
    )
    assert "one run of each edit: jit:a in a: run 8.00 to 4.00 s" in told["evidence"]
    assert found._changes(best)


@pytest.mark.parametrize(("device", "shared"), [("cpu: cpu", True), ("gpu: NVIDIA H100", False)])
def test_the_second_run_of_the_original_does_not_compile_again_on_a_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, shared: bool
) -> None:
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    runs = {"": ran(8.0), "a": ran(4.0, 0.5), "other rounding": ran(9.0)}
    found, rewrites = search(tmp_path, runs)
    found.original.run.document.device = device
    found.original.known = False
    assert found.original.measure()
    tried(found, rewrites, "a")
    first, edited, second, *_ = found.original.trials.environments  # type: ignore[attr-defined]
    assert first == second
    assert ("JAX_COMPILATION_CACHE_DIR" in first) is shared
    assert "JAX_COMPILATION_CACHE_DIR" not in edited


def test_an_edit_whose_interval_holds_1_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The median alone would say 1.33 times as fast, and so does one run of each."""
    found, rewrites = search(tmp_path, {"": Trial(run_s=8.0, compile_s=2.0), "a": ran(6.0)})
    (kept,) = tried(found, rewrites, "a")

    def noisy(*seconds: float) -> list[tuple[Trial, Trial]]:
        return [(Trial(run_s=8.0, compile_s=2.0), Trial(run_s=one, compile_s=2.0)) for one in seconds]

    for pairs, said in (
        (noisy(6.0, 5.0, 9.0), "no difference beyond noise: 0.89 to 1.60 times as fast"),
        (noisy(4.0), "no difference beyond noise: 2.00 to 2.00 times as fast, measured only once"),
    ):
        found.original.run.document.results.clear()
        monkeypatch.setattr(edit_reports, "timed", lambda original, one, pairs=pairs: pairs)
        assert not found.reports.conclude(kept, [kept])
        ((_, told),) = found.original.run.document.results
        assert told["status"] == "rejected"
        assert f"without compile time {said}" in told["reason"]


def test_an_edit_that_leaves_other_files_is_rejected(tmp_path: Path) -> None:
    """Its values, its lines and its exit status are the same: the log has one line, since the function is traced once."""

    def leaving(seconds: float, lines: int) -> Trial:
        folder = tmp_path / f"{seconds}"
        folder.mkdir()
        text = "".join(f"step {n} loss 0.5\n" for n in range(lines))
        (folder / "train.log").write_text(text)
        left = Leavings({"train.log": len(text)}, folder=folder)
        return dataclasses.replace(ran(seconds), left=left)

    found, rewrites = search(tmp_path, {"a": leaving(4.0, 1), "b": leaving(4.5, 200)})
    found.original.base, found.original.repeats = leaving(8.0, 200), [leaving(8.5, 200)]
    (good,) = tried(found, rewrites, "ab")
    assert good.rewrite.function == "b"
    assert "and 1 file compared" in good.evidence
    ((_, told),) = found.original.run.document.results
    assert told["status"] == "rejected"
    assert told["reason"] == "compile a: the files it writes differ: train.log has 1 line instead of 200"


@pytest.mark.parametrize(
    ("cut", "calls", "late"),
    [
        (("", "<stdout>", 3), {"a": 0, "b": 4}, ["a"]),
        (("", "<stdout>", 3), {"a": 2, "b": 4}, []),
        (None, {"a": 0, "b": 4}, []),  # the whole program is timed
        (("", "<stdout>", 3), {"b": 4}, []),  # nothing counted its calls
    ],
)
def test_a_function_that_the_host_calls_after_the_timed_part_is_not_edited(
    tmp_path: Path, cut: tuple[str, str, int] | None, calls: dict[str, int], late: list[str]
) -> None:
    found, rewrites = search(tmp_path, {})
    found.original.trials.cut = cut
    path = rewrites["a"].path
    found.original.run.document.watched = [
        {"path": path, "function": name, "line": 1, "calls": count}
        for name, count in (("a", 20), ("b", 9), ("c", 0))
    ]
    found.original.base.functions = {name: {"path": path, "calls": count} for name, count in calls.items()}
    left = found._timed(list(rewrites.values()))
    assert [one.function for one in left] == [one for one in "abc" if one not in late]
    told = [result["reason"] for _, result in found.original.run.document.results]
    assert told == [
        f"compile {one}: all calls of {one} by the host come after the part that is timed" for one in late
    ]
    assert len(found._timed([rewrites["a"]])) == 1 - len(late)
    assert len(found.original.run.document.results) == len(late)  # it is told once
