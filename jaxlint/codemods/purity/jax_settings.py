"""JAX settings that a program changes, and under which a compiled function differs from eager code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import File, Program, function_around
from jaxlint.codemods.source.text_edits import shown_source

_SETTINGS = frozenset({"jax_enable_x64", "jax_default_matmul_precision", "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion", "jax_disable_jit", "jax_default_dtype_bits", "jax_enable_custom_prng", "jax_default_prng_impl", "jax_threefry_partitionable", "jax_default_device"})  # fmt: skip
_CHECKS = frozenset({"jax_debug_nans", "jax_debug_infs"})
_PROMOTION = "jax_numpy_dtype_promotion"
_GENERATOR = "jax_default_prng_impl"
_MAPPABLE = "threefry2x32"  # draws the same under `vmap` as key by key; `rbg` and `unsafe_rbg` do not
_KEYS = frozenset({"jax.random.key", "jax.random.PRNGKey", "jax.random.wrap_key_data"})
# A call that may change a setting: its name, the setting ("" if computed), and its place.
_Change = tuple[str, str, ast.Call, File]


def settings_changed(possible: PossibleValues) -> Iterator[str]:
    """Settings that a function changes, and so possibly halfway, and value checks; in words."""
    for name, setting, node, file in _changes(possible):
        changed = ""
        if name in ("jax.enable_x64", "jax.experimental.enable_x64"):
            changed = "jax_enable_x64"
        elif name == "jax.config.update" and setting in {*_SETTINGS, ""}:
            if function_around(node, file) is not None or _below_calls(node, file):
                changed = f"`{setting or 'a setting'}`"
        if changed:
            place = possible.program.place(file, node)
            yield f"depends on {changed}, which `{shown_source(node)}` changes at {place}"
    yield from values_checked(possible)


def values_checked(possible: PossibleValues) -> Iterator[str]:
    """Where a program enables NaN checks, in words. Eager code checks each result, compiled code only its outputs."""
    for setting in sorted(_CHECKS):
        for said, file in set_outside(possible.program, setting):
            place = possible.program.place(file, said)
            yield f"may run under `{setting}` (set at {place}), which checks no value inside a compiled function"
    for name, setting, node, file in _changes(possible):
        asked = {"jax.debug_nans": "jax_debug_nans", "jax.debug_infs": "jax_debug_infs"}.get(name, setting)
        given = node.args[-1] if node.args else None
        computed = name == "jax.config.update" and not setting
        if (asked in _CHECKS or computed) and not (isinstance(given, ast.Constant) and not given.value):
            place = possible.program.place(file, node)
            yield f"may run under `{asked or 'jax_debug_nans'}` (`{shown_source(node)}` at {place}), which checks no value inside a compiled function"


def promotion_chosen(possible: PossibleValues) -> Iterator[str]:
    """Where a program may disable dtype promotion in JAX, in words. A Python number still promotes then; the
    traced number in a JAX loop does not.
    """
    program = possible.program
    for said, file in set_outside(program, _PROMOTION):
        yield f"may run under `{_PROMOTION}` (set at {program.place(file, said)}), and a JAX loop turns Python numbers into arrays"
    for name, setting, node, file in _changes(possible):
        asked = name == "jax.numpy_dtype_promotion" or (
            name == "jax.config.update" and setting in (_PROMOTION, "")
        )
        if asked and getattr(node.args[-1] if node.args else None, "value", "") != "standard":
            place = program.place(file, node)
            yield f"may run under `{_PROMOTION}` (`{shown_source(node)}` at {place}), and a JAX loop turns Python numbers into arrays"


def generators_chosen(possible: PossibleValues) -> Iterator[str]:
    """Where a program may draw with another generator than the default one, in words."""
    program = possible.program
    for said, file in set_outside(program, _GENERATOR):
        yield f"set at {program.place(file, said)}"
    for name, setting, node, file in _changes(possible):
        given: list[ast.expr] = []
        if name == "jax.default_prng_impl" or (name == "jax.config.update" and setting in (_GENERATOR, "")):
            given = node.args[-1:]
        elif name in _KEYS:
            given = [*node.args[1:2], *(one.value for one in node.keywords if one.arg == "impl")]
        if given and getattr(given[0], "value", given[0]) not in (None, _MAPPABLE):
            yield f"set by `{shown_source(node)}` at {program.place(file, node)}"


def set_outside(program: Program, setting: str) -> Iterator[tuple[ast.AST, File]]:
    """Where a program mentions the environment variable of a setting, or passes the command line to JAX."""
    variables: dict[str, list[tuple[ast.AST, File]]] | None = program.memo.get("variables of JAX")
    if variables is None:
        program.memo["variables of JAX"] = variables = _variables(program)
    yield from variables.get(setting.upper(), ())
    for name in ("config_with_absl", "parse_flags_with_absl"):
        for file, call in program.calls.get(name, ()):
            yield call, file


def _variables(program: Program) -> dict[str, list[tuple[ast.AST, File]]]:
    """Where a program mentions each environment variable of JAX."""
    found: dict[str, list[tuple[ast.AST, File]]] = {}
    for file in program.files:
        for node in ast.walk(file.tree):
            name = node.value if isinstance(node, ast.Constant) else getattr(node, "arg", None)
            if isinstance(node, ast.Constant | ast.keyword) and isinstance(name, str):
                if name.startswith("JAX_"):
                    found.setdefault(name, []).append((node, file))
    return found


def _changes(possible: PossibleValues) -> list[_Change]:
    """Calls of JAX that may change a setting."""
    found: list[_Change] | None = possible.program.memo.get("calls of JAX")
    if found is None:
        possible.program.memo["calls of JAX"] = found = list(_calls_of_jax(possible))
    return found


def _calls_of_jax(possible: PossibleValues) -> Iterator[_Change]:
    for file in possible.program.files:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Call) and (name := possible.name_of(node.func, file)).startswith("jax."):
                first = node.args[0] if node.args else None
                yield name, str(first.value) if isinstance(first, ast.Constant) else "", node, file


def _below_calls(node: ast.AST, file: File) -> bool:
    """Whether a module statement comes after one that calls a function of the file."""
    statement = next((one for one in [node, *file.names.ancestors(node)] if one in file.tree.body), None)
    own = {one.name for one in file.tree.body if isinstance(one, ast.FunctionDef)}
    for other in file.tree.body:
        if other is statement:
            return False
        if isinstance(other, (ast.FunctionDef, ast.ClassDef, ast.If)):
            continue
        for part in ast.walk(other):
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in own:
                return True
    return False
