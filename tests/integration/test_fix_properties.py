"""Fixes on the files of three pinned packages: results parse, no comment is lost, a second run changes nothing.

The built-in rules find little to fix in code that works, so the codemods are also driven by a scan that asks each of
them for whatever it might do, useful or not.
"""

from __future__ import annotations

import ast
import importlib.util
import io
import shutil
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import libcst as cst
import pytest

from jaxlint.codemods.source.name_scopes import Names
from jaxlint.finding import Finding, FixRequest, Safety, Severity, Span, Step
from jaxlint.fixes import FixResult, fix_sources
from jaxlint.source import SourceFile, read_source
from jaxlint.syntax.parse import parse_source, span_of, split_lines
from tests.helpers.command_line import jaxlint

pytestmark = pytest.mark.slow

# One file in so many: all of them take minutes, and show nothing more.
PACKAGES = {"flax": 12, "optax": 8, "treescope": 3}
CONTROL_FLOW = ("branch-to-select", "boolean-to-array", "numpy-to-jnp", "number-to-array")


def files_of(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    return sorted(Path(spec.submodule_search_locations[0]).rglob("*.py"))


class Scan:
    """Asks for every rewrite that the codemods might make in a file."""

    def __init__(self, source: SourceFile) -> None:
        self.path = source.display
        self.lines = split_lines(source.text)
        self.tree = parse_source(source)
        self.names = Names(self.tree)

    def findings(self) -> Iterator[Finding]:
        for codemod, node, parameters in self.requests():
            span = span_of(node, self.lines)
            request = FixRequest(Safety.SAFE, codemod, (Step(codemod, self.path, span, parameters),))
            yield Finding(self.path, span, codemod, codemod, "api", Severity.ERROR, "m", "r", fix=request)

    def requests(self) -> Iterator[tuple[str, ast.AST, dict[str, object]]]:
        for node in ast.walk(self.tree):
            yield from self.more(node)
            if isinstance(node, (ast.Assign, ast.AugAssign)):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if isinstance(target, ast.Subscript) and isinstance(target.value, (ast.Name, ast.Attribute)):
                    yield "item-assignment-to-at", node, {"target_ok": True}
                    yield "numpy-buffer-to-jnp", node, {}
            elif isinstance(node, (ast.If, ast.IfExp)):
                yield "branch-to-select", node.test, {}
            elif isinstance(node, ast.While):
                yield "while-to-while-loop", node.test, {}
            elif isinstance(node, ast.BoolOp):
                yield "boolean-to-array", node.values[0], {}
            elif isinstance(node, ast.Compare) and (len(node.ops) > 1 or isinstance(node.ops[0], ast.In)):
                yield "boolean-to-array", node, {}
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                yield "boolean-to-array", node.operand, {}
            elif isinstance(node, ast.Call):
                yield from self.call(node)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                for decorator in node.decorator_list:
                    yield "add-donation", decorator, {"argnums": [7]}
                    yield "swap-vmap-of-jit", decorator, {}
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                yield from self.imported(node)
            elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                yield from self.used(node)

    def more(self, node: ast.AST) -> Iterator[tuple[str, ast.AST, dict[str, object]]]:
        """Rewrites that other places ask for as well."""
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield "mask-to-where", node, {}
            if isinstance(node.slice, ast.Slice):
                yield "sequence-to-array", node, {}
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Sub)):
            yield "stable-form", node, {}
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield "bind-result", node.value, {}
        elif isinstance(node, ast.Call):
            function = ast.unparse(node.func)
            if function.endswith("jit"):
                yield "hoist-jit", node, {}
                yield "add-static-argument", node, {"name": "mode"}
            elif function.endswith(".log"):
                yield "stable-form", node, {}
            elif function in ("float", "int") or function.endswith(".item"):
                yield "convert-after-loop", node, {}
            elif function == "time.time":
                yield "forward-clock", node, {}
            elif "random." in function and "split" not in function:
                for part in ast.walk(node):
                    if isinstance(part, ast.Name) and part.id in ("key", "rng", "rng_key"):
                        yield "split-key", node, {"key": part.id}

    def call(self, node: ast.Call) -> Iterator[tuple[str, ast.AST, dict[str, object]]]:
        callee = node.func.id if isinstance(node.func, ast.Name) else ""
        qualified = self.names.qualified(node.func) or ""
        if callee == "range":
            yield "range-to-fori-loop", node, {}
        elif callee in ("max", "min", "any", "all"):
            yield "boolean-to-array", node, {}
        elif callee in ("float", "int", "bool") or qualified.startswith("math."):
            yield "number-to-array", node, {}
        elif callee == "print":
            yield "print-to-debug-print", node, {}
        elif qualified.startswith("numpy.") and len(qualified) % 2:
            yield "numpy-to-jnp", node, {}
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if isinstance(argument, (ast.List, ast.Set, ast.ListComp)):
                yield "tuple-static-argument", argument, {}
        if self.names.qualified(node.func) in ("jax.jit", "functools.partial", "flax.nnx.jit"):
            yield "add-donation", node, {"argnames": ["state"]}
        if node.args and isinstance(node.args[0], ast.Call):
            yield "swap-vmap-of-jit", node, {}

    def imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, ast.AST, dict[str, object]]]:
        for alias in node.names:
            old = alias.name
            if isinstance(node, ast.ImportFrom):
                old = f"{node.module}.{alias.name}" if not node.level else ""
            if self.is_subject(old):
                yield "rename-api", alias, {"old": old, "new": self.new_name(old)}

    def used(self, node: ast.expr) -> Iterator[tuple[str, ast.AST, dict[str, object]]]:
        old = self.names.qualified(node)
        if old and isinstance(node, ast.Attribute) and self.is_subject(old):
            yield "rename-api", node, {"old": old, "new": self.new_name(old)}

    @staticmethod
    def is_subject(name: str) -> bool:
        """Half of the public names of JAX and NumPy, picked by their length."""
        return name.startswith(("jax.", "numpy.")) and len(name) % 2 == 0 and "renamed" not in name

    @staticmethod
    def new_name(name: str) -> str:
        """To the module of another package, to another module of the same, or to another name in it."""
        package, _, rest = name.partition(".")
        leaf = name.rpartition(".")[2]
        return (f"renamed.{leaf}", f"{package}.renamed.{leaf}", f"{package}.{rest}_renamed")[len(name) % 3]


