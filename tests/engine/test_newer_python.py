"""Syntax of Python 3.12 to 3.14 is read under every Python, with the tree and the places that a newer one would give."""

from __future__ import annotations

import ast
import json
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import optax
import pytest

from jaxlint.source import SourceError
from jaxlint.source.read import source_from_bytes
from jaxlint.syntax.newer_grammar import parse_newer, tokens
from jaxlint.syntax.parse import parse_source, parse_text

RECORDED = Path(__file__).with_name("newer_python.json")
OLD = (3, 10)  # so that f-strings that 3.11 reads, at places of its own, are taken apart as well
TEXTS = [
    "def f[T](x: T) -> T: return x",
    "async  def f[*Ts, **P](*args: *Ts): pass",
    "class A[T: int, U: (int, str)](B[T], k=1): x: T",
    "class A[\n    T,  # what it holds\n    U,\n]: pass",
    "class A[\n    T\n] (B, k=1):\n    def define[T](self): pass",
    "@d\ndef f[\n    T,  # c\n](x, y=1): pass\nz = 1",
    "type X = int | str\ntype = 1\nprint(type)",
    "type X[\n  T, *Ts\n] = dict[T, tuple[*Ts]]; y = 1",
    "if a:\n    type\tX[T: f'{t['b']}'] = T\nelse: pass",
    "class A[T = int, *Ts = *tuple[int], **P = [int]]: pass",
    'y = f"{x["a"]}" + z',
    "f'{'\\n'.join(a)}'",
    'f"{\n  x  # the value\n}"; y',
    'f"{f"{f"{1}"}"}" % q',
    'f"{x!r:{w["a"]}}"',
    'g(f"a{x["a"]=}b" "c" "d", e)',
    "f'{x['a']  =  !r:>3}'",
    "f'{x['a']:%H:%M}{y}'",
    "f'''a\n{x['b']}\n{y}'''",
    "rf'{x['a']}\\d{{}}'",
    "é = f'é{a['é']!r:>{n}}{{}}é' + y",
    "f'\\N{EM DASH}{x['a']}\\t'",
    'f"{x,"a"}{(x)["a"]}{("a")}{lambda_}{*a, "b"}"'.replace('{*a, "b"}', '{(*a, "b")}'),
    "g(f'{x['a']:}', y)",
    "x = ('a'\n  f'{x['a']}' 'b'\n 'c') + foo",
    "f'''{\n a['''b''']\n}'''.join(z)",
    "g(f'{a['b']!r  }{c!s\t:>3}', d)",
    "def f(x=f'{a['b']}'): return f'{x!s}' f'{[y for y in x['c']]}'",
    "f'{a['b']}'\r\nc = 1\r\nd = f'{c['e']}' + d\r\n",
]
LATER = ["try: pass\nexcept A, B.c: x\nexcept (D): y", "try: pass\nexcept* A, f(g,\n h): x"]


def _plain(node: Any) -> Any:
    """A tree as data: without what is empty, and with the place of each node but the text of f-strings, which differs in 3.12."""
    if isinstance(node, list):
        return [_plain(one) for one in node if not (isinstance(one, ast.Constant) and one.value == "")]
    if not isinstance(node, ast.AST):
        return node if node is None or isinstance(node, (str, int)) else repr(node)
    data: dict[str, Any] = {"node": type(node).__name__}
    for name, value in ast.iter_fields(node):
        if value not in (None, []) and name not in ("ctx", "type_ignores", "kind"):
            data[name] = _plain(value)
    if isinstance(node, ast.JoinedStr):
        for part in data.get("values", ()):
            if part["node"] == "Constant":
                del part["at"]
    if hasattr(node, "lineno"):
        data["at"] = [node.lineno, node.col_offset, node.end_lineno, node.end_col_offset]
    return data


@pytest.mark.parametrize("text", TEXTS)
def test_the_tree_is_that_of_a_newer_python(text: str) -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert _plain(parse_newer(text, OLD)) == recorded[text]


def test_defaults_of_type_parameters_are_read_by_every_python() -> None:
    tree = parse_text("class A[T = int]: pass\ntype X[*Ts = *B] = Ts\ndef f[**P = [C]](): pass\n")
    assert {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} >= {"int", "B", "C"}
    assert [type(one).__name__ for one in tree.body] == ["ClassDef", "TypeAlias", "FunctionDef"]


