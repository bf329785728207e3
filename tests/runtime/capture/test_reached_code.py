"""Which statements and branches a run reaches."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import sys
import textwrap
import threading
import types
import warnings
from typing import Any

import pytest

from jaxlint_runtime.capture.observed_results import Observer
from jaxlint_runtime.capture.reached_code import ReachedCode
from jaxlint_runtime.capture.watched_functions import with_constants


def compiled(tree: ast.Module, name: str, marks: dict[str, Any]) -> types.CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return with_constants(compile(tree, name, "exec", dont_inherit=True), marks)


def missed(text: str, **names: Any) -> list[str]:
    """What a run of a program does not reach, as text; what lies within another such part is left out."""
    text = textwrap.dedent(text)
    tree = ast.parse(text)
    reach, marks = ReachedCode(), dict[str, Any]()
    reach.note(tree, "program.py", marks)
    code = compiled(tree, "program.py", marks)
    exec(code, {"__name__": "__main__", **names})
    [record] = reach.missed()
    places = [tuple(place) for place in record["places"]]
    outer = [
        one
        for one in places
        if not any(two != one and two[:2] <= one[:2] and one[2:] <= two[2:] for two in places)
    ]
    lines = text.splitlines()
    return [lines[line - 1][column:end] if line == last else lines[line - 1][column:] for line, column, last, end in outer]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if 1 > 2:\n    a = 1\nelse:\n    a = 2\n", ["a = 1"]),
        ("for i in range(0):\n    print(i)\n", ["print(i)"]),
        ("i = 0\nwhile i < 0:\n    i = 5\n", ["i = 5"]),
        ("def f():\n    return 1\n    a = 2\nf()\n", ["a = 2"]),
        ("def f(x):\n    if x:\n        return 1\n    return 2\nf(1)\n", ["return 2"]),
        ("try:\n    a = 1\nexcept ValueError:\n    a = 2\n", ["a = 2"]),
        ("try:\n    int('x')\n    a = 1\nexcept ValueError:\n    a = 2\n", ["a = 1"]),
        ("a = 1 if 2 > 1 else 3\n", ["3"]),
        ("a = 1 > 2 and 5 or 6\n", ["5"]),
        ("a = [i + 1 for i in ()]\n", ["i + 1"]),
        ("a = {i: 2 for i in ()}\n", ["i"]),
        ("a = sorted([3], key=lambda x: -x)\nb = lambda x: x + 7\n", ["x + 7"]),
        ("match 3:\n    case 3 if 1:\n        a = 1\n    case _:\n        a = 2\n", ["a = 2"]),
        ("def g():\n    yield 1\n    yield 2\nnext(g())\n", ["yield 2"]),
        ("def f(n=1 if 1 else 2): pass\n", ["2", "pass"]),
        ("def f():\n    '''Words.'''\n", []),
        (
            "njit = lambda f: f\n@njit\ndef f():\n    return 1\nf()\n",
            ["return 1"],
        ),  # numba would not compile a note
        ("from __future__ import annotations\nx: (1 if 2 else 3) = 4\n", []),
    ],
)
def test_what_a_run_does_not_reach(text: str, expected: list[str]) -> None:
    assert missed(text) == expected


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a = f'{1 if 1 > 2 else 3:>4} x'\n", "1"),
        ("a = f'{0 and 5}'\n", "5"),
        ("a = f'{[i for i in ()]!r}'\n", "i"),
        ("a = f'{2:{3 if 1 else 4}}'\n", "4"),
        ("a = f'{1 if 2 > 1 else f\"{3}\"}'\n", 'f"{3}"'),
    ],
)
def test_parts_of_an_f_string(text: str, part: str) -> None:
    """Before Python 3.12 they have no places of their own: then the whole of it counts as missed."""
    whole = text.removeprefix("a = ").rstrip("\n")
    found = missed(text)
    assert set(found) == {part if sys.version_info >= (3, 12) else whole}


def test_an_f_string_whose_parts_are_all_reached() -> None:
    text = "for n in (1, -1):\n    a = f'{n if n > 0 else -n} {n > 0 and n} {[i for i in (1, 2)]} {(lambda: n)()}'\n"
    assert missed(text) == []


def test_threads_count() -> None:
    text = """
    def work():
        done.append(1)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    """
    done: list[int] = []
    assert missed(text, Thread=threading.Thread, done=done) == []
    assert done == [1]


def test_a_file_that_is_loaded_twice_counts_once() -> None:
    text = "def f(x):\n    if x:\n        return 1\n    return 2\n"
    reach = ReachedCode()
    for given in (True, False):
        marks: dict[str, Any] = {}
        tree = ast.parse(text)
        reach.note(tree, "program.py", marks)
        names: dict[str, Any] = {}
        exec(compiled(tree, "program.py", marks), names)
        names["f"](given)
    assert reach.missed() == [{"path": "program.py", "places": []}]


def test_functions_stay_what_they_are() -> None:
    text = 'class A:\n    """Words."""\n    def f(self, x):\n        """More."""\n        return (lambda: x + 1)()\n'
    reach, marks = ReachedCode(), dict[str, Any]()
    tree = ast.parse(text)
    reach.note(tree, "noted.py", marks)
    names: dict[str, Any] = {}
    exec(compiled(tree, "noted.py", marks), names)
    made = names["A"]
    assert (made.__doc__, made.f.__doc__, made().f(2)) == ("Words.", "More.", 3)
    assert made.f.__code__.co_firstlineno == 3
    assert made.f.__code__.co_varnames == ("self", "x")
    linecache.cache["noted.py"] = (len(text), None, text.splitlines(True), "noted.py")
    assert inspect.getsource(made.f).startswith("    def f(self, x):")


def test_of_a_file_that_cannot_be_compiled_with_notes_nothing_is_known() -> None:
    deep = "x = " + "-" * 150 + "1\n" + "y = " + "(" * 60 + "1" + ")" * 60 + "\n" + "return 1\n"
    reach = ReachedCode()
    observer = Observer({os.path.realpath("deep.py"): []}, None, lambda: False, reach=reach)
    assert observer.compile(deep.encode(), "deep.py") is None
    assert reach.missed() == []
    assert observer.compile(b"x = 1\n", "deep.py") is not None
    assert [one["places"] for one in reach.missed()] == [[(1, 0, 1, 5)]]


def test_what_numba_compiles_has_no_notes_and_counts_as_not_reached() -> None:
    text = """
    @njit
    def f(x):
        if x > 0:
            return 1
        return 2

    def g(x):
        return f(x)

    g(1)
    """
    assert missed(text, njit=lambda function: function) == ["if x > 0:", "return 2"]
