"""What a program leaves behind is the same after a rewrite: results of two calls, parameters, statistics, streams, caches.

Each codemod that moves calls into a loop, a branch or a function of JAX is tried wherever it may be asked for, and whatever it does not
refuse is run beside the original.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from jaxlint.codemods import apply_edits, resolve
from jaxlint.codemods.loops.early_stop import stop_of
from jaxlint.codemods.source.site import Site
from jaxlint.finding import Finding, Fix, FixRequest, Safety, Span, Step
from jaxlint.fixes import fix_sources
from jaxlint.registry import all_rules
from jaxlint.source import SourceFile
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from tests.rules.state_programs import PROGRAMS

pytestmark = pytest.mark.usefixtures("compiled_quickly")

_PATH = "program.py"
_TRIED = frozenset({"add-jit", "remat-call"})
_STACKS = frozenset({"stack", "array", "asarray"})


def _places(site: Site) -> Iterator[Step]:
    """The steps that may be asked for in a file: loops, branches, stacked comprehensions and calls in loops."""

    def step(codemod: str, node: ast.AST, **parameters: Any) -> Step:
        return Step(codemod, _PATH, site.span(node), parameters)

    for node in ast.walk(site.tree):
        if isinstance(node, ast.For):
            yield from (step("for-to-scan", node.iter), step("for-to-scan", node.iter, layers=True))
            yield from (step("for-to-vmap", node.iter), step("for-to-vmap", node.iter, sums=True))
            if isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range":
                yield step("range-to-fori-loop", node.iter)
        elif isinstance(node, ast.While):
            yield from (step("while-to-while-loop", node.test, host=host) for host in (True, False))
        elif isinstance(node, (ast.If, ast.IfExp)):
            yield step("branch-to-select", node.test)
            yield step("branch-to-select", node)
        elif isinstance(node, ast.Call):
            if getattr(node.func, "attr", "") in _STACKS:
                yield step("stack-to-vmap", node)
            around = site.names.parents.get(node)
            if isinstance(around, ast.Assign) and isinstance(
                site.names.parents.get(around), (ast.For, ast.While)
            ):
                yield step("remat-call", node)
        elif isinstance(node, ast.FunctionDef) and node in site.tree.body and node.name != "run":
            name = Span(node.lineno, node.col_offset + 5, node.lineno, node.col_offset + 5 + len(node.name))
            if not node.decorator_list:
                yield Step("add-jit", _PATH, name, {"transform": "jax.jit"})
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "jax.jit":
            yield step("hoist-jit", node)
        if isinstance(node, ast.Assign) and ast.unparse(node.value) == "time.perf_counter()":
            block = getattr(site.names.parents[node], "body", [])
            timed = block[block.index(node) + 1]
            clock = site.span(node.value)
            place = (clock.line, clock.column, clock.end_line, clock.end_column)
            yield step("call-before-clock", timed.value, clock=place)
        if isinstance(node, (ast.For, ast.While)) and (stop := stop_of(node)) is not None:
            yield step("break-to-while-loop", stop.test)


def _rewritten(code: str) -> dict[str, list[str]]:
    """The texts that each codemod makes of `code`, one for each place that it does not refuse."""
    source = SourceFile(Path(_PATH), _PATH, code, "utf-8", False, "")
    found: dict[str, list[str]] = {}
    for step in _places(Site(source)):
        fix = resolve(FixRequest(Safety.UNSAFE, "test", (step,)), {_PATH: source})
        if isinstance(fix, Fix):
            text = apply_edits(code, fix.edits)
            if text not in found.setdefault(step.codemod, []):
                found[step.codemod].append(text)
    return found


def _by_rules(code: str) -> str:
    """What `fix --unsafe-fixes` makes of `code`."""

    def check(sources: Any) -> list[Finding]:
        return analyze(list(sources.values()), [rule() for rule in all_rules()]).findings

    source = source_from_bytes(code.encode(), Path(_PATH), _PATH)
    return fix_sources({_PATH: source}, check, unsafe=True).texts.get(_PATH, code)


def _left(code: str) -> Any:
    """What a program leaves: leaves of its results, with keys as numbers."""
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(code, _PATH, "exec"), names)
    found = jax.tree.flatten_with_path(names["run"]())[0]
    return {
        jax.tree_util.keystr(path): np.asarray(
            jax.random.key_data(leaf)
            if hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
            else leaf
        )
        for path, leaf in found
        if not callable(leaf)
    }


def _differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    if one.keys() != other.keys():
        return [f"other leaves: {sorted(one.keys() ^ other.keys())}"]
    return [
        path
        for path, leaf in one.items()
        if leaf.shape != other[path].shape or not np.allclose(leaf, other[path], 1e-4, 1e-5, equal_nan=True)
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_state_is_kept(name: str) -> None:
    program = PROGRAMS[name]
    texts = _rewritten(program.code)
    missing = [one for one in program.rewritten if one not in texts]
    made = [(codemod, text) for codemod, some in texts.items() for text in some]
    if (by_rules := _by_rules(program.code)) != program.code:
        made.append(("fix", by_rules))
    wrong = {}
    before = _left(program.code) if made else {}
    for codemod, text in made:
        try:
            if found := _differences(before, _left(text)):
                wrong[codemod, text] = ", ".join(found)
        except Exception as error:
            if codemod in _TRIED:  # `verify` alone writes them, where the program still runs
                continue
            wrong[codemod, text] = f"{type(error).__name__}: {error}"[:300]
    assert not wrong, "\n".join(f"== {codemod}: {why}\n{text}" for (codemod, text), why in wrong.items())
    assert not missing
