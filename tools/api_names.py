"""Reads the public names of a release of a package off its files, without running it."""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Parts of a release that are no API: tests, what is compiled in, what is only run.
SKIPPED = {"_src", "tests", "testing", "tools", "examples", "scripts", "benchmarks"}
_MAX_DEPTH = 12


@dataclass
class ModuleNames:
    """The names of one module. `is_open`: it makes names while it runs, so that the list is not the whole."""

    # Name -> "present", "deprecated" or "gone" (it raises).
    names: dict[str, str] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)  # name -> where the object comes from, dotted
    is_open: bool = False


class Release:
    """The sources of one release: a folder, or a wheel."""

    def __init__(self, path: Path, package: str = "jax") -> None:
        self.package = package
        self.files = dict(_python_files(path, package))
        self._trees: dict[str, ast.Module | None] = {}
        self._known: dict[str, ModuleNames] = {}
        self.messages: dict[str, str] = {}  # what deprecated names warn of

    def modules(self) -> list[str]:
        """The public modules."""
        return sorted(name for name in self.files if not _is_private(name))

    def names(self, module: str, depth: int = 0) -> ModuleNames:
        """The names of `module`, submodules included, in any module of the release."""
        found = self._known.get(module)
        if found is None:
            found = self._known[module] = ModuleNames()
            tree = self.tree(module)
            if tree is None:
                found.is_open = True
                return found
            _Reader(self, module, found, depth).read(tree.body)
            for other in self.files:
                parent, _, leaf = other.rpartition(".")
                if parent == module and leaf != "_src":
                    found.names.setdefault(leaf, "present")
        return found

    def tree(self, module: str) -> ast.Module | None:
        """The parsed source of a module; None when it is not for this Python."""
        if module not in self._trees:
            try:
                self._trees[module] = ast.parse(self.files[module][1])
            except (SyntaxError, ValueError):
                self._trees[module] = None
        return self._trees[module]


def _python_files(path: Path, package: str) -> Iterator[tuple[str, tuple[bool, str]]]:
    """Dotted names with whether it is a package, and the source."""
    if path.is_file():
        with zipfile.ZipFile(path) as wheel:
            entries = [(name, wheel.read(name)) for name in wheel.namelist() if name.endswith(".py")]
    else:
        entries = [
            (str(file.relative_to(path)), file.read_bytes()) for file in path.glob(f"{package}/**/*.py")
        ]
    for name, data in entries:
        parts = name.removesuffix(".py").split("/")
        if parts[0] != package or not all(part.isidentifier() for part in parts):
            continue
        is_package = parts[-1] == "__init__"
        dotted = ".".join(parts[:-1] if is_package else parts)
        yield dotted, (is_package, data.decode("utf-8", "replace"))


def _is_private(module: str) -> bool:
    return any(
        part in SKIPPED or part.startswith("_") or part.endswith("_test") for part in module.split(".")
    )


class _Reader:
    """Collects what the statements of a module bind."""

    def __init__(self, release: Release, module: str, into: ModuleNames, depth: int) -> None:
        self.release, self.module, self.into, self.depth = release, module, into, depth

    def read(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def bind(self, name: str, status: str = "present", origin: str | None = None) -> None:
        # What is named in a table of deprecations is alive for type checkers too.
        if self.into.names.get(name) in (None, "present") or status != "present":
            self.into.names[name] = status
        if origin is not None:
            self.into.origin[name] = origin

    def statement(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.bind(node.name)
            if node.name == "__getattr__":
                self.getattr(node)
        elif isinstance(node, ast.ClassDef):
            self.bind(node.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                self.bind(alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            self.import_from(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            self.assign(node)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.into.names.pop(target.id, None)
        else:
            for field_name in ("target", "items"):
                for part in ast.walk(ast.Module(_as_list(getattr(node, field_name, None)), [])):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        self.bind(part.id)
            for field_name in ("body", "orelse", "finalbody"):
                self.read(getattr(node, field_name, []))
            for handler in getattr(node, "handlers", []):
                self.read(handler.body)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.into.is_open |= any(
                isinstance(part, ast.Call)
                and getattr(part.func, "id", "") in ("globals", "vars", "setattr", "exec")
                for part in ast.walk(node)
            )

    def import_from(self, node: ast.ImportFrom) -> None:
        source = node.module or ""
        if node.level:
            is_package = self.release.files[self.module][0]
            base = self.module.split(".")
            base = base[: len(base) - node.level + is_package]
            source = ".".join([*base, *([source] if source else [])])
        for alias in node.names:
            if alias.name != "*":
                self.bind(alias.asname or alias.name, origin=f"{source}.{alias.name}")
            elif source in self.release.files and self.depth < _MAX_DEPTH:
                other = self.release.names(source, self.depth + 1)
                self.into.is_open |= other.is_open
                for name in other.names:
                    if not name.startswith("_"):
                        self.bind(name, origin=f"{source}.{name}")
            else:
                self.into.is_open = True

    def assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Name):
                    if part.id != "__getattr__":
                        self.bind(part.id)
                    elif not _is_deprecation_table(node.value):
                        self.into.is_open = True
            if isinstance(target, ast.Name) and "deprecat" in target.id and isinstance(node.value, ast.Dict):
                for key, value in zip(node.value.keys, node.value.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        self.bind(key.value, "gone" if _is_nothing(value) else "deprecated")
                        self.release.messages[f"{self.module}.{key.value}"] = _message(value)

    def getattr(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A module's own `__getattr__`: the names that it compares with, if that is all it does."""
        compared = [part for part in ast.walk(node) if isinstance(part, ast.Compare)]
        for comparison in compared:
            for part in ast.walk(comparison):
                if (
                    isinstance(part, ast.Constant)
                    and isinstance(part.value, str)
                    and part.value.isidentifier()
                ):
                    self.bind(part.value, "deprecated")
        self.into.is_open = True


def _as_list(value: object) -> list[ast.stmt]:
    parts = value if isinstance(value, list) else [value]
    return [
        ast.Expr(part) if isinstance(part, ast.expr) else part for part in parts if isinstance(part, ast.AST)
    ]


def _is_deprecation_table(value: ast.expr | None) -> bool:
    called = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    return called.endswith(("deprecation_getattr", ".attach"))  # the latter loads submodules late


def _is_nothing(value: ast.expr) -> bool:
    """Whether an entry of a table of deprecations says that the name is gone: a message, and None."""
    return (
        isinstance(value, ast.Tuple)
        and len(value.elts) == 2
        and isinstance(value.elts[1], ast.Constant)
        and value.elts[1].value is None
    )


def _message(value: ast.expr) -> str:
    """The text of an entry of a table of deprecations."""
    texts = [
        part.value
        for part in ast.walk(value)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    return " ".join(" ".join(texts).split())
