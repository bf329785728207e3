"""Reading and parsing: encodings, line ends, positions, and every way a file can be unusable."""

from __future__ import annotations

import ast
import gc
import os
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jaxlint.source import SourceError, SourceFile, read_source, source_from_bytes
from jaxlint.syntax.guard import nesting_problem
from jaxlint.syntax.parse import parse_source, parse_text, span_of, split_lines


def source(data: bytes | str) -> SourceFile:
    body = data.encode() if isinstance(data, str) else data
    return source_from_bytes(body, Path("a.py"), "a.py")


def error_of(data: bytes | str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        parse_source(source(data))
    assert "\n" not in str(caught.value)
    return caught.value


def test_text_keeps_its_line_ends_and_loses_its_bom() -> None:
    read = source(b"\xef\xbb\xbfx = 1\r\n")
    assert (read.text, read.bom, read.encoding) == ("x = 1\r\n", True, "utf-8")


def test_declared_encoding_is_used() -> None:
    assert "é" in source(b"# -*- coding: latin-1 -*-\ns = '\xe9'\n").text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"x = 1\0", "a.py:1: a binary file", id="nul"),
        pytest.param("x = 1".encode("utf-16"), "a.py: encoded in UTF-16", id="utf-16"),
        pytest.param(
            b"x = 1\n\ns = '\xe9'", "a.py:3: not valid utf-8 (byte 0xe9 at offset 12)", id="not-utf-8"
        ),
        pytest.param(b"s = '\xe9'", "a.py:1: not valid utf-8", id="not-utf-8-first-line"),
        pytest.param(b"# coding: klingon\n", "a.py:1: unknown encoding: klingon", id="unknown-encoding"),
        pytest.param(
            b"# coding: " + b"x" * 2000 + b"\n", "a.py:1: unknown encoding: xxx", id="encoding-of-a-long-name"
        ),
        pytest.param(b"# coding: rot13\n", "a.py:1: cannot be decoded as rot13", id="not-a-text-encoding"),
        pytest.param(
            b"# coding: Punycode\nx='a" + b"-b" * 50_000 + b"'\n",
            "a.py:1: cannot be decoded as Punycode (an encoding of host names)",
            id="takes-quadratic-time",
        ),
        pytest.param(b"# coding: undefined\n", "a.py:1: cannot be decoded as undefined", id="undefined"),
        pytest.param(
            b"\xef\xbb\xbf# coding: latin-1\n", "a.py:1: its byte-order mark says UTF-8", id="bom-conflict"
        ),
        pytest.param(b"# coding: utf-7\ns = '+2AA-'", "a.py: cannot be parsed", id="lone-surrogate"),
        pytest.param("x = (1,\ny = 2", "a.py:1: not valid Python", id="syntax"),
        pytest.param("print 'a'", "a.py:1: written in Python 2", id="python-2"),
    ],
)
def test_unusable_source_is_one_line(data: bytes, message: str) -> None:
    said = str(error_of(data))
    assert said.startswith(message)
    assert len(said) < 300


def test_missing_folder_and_pipe_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    for path, message in [
        (tmp_path / "none.py", "no such file"),
        (tmp_path, "a directory"),
        (tmp_path / "pipe.py", "not a regular file"),
        (Path("a\0b.py"), "cannot be read"),
    ]:
        with pytest.raises(SourceError, match=message):
            read_source(path, "shown.py")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser reads everything")
def test_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("")
    path.chmod(0)
    with pytest.raises(SourceError, match="permission denied"):
        read_source(path)


DEEP = {
    "sum": lambda n: "x = " + " + ".join(["a"] * n),
    "sum-over-lines": lambda n: "x = (a\n" + "+ a\n" * n + ")",
    "brackets": lambda n: "x = " + "[" * n + "]" * n,
    "minus": lambda n: "x = " + "-" * n + "a",
    "not": lambda n: "x = " + "not " * n + "a",
    "power": lambda n: "x = a" + " ** a" * n,
    "attributes": lambda n: "x = a" + ".b" * n,
    "calls": lambda n: "x = a" + "(b, c)" * n,
    "conditional": lambda n: "x = a" + " if b else a" * n,
    "lambda": lambda n: "x = " + "lambda y, z=1: " * n + "a",
    "elif": lambda n: "if a:\n    x = 1\n" + "elif b:\n    x = 2\n" * n,
}


