"""One source file as a Python module, and what its text says without being parsed."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from jaxlint.finding import Span
from jaxlint.source import SourceError, SourceFile
from jaxlint.syntax.parents import Parents
from jaxlint.syntax.parse import Located, parse_source, span_of, split_lines
from jaxlint.syntax.spelling import normalized

# Names may continue over several lines, in parentheses or after a backslash.
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]*\bimport\b[ \t]*(\([^)]*|(?:.*\\\r?\n)*.*)"
    r"|import[ \t]+((?:[\w., \t]|\\\r?\n)+))",
    re.MULTILINE,
)
_COMMENT = re.compile(r"#.*")
_SET_ON_CLASS = re.compile(r"^[ \t]+(?:\w+\.)*(?:_?[A-Z]\w*|cls)\.(\w+) = ", re.MULTILINE)
_GLOBAL = re.compile(r"^[ \t]+global[ \t]+([\w, \t]+)", re.MULTILINE)


class Module:
    """One source file as a Python module. Its tree is parsed on first use."""

    def __init__(self, source: SourceFile, name: str, package: str, is_package: bool) -> None:
        self.source = source
        self.name = name
        self.package = package
        self.is_package = is_package
        self.display = source.display
        self.state = "new"  # "new", "running", "done"
        # Names that are rebound later, to another library or by a later cell.
        self.renamed: set[str] = set()
        self.reported = False
        self.found: dict[str, Module | None] = {}  # the modules that it imports by absolute name

    @functools.cached_property
    def tree(self) -> ast.Module:
        return parse_source(self.source)

    @functools.cached_property
    def spelled(self) -> str:
        """The text with its names as Python compares them, for questions that need no parsing."""
        return normalized(self.source.text)

    @functools.cached_property
    def switched(self) -> frozenset[str]:
        """The names that functions rebind by `global`."""
        statements = _GLOBAL.findall(self.spelled) if "global " in self.spelled else []
        return frozenset(name.strip() for names in statements for name in names.split(","))

    @functools.cached_property
    def asked(self) -> list[tuple[int, str]]:
        """The modules that its imports name, read from the text without parsing: the number of leading dots and the name."""
        return list(imported_names(self.spelled))

    @functools.cached_property
    def set_on_classes(self) -> frozenset[str]:
        """Names of attributes that the module seems to set on a class: `Model.debug = True`."""
        return frozenset(_SET_ON_CLASS.findall(self.spelled))

    @functools.cached_property
    def lines(self) -> list[str]:
        return split_lines(self.source.text)

    @functools.cached_property
    def parents(self) -> Parents:
        """Each node's parent."""
        return Parents(self.tree)

    def call_of(self, node: ast.AST) -> ast.Call | None:
        """The call whose callee is `node`, if there is one."""
        above = self.parents.get(node)
        return above if isinstance(above, ast.Call) and above.func is node else None

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        above = self.parents.get(node)
        while above is not None:
            yield above
            above = self.parents.get(above)

    def span(self, node: ast.AST) -> Span:
        """The text range of `node`; for a def or a class, the range of its name."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            line = self.lines[node.lineno - 1] if node.lineno <= len(self.lines) else ""
            found = re.search(rf"\b(?:def|class)\s+({re.escape(node.name)})\b", line)
            if found:
                return Span(node.lineno, found.start(1) + 1, node.lineno, found.end(1) + 1)
        return span_of(cast(Located, node), self.lines)

    @functools.cached_property
    def is_test(self) -> bool:
        """Whether it is a test file, where costs and reused keys are intended."""
        parts = Path(self.display).parts
        stem = self.source.path.stem
        return (
            stem.startswith("test_")
            or stem.endswith(("_test", "_tests"))
            or stem in ("conftest", "tests")
            or any(part in ("tests", "test", "testing") for part in parts[:-1])
        )


def imported_names(text: str) -> Iterator[tuple[int, str]]:
    """The modules that imports in the text name: the number of leading dots and the name. `from a import b`
    may name `a` and `a.b`.
    """
    for match in IMPORT.finditer(text):
        source, names, plain = match.groups()
        if plain is not None:
            yield from ((0, _imported_name(part)) for part in plain.split(","))
            continue
        base = source.lstrip(".")
        level = len(source) - len(base)
        yield level, base
        for part in _COMMENT.sub("", names).strip("() \\").split(","):
            name = _imported_name(part)
            if name.isidentifier():
                yield level, f"{base}.{name}" if base else name


def _imported_name(text: str) -> str:
    """The name that a part of an import statement asks for: `a.b` in `a.b as c`."""
    return text.strip(" \t\r\n\\").partition(" as ")[0].strip()


def is_parsed(module: Module) -> bool:
    """Whether the file is valid Python."""
    try:
        _ = module.tree
    except SourceError:
        return False
    return True
