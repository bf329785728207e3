"""Fixes applied to rest: overlaps, rounds, safety, groups of files, results that must parse."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

from jaxlint.codemods.text import Lines, apply_edits, overlaps
from jaxlint.finding import Edit, Finding, Fix, FixRequest, Safety, Severity, Span, Step
from jaxlint.fixes import fix_sources
from jaxlint.source import SourceFile


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


def edits_every_round(content_of):
    """A check that reports each file's first line, with a ready fix that replaces it by `content_of(text)`."""

    def check(sources: Mapping[str, SourceFile]) -> list[Finding]:
        found: list[Finding] = []
        for path, source in sources.items():
            content = content_of(source.text)
            if content is not None:
                span = Span(1, 1, 1, len(source.text.split("\n")[0]) + 1)
                fix = Fix(Safety.SAFE, "edit", (Edit(path, span, content),))
                found.append(finding(path, span, fix))
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
    assert "would not parse" in result.refused[0].reason
    assert len(result.applied) == 1


def test_a_circle_leaves_the_file_alone_and_the_others_are_fixed():
    def content(text):
        first = text.split("\n")[0]
        return {"a": "b", "b": "a", "c": "d"}.get(first)

    result = run({"circle.py": "a\n", "line.py": "c\n"}, edits_every_round(content))
    assert result.texts == {"line.py": "d\n"}
    assert [error.path for error in result.errors] == ["circle.py"]
    assert [one.path for one in result.applied] == ["line.py"]


def test_endless_growth_leaves_the_file_alone():
    result = run({"a.py": "a\n"}, edits_every_round(lambda text: text.split("\n")[0] + "a"), max_rounds=5)
    assert not result.texts
    assert "never came to rest" in result.errors[0].message
    assert result.rounds == 5


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
    assert "internal error (ZeroDivisionError: oops)" in result.refused[0].reason


def test_steps_outside_the_files_at_hand_are_refused():
    span = Span(1, 1, 1, 4)
    request = FixRequest(Safety.SAFE, "m", (Step("tuple-static-argument", "other.py", span),))
    result = run({"a.py": "[1]\n"}, lambda sources: [finding("a.py", span, request)])
    assert result.refused[0].reason == "other.py was not read in this run"
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
