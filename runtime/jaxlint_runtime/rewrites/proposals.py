"""Edits that are worth a run: the fixes of findings that cost time, and jits of functions that run op by op."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from jaxlint.codemods import Workspace
from jaxlint.codemods.source.site import Site, place_of
from jaxlint.finding import Finding, FixRequest, Safety, Severity, Span, Step
from jaxlint.registry import all_rules
from jaxlint.rule import COSTLY_CATEGORIES
from jaxlint.source.file import SourceFile
from jaxlint.syntax.function_bodies import own_nodes
from jaxlint_runtime.source_analysis.parsing import tree_of

_ELSEWHERE = frozenset({"missing-donation"})  # proven on the traced program, and written by `apply`
_LEAST_CALLS = 2
OFTEN = 8  # calls of a function that make its statements worth compiling
LEAST_SHARE = 0.03  # share of the time in the busiest function
NUMBERS = frozenset({"int", "bool", "float"})
DATA = frozenset(
    {"ArrayImpl", "ndarray", "dict", "list", "tuple", "FrozenDict"}
)  # types that are not modules
_EFFECTS = frozenset({"print", "input", "open"})
FETCHES = frozenset({"item", "tolist"})
_CHANCE = ("random.", "numpy.random.", "time.")
_COMPUTING = ("jax.numpy.", "jax.random.", "jax.nn.", "jax.lax.", "jax.scipy.")
_STATIC = frozenset(
    {"ndim", "shape", "size", "issubdtype", "isscalar", "result_type", "iscomplexobj", "isrealobj"}
)


Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Rewrite:
    """One edit of the source to try: its `fixes` are applied all or none.

    `estimate` is the host's time in the function in seconds, for ranking only. `instead` is tried if this one fails. `what`:
    the text that it compiles, if a function may have other edits of this kind.
    """

    name: str
    code: str | None
    function: str
    path: str
    line: int
    summary: str
    fixes: tuple[FixRequest, ...]
    estimate: float = 0.0
    instead: Rewrite | None = None
    what: str = ""

    @property
    def codemods(self) -> str:
        return codemods_of(self.fixes)

    @property
    def key(self) -> Key:
        """The parts that do not change when other edits move its lines."""
        return self.name, self.path, self.function, self.what


def codemods_of(fixes: Iterable[FixRequest]) -> str:
    """The names of the codemods behind these fixes."""
    return " + ".join(dict.fromkeys(step.codemod for fix in fixes for step in fix.steps))


def busy(
    watched: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]
) -> Iterator[tuple[Mapping[str, Any], SourceFile]]:
    """The watched functions that were called and took time, with their files; not those in notebooks."""
    busiest = max((one["seconds"] or 0.0 for one in watched), default=0.0)
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    for one in watched:
        source = by_path.get(one["path"])
        if source is None or source.container is not None or not one["calls"]:
            continue
        if (one["seconds"] or 0.0) >= LEAST_SHARE * busiest:
            yield one, source


def seconds_of_compiles(function: Mapping[str, Any]) -> float:
    """What the compiles of a jitted function took together, with its traces."""
    parts = ("trace_s", "lower_s", "compile_s")
    return sum(each[part] or 0.0 for each in function["compiles"] for part in parts)


def edit_of(
    name: str,
    one: Mapping[str, Any],
    line: int,
    fixes: Sequence[FixRequest],
    instead: Rewrite | None = None,
    what: str = "",
) -> Rewrite:
    """The fixes of a watched function, `one`, as one edit at a line."""
    return Rewrite(
        name=name,
        code=None,
        function=one["function"],
        path=one["path"],
        line=line,
        summary="; ".join(dict.fromkeys(fix.message for fix in fixes)),
        fixes=tuple(fixes),
        estimate=one["seconds"] or 0.0,
        instead=instead,
        what=what,
    )


def from_findings(
    findings: Iterable[Finding],
    seconds: Mapping[tuple[str, str], float],
    errors: bool,
    calls: Mapping[tuple[str, str], int] = MappingProxyType({}),
) -> list[Rewrite]:
    """The fixes of findings, grouped by rule and function; with `errors`, those of findings that make it fail.

    `seconds` is the host's time, and `calls` the number of calls, by real path and qualified name.
    """
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        wanted = _is_about_failing(finding) if errors else finding.category in COSTLY_CATEGORIES
        if not wanted or finding.name in _ELSEWHERE or not isinstance(finding.fix, FixRequest):
            continue
        place = (finding.code, os.path.realpath(finding.path), finding.function or "<module>")
        groups.setdefault(place, []).append(finding)
    found = []
    for (code, path, function), members in groups.items():
        seen = calls.get((path, function), 0)
        fixes = tuple(_with_calls(one.fix, seen) for one in members if isinstance(one.fix, FixRequest))
        found.append(
            Rewrite(
                name=f"fix:{members[0].name}",
                code=code,
                function=function,
                path=path,
                line=members[0].span.line,
                summary="; ".join(dict.fromkeys(fix.message for fix in fixes)),
                fixes=fixes,
                estimate=seconds.get((path, function), 0.0),
            )
        )
    return sorted(found, key=lambda one: -one.estimate)


def how_often(calls: int) -> dict[str, object]:
    """What `region-to-jit` is told of the calls of the enclosing function: each call compiles a function in it anew."""
    return {"again": calls > 1, "often": calls >= OFTEN}


def _with_calls(fix: FixRequest, calls: int) -> FixRequest:
    """The fix for a function that a run called so many times."""
    if calls < 2:
        return fix
    steps = [
        replace(one, parameters={**one.parameters, **how_often(calls)})
        if one.codemod == "region-to-jit"
        else one
        for one in fix.steps
    ]
    return replace(fix, steps=tuple(steps))


def _is_about_failing(finding: Finding) -> bool:
    """Whether its rule reports failures, however certain this finding is."""
    return any(rule.name == finding.name and rule.severity is Severity.ERROR for rule in all_rules())


def to_jit(watched: Sequence[Mapping[str, Any]], sources: Mapping[str, SourceFile]) -> list[Rewrite]:
    """Functions that the host calls repeatedly without a jit, the most expensive first."""
    busiest = max((one["seconds"] or 0.0 for one in watched), default=0.0)
    by_path = {os.path.realpath(path): source for path, source in sources.items()}
    found = []
    for one in sorted(watched, key=lambda one: -(one["seconds"] or 0.0)):
        source = by_path.get(one["path"])
        often = (one["calls"] or 0) >= _LEAST_CALLS and (one["seconds"] or 0.0) >= LEAST_SHARE * busiest
        if source is None or not often or one["arguments"] is None:
            continue
        function = definition(source, one["function"], one["line"])
        if function is None or _acts_on_host(function, source):
            continue
        choice = _choice_fix(function, source)
        if choice is not None and isinstance(
            Workspace({source.display: source}, strict=None).plan(choice), str
        ):
            continue  # it branches on JAX results, and the branches cannot become a selection
        if any("leaves" in argument for argument in one["arguments"]):
            found.append(_jitted(one, function, source, choice))
    return found


def _choice_fix(function: ast.FunctionDef, source: SourceFile) -> FixRequest | None:
    """The edit that replaces a branch on JAX results by a selection, as in a sampler that accepts or rejects."""
    tests = _decisions(function, source)
    if not tests:
        return None
    site = Site(source)
    steps = tuple(Step("branch-to-select", source.display, site.span(test)) for test in tests)
    return FixRequest(Safety.UNSAFE, "Use `jnp.where` or `lax.cond`", steps)


def definition(source: SourceFile, name: str, line: int) -> ast.FunctionDef | None:
    """The top-level function of a module, if it can be decorated; otherwise None."""
    node = top_function(source, name, line)
    if node is None or node.decorator_list or node.args.vararg or node.args.kwarg:
        return None
    return None if _makes_modules(node, source) else node


def _makes_modules(function: ast.FunctionDef, source: SourceFile) -> bool:
    """Whether haiku transforms a function: it creates its modules in there, where `jax.jit` would lose them."""
    site = Site(source)
    return any(
        isinstance(given, ast.Name) and given.id == function.name
        for call in ast.walk(site.tree)
        if isinstance(call, ast.Call)
        and (site.names.qualified(call.func) or "").startswith(("haiku.transform", "haiku.multi_transform"))
        for given in call.args
    )


def top_function(source: SourceFile, name: str, line: int) -> ast.FunctionDef | None:
    """The top-level function of a module that is defined in a line."""
    tree = tree_of(source)
    if tree is None:
        return None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and (node.name, node.lineno) == (name, line):
            return node
    return None


def stays_on_host(function: ast.FunctionDef, source: SourceFile) -> bool:
    """Whether a function certainly does what a jitted one cannot: print, use Python's generators, fetch JAX results
    or branch on them."""
    return bool(_decisions(function, source)) or _acts_on_host(function, source)


def _decisions(function: ast.FunctionDef, source: SourceFile) -> list[ast.expr]:
    """The tests of a function that depend on JAX results."""
    site = Site(source)
    tests = [part.test for part in _parts(site, function) if isinstance(part, ast.If | ast.While | ast.IfExp)]
    return [test for test in tests if any(_computes(site, one) for one in ast.walk(test))]


def _computes(site: Site, node: ast.AST) -> bool:
    name = (site.names.qualified(node.func) or "") if isinstance(node, ast.Call) else ""
    return name.startswith(_COMPUTING) and name.rpartition(".")[2] not in _STATIC


def _parts(site: Site, function: ast.FunctionDef) -> list[ast.AST]:
    """The nodes of a function or a method, without those of nested functions, in the tree of `site`."""
    same = [
        node
        for node in ast.walk(site.tree)
        if isinstance(node, ast.FunctionDef) and (node.lineno, node.name) == (function.lineno, function.name)
    ]
    return [part for one in same for part in own_nodes(one)]


def _acts_on_host(function: ast.FunctionDef, source: SourceFile) -> bool:
    """Whether a function prints, uses Python's generators or fetches JAX results."""
    site = Site(source)
    names = site.names
    for node in (part for part in _parts(site, function) if isinstance(part, ast.Call)):
        called = node.func
        name = names.qualified(called) or ""
        builtin = called.id if isinstance(called, ast.Name) and not name else ""
        if builtin in _EFFECTS or name.startswith(_CHANCE):
            return True
        if isinstance(called, ast.Attribute) and called.attr in FETCHES:
            return True
        if builtin in NUMBERS and node.args and isinstance(node.args[0], ast.Call):
            if (names.qualified(node.args[0].func) or "").startswith("jax."):
                return True
    return False


