"""Lists the parameters of array functions that JAX wants static: those that its own `jit` takes as static, and those whose
types are numbers, switches, texts or shapes and no arrays. Writes `jaxlint/jaxapi/data/static_options.txt`.

    python tools/static_options.py
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "jaxlint" / "jaxapi" / "data" / "static_options.txt"
MODULES = (
    "jax.numpy jax.numpy.linalg jax.numpy.fft jax.nn jax.lax jax.lax.linalg jax.random jax.ops jax.image jax.scipy.fft "
    "jax.scipy.integrate jax.scipy.interpolate jax.scipy.linalg jax.scipy.ndimage jax.scipy.optimize jax.scipy.signal "
    "jax.scipy.sparse.linalg jax.scipy.spatial.transform jax.scipy.special jax.scipy.stats jax.scipy.cluster.vq"
)
# What the type of a static parameter is made of.
_WORDS = frozenset({"int", "bool", "str", "None", "Sequence", "tuple", "Shape", "DTypeLike", "Literal", "Optional", "Union", "Axis", "PrecisionLike", "DimSize", "dtype", "DType"})  # fmt: skip


def static_options() -> Iterator[str]:
    """A line for each function: its name, then position and name of each of its static parameters."""
    for module in MODULES.split():
        home = importlib.import_module(module)
        for name in sorted(vars(home)):
            function = getattr(home, name, None)
            if name.startswith("_") or isinstance(function, type) or not callable(function):
                continue
            found = _of(function)
            if found:
                yield f"{module}.{name} {' '.join(found)}"


def _of(function: Any) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    info = getattr(function, "_jit_info", None)
    names = set(getattr(info, "static_argnames", None) or ())
    return [
        f"{number if one.kind is not one.KEYWORD_ONLY else '-'}:{one.name}"
        for number, one in enumerate(parameters.values())
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        and (one.name in names or _is_static(str(one.annotation)))
    ]


def _is_static(annotation: str) -> bool:
    words = set(re.findall(r"\w+", re.sub(r"'[^']*'|\"[^\"]*\"", " ", annotation)))
    return bool(words - {"None"}) and words <= _WORDS


def main() -> None:
    DATA.write_text("".join(f"{line}\n" for line in static_options()), encoding="utf-8")


if __name__ == "__main__":
    main()
