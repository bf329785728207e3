"""Lists the parameters of JAX's public functions and classes, and of the methods of its arrays. Adds them to
`jaxlint/jaxapi/data/signatures.txt`, which holds what any of the releases accepts that it was run with.

    python tools/signatures.py
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "jaxlint" / "jaxapi" / "data" / "signatures.txt"
MODULES = (
    "jax jax.debug jax.dtypes jax.image jax.lax jax.lax.linalg jax.nn jax.nn.initializers jax.numpy jax.numpy.fft "
    "jax.numpy.linalg jax.ops jax.random jax.scipy.cluster.vq jax.scipy.fft jax.scipy.integrate jax.scipy.interpolate "
    "jax.scipy.linalg jax.scipy.ndimage jax.scipy.optimize jax.scipy.signal jax.scipy.sparse.linalg "
    "jax.scipy.spatial.transform jax.scipy.special jax.scipy.stats jax.sharding jax.tree jax.tree_util"
)
Parameters = tuple[int, list[str]]  # how many may be given by position, and all names


def signatures() -> Iterator[tuple[str, Parameters]]:
    """The parameters of each function that takes no others."""
    for module in MODULES.split():
        home = importlib.import_module(module)
        for name in sorted(vars(home)):
            function = getattr(home, name, None)
            if not name.startswith("_") and callable(function):
                found = parameters_of(function)
                if found is not None:
                    yield f"{module}.{name}", found
    array = type(importlib.import_module("jax.numpy").zeros(1))
    for name in sorted(vars(array)):
        method = getattr(array, name, None)
        if not name.startswith("_") and callable(method):
            found = parameters_of(method)
            if found is not None:
                yield f"jax.Array.{name}", (found[0] - 1, found[1][1:])


def parameters_of(function: Callable[..., Any]) -> Parameters | None:
    """None where Python does not know, or any keyword is accepted. Any number by position counts as 999."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    if isinstance(function, type) and issubclass(function, (BaseException, tuple)):
        return None
    many = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    named = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    by_position = sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters)
    return (999 if many else by_position), named


def read() -> dict[str, Parameters]:
    """What the file holds."""
    if not DATA.exists():
        return {}
    rows = (line.split() for line in DATA.read_text("utf-8").splitlines())
    return {name: (int(count), names) for name, count, *names in rows}


def main() -> None:
    found = read()
    for name, (count, names) in signatures():
        before = found.get(name, (0, []))
        found[name] = max(count, before[0]), [*names, *(one for one in before[1] if one not in names)]
    lines = (f"{name} {count} {' '.join(names)}".rstrip() for name, (count, names) in sorted(found.items()))
    DATA.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
