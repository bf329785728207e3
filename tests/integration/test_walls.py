"""The walls of the house: imports run one way, and the engine and its rules never need jax.

rules -> jaxlint, runtime -> jaxlint; the engine reaches the rules through entry points and the runtime inside two commands.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TypeGuard

import pytest

from jaxlint import api
from jaxlint.specimens import FOLDER as SPECIMENS
from jaxlint.staging import events as staging_events
from jaxlint.staging.values.frame import Frame, Loop

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "jaxlint"
API = ENGINE / "api"
RULES = ROOT / "rules" / "jaxlint_rules"
RUNTIME = ROOT / "runtime" / "jaxlint_runtime"

HEAVY = {"jax", "jaxlib", "numpy", "scipy", "flax", "optax", "equinox", "haiku"}
# What a rule may import of the engine. Codemods are named by id, files and reports are none of its business.
PUBLIC_FACE = {"jaxlint.api", "jaxlint.finding"}
RUNTIME_COMMANDS = {
    "jaxlint.cli.verify",
    "jaxlint.cli.lockstep",
    "jaxlint.cli.report_files",
    "jaxlint.cli.targets",
}


@dataclass(frozen=True)
class Import:
    """One import of the dotted name `target` in `module`; `lazy` when it stands inside a function."""

    module: str
    line: int
    target: str
    lazy: bool

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def module_name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(source: str, module: str, is_package: bool = False, types: bool = False) -> Iterator[Import]:
    """Every import in a module, `importlib.import_module("literal")` included; `types`: those for a type checker, too."""

    def walk(node: ast.AST, lazy: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if not types and isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            for target in targets(child):
                yield Import(module, child.lineno, target, lazy)  # type: ignore[attr-defined]
            yield from walk(
                child, lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            )

    def targets(node: ast.AST) -> list[str]:
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            parts = module.split(".")
            base = parts[: len(parts) - node.level + is_package] if node.level else []
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            # `from jaxlint import engine` names a module, `from jaxlint.rule import Rule` does not: keep both.
            return [prefix, *(f"{prefix}.{alias.name}" for alias in node.names)]
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
            first = node.args[0]
            return [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []
        return []

    yield from walk(ast.parse(source), lazy=False)


def modules_of(package: Path) -> list[Path]:
    """The modules of a package; the specimens of rules are programs that it only reads."""
    return sorted(path for path in package.rglob("*.py") if SPECIMENS not in path.parts)


@cache
def imports_in(package: Path, types: bool = False) -> list[Import]:
    found = []
    for path in modules_of(package):
        is_package = path.name == "__init__.py"
        found += imports_of(path.read_text(encoding="utf-8"), module_name(path, package), is_package, types)
    assert found, f"no imports found below {package}"
    return found


def reaches(target: str, package: str) -> bool:
    return target == package or target.startswith(package + ".")


def test_engine_and_rules_never_import_jax_or_numpy() -> None:
    wrong = [i for i in imports_in(ENGINE) + imports_in(RULES) if i.target.split(".")[0] in HEAVY]
    assert not wrong, "\n".join(map(str, wrong))


def test_engine_never_imports_the_rules() -> None:
    wrong = [i for i in imports_in(ENGINE) if reaches(i.target, "jaxlint_rules")]
    assert not wrong, "\n".join(map(str, wrong))


def test_engine_imports_the_runtime_only_inside_two_commands() -> None:
    uses = [i for i in imports_in(ENGINE) if reaches(i.target, "jaxlint_runtime")]
    wrong = [i for i in uses if not (i.lazy and i.module in RUNTIME_COMMANDS)]
    assert not wrong, "\n".join(map(str, wrong))


def test_few_places_start_other_programs() -> None:
    starters = {i.module for i in imports_in(ENGINE) + imports_in(RULES) if reaches(i.target, "subprocess")}
    assert starters == {
        "jaxlint.source.git",
        "jaxlint.narrowing.changed",  # catches what it raises
        "jaxlint.cli.targets",  # the runtime, in Python's isolated mode
        "jaxlint.cli.watching",  # itself
    }


def test_rules_import_only_the_public_face() -> None:
    engine = [
        i for i in imports_in(RULES, types=True) if reaches(i.target, "jaxlint") and i.target != "jaxlint"
    ]
    wrong = [
        i
        for i in engine
        if not any(reaches(i.target, face) for face in PUBLIC_FACE)
        or any(part.startswith("_") for part in i.target.split("."))
    ]
    assert not wrong, "\n".join(map(str, wrong))


def test_what_rules_may_import_defines_nothing_and_serves_rules_alone() -> None:
    for path in modules_of(API):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        *imports, listed = [one for one in body if not isinstance(one, ast.Expr)]
        assert all(isinstance(one, ast.ImportFrom) for one in imports), path
        assert isinstance(listed, ast.Assign), path
        given = {alias.name for one in imports if isinstance(one, ast.ImportFrom) for alias in one.names}
        assert given == set(ast.literal_eval(listed.value)), path
    events = {name for name, cls in vars(staging_events).items() if is_event(cls)}
    assert events <= set(api.__all__), "rules hear of these, and cannot name them"
    users = [i for i in imports_in(ENGINE) if reaches(i.target, "jaxlint.api")]
    wrong = [i for i in users if not reaches(i.module, "jaxlint.api")]
    assert not wrong, "\n".join(map(str, wrong))


# What rules may read of a frame, a loop and their reporter. The rest is how the analysis works: it answers questions.
READ = {
    Frame: {"function", "module", "scope", "stage", "home", "caller", "call_node", "loops"},
    Loop: {"node", "kind", "trips", "calls_jitted"},
}


def hidden() -> set[str]:
    """The names of attributes that rules may not read, but for those that events and values have, too."""
    kept = {field.name for cls, read in READ.items() for field in fields(cls) if field.name not in read}
    kept |= {"program", "sink", "consequences"}  # of a reporter
    told = {field.name for cls in vars(staging_events).values() if is_event(cls) for field in fields(cls)}
    return kept - told


def is_event(value: object) -> TypeGuard[type[staging_events.Event]]:
    return isinstance(value, type) and issubclass(value, staging_events.Event)


def reads_of_hidden(tree: ast.AST) -> list[str]:
    """Where a module reads one of them, of anything but its own rule and records."""
    parts = [part for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for part in node.body]
    flags = hidden() - {part.name for part in parts if isinstance(part, ast.FunctionDef)}
    flags -= {ast.unparse(part.target) for part in parts if isinstance(part, ast.AnnAssign)}
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in flags
        if not (isinstance(node.value, ast.Name) and node.value.id == "self")
    ]


def test_rules_ask_and_read_no_flags() -> None:
    wrong = [
        f"{path.relative_to(RULES)} {where}"
        for path in modules_of(RULES)
        for where in reads_of_hidden(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not wrong, "ask the event or its frame (jaxlint/staging/events.py):\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("event.frame.catching", True),
        ("frame.assigning", True),
        ("len(frame.guards)", True),
        ("report.program.unjitted", True),
        ("event.is_caught()", False),
        ("frame.function.node", False),
        ("self.assigning", False),
    ],
)
def test_a_flag_is_seen(text: str, seen: bool) -> None:
    assert bool(reads_of_hidden(ast.parse(text))) is seen


def test_rules_and_runtime_do_not_know_each_other() -> None:
    wrong = [i for i in imports_in(RULES) if reaches(i.target, "jaxlint_runtime")]
    wrong += [i for i in imports_in(RUNTIME) if reaches(i.target, "jaxlint_rules")]
    assert not wrong, "\n".join(map(str, wrong))


BLOCKED_IMPORT = """
import importlib, json, pkgutil, sys

