"""Fixes applied to rest: overlaps, rounds, safety, groups of files, results that must parse."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from jaxlint.codemods.source.text_edits import Lines, apply_edits, overlaps
from jaxlint.finding import Edit, Finding, Fix, FixRequest, Safety, Severity, Span, Step
from jaxlint.fixes import fix_sources
from jaxlint.source import SourceFile
from jaxlint.syntax.parse import parse_source


def source_file(text: str, path: str) -> SourceFile:
    return SourceFile(Path(path), path, text, "utf-8", False, "")


def finding(path: str, span: Span, fix: FixRequest | Fix | None, code: str = "JAX999") -> Finding:
    return Finding(path, span, code, "test-rule", "api", Severity.ERROR, "message", "reason", fix=fix)


def renames(old: str, new: str, safety: Safety = Safety.SAFE):
    """A check that reports every use of the dotted name `old`, with a fix to `new`."""

    def check(sources: Mapping[str, SourceFile]) -> list[Finding]:
        found: list[Finding] = []
        for path, source in sources.items():
            for node in ast.walk(ast.parse(source.text)):
                if isinstance(node, ast.Attribute) and ast.unparse(node) == old:
                    span = Span(node.lineno, node.col_offset + 1, node.end_lineno, node.end_col_offset + 1)
                    step = Step("rename-api", path, span, {"old": old, "new": new})
                    found.append(finding(path, span, FixRequest(safety, "rename", (step,))))
        return found

    return check


def run(files: Mapping[str, str], check, **options):
    return fix_sources({path: source_file(text, path) for path, text in files.items()}, check, **options)


def test_fixes_every_place_and_leaves_nothing():
    result = run(
        {"a.py": "import jax\nx = jax.tree_map(f, jax.tree_map(g, y))\n", "b.py": "x = 1\n"},
        renames("jax.tree_map", "jax.tree.map"),
    )
    assert result.texts == {"a.py": "import jax\nx = jax.tree.map(f, jax.tree.map(g, y))\n"}
    assert len(result.applied) == 2
    assert [*result.remaining, *result.refused, *result.errors] == []
    assert result.rounds == 1


def test_unsafe_fixes_wait_to_be_asked_for():
    files = {"a.py": "import jax\nx = jax.tree_map(f, y)\n"}
    check = renames("jax.tree_map", "jax.tree.map", Safety.UNSAFE)
    held = run(files, check)
    assert not held.texts
    assert [one.reason for one in held.held_back] == [
        "the fix may change what the program does; --unsafe-fixes applies it"
    ]
    assert run(files, check, unsafe=True).texts


def test_refusals_come_with_their_reason():
    result = run(
        {"a.py": "import jax\njax.tree_map = f\n"},
        renames("jax.tree_map", "jax.tree.map"),
    )
    assert not result.texts
    assert len(result.remaining) == 1
    assert "assigned or deleted" in result.refused[0].reason


def test_overlapping_fixes_take_turns():
    """Both the call and the name in it are to change; the second waits for the next round."""

    def check(sources):
        text = sources["a.py"].text
        found = []
        for old, new in (("g(jax.old)", "h(jax.old)"), ("jax.old", "jax.new")):
            start = text.find(old)
            if start >= 0:
                span = Lines(text).span(start, start + len(old))
                found.append(finding("a.py", span, Fix(Safety.SAFE, "edit", (Edit("a.py", span, new),))))
        return found

    result = run({"a.py": "x = g(jax.old)\n"}, check)
    assert result.texts == {"a.py": "x = h(jax.new)\n"}
    assert result.rounds == 2


def test_a_fix_is_all_or_nothing():
    """One of its two edits overlaps an earlier fix, so neither is made in that round."""
    texts: list[str] = []

    def check(sources):
        text = sources["a.py"].text
        texts.append(text)
        found = []
        if "a" in text:
            span = Span(1, 1, 1, 2)
            found.append(finding("a.py", span, Fix(Safety.SAFE, "one", (Edit("a.py", span, "b"),)), "JAX001"))
        if text.endswith("c\n"):
            edits = (Edit("a.py", Span(1, 1, 1, 2), "d"), Edit("a.py", Span(2, 1, 2, 2), "e"))
            found.append(finding("a.py", Span(1, 1, 1, 2), Fix(Safety.SAFE, "two", edits), "JAX002"))
        return found

    result = run({"a.py": "a\nc\n"}, check)
    assert texts == ["a\nc\n", "b\nc\n", "d\ne\n"]
    assert result.texts == {"a.py": "d\ne\n"}


def test_a_result_that_does_not_parse_is_left_out_and_the_others_are_made():
    def check(sources):
        text = sources["a.py"].text
        found = []
        for old, new in (("one", "1 +"), ("two", "2")):
            start = text.find(old)
            if start >= 0:
                span = Lines(text).span(start, start + len(old))
                found.append(finding("a.py", span, Fix(Safety.SAFE, "edit", (Edit("a.py", span, new),))))
        return found

    result = run({"a.py": "x = one\ny = two\n"}, check)
    assert result.texts == {"a.py": "x = one\ny = 2\n"}
    assert "would no longer parse" in result.refused[0].reason
    assert len(result.applied) == 1


def test_one_bad_fix_among_many_is_found_by_halves(monkeypatch):
    """Each trial reads the whole file: one for each fix would take the square of their number."""
    texts = []
    monkeypatch.setattr(
        "jaxlint.codemods.source.edited_file.parse_source",
        lambda source, parse=parse_source: (texts.append(source.text), parse(source))[1],
    )
    text = "".join(f"x = name{number:03}\n" for number in range(254))
    text = f"if x:\n    one\n    two\n{text}"  # either may go, but not both
    names = re.findall(r"name\d+", text)
    rules = [("JAX001", name, "2") for name in names]
    result = run({"a.py": text}, replaces(("JAX002", " {4}one\n", ""), ("JAX002", " {4}two\n", ""), *rules))
    assert result.texts["a.py"].startswith("if x:\n    two\nx = 2\n")
    assert len(result.applied) == 255
    assert [one.finding.span.line for one in result.refused] == [2]
    whole = [one for one in texts if one.count("= 2") > 1]
    assert len(whole) < 40


# Fixes that do not come to rest


def replaces(*rules: tuple[str, str, str]):
    """A check in which each rule (code, old, new) reports the word `old` wherever it stands, with a ready fix to `new`."""

    def check(sources: Mapping[str, SourceFile]) -> list[Finding]:
        found: list[Finding] = []
        for path, source in sources.items():
            lines = Lines(source.text)
            for code, old, new in rules:
                for match in re.finditer(rf"\b{old}\b" if old.isidentifier() else old, source.text):
                    span = lines.span(*match.span())
                    fix = Fix(Safety.SAFE, "edit", (Edit(path, span, new),))
                    found.append(finding(path, span, fix, code))
        return found

    return check


def test_fixes_that_undo_each_other_are_refused_by_name_and_the_others_are_made():
    check = replaces(("JAX001", "a", "b"), ("JAX002", "b", "a"), ("JAX003", "c", "d"))
    result = run({"circle.py": "x = a\ny = c\n", "line.py": "c\n"}, check)
    assert result.texts == {"circle.py": "x = a\ny = d\n", "line.py": "d\n"}
    assert result.errors == []
    assert sorted((one.path, one.code) for one in result.applied) == [
        ("circle.py", "JAX003"),
        ("line.py", "JAX003"),
    ]
    assert [(one.finding.code, one.reason) for one in result.refused] == [
        ("JAX001", "the fixes of JAX001 (test-rule) and JAX002 (test-rule) undo each other; neither is made")
    ]


def test_what_leads_into_a_circle_is_made():
    """`z` becomes `a`, which is one of three that go round."""
    check = replaces(("JAX001", "a", "b"), ("JAX002", "b", "c"), ("JAX003", "c", "a"), ("JAX004", "z", "a"))
    result = run({"a.py": "x = z\n"}, check)
    assert result.texts == {"a.py": "x = a\n"}
    assert [one.code for one in result.applied] == ["JAX004"]
    assert "JAX001 (test-rule), JAX002 (test-rule) and JAX003 (test-rule) undo" in result.refused[0].reason


def test_circles_of_different_length_in_one_file():
    check = replaces(
        ("JAX001", "a", "b"),
        ("JAX002", "b", "a"),
        ("JAX003", "p", "q"),
        ("JAX004", "q", "r"),
        ("JAX005", "r", "p"),
        ("JAX006", "old", "new"),
    )
    result = run({"a.py": "x = a\ny = p\nz = old\n"}, check)
    assert result.texts == {"a.py": "x = a\ny = p\nz = new\n"}
    assert result.errors == []


def test_a_circle_elsewhere_does_not_cost_the_same_rule_its_other_fixes():
    """JAX001 goes in a circle with JAX002 on `a`; what it makes of `e` stays."""
    check = replaces(("JAX001", "a", "b"), ("JAX002", "b", "a"), ("JAX001", "e", "f"))
    result = run({"a.py": "x = a\ny = e\n"}, check)
    assert result.texts == {"a.py": "x = a\ny = f\n"}


def test_a_circle_over_two_files():
    """Each fix changes both files; a third, in one of them, has nothing to do with it."""

    def check(sources):
        one, two = sources["a.py"].text, sources["b.py"].text
        word = Span(1, 1, 1, 2)
        found = list(replaces(("JAX003", "c", "d"))(sources))
        for code, old, new in (("JAX001", "a", "b"), ("JAX002", "b", "a")):
            if one[0] == two[0] == old:
                edits = (Edit("a.py", word, new), Edit("b.py", word, new))
                found.append(finding("a.py", word, Fix(Safety.SAFE, "both", edits), code))
        return found

    result = run({"a.py": "a\n", "b.py": "a\nc\n", "c.py": "c\n"}, check)
    assert result.texts == {"b.py": "a\nd\n", "c.py": "d\n"}
    assert [one.finding.code for one in result.refused] == ["JAX001"]


def test_a_circle_through_another_file():
    """What one rule writes, the other undoes, as it is reported in another file."""

    def check(sources):
        word = Span(1, 1, 1, 2)
        text = sources["a.py"].text
        path, code, new = ("a.py", "JAX001", "b") if text == "a\n" else ("b.py", "JAX002", "a")
        return [finding(path, word, Fix(Safety.SAFE, "edit", (Edit("a.py", word, new),)), code)]

    result = run({"a.py": "a\n", "b.py": "x\n"}, check)
    assert result.texts == {}
    assert "JAX001 (test-rule) and JAX002 (test-rule) undo each other" in result.refused[0].reason


def test_endless_growth_costs_only_the_rule_that_grows():
    check = replaces(("JAX001", "g", "g + g"), ("JAX002", "c", "d"))
    result = run({"a.py": "x = g\ny = c\n"}, check, max_rounds=5)
    assert result.texts == {"a.py": "x = g\ny = d\n"}
    assert result.errors == []
    assert [(one.finding.code, one.reason) for one in result.refused] == [
        ("JAX001", "its fix does not converge here; not made")
    ]


def test_growth_is_seen_before_the_rounds_are_over():
    check = replaces(("JAX001", "g", "g + 1"), ("JAX002", "a", "b, 1"), ("JAX003", "b", "a"))
    result = run({"a.py": "x = g\n", "b.py": "x = a\n", "c.py": "x = 1\n"}, check)
    assert result.texts == {}
    assert result.rounds < 15
    assert sorted(one.finding.code for one in result.refused) == ["JAX001", "JAX002"]


def test_a_rule_with_much_to_do_in_one_function_may_take_many_rounds():
    """One word at a time, as fixes do that touch each other."""

    def check(sources):
        return replaces(("JAX001", "old", "new"))(sources)[:1] + [
            finding("a.py", Span(1, 1, 1, 1), None, "JAX001")
            for _ in range(sources["a.py"].text.count("old"))
        ]

    text = "x = [" + "old, " * 40 + "]\n"
    result = run({"a.py": text}, check)
    assert result.texts == {"a.py": text.replace("old", "new")}
    assert result.rounds == 40


def test_two_rules_that_grow_by_turns():
    check = replaces(("JAX001", "a", "b, 1"), ("JAX002", "b", "a"), ("JAX003", "c", "d"))
    result = run({"a.py": "x = a\ny = c\n"}, check, max_rounds=9)
    assert result.texts == {"a.py": "x = a\ny = d\n"}
    assert (
        "the fixes of JAX001 (test-rule) and JAX002 (test-rule) do not converge" in result.refused[0].reason
    )


def test_a_file_in_which_nothing_comes_to_rest_is_left_alone():
    """A new rule each time: nothing that could be told again."""
    count = itertools.count(100)

    def check(sources):
        found = []
        for path, source in sources.items():
            if source.text.startswith("a"):
                span = Span(1, 1, 1, 2)
                fix = Fix(Safety.SAFE, "edit", (Edit(path, span, "aa"),))
                found.append(finding(path, span, fix, f"JAX{next(count)}"))
        return [*found, *replaces(("JAX900", "c", "d"))({"line.py": sources["line.py"]})]

    result = run({"circle.py": "a\n", "line.py": "c\n"}, check, max_rounds=4)
    assert result.texts == {"line.py": "d\n"}
    assert [error.path for error in result.errors] == ["circle.py"]
    assert "do not converge" in result.errors[0].message
    assert [one.path for one in result.applied] == ["line.py"]


def test_many_rounds_that_end_are_no_circle():
    rules = [(f"JAX{n:03}", f"n{n}", f"n{n - 1}") for n in range(1, 20)]
    result = run({"a.py": "x = n19\n"}, replaces(*rules))
    assert result.texts == {"a.py": "x = n0\n"}
    assert result.rounds == 19


# What worked is not broken


def costly(rules):
    """The findings of `rules` as warnings, but for those of JAX9, which are errors and have no fix."""

    def check(sources: Mapping[str, SourceFile]) -> list[Finding]:
        return [
            dataclasses.replace(one, fix=None)
            if one.code.startswith("JAX9")
            else dataclasses.replace(one, severity=Severity.WARNING)
            for one in replaces(*rules)(sources)
        ]

    return check


def test_a_fix_that_breaks_what_worked_is_refused_and_the_others_are_made():
    check = costly([("JAX001", "a", "broken"), ("JAX002", "c", "d"), ("JAX999", "broken", "")])
    result = run({"a.py": "x = a\ny = c\n", "b.py": "x = c\n"}, check)
    assert result.texts == {"a.py": "x = a\ny = d\n", "b.py": "x = d\n"}
    assert [(one.finding.code, one.reason) for one in result.refused] == [
        ("JAX001", "it would cause JAX999 (test-rule) in `a.py`")
    ]


def test_an_error_that_was_there_before_is_no_harm():
    check = costly([("JAX001", "a", "b"), ("JAX999", "broken", "")])
    result = run({"a.py": "x = a\ny = broken\n"}, check)
    assert result.texts == {"a.py": "x = b\ny = broken\n"}


def test_the_fix_of_an_error_may_show_the_next():
    """The program failed before, and fails later now."""
    rules = replaces(("JAX001", "a", "broken"), ("JAX999", "broken", ""))

    def check(sources):
        return [dataclasses.replace(one, fix=None) if one.code == "JAX999" else one for one in rules(sources)]

    assert run({"a.py": "x = a\n"}, check).texts == {"a.py": "x = broken\n"}


def warnings(*rules, unmended=(), unsafe=()):
    """The findings of `rules` as warnings; `unmended` words have no fix that can be made, `unsafe` ones an unsafe fix."""

    def check(sources: Mapping[str, SourceFile]) -> list[Finding]:
        found = []
        for one in replaces(*rules)(sources):
            word = next(old for code, old, _ in rules if code == one.code)
            fix = one.fix
            if word in unmended:
                fix = FixRequest(Safety.SAFE, "no such", (Step("no-such", one.path, one.span, {}),))
            elif word in unsafe:
                fix = dataclasses.replace(one.fix, safety=Safety.UNSAFE)
            found.append(dataclasses.replace(one, severity=Severity.WARNING, fix=fix))
        return found

    return check


def test_a_fix_that_brings_another_warning_is_refused():
    """Also where the warning comes with a fix, if that cannot be made."""
    check = warnings(("JAX001", "a", "slow"), ("JAX002", "c", "d"), ("JAX003", "slow", ""), unmended=["slow"])
    result = run({"a.py": "x = a\ny = c\n"}, check)
    assert result.texts == {"a.py": "x = a\ny = d\n"}
    assert ("JAX001", "it would cause JAX003 (test-rule) in `a.py`") in [
        (one.finding.code, one.reason) for one in result.refused
    ]


def test_a_fix_whose_finding_is_mended_later_is_made():
    check = warnings(("JAX001", "a", "b"), ("JAX002", "b", "c"), ("JAX003", "c", "d"))
    assert run({"a.py": "x = a\n"}, check).texts == {"a.py": "x = d\n"}


def test_what_only_an_unsafe_fix_mends_counts_unless_it_is_asked_for():
    check = warnings(("JAX001", "a", "b"), ("JAX002", "b", "c"), unsafe=["b"])
    assert not run({"a.py": "x = a\n"}, check).texts
    assert run({"a.py": "x = a\n"}, check, unsafe=True).texts == {"a.py": "x = c\n"}


def test_a_finding_that_comes_rounds_later_is_put_down_to_the_fix_before_it():
    """`a` becomes `b`, which nobody minds; that `b` becomes what is slow is refused."""
    rules = [("JAX001", "a", "b"), ("JAX002", "b", "slow"), ("JAX003", "slow", "")]
    result = run({"a.py": "x = a\ny = b\n"}, warnings(*rules, unmended=["slow"]))
    assert not result.texts  # as `b` stays, the fix of `a` would cause one more of these


def test_of_many_fixes_only_those_that_bring_something_are_refused():
    rules = [(f"JAX{n:03}", f"n{n}", "slow" if n in (5, 17) else f"m{n}") for n in range(1, 20)]
    check = warnings(*rules, ("JAX099", "slow", ""), unmended=["slow"])
    text = "".join(f"x = n{n}\n" for n in range(1, 20))
    result = run({"a.py": text}, check)
    assert result.texts["a.py"] == "".join(f"x = {'n' if n in (5, 17) else 'm'}{n}\n" for n in range(1, 20))
    assert {one.finding.code for one in result.refused} == {"JAX005", "JAX017"}


# A comment is never lost


def cuts(old: str, new: str):
    """A check that has one fix, from `old` to `new`, as a codemod's would be."""

    def check(sources: Mapping[str, SourceFile]) -> list[Finding]:
        [(path, source)] = sources.items()
        start = source.text.find(old)
        if start < 0 or (new and new in source.text):
            return []
        span = Lines(source.text).span(start, start + len(old))
        return [finding(path, span, Fix(Safety.SAFE, "edit", (Edit(path, span, new),)))]

    return check


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("x = f(  # why\n    1)\n", "f(  # why\n    1)", "f(1)"),
        ("# above\nx = 1\ny = 2\n", "# above\nx = 1\n", ""),
        ("x = 1  # one\ny = 2  # two\n", "\ny = 2", ""),  # the two become one
        ("x = 1  # one\ny = 2\n", "1  # one", "'# one'"),  # a string is no comment
        ("# same\nx = 1\n# same\ny = 2\n", "# same\nx = 1\n", ""),  # there were two of them
    ],
)
def test_a_fix_that_would_lose_a_comment_is_refused(text, old, new, newline):
    text, old, new = (part.replace("\n", newline) for part in (text, old, new))
    result = run({"a.py": text}, cuts(old, new))
    assert not result.texts
    assert result.refused[0].reason.startswith("the rewrite would lose a comment: #")


