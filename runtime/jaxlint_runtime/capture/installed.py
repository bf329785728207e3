"""The packages of the program's interpreter."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import sys
from importlib import metadata

_TOLD = ("jax", "jaxlib", "numpy", "flax", "optax", "equinox", "dm-haiku")


def packages_digest() -> str:
    """The digest of the interpreter and of the versions of all its packages."""
    found = {f"{one.metadata['Name']}=={one.version}" for one in metadata.distributions()}
    return hashlib.sha256(repr((sys.version, platform.platform(), sorted(found))).encode()).hexdigest()


def versions() -> dict[str, str]:
    """The versions that a report names."""
    found = {"python": platform.python_version()}
    for name in _TOLD:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