@pytest.mark.parametrize("shape", DEEP)
def test_hopeless_nesting_is_refused(shape: str) -> None:
    error = error_of(DEEP[shape](10_000))
    assert "refused" in error.message
    assert error.line is not None


@pytest.mark.parametrize("shape", [shape for shape in DEEP if shape != "brackets"])
def test_nesting_of_five_hundred_parses(shape: str) -> None:
    assert isinstance(parse_source(source(DEEP[shape](500))), ast.Module)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x = [\n" + "-1.5 * 3 + a.b(c),\n" * 5_000 + "]", id="table"),
        pytest.param("'''" + "((((" * 5_000 + "'''", id="inside-a-string"),
        pytest.param("x = 1  # " + "-" * 20_000, id="inside-a-comment"),
        pytest.param("x = a + b\n" * 20_000, id="many-statements"),
        pytest.param("x = f(" + "a=b.c + 1,\n" * 5_000 + ")", id="many-arguments"),
        pytest.param("if a:\n    pass\nelif b:\n    pass\n" * 2_000, id="many-short-chains"),
        pytest.param("x = " + " < ".join(["a"] * 5_000), id="comparison"),
    ],
)
def test_large_but_shallow_source_parses(text: str) -> None:
    assert isinstance(parse_source(source(text)), ast.Module)
    assert nesting_problem(text, concrete=True) is None


def test_nesting_in_the_concrete_tree_alone() -> None:
    text = "x = a" + " and b" * 2_000
    assert nesting_problem(text) is None
    problem = nesting_problem("\n\n" + text, concrete=True)
    assert problem is not None
    assert problem.line == 3


def test_several_threads_parse_at_once() -> None:
    text = "x = [" + "((a + 1) * f(b, [c, {d: e}])),\n" * 300 + "]"

    def let_others_run(phase: str, info: object) -> None:
        time.sleep(0)  # a collection in the middle of a parse runs Python, as finalizers do

    gc.callbacks.append(let_others_run)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert len(list(pool.map(parse_text, [text] * 12))) == 12
    finally:
        gc.callbacks.remove(let_others_run)


def test_warnings_of_the_parser_are_not_shown() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_source(source("x = '\\d'\nassert (a, 'b')\n"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("first\r\nfoo", id="crlf"),
        pytest.param("first\rfoo", id="cr"),
        pytest.param("\x0cfirst\nx = '\x0c'; foo", id="form-feed"),
        pytest.param("s = '\u2028\x85'\nfoo", id="unicode-line-ends"),
        pytest.param("s = 'é𝒳'; foo", id="wide-characters"),
        pytest.param("é = 1; foo\n", id="identifiers"),
        pytest.param("s = '''a\r\nb\rc'''; foo", id="string-over-lines"),
        pytest.param("f(a, # é\n  foo)", id="brackets"),
    ],
)
def test_spans_point_at_the_text(text: str) -> None:
    lines = split_lines(text)
    found = [
        node
        for node in ast.walk(parse_source(source(text)))
        if isinstance(node, ast.Name) and node.id == "foo"
    ]
    span = span_of(found[0], lines)
    assert lines[span.line - 1][span.column - 1 : span.end_column - 1] == "foo"
    assert span.end_line == span.line


def test_a_miscount_of_the_parser_is_tried_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    parse, calls = ast.parse, []

    def miscounting(text: str) -> ast.Module:
        calls.append(text)
        if len(calls) == 1:
            raise SystemError("AST constructor recursion depth mismatch (before=9, after=8)")
        return parse(text)

    monkeypatch.setattr(ast, "parse", miscounting)
    assert ast.unparse(parse_text("x = 1")) == "x = 1"
    assert len(calls) == 2