def test_a_comment_that_moves_is_not_lost():
    check = cuts("f(  # why\n    1)", "f(1)  # why")
    assert run({"a.py": "x = f(  # why\n    1)\n"}, check).texts == {"a.py": "x = f(1)  # why\n"}


def test_a_fix_that_is_about_a_comment_may_change_it():
    """As that of a suppression that silences nothing: what it replaces is a comment and nothing else."""
    assert run({"a.py": "x = 1  # noqa: JAX101\n"}, cuts("  # noqa: JAX101", "")).texts == {"a.py": "x = 1\n"}
    assert run({"a.py": "# kept # noqa\n1\n"}, cuts(" # noqa", "")).texts == {"a.py": "# kept\n1\n"}


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_new_lines_end_as_the_others(newline):
    text = f"x = old{newline}# end{newline}"
    result = run({"a.py": text}, cuts("old", "(\n    new\n)"))
    assert result.texts == {"a.py": f"x = ({newline}    new{newline}){newline}# end{newline}"}


def test_files_of_one_fix_belong_together():
    def check(sources):
        if sources["a.py"].text != "a\n":
            return []
        span = Span(1, 1, 1, 2)
        edits = (Edit("a.py", span, "x"), Edit("b.py", span, "y"))
        return [
            finding("a.py", span, Fix(Safety.SAFE, "both", edits)),
            finding("c.py", span, Fix(Safety.SAFE, "alone", (Edit("c.py", span, "z"),))),
        ]

    result = run({"a.py": "a\n", "b.py": "b\n", "c.py": "c\n"}, check)
    assert sorted(map(sorted, result.groups())) == [["a.py", "b.py"], ["c.py"]]
    result.withdraw({"a.py", "b.py"})
    assert result.texts == {"c.py": "z\n"}
    assert [one.path for one in result.applied] == ["c.py"]
    assert [one.path for one in result.remaining] == ["a.py"]


