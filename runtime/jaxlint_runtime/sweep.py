"""`--sizes batch=16,64,256`: the same verification for each size, to show how a gain grows."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxlint_runtime.optimiser_settings import PROGRAM, TRANSFORMS
from jaxlint_runtime.proof.gain import gain_of
from jaxlint_runtime.protocol.report_forms import ResultJson, before_and_after
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.request import CannotRun, Request, validate
from jaxlint_runtime.run import Listener
from jaxlint_runtime.verify import Verification

_MOST = 16  # each is a separate run


def points(sizes: Mapping[str, Sequence[int]]) -> list[dict[str, int]]:
    """Every combination of the sizes, in the given order. Raises CannotRun if there are too many."""
    count = math.prod(len(values) for values in sizes.values())
    if count > _MOST:
        raise CannotRun(f"--sizes: {count} combinations need as many runs; at most {_MOST} are allowed")
    return [dict(zip(sizes, values, strict=True)) for values in itertools.product(*sizes.values())]


def request_at(request: Request, point: Mapping[str, int], sizes: Mapping[str, Sequence[int]]) -> Request:
    """The request for one point: `{batch}` in the program's arguments is replaced; otherwise it is a named dimension."""
    arguments = tuple(_filled(argument, point) for argument in request.arguments)
    transforms = tuple(name for name in request.transforms or TRANSFORMS if name not in PROGRAM)
    dims = request.dims if _in_arguments(request, sizes) else {**request.dims, **point}
    return dataclasses.replace(
        request, arguments=arguments, dims=dims, transforms=transforms, costs=True, source_first=False
    )


def _filled(argument: str, point: Mapping[str, int]) -> str:
    for name, value in point.items():
        argument = argument.replace(f"{{{name}}}", str(value))
    return argument


def _in_arguments(request: Request, sizes: Mapping[str, Sequence[int]]) -> bool:
    return any(f"{{{name}}}" in argument for name in sizes for argument in request.arguments)


def check_sweep(request: Request, sizes: Mapping[str, Sequence[int]]) -> None:
    """Checks the sizes before anything starts. Raises CannotRun."""
    named = [name for name in sizes if any(f"{{{name}}}" in argument for argument in request.arguments)]
    if named and len(named) < len(sizes):
        missing = next(name for name in sizes if name not in named)
        raise CannotRun(f"--sizes {missing}: the arguments of the program have no {{{missing}}}")
    if whole := next((name for name in request.transforms or () if name in PROGRAM), None):
        raise CannotRun(f"--sizes tries candidates of functions; leave out --transform {whole}")
    for point in points(sizes)[:1]:
        validate(request_at(request, point, sizes))


def sweep(request: Request, listener: Listener, sizes: Mapping[str, Sequence[int]]) -> Verification:
    """Verifies at each point. Returns the last verification, whose document has the `sizes` of all."""
    rows: list[dict[str, Any]] = []
    last: Verification | None = None
    problems: list[str] = []
    for point in points(sizes):
        name = label(point)
        listener.note(f"with {name}")
        last = Verification(request_at(request, point, sizes), listener)
        document = last.run()
        rows += rows_of(document, point)
        problems += [f"{name}: {message}" for message in document.errors]
        if document.interrupted or not document.ran:
            break
    assert last is not None
    last.document.sizes = rows
    last.document.errors = list(dict.fromkeys(problems))
    return last


def label(point: Mapping[str, int]) -> str:
    """The description of a point."""
    return ", ".join(f"{name}={value}" for name, value in point.items())


def rows_of(document: Document, point: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """The figures of one run for each original function and each candidate."""
    for target, result in document.results:
        if result["after"] is None:
            continue
        before, after = result["before"], result["after"]
        yield {
            "dims": dict(point),
            "target": target,
            **{key: result[key] for key in ("function", "path", "line", "candidate", "status", "speedup")},
            "before": before,
            "after": after,
            "gain": gain_of(result).as_json(),
            "ratio": "" if (time := gain_of(result).time) is None else time.cell,
            "break_even_calls": break_even(result),
        }


def break_even(result: ResultJson) -> int | None:
    """The number of calls that win back a version's longer compile time; 0 if that is not longer.

    None without a proven gain in time.
    """
    if result["status"] != "verified" or not gain_of(result).faster:
        return None
    (time, faster), (compile_s, longer_s) = (
        before_and_after(result, name) for name in ("time_ms", "compile_s")
    )
    if not time or not faster or compile_s is None or longer_s is None:
        return None
    longer = longer_s - compile_s
    saved = (time["median"] - faster["median"]) / 1e3
    if longer <= 0:
        return 0
    return math.ceil(longer / saved) if saved > 0 else None
