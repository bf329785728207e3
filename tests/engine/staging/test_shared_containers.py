"""What is put into one container is not in another, and what is remembered stays as it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jaxlint.registry import all_rules
from jaxlint.source.read import read_source
from jaxlint.staging import analyze, values
from jaxlint.staging.evaluator.function_calls import FunctionCalls
from jaxlint.staging.evaluator.function_records import FunctionRecord
from jaxlint.staging.values import DictValue, Instance, ListValue, Static, TupleValue, Value, store_key
from tests.helpers.projects import findings_in

PROGRAMS = Path(__file__).parents[2] / "programs"

SEPARATE = """import copy
import jax
import jax.numpy as jnp


class Box:
    def __init__(self):
        self.items = []
        self.n = 1


def make():
    return []


def table():
    return {"n": 1}


def box():
    return Box()


def pair():
    return [], {"n": 1}


@jax.jit
def lists(x):
    a = make()
    a.append(x)
    b = make()
    b.append(1)
    if b[0] > 0:
        return x
    return a[0]


@jax.jit
def dicts(x):
    a = table()
    a["n"] = x
    b = table()
    if b["n"] > 0:
        return x


@jax.jit
def boxes(x):
    a = box()
    a.n = x
    a.items.append(x)
    b = box()
    if b.n > 0:
        x = x + 1
    b.items.append(1)
    if b.items[0] > 0:
        return x


@jax.jit
def pairs(x):
    a, t = pair()
    a.append(x)
    t["n"] = x
    b, u = pair()
    b.append(1)
    if b[0] > 0:
        x = x + 1
    if u["n"] > 0:
        return x


@jax.jit
def copies(x):
    a = [1]
    b = a.copy()
    c = list(a)
    d = a[:]
    e = copy.copy(a)
    a[0] = x
    a.append(x)
    if b[0] > 0:
        x = x + 1
    if c[0] > 0:
        x = x + 1
    if d[0] > 0:
        x = x + 1
    if e[0] > 0:
        x = x + 1
    return x


@jax.jit
def copies_of_dicts(x):
    a = {"n": 1}
    b = a.copy()
    c = dict(a)
    d = {**a}
    e = a | {"m": 1}
    f = dict(a, m=1)
    g = dict(a, n=2)
    a["n"] = x
    if b["n"] > 0:
        x = x + 1
    if c["n"] > 0:
        x = x + 1
    if d["n"] > 0:
        x = x + 1
    if e["n"] > 0:
        x = x + 1
    if f["n"] > 0:
        x = x + 1
    if g["n"] > 0:
        x = x + 1
    return x


def default(x, seen=()):
    seen = list(seen)
    seen.append(x)
    return seen


@jax.jit
def branches(x, flag=None):
    a = [1]
    if flag:
        b = [*a]
        b.append(x)
    else:
        a.append(2)
    if a[0] > 0:
        return x


lists(jnp.ones(3))
"""

SHARED = """
import jax
import jax.numpy as jnp

TABLE = {"n": 1}


class Box:
    def __init__(self):
        self.items = [1]

    def held(self):
        return self.items


def table():
    return TABLE


@jax.jit
def written_through_a_call(x):
    table()["n"] = x
    if TABLE["n"] > 0:  # it is
        return x


@jax.jit
def written_through_a_method(x):
    box = Box()
    box.held()[0] = x
    box.held().append(x)
    if box.items[0] > 0:  # it is
        return x
"""


def test_each_call_gives_containers_of_its_own(tmp_path: Path) -> None:
    assert findings_in(tmp_path, {"program.py": SEPARATE}) == []


def test_what_a_call_hands_out_is_the_object_itself(tmp_path: Path) -> None:
    found = findings_in(tmp_path, {"program.py": SHARED})
    lines = [finding.span.line for finding in found if finding.name == "tracer-branch"]
    assert [SHARED.strip().splitlines()[line - 1].endswith("# it is") for line in lines] == [True, True]


def test_the_optional_keys_of_a_copy_are_its_own(tmp_path: Path) -> None:
    program = """
import jax

def f(flag, more):
    options = {}
    if flag:
        options["a"] = 1
    copy = dict(options, b=2)
    return options, copy

