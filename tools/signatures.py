"""Lists the parameters of the public functions and classes of JAX, optax, flax, equinox and haiku, and of the methods of JAX's
arrays. Adds them to `jaxlint/jaxapi/data/signatures.txt`, which holds what any of the releases accepts that it was run with.

    python tools/signatures.py

A row is the name, how many arguments may be given by position, and the parameters in their order. `/x` has no keyword, and
`x!` is required in all of those releases. `**`: a release accepts any keyword.
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
NEIGHBOURS = (
    "optax optax.assignment optax.contrib optax.losses optax.monte_carlo optax.perturbations optax.projections "
    "optax.schedules optax.transforms optax.tree optax.tree_utils flax.core flax.jax_utils flax.linen "
    "flax.linen.initializers flax.linen.partitioning flax.metrics.tensorboard flax.nnx flax.nnx.initializers "
    "flax.serialization flax.struct flax.training.checkpoints flax.training.common_utils flax.training.early_stopping "
    "flax.training.train_state flax.traverse_util equinox equinox.debug equinox.nn haiku haiku.data_structures "
    "haiku.initializers haiku.nets haiku.pad"
)
# How many may be given by position, and the parameters in their order: `/x` has no keyword, `x!` is required.
Parameters = tuple[int, list[str]]
ANY: Parameters = (999, ["**"])


def signatures() -> Iterator[tuple[str, Parameters]]:
    """The parameters of each function."""
    for module in f"{MODULES} {NEIGHBOURS}".split():
        try:
            home = importlib.import_module(module)
        except Exception:  # an old release beside a new JAX fails in many ways
            if module in MODULES.split():
                raise
            continue
        for name in sorted(vars(home)):
            function = getattr(home, name, None)
            if not name.startswith("_") and callable(function) and _is_own(function, module):
                found = parameters_of(function)
                if found is not None:
                    yield f"{module}.{name}", found if module.startswith("jax") or _rejects(function) else ANY
    array = type(importlib.import_module("jax.numpy").zeros(1))
    for name in sorted(vars(array)):
        method = getattr(array, name, None)
        if not name.startswith("_") and callable(method):
            found = parameters_of(method)
            if found is not None and found is not ANY:
                yield f"jax.Array.{name}", (found[0] - 1, found[1][1:])


def _is_own(function: Callable[..., Any], module: str) -> bool:
    """Whether a library defines what its module has. Functions of JAX in it have rows under their own names."""
    home = getattr(function, "__module__", None) or ""
    return module.startswith("jax") or home.split(".")[0] == module.split(".")[0]


def _rejects(function: Callable[..., Any]) -> bool:
    """Whether a function refuses a keyword that it does not have: a wrapper may accept any, whatever signature it shows."""
    try:
        function(no_such_argument=1)
    except TypeError:
        return True
    except Exception:
        return False
    return False


def parameters_of(function: Callable[..., Any]) -> Parameters | None:
    """None where Python does not know. Any number by position counts as 999."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        if not isinstance(function, type) or function.__init__ is object.__init__:  # type: ignore[misc]
            return ANY
        found = parameters_of(function.__init__)  # type: ignore[misc]  # past the `__call__` of a metaclass
        return found if found is None or found is ANY else (found[0] - 1, found[1][1:])
    if isinstance(function, type) and issubclass(function, (BaseException, tuple)):
        return None
    many = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    named = [
        f"{'/' * (one.kind is one.POSITIONAL_ONLY)}{one.name}{'!' * (one.default is one.empty)}"
        for one in parameters
        if one.kind is not one.VAR_POSITIONAL
    ]
    by_position = sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters)
    return (999 if many else by_position), named


def read() -> dict[str, Parameters]:
    """What the file holds."""
    if not DATA.exists():
        return {}
    rows = (line.split() for line in DATA.read_text("utf-8").splitlines())
    return {name: (int(count), names) for name, count, *names in rows}


def merged(one: Parameters, other: Parameters) -> Parameters:
    """What either of two releases accepts. Required is what both require, at the same place if it has one."""
    if ANY in (one, other):
        return ANY
    first, second = ([name.removesuffix("!") for name in names] for _, names in (one, other))
    keywords = {name for name in (*first, *second) if not name.startswith("/")}
    names = [name[1:] if name[1:] in keywords else name for name in first]
    names += [
        name for name in second if name.lstrip("/") not in keywords.intersection(names) and name not in names
    ]
    both = {
        place
        for place, name in enumerate(one[1])
        if name.endswith("!")
        and (name in other[1][place : place + 1] or (place >= one[0] and name in other[1][other[0] :]))
    }
    return max(one[0], other[0]), [name + "!" * (place in both) for place, name in enumerate(names)]


def main() -> None:
    found = read()
    for name, row in signatures():
        found[name] = merged(found[name], row) if name in found else row
    lines = (f"{name} {count} {' '.join(names)}".rstrip() for name, (count, names) in sorted(found.items()))
    DATA.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
