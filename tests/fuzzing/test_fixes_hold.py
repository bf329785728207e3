"""What holds of every fix, on the examples of all rules: as they are, and with comments everywhere in files of every kind."""

from __future__ import annotations

import ast
import itertools
import json

import pytest

from jaxlint.codemods.source.edited_file import comments
from jaxlint.registry import all_rules
from jaxlint.rule import Example, Rule
from jaxlint.syntax.parse import split_lines
from tests.fuzzing.properties import (
    SPELLINGS,
    Checker,
    each_fix_alone,
    examples,
    new_findings,
    one_file,
    problems,
    sprinkled,
)

ALL = examples()
EXAMPLES = [(rule, example) for rule, example in ALL if example.fixed is not None]
CASES = [
    pytest.param(rule, example, number, id=f"{rule.name}: {example.name}")
    for number, (rule, example) in enumerate(EXAMPLES)
]


@pytest.mark.parametrize(("rule", "example", "number"), CASES)
def test_fixes_keep_and_rest_and_add_nothing(rule: type[Rule], example: Example, number: int) -> None:
    """Comments, first lines, encoding and line ends stay, a second run changes nothing, `check` and `fix` say the same of
    what is left, and there is no finding that was not there before."""
    checker = Checker()
    assert problems(one_file(example.code), checker) == []
    spelling = SPELLINGS[number % len(SPELLINGS)]
    assert problems(one_file(spelling.bytes_of(example.code)), checker) == []
    for share in (0.3, 1.0):
        code = sprinkled(example.code, number, share)
        data = SPELLINGS[(number + 3) % len(SPELLINGS)].bytes_of(code)
        assert problems(one_file(data), checker) == []


@pytest.mark.parametrize(
    ("rule", "target"),
    [
        pytest.param(rule, target, id=f"{rule.name}-{target}")
        for rule in all_rules()
        for target in (None, ">=0.10")
        if target is None or rule.category == "migration"  # what else depends on it is little
    ],
)
def test_no_fix_adds_a_finding(rule: type[Rule], target: str | None) -> None:
    """To any example of a rule: safe fixes, all fixes, those of the rule alone, and each fix alone. Nothing is excepted."""
    everything, alone = (Checker(target, rules) for rules in (all_rules(), [rule]))
    for example in (example for owner, example in ALL if owner is rule):
        sources = one_file(example.code)
        before = everything(sources)
        if all(one.fix is None for one in before):
            continue
        for checker, unsafe in itertools.product((everything, alone), (False, True)):
            result = checker.fixed(sources, unsafe=unsafe)
            assert result.errors == []
            assert new_findings(before, everything(result.sources)) == [], (example.name, unsafe)
        assert each_fix_alone(sources, everything) == [], example.name


@pytest.mark.parametrize(("rule", "example", "number"), CASES[::4])
def test_safe_fixes_alone(rule: type[Rule], example: Example, number: int) -> None:
    """What waits for `--unsafe-fixes`, and what is refused, is said alike by both commands."""
    checker = Checker()
    assert problems(one_file(sprinkled(example.code, number)), checker, unsafe=False) == []


def test_few_fixes_are_refused_for_a_comment() -> None:
    """With a comment at the end of every line, above every statement and between arguments."""
    checker = Checker()
    made = lost = 0
    for number, (_, example) in enumerate(EXAMPLES):
        result = checker.fixed(one_file(sprinkled(example.code, number)))
        made += len(result.applied)
        lost += sum("comment" in one.reason for one in result.refused)
    assert made > 100
    assert lost <= 7


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("rule", "example", "number"), CASES[1::5])
def test_pages_and_notebooks(rule: type[Rule], example: Example, number: int, newline: str) -> None:
    checker = Checker()
    code = sprinkled(example.code, number, 0.3).replace("\\", "/")
    page = f"# Title\n\n```python\n{code}```\n\nMore.\n".replace("\n", newline)
    assert problems(one_file(page, "page.md"), checker) == []
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": code.splitlines(keepends=True)}]
    book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1)
    assert problems(one_file(book.replace("\n", newline), "book.ipynb"), checker) == []


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_programs_are_the_same_in_every_spelling(spelling) -> None:
    """The trees, the comments and the number of lines: else the tests above would try other programs than they say."""
    plain = sprinkled(EXAMPLES[0][1].code, 0)
    [source] = one_file(spelling.bytes_of(plain)).values()
    assert ast.dump(ast.parse(source.text)) == ast.dump(ast.parse(plain))
    told = [text for text, _, _ in comments(plain)]
    assert [text for text, _, _ in comments(source.text)][-len(told) :] == told
    assert len(split_lines(source.text)) - len(split_lines(plain)) in (-1, 0, 1, 2)
    assert source.encoding == ("iso-8859-1" if spelling.encoding == "latin-1" else "utf-8")
    assert (spelling.newline in source.text, source.bom) == (True, spelling.bom)


def test_comments_are_sprinkled_everywhere() -> None:
    text = sprinkled("@f\ndef g(a, b):\n    return h(a,\n             b)\n", 0)
    before = {comment.split(":")[0] for comment, _, _ in comments(text)}
    assert len(before) > 6
    assert ast.dump(ast.parse(text)) == ast.dump(
        ast.parse("@f\ndef g(a, b):\n    return h(a,\n             b)\n")
    )
