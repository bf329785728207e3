"""Optional output about versions: their text in three forms, and profiler traces of calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jaxlint_runtime.lowering.function_versions import Staged, StagingError, placed
from jaxlint_runtime.wording.paths import file_name

_STAGES = {"jaxpr": "jaxpr.txt", "stablehlo": "stablehlo.mlir", "hlo": "hlo.txt"}
_TRACED_CALLS = 3


def dump(folder: Path, qualname: str, line: int, target: str, version: str, staged: Staged) -> None:
    """Writes jaxpr, StableHLO and optimised HLO to FOLDER/FUNCTION-LINE/TARGET/VERSION. Raises OSError.

    A stage that the version does not reach gets a file with the reason.
    """
    place = _folder(folder, qualname, line, target, version)
    for stage, name in _STAGES.items():
        try:
            text = staged.text(stage)
        except StagingError as error:
            text = f"{error}\n"
        (place / name).write_text(text, encoding="utf-8")


def trace(folder: Path, qualname: str, line: int, target: str, version: str, staged: Staged) -> None:
    """Profiles a few calls on the captured inputs and writes the trace to FOLDER/FUNCTION-LINE/TARGET/VERSION.

    The profiler adds a folder named by date and time, so that later traces do not replace earlier ones. A version for
    a compile-only target is left out. Raises OSError and StagingError.
    """
    import jax

    if staged.target.compile_only:
        return
    place = _folder(folder, qualname, line, target, version)
    compiled, values = staged.compiled, [leaf.value for leaf in staged.bound.leaves]

    def inputs() -> Any:
        return staged.bound.dynamic(placed(staged.bound, values, staged.target))

    args, kwargs = inputs()
    jax.block_until_ready(compiled(*args, **kwargs))  # the first call may still do set-up work
    prepared = [inputs() for _ in range(_TRACED_CALLS)]
    with jax.profiler.trace(str(place), create_perfetto_trace=True):
        for number, (args, kwargs) in enumerate(prepared):
            with jax.profiler.StepTraceAnnotation(qualname, step_num=number):
                jax.block_until_ready(compiled(*args, **kwargs))


def serve_profiler(port: int) -> str | None:
    """Lets XProf connect to this process; returns the reason if it cannot, otherwise None."""
    import jax

    try:
        jax.profiler.start_server(port)
    except Exception as error:
        return f"no profiler on port {port}: {str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__}"
    return None


def _folder(folder: Path, qualname: str, line: int, target: str, version: str) -> Path:
    names = (f"{qualname}-{line}", target, version)
    place = folder.joinpath(*map(file_name, names))
    place.mkdir(parents=True, exist_ok=True)
    return place