def scan(sources: Mapping[str, SourceFile]) -> list[Finding]:
    return [finding for source in sources.values() for finding in Scan(source).findings()]


def comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text, newline="").readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


@pytest.mark.parametrize("package", PACKAGES)
def test_codemods_on_a_part_of_the_files(package: str) -> None:
    made: Counter[str] = Counter()
    files = files_of(package)[:: PACKAGES[package]]
    assert len(files) > 4
    for path in files:
        source = read_source(path, str(path))
        result = fix_sources({source.display: source}, scan)
        assert result.errors == [], path
        internal = [one for one in result.refused if "internal error" in one.reason or "parse" in one.reason]
        assert internal == [], path
        made.update(finding.code for finding in result.applied)
        new = result.texts.get(source.display)
        if new is None:
            assert not result.applied
            continue
        assert comments(new) == comments(source.text), path
        settled(source, new)
    assert made["rename-api"] > 10
    assert made["tuple-static-argument"] > 0
    if package == "flax":
        assert sum(made[codemod] for codemod in CONTROL_FLOW) > 20


def settled(source: SourceFile, text: str) -> None:
    """The text parses, and another run of the same codemods leaves it alone."""
    ast.parse(text)
    cst.parse_module(text)
    changed = SourceFile(source.path, source.display, text, source.encoding, source.bom, "")
    again: FixResult = fix_sources({source.display: changed}, scan)
    assert again.texts == {}, source.display


@pytest.mark.parametrize("package", ["lineax"])
def test_the_command_on_a_whole_package(package: str, tmp_path: Path) -> None:
    files = files_of(package)
    copy = tmp_path / package.rpartition(".")[2]
    shutil.copytree(files[0].parent, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    before = {path: path.read_bytes() for path in copy.rglob("*.py")}
    arguments = ("fix", "--unsafe-fixes", "--no-cache", copy.name)
    first = jaxlint(*arguments, cwd=tmp_path, timeout=300)
    assert first.returncode in (0, 1), first.stderr
    assert "internal error" not in first.stdout + first.stderr
    after = {path: path.read_bytes() for path in copy.rglob("*.py")}
    changed = {path for path in before if after[path] != before[path]}
    for path in changed:
        cst.parse_module(after[path])
        ast.parse(after[path])
    assert after.keys() == before.keys()
    second = jaxlint(*arguments, cwd=tmp_path, timeout=300)
    assert second.returncode in (0, 1), second.stderr
    assert {path: path.read_bytes() for path in before} == after


def test_the_scan_finds_sites(tmp_path: Path) -> None:
    """A scan that asked for nothing would prove nothing."""
    path = tmp_path / "a.py"
    path.write_text("import jax\nx = y\nx[0] = 1\nf(x, [1])\n@jax.jit\ndef f(x): ...\njax.lax.sin(x)\n")
    codes = {finding.code for finding in scan({"a.py": read_source(path, "a.py")})}
    assert codes >= {"item-assignment-to-at", "tuple-static-argument", "add-donation", "swap-vmap-of-jit"}
    assert Span(1, 1, 1, 1) < Span(1, 1, 1, 2)