def test_a_bug_in_a_codemod_costs_only_its_own_fix(monkeypatch):
    def broken(draft, step):
        raise ZeroDivisionError("oops")

    from jaxlint.codemods import registry

    monkeypatch.setitem(registry._codemods, "broken", broken)
    good = renames("jax.tree_map", "jax.tree.map")

    def check(sources):
        span = Span(1, 1, 1, 11)
        return [
            finding("a.py", span, FixRequest(Safety.SAFE, "m", (Step("broken", "a.py", span),))),
            *good(sources),
        ]

    result = run({"a.py": "import jax\nx = jax.tree_map(f, y)\n"}, check)
    assert "jax.tree.map" in result.texts["a.py"]
    assert "internal error (ZeroDivisionError: oops at " in result.refused[0].reason


def test_steps_outside_the_files_at_hand_are_refused():
    span = Span(1, 1, 1, 4)
    request = FixRequest(Safety.SAFE, "m", (Step("tuple-static-argument", "other.py", span),))
    result = run({"a.py": "[1]\n"}, lambda sources: [finding("a.py", span, request)])
    assert result.refused[0].reason == "other.py has to change too; pass that file as well"
    unknown = FixRequest(Safety.SAFE, "m", (Step("no-such-codemod", "a.py", span),))
    result = run({"a.py": "[1]\n"}, lambda sources: [finding("a.py", span, unknown)])
    assert "there is no codemod" in result.refused[0].reason


