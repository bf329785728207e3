"""The history of JAX's names and parameters: when they were removed, and what replaces them.

The table covers every release from 0.4.24 on and samples of older ones. Names are spelled as in user code, not
canonicalised: it is the old spelling that was removed.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxlint.jaxapi.versions import VersionRange, parse_range, parse_version

NEWEST = "0.12.0.1"  # the newest release that the table knows
PRIVATE_SINCE = "0.10.2"
# The packages in the tables: what to install for them, and the newest release that was read.
PACKAGES = {
    "jax": ("jax", NEWEST),
    "flax": ("flax", "0.12.12"),
    "optax": ("optax", "0.2.8"),
    "chex": ("chex", "0.1.92"),
    "haiku": ("dm-haiku", "0.0.17"),
    "orbax": ("orbax-checkpoint", "0.12.8"),
}
_DATA = Path(__file__).with_name("data") / "api_history.jsonl"


@dataclass(frozen=True, slots=True)
class ApiChange:
    """One row of the history.

    `kind`: "removed", "moved" (the same name elsewhere), "deprecated" (still there), "signature" (a parameter),
    "recommendation" (nothing is wrong with the old name). `form`: "name", "module", "attribute", "keyword", "call",
    "config". `rewrite`: "rename", "rename+args" or "manual". `since` is the first version with `replacement`;
    `alternative` also works on older ones. The replacement needs an import of `module`. `warns` is True if the newest
    release warns about the name.
    """

    name: str
    kind: str
    form: str
    tier: str
    rewrite: str
    note: str = ""
    deprecated_in: str | None = None
    removed_in: str | None = None
    replacement: str | None = None
    alternative: str | None = None
    since: str | None = None
    module: str | None = None
    param: str | None = None
    param_replacement: str | None = None
    warns: bool = False
    private: str | None = None  # in releases from PRIVATE_SINCE on that still have it, under jax._src


@functools.cache
def _rows() -> list[dict[str, Any]]:
    """The rows as written; an ApiChange is created on demand."""
    text = _DATA.read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(f"[{','.join(text.splitlines())}]")
    return rows


@functools.cache
def all_changes() -> tuple[ApiChange, ...]:
    """Every row, the most used ones first."""
    return tuple(_change(index) for index in range(len(_rows())))


@functools.cache
def _change(index: int) -> ApiChange:
    return ApiChange(**_rows()[index])


@functools.cache
def _names() -> Mapping[str, int]:
    found: dict[str, int] = {}
    for index, row in enumerate(_rows()):
        if row["form"] in ("name", "module") or row["name"] in _STATIC_ATTRIBUTES:
            found.setdefault(row["name"], index)
    return found


@functools.cache
def _keywords() -> Mapping[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for index, row in enumerate(_rows()):
        parameter = row.get("param", "")
        if row["form"] == "keyword" and parameter.isidentifier():
            if (row["name"], parameter) not in _STILL_ACCEPTED:
                found.setdefault(row["name"], []).append(index)
    return {name: tuple(indices) for name, indices in found.items()}


# Attributes of differently typed objects that share one name, so that no type has to be known.
_STATIC_ATTRIBUTES = {
    "jax.config.FLAGS",
    *(f"jax.config.define_{kind}_state" for kind in ("bool", "enum", "int", "string")),
    "jax.config.enable_omnistaging",
    "jax.config.omnistaging_enabled",
    "jax.sharding.Mesh.__enter__",
}
# Rows about the meaning or value of a parameter that still exists.
_STILL_ACCEPTED = {
    ("jax.make_mesh", "axis_types"),
    ("jax.experimental.multihost_utils.process_allgather", "tiled"),
    ("jax.experimental.pallas.tpu.InterpretParams", "detect_races"),
    ("jax.experimental.pallas.tpu.InterpretParams", "out_of_bounds_reads"),
    ("jax.experimental.pallas.tpu.InterpretParams", "skip_floating_point_ops"),
    ("jax.experimental.pallas.tpu.InterpretParams", "uninitialized_memory"),
    ("jax.experimental.pallas.tpu.InterpretParams", "vector_clock_size"),
}


def lookup(qualified: str) -> ApiChange | None:
    """The change of the name or module `qualified` ("jax.tree_map"); None if the table does not contain it."""
    if not qualified.startswith("jax."):
        return _neighbours().get(qualified)
    index = _names().get(qualified)
    return None if index is None else _change(index)


@functools.cache
def neighbour_changes() -> tuple[ApiChange, ...]:
    """The rows about the libraries around JAX, from their own releases."""
    text = _DATA.with_name("neighbour_history.jsonl").read_text(encoding="utf-8")
    return tuple(ApiChange(**row) for row in map(json.loads, text.splitlines()))


@functools.cache
def _neighbours() -> Mapping[str, ApiChange]:
    return {change.name: change for change in neighbour_changes() if change.form in ("name", "module")}


@functools.cache
def _neighbour_keywords() -> Mapping[str, tuple[ApiChange, ...]]:
    found: dict[str, tuple[ApiChange, ...]] = {}
    for change in neighbour_changes():
        if change.form == "keyword":
            found[change.name] = (*found.get(change.name, ()), change)
    return found


def package_of(qualified: str) -> str | None:
    """The package in the tables that contains a dotted name."""
    package, dot, _ = qualified.partition(".")
    return package if dot and package in PACKAGES else None


@functools.cache
def _all_names() -> frozenset[str]:
    return frozenset(row["name"] for row in _rows())


def has_row(qualified: str) -> bool:
    """Whether the table mentions `qualified` in any form, including its parameters and options."""
    return qualified in _all_names()


def lookup_module(qualified: str) -> ApiChange | None:
    """The row of the innermost module that contains `qualified`, if it has one."""
    parent = qualified.rpartition(".")[0]
    while parent:
        change = lookup(parent)
        if change is not None:
            return change if change.form == "module" else None
        parent = parent.rpartition(".")[0]
    return None


def keyword_changes(qualified: str) -> tuple[ApiChange, ...]:
    """Parameters of the function `qualified` that no longer accept a keyword, or soon will not."""
    if not qualified.startswith("jax."):
        return _neighbour_keywords().get(qualified, ())
    return tuple(_change(index) for index in _keywords().get(qualified, ()))


def call_change(qualified: str) -> ApiChange | None:
    """The row about how `qualified` is called, beyond the names of its parameters."""
    if not qualified.startswith("jax."):
        return _neighbour_calls().get(qualified)
    index = _calls().get(qualified)
    return None if index is None else _change(index)


@functools.cache
def _neighbour_calls() -> Mapping[str, ApiChange]:
    return {change.name: change for change in neighbour_changes() if change.form == "call"}


@functools.cache
def _calls() -> Mapping[str, int]:
    return {row["name"]: index for index, row in enumerate(_rows()) if row["form"] == "call"}


@functools.cache
def gone_options() -> Mapping[str, ApiChange]:
    """Options of `jax.config` that some release removed, by name."""
    return {
        row["name"].rpartition(".")[2]: _change(index)
        for index, row in enumerate(_rows())
        if row["form"] == "config"
    }


@dataclass(frozen=True, slots=True)
class Target:
    """The versions of JAX that a program must run on."""

    range: VersionRange

    @staticmethod
    def of(specifier: str | None, package: str = "jax") -> Target:
        """The target for a version or specifier of a package; None means its newest release. Raises VersionError."""
        return _target(specifier, PACKAGES[package][1])

    def lacks(self, change: ApiChange) -> bool:
        """Whether some version of the target lacks the subject of `change`."""
        return change.removed_in is not None and self.range.reaches(parse_version(change.removed_in))

    def deprecates(self, change: ApiChange) -> bool:
        """Whether some version of the target still has it, but warns."""
        if self.lacks(change) or change.deprecated_in is None:
            return False
        return self.range.reaches(parse_version(change.deprecated_in))

    def has_since(self, version: str | None) -> bool:
        """Whether every version of the target is `version` or later; true for None."""
        return version is None or self.range.starts_at(parse_version(version))


@functools.cache
def _target(specifier: str | None, latest: str) -> Target:
    if specifier is None:
        return Target(parse_range(latest))
    found = parse_range(specifier)
    newest = parse_version(latest)
    if found.high is None or found.high > newest:
        # The table knows nothing about future versions.
        low = found.low
        high = newest if low is None or low <= newest else low
        return Target(VersionRange(low, high))
    return Target(found)


# Clearer than the notes in the table.
_ADVICE = {
    "jax.experimental.host_callback": "use `jax.debug.callback`, `jax.pure_callback` or `jax.experimental.io_callback`",
    "jax.api": "its names are those of `jax`",
    "jax.experimental.maps": "use `jax.shard_map`, and `jax.sharding.Mesh` for its `Mesh`",
    "jax.xla_computation": "use `jax.jit(f).lower(*args).compiler_ir('hlo')`",
    "jax.device_put_replicated": "stack copies and use `jax.device_put` with a NamedSharding",
    "jax.ops.index_update": "use `x.at[idx].set(y)`, with plain slices as `idx`",
    "jax.util.safe_map": "use `list(map(f, *xs))`, and assert equal lengths",
    "jax.util.safe_zip": "use `zip(*xs, strict=True)`",
}


def describe_replacement(change: ApiChange) -> str:
    """What to use instead, for people: a name, or the note."""
    if change.name in _ADVICE:
        return _ADVICE[change.name]
    if change.replacement and change.rewrite != "manual" and "->" not in change.note:
        return f"use {change.replacement}"
    if change.form == "module" and change.rewrite == "manual":
        rest = change.note.removeprefix("module").lstrip("; ")
        return "nothing replaces the module as a whole" + (
            f", {rest}" if rest and "members" not in rest else ""
        )
    if not change.note or change.note.startswith("no "):  # "no replacement named in message"
        return "nothing public replaces it"
    return change.note.removeprefix("message: ").replace("; ", ", ")