def _jitted(
    one: Mapping[str, Any], function: ast.FunctionDef, source: SourceFile, choice: FixRequest | None
) -> Rewrite:
    """The ways to jit it, each the next one's fallback: numbers traced, numbers static, the framework's own jit.

    `choice`: the branches that must become selections first.
    """
    rewrite: Rewrite | None = None
    first = f"{choice.message} and " if choice is not None else ""
    spans = [] if choice is None else [place_of(test) for test in _decisions(function, source)]
    for transform, static in reversed(ways_to_jit(one, function, source)):
        jit = jit_fix(function, source, transform, static, one["arguments"], spans)
        rewrite = Rewrite(
            name=f"jit:{jit_in_words(transform, static)}",
            code=None,
            function=one["function"],
            path=one["path"],
            line=function.lineno,
            summary=f"{first}compile {one['function']} as a whole ({jit_in_words(transform, static)})",
            fixes=(jit,) if choice is None else (choice, jit),
            estimate=one["seconds"] or 0.0,
            instead=rewrite,
        )
    assert rewrite is not None
    return rewrite


def ways_to_jit(
    one: Mapping[str, Any], function: ast.FunctionDef, source: SourceFile
) -> list[tuple[str, list[str]]]:
    """Transformations, each with the static arguments, in the order in which they are worth trying."""
    plain = [entry for entry in one["arguments"] if "leaves" not in entry]
    objects = [entry["name"] for entry in plain if entry["type"] not in NUMBERS]
    numbers = [entry["name"] for entry in plain if entry["type"] in ("int", "bool")]
    ways = [("jax.jit", objects)]
    if numbers:
        static = ("jax.jit", [entry["name"] for entry in plain if entry["type"] != "float"])
        ways.insert(0 if shaping(function) & set(numbers) else 1, static)
    roots = imported(source)
    if "equinox" in roots:
        ways.insert(0, ("equinox.filter_jit", []))
    if "flax.nnx" in roots:  # first if an argument is an object with arrays, which jax.jit would not update
        own = [("flax.nnx.jit", static) for transform, static in ways if transform == "jax.jit"]
        ways = [*own, *ways] if hands_over_modules(one) else [*ways, *own]
    return ways