blocked = set(json.loads(sys.argv[1]))

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in blocked:
            raise ImportError(f"{name} is blocked here")

sys.meta_path.insert(0, Block())
names = []
for root in ("jaxlint", "jaxlint_rules"):
    package = importlib.import_module(root)
    names += [m.name for m in pkgutil.walk_packages(package.__path__, root + ".") if not m.name.endswith("__main__")]
for name in names:
    importlib.import_module(name)
print(json.dumps({"imported": names, "rules": len(importlib.import_module("jaxlint.registry").all_rules())}))
"""


def test_engine_and_rules_import_without_jax() -> None:
    blocked = json.dumps(sorted(HEAVY | {"jaxlint_runtime", "psutil"}))
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED_IMPORT, blocked],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert "jaxlint.engine" in result["imported"]
    assert result["rules"] > 0


@pytest.mark.parametrize(
    ("source", "targets", "lazy"),
    [
        ("import jax.numpy as np", ["jax.numpy"], False),
        ("def f():\n    import jax", ["jax"], True),
        ("from jaxlint_runtime import api", ["jaxlint_runtime", "jaxlint_runtime.api"], False),
        ("from . import engine", ["jaxlint.cli", "jaxlint.cli.engine"], False),
        ("from ..engine import check", ["jaxlint.engine", "jaxlint.engine.check"], False),
        ("import importlib\nimportlib.import_module('jax')", ["importlib", "jax"], False),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import jax",
            ["typing", "typing.TYPE_CHECKING"],
            False,
        ),
    ],
)
def test_the_scan_sees_imports(source: str, targets: list[str], lazy: bool) -> None:
    found = list(imports_of(source, "jaxlint.cli.verify"))
    assert [i.target for i in found] == targets
    assert {i.lazy for i in found} == {lazy}


LIBRARIES = ENGINE / "libraries"
# The composition root of the analysis, which loads the libraries.
COMPOSITION = {"jaxlint.staging.interpreter"}


def test_the_evaluator_knows_no_library() -> None:
    uses = [i for i in imports_in(ENGINE) if reaches(i.target, "jaxlint.libraries")]
    wrong = [i for i in uses if i.module not in COMPOSITION and not reaches(i.module, "jaxlint.libraries")]
    assert not wrong, "\n".join(map(str, wrong))


EVALUATOR = ENGINE / "staging" / "evaluator"
# A name that a program uses may stand for another: whoever asks for models has to know which.
NAMES = "jaxlint.jaxapi.names"
_LIBRARY_NAME = re.compile(
    r"(jax|jaxlib|flax|nnx|linen|haiku|equinox|optax|chex|numpyro|distrax|blackjax|attrs?)(\.\w+)+"
)


def library_names(tree: ast.AST) -> list[str]:
    """The qualified names of things of libraries that a module has as text, outside of its docstrings."""
    told = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if node.body and isinstance(node.body[0], ast.Expr)
    }
    return [
        f"line {node.lineno}: {node.value}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told
        if _LIBRARY_NAME.match(node.value)
    ]


def test_the_evaluator_knows_no_table_of_jax() -> None:
    uses = [i for i in imports_in(EVALUATOR, types=True) if reaches(i.target, "jaxlint.jaxapi")]
    wrong = [i for i in uses if i.target != "jaxlint.jaxapi" and not reaches(i.target, NAMES)]
    assert not wrong, "\n".join(map(str, wrong))


def test_the_evaluator_names_nothing_of_a_library() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} {where}"
        for path in modules_of(EVALUATOR)
        for where in library_names(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not wrong, "say it in a module of jaxlint/libraries:\n" + "\n".join(wrong)


def test_a_name_of_a_library_is_seen() -> None:
    assert library_names(ast.parse('"""Of `jax.jit`."""\nif name == "jax.jit":\n    pass')) == [
        "line 2: jax.jit"
    ]


def test_a_library_is_one_module() -> None:
    """It may use what several of its kind share, and no other library."""
    shared = {"jaxlint.libraries._flax", "jaxlint.libraries.layers"}
    wrong = [
        i
        for i in imports_in(LIBRARIES)
        if i.target.startswith("jaxlint.libraries.")
        if not any(reaches(i.target, one) for one in shared)
    ]
    assert not wrong, "\n".join(map(str, wrong))


def graph_of(package: Path) -> dict[str, set[str]]:
    """Which module of a package imports which of the same package, for whatever reason."""
    names = {module_name(path, package) for path in modules_of(package)}
    graph: dict[str, set[str]] = {name: set() for name in names}
    at: dict[tuple[str, int], set[str]] = {}
    for one in imports_in(package, types=True):
        if one.target in names - {one.module}:
            at.setdefault((one.module, one.line), set()).add(one.target)
    for (module, _), targets in at.items():
        # `from a import b` stands as `a` and as `a.b`; where `b` is a module, `a` is only on the way to it.
        graph[module] |= {t for t in targets if not any(other.startswith(f"{t}.") for other in targets)}
    return graph


def circles(graph: dict[str, set[str]]) -> set[str]:
    """The modules that reach themselves."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            if (one := waiting.pop()) not in found:
                found.add(one)
                waiting += graph[one]
        return found

    return {name for name in graph if name in reached(name)}


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports for types included."""
    assert circles(graph_of(ENGINE)) == set(), "give what they share a module of its own"


# What lies higher may import what lies lower, imports for types included, and nothing the other way round.
LAYERS = (
    ("syntax", "jaxapi", "source", "finding", "rule"),
    ("staging.module", "staging.project"),
    ("staging.values",),
    ("staging.shapes",),
    (
        "staging.events",
        "staging.evidence",
        "staging.consequences",
        "staging.repeats",
        "staging.reporter",
        "staging.listeners",
    ),
    ("staging.evaluator", "staging.warm"),
    ("staging.reach",),
    ("staging.tracking",),
    ("staging.arrays",),
    ("staging.transforms",),
    ("libraries",),
    ("staging.interpreter",),
    ("staging.analysis", "staging"),
    ("staging.inspection",),
    ("api",),
)


# What uses the analysis: from files and settings to the command line.
USES = (
    ("finding", "rule", "source", "syntax", "jaxapi", "report.escaping"),
    ("registry", "requirements", "settings"),
    ("config", "suppress", "places"),
    ("codemods", "cache", "staging"),
    ("examine", "nearest", "ignores", "rule_page", "watch"),
    ("engine", "fixes", "part_cache"),
    ("narrowing", "rewriting"),
    ("upgrade",),
    ("report",),
    ("schemas", "programmatic", "server", "in_ipython"),
    ("pytest_plugin", "cli"),
)

# The rewrites: from the text of a file to the plan of a fix.
CODEMODS = (
    ("codemods.source",),
    ("codemods.facts",),
    ("codemods.purity",),
    ("codemods.registry",),
    ("codemods.stageable",),
    ("codemods.donation", "codemods.expressions", "codemods.statements"),
    ("codemods.tracers", "codemods.memory", "codemods.migration"),
    ("codemods.compilation",),
    ("codemods.loops",),
    ("codemods.conflicts", "codemods.plan"),
)


def layer_of(module: str, layers: tuple[tuple[str, ...], ...] = LAYERS) -> int | None:
    """The layer of a module of the engine, by the longest name that it lies below; None for what is in none."""
    fitting = [
        (len(name), number)
        for number, names in enumerate(layers)
        for name in names
        if reaches(module, f"jaxlint.{name}")
    ]
    return max(fitting)[1] if fitting else None


@pytest.mark.parametrize("layers", [LAYERS, USES, CODEMODS], ids=["analysis", "uses", "codemods"])
def test_imports_point_downward(layers: tuple[tuple[str, ...], ...]) -> None:
    wrong = [
        f"{module} imports {target}"
        for module, targets in graph_of(ENGINE).items()
        for target in targets
        if (here := layer_of(module, layers)) is not None
        and (there := layer_of(target, layers)) is not None
        and there > here
    ]
    assert not wrong, "\n".join(wrong)


def test_layers_are_told_apart() -> None:
    assert layer_of("jaxlint.staging.values.objects") == layer_of("jaxlint.staging.values")
    assert layer_of("jaxlint.staging.evaluator.calls") < layer_of("jaxlint.libraries.optax")  # type: ignore[operator]
    assert layer_of("jaxlint.cli.check") is None
    assert layer_of("jaxlint.narrowing.baseline", USES) < layer_of("jaxlint.cli.check", USES)  # type: ignore[operator]


def test_a_circle_is_seen() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == {"b", "c"}
