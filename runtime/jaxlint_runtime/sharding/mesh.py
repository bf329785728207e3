"""The user's mesh (`data=4,model=2`): parsed and checked without jax, since the command line does it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass

MOST_DEVICES = 256  # simulated devices share one machine
DATA, MODEL, EXPERT = "data", "model", "expert"

_STAGES = frozenset(("stage", "stages", "pipe", "pipeline", "pp"))
# Customary names of mesh axes. With other names, the first axis is for data, the others for the model.
_KINDS = {
    DATA: frozenset("data batch dp fsdp replica replicas zero d".split()),  # noqa: SIM905
    EXPERT: frozenset(("expert", "experts", "ep")),
    MODEL: frozenset(("model", "tensor", "tp", "mp", "mdl", "sequence", "seq", "sp", "m", *_STAGES)),
}


class BadMesh(ValueError):
    """A mesh that cannot be parsed or does not fit; the message is one line and says what to write."""


@dataclass(frozen=True, slots=True)
class MeshShape:
    """Names and sizes of the axes of a mesh, the outermost first."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def devices(self) -> int:
        """The number of devices that it needs."""
        return math.prod(self.sizes)

    def size(self, axes: tuple[str, ...]) -> int:
        """The number of parts when split over `axes`."""
        return math.prod(self.sizes[self.names.index(name)] for name in axes)

    def of_kind(self, kind: str) -> tuple[str, ...]:
        """The axes with more than one device for "data", "model" or "expert"."""
        return tuple(name for name in self.split if self.kind(name) == kind)

    @property
    def split(self) -> tuple[str, ...]:
        """The axes with more than one device."""
        return tuple(name for name, size in zip(self.names, self.sizes, strict=True) if size > 1)

    @property
    def stages(self) -> tuple[str, ...]:
        """The axes with more than one device whose name means a pipeline."""
        return tuple(name for name in self.split if name.lower() in _STAGES)

    def kind(self, name: str) -> str:
        """The purpose of an axis, by its name."""
        known = {one: kind for one in self.names for kind, names in _KINDS.items() if one.lower() in names}
        if name in known:
            return known[name]
        first = next((one for one in self.names if one not in known), None)
        return DATA if name == first and DATA not in known.values() else MODEL

    def __str__(self) -> str:
        return ",".join(f"{name}={size}" for name, size in zip(self.names, self.sizes, strict=True))


def parse_mesh(text: str) -> MeshShape:
    """Read `data=4,model=2`. Raises BadMesh."""
    axes: dict[str, int] = {}
    for part in text.split(","):
        found = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=\s*(-?\d+)\s*", part)
        if found is None:
            raise BadMesh(
                f"{text!r}: write the axes of the mesh as NAME=SIZE,NAME=SIZE, as in data=4,model=2"
            )
        name, size = found[1], int(found[2])
        if size < 1:
            raise BadMesh(f"{text!r}: the axis {name} has {size} devices; each axis needs at least 1")
        if name in axes:
            raise BadMesh(f"{text!r}: the axis {name} is named twice")
        axes[name] = size
    mesh = MeshShape(tuple(axes), tuple(axes.values()))
    if mesh.devices < 2:
        raise BadMesh(f"{text!r}: a mesh needs 2 devices or more")
    if mesh.devices > MOST_DEVICES:
        raise BadMesh(f"{text!r}: needs {mesh.devices} devices, and at most {MOST_DEVICES} are simulated")
    return mesh


def simulate(environment: MutableMapping[str, str], axes: Iterable[tuple[str, int]]) -> None:
    """Gives a process as many simulated CPU devices as a mesh needs, and enables the compiler's warnings."""
    devices = math.prod(size for _, size in axes)
    flags = f"{environment.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
    environment["XLA_FLAGS"] = flags.strip()
    environment["JAX_PLATFORMS"] = "cpu"
    environment["TF_CPP_MIN_LOG_LEVEL"] = "1"


def check_target(mesh: MeshShape, name: str, compile_only: bool, platform: str, chips: int) -> None:
    """Checks that a target has as many devices as the mesh needs. Raises BadMesh."""
    if not compile_only and platform != "cpu":
        raise BadMesh(
            f"--mesh {mesh}: needs simulated devices (--target cpu) or a topology such as tpu:v5e-2x4, not {name}"
        )
    if compile_only and chips != mesh.devices:
        raise BadMesh(f"--mesh {mesh}: needs {mesh.devices} devices, and {name} has {chips}")
