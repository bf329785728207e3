"""The join behind the truth table: which functions are paired, and how they are counted."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from benchmarks.staging import join


def predicted(line: int, qualname: str, staged: str = "yes", **more: Any) -> dict[str, Any]:
    record = {
        "path": "p.py",
        "line": line,
        "qualname": qualname,
        "staged": staged,
        "params": {},
        "reason": "",
    }
    return record | {"basis": "visible" if staged == "yes" else None} | more


def observed(line: int, qualname: str, traced: int = 1, **more: Any) -> dict[str, Any]:
    record = {"path": "p.py", "line": line, "qualname": qualname, "calls": 2, "traced": traced, "under": 0}
    record |= {"concrete": 0, "parameters": {}, "closure": [], "lines": [], "raised": [], "callers": []}
    return record | more


def pairs(claims: list[dict[str, Any]], seen: list[dict[str, Any]]) -> list[join.Pair]:
    return join.join(claims, seen).pairs


def test_functions_pair_by_path_line_and_qualified_name() -> None:
    claims = [predicted(1, "f"), predicted(1, "g"), predicted(2, "f"), predicted(1, "f", path="other.py")]
    result = join.join(claims, [observed(1, "f"), observed(3, "f")])
    assert [pair.key for pair in result.pairs] == [("p.py", 1, "f")]
    assert [record["line"] for record in result.unlisted] == [3]


def test_lambdas_of_one_line_count_only_when_the_predictions_agree() -> None:
    same = [predicted(1, "<lambda>"), predicted(1, "<lambda>")]
    differ = [predicted(2, "<lambda>"), predicted(2, "<lambda>", "no")]
    result = join.join(same + differ, [observed(1, "<lambda>"), observed(2, "<lambda>")])
    assert [pair.key[1] for pair in result.pairs] == [1]
    assert result.ambiguous == [("p.py", 2, "<lambda>")]


def test_a_module_imported_twice_is_one_function() -> None:
    first = observed(1, "f", 0, parameters={"x": 0, "n": 0}, lines=[2])
    second = observed(1, "f", 3, parameters={"x": 3, "n": 0}, lines=[3], under=1)
    (pair,) = pairs([predicted(1, "f")], [first, second])
    assert pair.observed["calls"] == 4
    assert pair.traced
    assert pair.observed["parameters"] == {"x": 3, "n": 0}
    assert pair.observed["lines"] == [2, 3]


def test_ratios_leave_out_what_never_ran() -> None:
    claims = [
        predicted(1, "hit", params={"x": "traced", "n": "traced", "m": "static"}),
        predicted(2, "missed", "unknown", params={"x": "unknown"}),
        predicted(3, "wrong", basis="convention"),
        predicted(4, "in_trace_only"),
        predicted(5, "never_ran"),
        predicted(6, "host", "no"),
    ]
    seen = [
        observed(1, "hit", parameters={"x": 1, "n": 0, "m": 0}),
        observed(2, "missed", parameters={"x": 1}),
        observed(3, "wrong", 0),
        observed(4, "in_trace_only", 0, under=1),
        observed(6, "host", 0),
    ]
    score = join.score(pairs(claims, seen))
    assert (score.executed, score.traced) == (5, 2)
    assert (score.recall.hit, score.recall.all) == (1, 2)
    assert (score.precision.hit, score.precision.all) == (1, 3)
    assert (score.precision_visible.hit, score.precision_visible.all) == (1, 2)
    assert (score.in_trace.hit, score.in_trace.all) == (2, 3)
    assert (score.parameter_recall.hit, score.parameter_recall.all) == (1, 2)
    assert (score.parameter_precision.hit, score.parameter_precision.all) == (1, 2)


def test_only_errors_on_lines_that_ran_and_never_raised_are_contradicted() -> None:
    found = pairs([predicted(1, "f")], [observed(1, "f", lines=[2, 3], raised=[3])])

    def finding(line: int, severity: str = "error", path: str = "p.py") -> dict[str, Any]:
        return {"path": path, "line": line, "severity": severity}

    wrong = [finding(2), finding(3), finding(4), finding(2, "warning"), finding(2, path="other.py")]
    assert join.contradicted(wrong, found) == [finding(2)]


def test_a_miss_that_follows_from_another_is_counted_with_its_root() -> None:
    def called_by(line: int, name: str, between: list[str]) -> list[dict[str, Any]]:
        return [{"path": "p.py", "line": line, "qualname": name, "at": line, "between": between}]

    claims = [predicted(9, "main", "no"), *(predicted(n, f"f{n}", "unknown") for n in (1, 2, 3))]
    jit = ["jax._src.pjit._trace_for_jit", "jax._src.pjit._cpp_pjit.<locals>.cache_miss"]
    seen = [
        observed(9, "main", 0),
        observed(1, "f1", callers=called_by(9, "main", jit)),
        observed(2, "f2", callers=called_by(1, "f1", [])),
        observed(3, "f3", callers=called_by(2, "f2", [])),
    ]
    found = pairs(claims, seen)
    assert [(pair.key[2], n) for pair, n in join.roots(found)] == [("f1", 2)]
    assert join.causes(found)["misses"] == {
        "function: handed to a jitted function in a host caller": 1,
        "function: follows from a missed caller": 2,
    }


def test_a_claim_is_untested_when_the_code_of_its_reason_never_ran(tmp_path: Path) -> None:
    source = "import jax\ndef f(x):\n    return x\n\n@str\ndef ran():\n    jax.jit(f)\ndef idle():\n    jax.jit(f)\n"
    (tmp_path / "p.py").write_text(source)
    for line, ran in ((7, True), (9, False)):
        claim = predicted(2, "f", reason=f"`f` is passed to `jax.jit` at line {line}")
        found = pairs([claim, predicted(5, "ran", "no")], [observed(2, "f", 0), observed(5, "ran", 0)])
        join.mark_reasons(found, tmp_path)
        assert found[0].reason_ran is ran
        score = join.score(found)
        assert score.precision.all == 1
        assert score.tested.all == ran


def test_a_claim_is_untested_when_what_its_reason_hands_over_never_ran(tmp_path: Path) -> None:
    source = (
        "import jax\ndef helper(x):\n    return x\n\ndef ran(flag):\n    @jax.jit\n    def inner(x):\n"
        "        return helper(x)\n    if flag:\n        inner(1)\n    jax.jit(lambda x: helper(x))\n"
    )
    (tmp_path / "p.py").write_text(source)
    reasons = {
        "`inner` is decorated with `jax.jit` at line 6": (6, "ran.<locals>.inner"),
        "`<lambda>` is passed to `jax.jit` at line 11": (11, "ran.<locals>.<lambda>"),
    }
    for reason, (line, name) in reasons.items():
        for ran in (True, False):
            seen = [observed(2, "helper", 0), observed(5, "ran", 0), *[observed(line, name, 0)] * ran]
            claims = [
                predicted(2, "helper", reason=reason),
                predicted(5, "ran", "no"),
                predicted(line, name, "no"),
            ]
            found = pairs(claims, seen)
            join.mark_reasons(found, tmp_path)
            assert found[0].reason_ran is ran


def test_a_transform_in_a_branch_is_untested_where_nothing_was_traced_from_it(tmp_path: Path) -> None:
    source = (
        "import jax\ndef helper(x):\n    return x\ndef other(x):\n    return x\n"
        "def ran(chains):\n    if chains == 1:\n        return helper(1)\n    return jax.vmap(helper)(1)\n"
        "def always():\n    jax.jit(other)\n"
    )
    (tmp_path / "p.py").write_text(source)
    jitted = ["jax._src.pjit._trace_for_jit"]
    caller = {"path": "p.py", "line": 6, "qualname": "ran", "at": 9, "between": jitted}
    claims = [
        predicted(2, "helper", reason="`helper` is passed to `jax.vmap` at line 9"),
        predicted(4, "other", reason="`other` is passed to `jax.jit` at line 11"),
        *(predicted(line, name, "no") for line, name in ((6, "ran"), (10, "always"))),
    ]
    seen = [
        observed(2, "helper", 0),
        observed(4, "other", 0),
        observed(6, "ran", 0),
        observed(10, "always", 0),
    ]
    found = pairs(claims, seen)
    join.mark_reasons(found, tmp_path)
    assert [pair.reason_ran for pair in found] == [False, True, True, True]
    elsewhere = [predicted(20, "traced"), observed(20, "traced", 1, callers=[caller])]
    found = pairs([*claims, elsewhere[0]], [*seen, elsewhere[1]])
    join.mark_reasons(found, tmp_path)
    assert found[0].reason_ran


def test_enclosing_line_is_that_of_the_first_decorator() -> None:
    tree = ast.parse("x = 1\n@a\n@b\ndef f():\n    def g():\n        pass\n    return g\n")
    assert [join.enclosing_line(tree, line) for line in (1, 6, 7)] == [None, 5, 2]


def test_a_parameter_is_untested_when_no_call_that_gives_it_a_tracer_ran(tmp_path: Path) -> None:
    source = "import jax\ndef f(x, n):\n    return x\n\n@jax.jit\ndef g(x, n):\n    if n is None:\n        return f(x, 1)\n    return f(x, n)\n"
    (tmp_path / "p.py").write_text(source)
    gives_both = {"path": "p.py", "line": 9, "end": 9, "staged": True}
    gives_one = gives_both | {"line": 8, "end": 8}
    on_host = gives_both | {"staged": False}
    for calls, lines, counted in (
        ([gives_both], [7, 8], False),
        ([gives_both], [7, 9], True),
        ([gives_both, gives_one], [7, 8], True),
        ([gives_both, None], [7, 8], True),
        ([on_host], [7, 8], True),
        ([gives_both | {"path": "guide.ipynb"}], [7, 9], False),
        ([], [7, 9], True),
    ):
        claim = predicted(2, "f", params={"x": "traced", "n": "traced"}, calls={"x": [gives_one], "n": calls})
        seen = [observed(2, "f", parameters={"x": 1, "n": 0}), observed(5, "g", lines=lines)]
        found = pairs([claim, predicted(5, "g")], seen)
        join.mark_reasons(found, tmp_path)
        score = join.score(found)
        assert (score.parameter_precision.hit, score.parameter_precision.all) == (1, 2)
        assert (score.parameter_tested.hit, score.parameter_tested.all) == (1, 1 + counted)


def test_a_claim_is_untested_when_no_call_in_the_stage_ran(tmp_path: Path) -> None:
    source = (
        "import jax\ndef f(x):\n    return x\n\n@jax.jit\ndef g(x, y):\n    if y is None:\n"
        "        return x\n    return f(x)\n"
    )
    (tmp_path / "p.py").write_text(source)
    reason = "`g` is decorated with `jax.jit` at line 5"
    call = {"path": "p.py", "line": 9, "end": 9, "staged": True}
    for last, counted in ((9, 1), (8, 0)):
        found = pairs(
            [predicted(2, "f", reason=reason, calls={"x": [call]}), predicted(5, "g")],
            [observed(2, "f", 0), observed(5, "g", lines=[7, last])],
        )
        join.mark_reasons(found, tmp_path)
        assert join.score(found).tested.all == 1 + counted
