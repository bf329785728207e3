"""The walls inside `jaxlint_runtime`: each of its folders imports from those below it alone, for a type checker's eyes included."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.test_walls import RUNTIME, imports_in, imports_of

# From the bottom to the top. A folder, or a module beside them, may import from those in lines above its own, and from its own folder.
LAYERS = (
    "compat deferred_imports job_step model optimiser_settings spent targets timing_noise wording",
    "protocol source_analysis",
    "request proof_cache",
    "lowering",
    "inspection",
    "programs",
    "kernels",
    "transforms",
    "proof",
    "exported",
    "capture",
    "across inputs",
    "lockstep",
    "sharding report",
    "run",
    "workers",
    "engines",
    "lockstep_run rewrites",
    "verify",
    "across_run apply sweep",
    "api",
)
# Modules that still import from above, and what. It may only become shorter.
STILL_WRONG: frozenset[tuple[str, str]] = frozenset()

ROOMS = {name: number for number, names in enumerate(LAYERS) for name in names.split()}


def room(module: str) -> str:
    """The folder of the runtime in which a module lies, or its own name where it lies in none."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def upward(module: str, target: str) -> bool:
    """Whether a module of the runtime reaches for one of another room that is not below it."""
    if not target.startswith("jaxlint_runtime.") or room(target) not in ROOMS:
        return False
    own, other = room(module), room(target)
    return own != other and ROOMS[other] >= ROOMS[own]


def test_every_folder_of_the_runtime_has_its_layer() -> None:
    found = {
        path.stem for path in RUNTIME.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert found - {"__init__"} == set(ROOMS)


def test_imports_of_the_runtime_point_downward() -> None:
    inside = [one for one in imports_in(RUNTIME, types=True) if one.module != "jaxlint_runtime"]
    wrong = {(one.module, room(one.target)): one for one in inside if upward(one.module, one.target)}
    new = [str(one) for place, one in wrong.items() if place not in STILL_WRONG]
    assert not new, "\n".join(new)
    mended = STILL_WRONG - set(wrong)
    assert not mended, f"take these out of STILL_WRONG: {sorted(mended)}"


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("from jaxlint_runtime.workers.process import Death", True),
        ("from jaxlint_runtime import verify", True),
        ("if TYPE_CHECKING:\n    from jaxlint_runtime.run import Run", True),
        ("def late():\n    from jaxlint_runtime.sharding import shard_function", True),
        ("from jaxlint_runtime.proof import gain", False),
        ("from jaxlint_runtime.lowering.function_versions import Staged", False),
        ("from jaxlint_runtime import compat", False),
        ("import jax", False),
    ],
)
def test_an_import_from_above_is_seen(source: str, wrong: bool) -> None:
    module = "jaxlint_runtime.proof.candidate_proof"
    assert any(upward(module, one.target) for one in imports_of(source, module, types=True)) is wrong


def test_no_two_modules_of_the_runtime_have_one_name() -> None:
    names: dict[str, list[Path]] = {}
    for path in RUNTIME.rglob("*.py"):
        if path.name != "__init__.py":
            names.setdefault(path.name, []).append(path.relative_to(RUNTIME))
    twice = {name for name, paths in names.items() if len(paths) > 1}
    assert twice == {"api.py"}  # what a notebook calls: of the runtime, and of its kernels