made = f(flag, more)
"""
    (tmp_path / "program.py").write_text(program)
    with watched_fields() as wrong:
        analyze([read_source(tmp_path / "program.py", "program.py")], [rule() for rule in all_rules()])
    assert wrong == []
    base = DictValue({"a": Static(1)}, optional=frozenset({"a"}))
    copy = dataclasses.replace(base, items=dict(base.items))
    store_key(copy, "b", Static(2), conditional=True)
    store_key(copy, "a", Static(2), conditional=False)
    assert base.optional == {"a"}
    assert copy.optional == {"b"}


# -- over whole programs

_IMMUTABLE = {"frozenset": frozenset, "tuple": tuple}


class watched_fields:
    """Meanwhile every value is asked whether its fields that are declared not to change in place are such."""

    def __enter__(self) -> list[str]:
        self.wrong: list[str] = []
        self.patch = pytest.MonkeyPatch()
        for kind in vars(values).values():
            if isinstance(kind, type) and issubclass(kind, Value) and dataclasses.is_dataclass(kind):
                declared = {
                    field.name: _IMMUTABLE[str(field.type).partition("[")[0]]
                    for field in dataclasses.fields(kind)
                    if str(field.type).partition("[")[0] in _IMMUTABLE
                }
                if declared and not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
                    self.patch.setattr(kind, "__setattr__", self.checking(kind, declared), raising=False)
        return self.wrong

    def checking(self, kind: type, declared: dict[str, type]) -> Callable[[Any, str, Any], None]:
        def assigned(value: Any, name: str, given: Any) -> None:
            expected = declared.get(name)
            if expected is not None and type(given) is not expected:
                self.wrong.append(f"{kind.__name__}.{name} is a {type(given).__name__}")
            object.__setattr__(value, name, given)

        return assigned

    def __exit__(self, *_: object) -> None:
        self.patch.undo()


def contents(value: Value, since: int, seen: dict[int, int]) -> Iterator[object]:
    """What a remembered value holds, in containers that its call has made."""
    if id(value) in seen:
        yield seen[id(value)]
        return
    seen[id(value)] = len(seen)
    yield type(value).__name__
    parts: list[Value] = []
    if isinstance(value, TupleValue):
        parts = value.items or []
    elif isinstance(value, (ListValue, DictValue, Instance)) and value.serial >= since:
        if isinstance(value, ListValue):
            parts = [*(value.items or ()), value.element]
            yield None if value.items is None else len(value.items)
        elif isinstance(value, DictValue):
            parts = [*value.items.values(), *([value.element] if value.element is not None else [])]
            yield tuple(map(repr, value.items))
            yield tuple(sorted(map(repr, value.optional)))
        else:
            parts = list(value.fields.values())
            yield tuple(value.fields)
    else:
        return
    for part in parts:
        yield from contents(part, since, seen)


def test_what_is_remembered_of_a_call_never_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate = FunctionCalls.evaluate_call
    remembered: list[tuple[FunctionRecord, int, int, list[object]]] = []

    def evaluated(self: Any, record: FunctionRecord, key: int, *args: Any) -> Value:
        result = evaluate(self, record, key, *args)
        since = record.made.get(key)
        if since is not None:
            remembered.append((record, key, since, list(contents(record.memo[key][0], since, {}))))
        return result

    monkeypatch.setattr(FunctionCalls, "evaluate_call", evaluated)
    for number, text in enumerate((SEPARATE, SHARED)):
        (tmp_path / f"written_{number}.py").write_text(text)
    paths = [*sorted(PROGRAMS.rglob("*.py"))[::20], *sorted(tmp_path.glob("*.py"))]
    with watched_fields() as wrong:
        for path in paths:
            analyze([read_source(path, path.name)], [rule() for rule in all_rules()])
    assert sorted(set(wrong)) == []
    assert len(remembered) > 15
    latest = {(record, key): (since, before) for record, key, since, before in remembered}
    changed = [
        f"{record.function.qualname} of {record.function.module.display}"
        for (record, key), (since, before) in latest.items()
        if list(contents(record.memo[key][0], since, {})) != before
    ]
    assert changed == []
