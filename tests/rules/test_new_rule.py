"""The skeleton of a new rule is a rule: it loads, is documented, and fails only for what has to be filled in."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

from jaxlint.registry import all_rules
from jaxlint.rule import Rule
from jaxlint.source.read import source_from_bytes
from jaxlint.staging import analyze
from tools.new_rule import EVENTS, BadRule, next_code, skeleton, write


def load(path: Path) -> type[Rule]:
    spec = importlib.util.spec_from_file_location(f"skeleton_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    (rule,) = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Rule) and value is not Rule
    ]
    return rule


def test_the_skeleton_is_a_rule_that_runs(tmp_path: Path) -> None:
    path = write("slow-thing", "transfer", tmp_path, event="on_iteration")
    assert path == tmp_path / "transfer" / "slow_thing.py"
    rule = load(path)
    assert (rule.name, rule.category, rule.code) == ("slow-thing", "transfer", next_code("transfer"))
    assert rule.preview
    for section in ("## What it does", "## Why is this bad?", "## Use instead", "## When not to fix"):
        assert section in rule.documentation()
    marked, plain = rule.examples
    assert [file.name for file in sorted((path.parent / "specimens" / "slow-thing").iterdir())] == [
        "reported.py",
        "silent.py",
    ]
    assert "# finding" in marked.code
    assert "# finding" not in plain.code
    source = source_from_bytes(marked.code.encode(), tmp_path / "program.py", "program.py")
    analysis = analyze([source], [rule()])
    assert not analysis.errors
    assert not analysis.findings


@pytest.mark.parametrize("event", sorted(EVENTS))
def test_every_event_gives_a_module(event: str) -> None:
    tree = ast.parse(skeleton("slow-thing", "memory", event=event))
    (cls,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert event in [node.name for node in cls.body if isinstance(node, ast.FunctionDef)]


def test_codes_are_free() -> None:
    assert next_code("tracing") not in {rule.code for rule in all_rules()}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("Slow Thing", {}, "no name of a rule"),
        ("key-reuse", {}, "already"),
        ("slow-thing", {"code": "JAX101"}, "is taken"),
        ("slow-thing", {"code": "nonsense"}, "no code"),
    ],
)
def test_what_cannot_be_made(name: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(BadRule, match=message):
        skeleton(name, "random", **options)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = write("slow-thing", "random", tmp_path)
    path.write_text("mine")
    with pytest.raises(BadRule, match="exists"):
        write("slow-thing", "random", tmp_path)
    assert path.read_text() == "mine"
    path.unlink()
    with pytest.raises(BadRule, match="slow-thing exists"):
        write("slow-thing", "random", tmp_path)
