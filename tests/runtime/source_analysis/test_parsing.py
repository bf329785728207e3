"""Files of a program are read as the static half reads them, and what cannot be read costs that file alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from jaxlint.source import read_source
from jaxlint_runtime.source_analysis.parsing import tree_of, tree_of_file

NEWER = "type Pair[T] = tuple[T, T]\n\ndef first[T](pair: Pair[T]) -> T:\n    return pair[0]\n"


def test_syntax_of_a_newer_python_is_read_under_any(tmp_path: Path) -> None:
    path = tmp_path / "newer.py"
    path.write_text(NEWER)
    for tree in (tree_of(read_source(path, str(path))), tree_of_file(str(path))):
        assert tree is not None
        (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
        assert (function.name, function.lineno) == ("first", 3)


@pytest.mark.parametrize("data", [b"def f(:\n", b"x = " + b"(" * 5000 + b")" * 5000, b"x = '\xff'\n"])
def test_what_cannot_be_read_has_no_tree(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "broken.py"
    path.write_bytes(data)
    assert tree_of_file(str(path)) is None
    assert tree_of_file(str(tmp_path / "nowhere.py")) is None


def test_newer_syntax_has_no_tree_where_there_is_no_libcst(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interpreter of the program has what the program needs, and jaxlint's own packages alone are lent to it."""
    path = tmp_path / "newer.py"
    path.write_text(NEWER)
    for name in [
        name for name in sys.modules if name == "jaxlint.syntax.newer_grammar" or name.startswith("libcst")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "libcst", None)
    tree = tree_of_file(str(path))
    assert tree is None or sys.version_info >= (3, 12)