# Texts and spans


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((1, 1, 1, 5), (1, 5, 1, 9), False),
        ((1, 1, 1, 5), (1, 4, 1, 9), True),
        ((1, 1, 1, 5), (1, 1, 1, 5), True),
        ((1, 1, 3, 1), (2, 1, 2, 5), True),
        ((1, 3, 1, 3), (1, 1, 1, 5), True),  # an insertion inside
        ((1, 1, 1, 1), (1, 1, 1, 5), False),  # in front
        ((1, 5, 1, 5), (1, 1, 1, 5), False),  # behind
        ((1, 5, 1, 5), (1, 5, 1, 5), False),  # at one place
    ],
)
def test_overlaps(one, other, expected):
    assert overlaps(Span(*one), Span(*other)) is expected
    assert overlaps(Span(*other), Span(*one)) is expected


def test_columns_count_code_points_and_lines_end_as_in_python():
    text = "é = 1\r\nx\x0c = '\u2028'\ry = 2\n"
    lines = Lines(text)
    assert [lines.slice(Span(number, 1, number, 2)) for number in (1, 2, 3)] == ["é", "x", "y"]
    for offset in range(len(text)):
        span = lines.span(offset, offset)
        assert lines.offset(span.line, span.column) == offset


def test_apply_edits_keeps_the_rest_and_counts_twins_once():
    text = "a\r\nb\r\n"
    edits = [Edit("p", Span(2, 1, 2, 2), "c"), Edit("p", Span(1, 1, 1, 1), "import x\r\n")]
    assert apply_edits(text, [*edits, *edits]) == "import x\r\na\r\nc\r\n"
    with pytest.raises(ValueError, match="overlap"):
        apply_edits(text, [Edit("p", Span(1, 1, 2, 1), "x"), Edit("p", Span(1, 1, 1, 2), "y")])


def test_more_files_than_trees_are_kept():
    """Trees that were let go of while planning are made again for the imports."""
    files = {f"f{n:02}.py": f"from jax import jit, tree_map\nx = jit(tree_map(f, {n}))\n" for n in range(40)}

    def check(sources):
        found = []
        for path, source in sources.items():
            if "from jax import jit, tree_map" in source.text:
                span = Span(1, 22, 1, 30)
                parameters = {"old": "jax.tree_map", "new": "jax.tree_util.tree_map"}
                step = Step("rename-api", path, span, parameters)
                found.append(finding(path, span, FixRequest(Safety.SAFE, "m", (step,))))
        return found

    result = run(files, check)
    assert result.texts == {
        f"f{n:02}.py": f"from jax import jit\nfrom jax.tree_util import tree_map\nx = jit(tree_map(f, {n}))\n"
        for n in range(40)
    }
    assert result.rounds == 1