@pytest.mark.skipif(sys.version_info < (3, 13), reason="needs a parser of that version")
def test_what_is_recorded_is_what_python_says() -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert {text: _plain(ast.parse(text)) for text in TEXTS} == recorded


@pytest.mark.parametrize("text", LATER)
def test_exceptions_without_parentheses(text: str) -> None:
    tree, lines = parse_newer(text, OLD), text.encode().split(b"\n")
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    assert isinstance(handlers[0].type, ast.Tuple)
    assert len(handlers[0].type.elts) == 2
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            assert lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode() == node.id


def test_template_strings() -> None:
    statement = parse_newer("x = t'{a['b']} c'", OLD).body[0]
    assert isinstance(statement, ast.Assign)
    assert type(statement.value).__name__ == "TemplateStr"
    assert [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)] == ["x", "a"]


def _ordinary(count: int) -> list[Path]:
    package = Path(optax.__file__).parent
    engine = Path(__file__).parents[2] / "jaxlint"
    files = [path for top in (package, engine) for path in sorted(top.rglob("*.py"))]
    return random.Random(24).sample([path for path in files if path.stat().st_size < 12_000], count)


@pytest.mark.parametrize("path", _ordinary(12), ids=lambda path: path.stem)
def test_ordinary_files_have_the_same_tree_either_way(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = ast.parse(text)
        assert ast.dump(parse_newer(text), include_attributes=True) == ast.dump(
            expected, include_attributes=True
        )
        # With every f-string taken apart, whose places Python 3.11 gives in its own way.
        assert ast.dump(parse_newer(text, (3, 10))) == ast.dump(expected)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def f[T](x: T): pass\nx = = 1\n", 2),
        ("a = f'{b['c']}'\nx = (]\n", 2),
        ("x = (1,\ny = 2\n", 1),
        ("def f[T](): pass\n  y = 1\n", 2),
    ],
)
def test_an_error_is_said_where_it_is(text: str, line: int) -> None:
    with pytest.raises(SyntaxError) as caught:
        parse_text(text)
    if sys.version_info < (3, 12):
        assert caught.value.lineno == line


@pytest.mark.parametrize(
    "text",
    [
        "print 'a'",
        "print x, y",
        "try: pass\nexcept E, e:\n    print e",
        "raise E, 'x'",
        "exec 'a'",
        "x = 0777",
        "x = 10L",
        "if a <> b: pass",
        "x = `a`",
        "def f(a, (b, c)): pass",
    ],
)
def test_python_2_is_named(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_source(source_from_bytes(text.encode(), Path("a.py"), "a.py"))
    assert "Python 2" in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        'f"{x["a"]}{' + "(" * 20_000 + "1" + ")" * 20_000 + '}"',
        'f"{x["a"]}{' + "-" * 20_000 + '1}"',
        'f"' + '{x["a"]:' * 20_000 + "}" * 20_000 + '"',
        'f"{x["a"]}' + '{f"' * 5_000,
        "def f[T: " + "(" * 20_000 + ")" * 20_000 + "](): pass",
    ],
    ids=["brackets", "operators", "specs", "strings", "bound"],
)
def test_deep_nesting_in_new_places_crashes_nothing(text: str) -> None:
    with pytest.raises(SourceError):
        parse_source(source_from_bytes(text.encode(), Path("a.py"), "a.py"))


@pytest.mark.parametrize(
    "text",
    ["x = f'" + "((((" * 100 + "'", "x = f'\\{a}' 'b'", "x = f'{a:{b}}' + '('", "f'''{a}''''(' f'{b['c']}'"],
)
def test_text_of_f_strings_nests_nothing(text: str) -> None:
    parse_source(source_from_bytes(text.encode(), Path("a.py"), "a.py"))


def test_comments_in_new_places_are_tokens_at_their_places() -> None:
    text = "def f[\n    T,  # é one\n](x):  # two\n    return f'é{  # three\n        x['a']}'  # four\n"
    found = [(one.string, one.start) for one in tokens(text) if one.string.startswith("#")]
    lines = text.split("\n")
    assert [string for string, _ in found] == ["# é one", "# two", "# three", "# four"]
    assert all(lines[line - 1][column:].startswith(string) for string, (line, column) in found)
