"""The same placement in the form of the framework that the parameters come from: linen's and nnx's `with_partitioning`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jaxlint_runtime.sharding.classes import Classes
from jaxlint_runtime.sharding.strategies import Strategy


def framework(classes: Classes, nnx: bool) -> str | None:
    """ "nnx" or "linen" by the function's own kind and the paths of its parameters; None for plain trees."""
    paths = [one.keys for entry in classes.parameters for one in entry.members]
    if nnx or (paths and all(keys[-1] == "value" for keys in paths)):
        return "nnx"
    keys = {key for entry in classes.parameters for one in entry.members for key in one.keys}
    return "linen" if "params" in keys and keys & {"kernel", "embedding", "scale"} else None


def lines(strategy: Strategy, classes: Classes, which: str) -> Iterator[str]:
    """One line for each class that is split: where the initializer is given, and as what."""
    for number, entry in enumerate(classes.parameters):
        spec = strategy.used.get(number) or strategy.spec(classes, number)
        if not any(spec) or not entry.members:
            continue
        keys = [key for key in entry.members[0].keys if key not in ("value", "raw_value")]
        leaf = keys[-1]
        initializer = {
            "kernel": "kernel_init",
            "embedding": "embedding_init",
            "bias": "bias_init",
            "scale": "scale_init",
        }.get(leaf, f"{re.sub(chr(92) + 'W', '_', leaf)}_init")
        names = tuple(axes[0] if len(axes) == 1 else (axes or None) for axes in spec)
        module = "nnx" if which == "nnx" else "nn"
        yield f"{entry.name}: {initializer}={module}.with_partitioning(init, {names!r})"