def hands_over_modules(one: Mapping[str, Any]) -> bool:
    """Whether a watched function received objects that hold arrays and are not Python containers, such as modules."""
    return any("leaves" in entry and entry["type"] not in DATA for entry in one["arguments"] or ())


def shaping(function: ast.FunctionDef) -> set[str]:
    """Names that a function uses for ranges, slices or branches, which must be known at trace time."""
    found: set[str] = set()
    for node in ast.walk(function):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            parts = list(node.args)
        elif isinstance(node, ast.Slice):
            parts = [node.lower, node.upper, node.step]
        elif isinstance(node, ast.If | ast.IfExp):
            parts = [node.test]
        found |= {
            name.id
            for part in parts
            if part is not None
            for name in ast.walk(part)
            if isinstance(name, ast.Name)
        }
    return found


def jit_in_words(transform: str, static: Sequence[str]) -> str:
    """A transformation as people write it, with its static arguments."""
    short = transform.replace("flax.", "").replace("equinox", "eqx")
    return f"{short}, {', '.join(static)} static" if static else short


def jit_fix(
    function: ast.FunctionDef,
    source: SourceFile,
    transform: str,
    static: Sequence[str],
    seen: Sequence[Mapping[str, Any]],
    rewritten: Sequence[Sequence[int]] = (),
) -> FixRequest:
    """The edit that jits a function at its definition. `seen`: its arguments in the run, `rewritten`: places that
    others change in it."""
    span = Span(function.lineno, function.col_offset + 1, function.lineno, function.col_offset + 4)
    parameters = {
        "transform": transform,
        "static_argnames": list(static),
        "arguments": [dict(entry) for entry in seen],
        "rewritten": [list(place) for place in rewritten],
    }
    step = Step("add-jit", source.display, span, parameters)
    return FixRequest(Safety.UNSAFE, f"Jit {function.name}", (step,))


def imported(source: SourceFile) -> set[str]:
    """The modules that a file imports at top level, and the names that it imports from them, as dotted names."""
    tree = tree_of(source)
    return set() if tree is None else set(_imported_modules(tree))


def _imported_modules(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def packages_to_load(sources: Iterable[SourceFile], roots: Sequence[str]) -> list[str]:
    """Installed modules that the files import at top level: their loading time does not count for any version.

    None if a file sets environment variables, which may have to precede an import.
    """
    found: dict[str, None] = {}
    for source in sources:
        if "environ" in source.text:
            return []
        tree = tree_of(source)
        if tree is None:
            continue
        for node in tree.body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            found.update(dict.fromkeys(name for name in names if not _is_local(name, roots)))
    return list(found)


def _is_local(name: str, roots: Sequence[str]) -> bool:
    first = name.partition(".")[0]
    places = [os.path.join(root, *part, first) for root in roots for part in ((), ("src",))]
    return any(os.path.isdir(place) or os.path.isfile(place + ".py") for place in places)
