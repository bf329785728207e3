"""The artefacts of one captured function for the processes that measure it: programs exported by JAX, and inputs.

Everything is flat: a program takes the leaves of its arguments and returns the leaves of its results, so no user
class is needed.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export

from jaxlint_runtime.inspection.captured_constants import Constant
from jaxlint_runtime.inspection.jaxpr_facts import Traced
from jaxlint_runtime.inspection.updates import Update
from jaxlint_runtime.transforms import Candidate

RECORD = "record.pickle"
_CONFIG = ("jax_enable_x64", "jax_platforms", "jax_num_cpu_devices", "jax_default_prng_impl")


class NotExported(Exception):
    """Something cannot be exported; the message gives the reason, as a sentence without its full stop."""


class Unusable(Exception):
    """A stored function cannot be used here; the message says why, as a sentence without its full stop."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A sharding by device numbers; without axes it is one device."""

    devices: tuple[int, ...]
    shape: tuple[int, ...] = ()
    axes: tuple[str, ...] = ()
    spec: tuple[Any, ...] = ()
    memory_kind: str | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """One leaf. A random key is stored as its data, with the name of its implementation in `key`."""

    path: str
    label: str
    value: Any
    key: str | None
    shape: tuple[int, ...]
    dtype: Any
    weak_type: bool
    placement: Placement | None


@dataclass(slots=True)
class Kept:
    """One version. `files` are artefacts by role: `target`, `run`, `gradients`, and `NAME.wide` in float64. `missing`
    gives the reason for each missing one: it could not be traced. `notes` are the results of `Transform.evidence`,
    or its exceptions."""

    files: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)  # of tracing and lowering
    traced: Traced | None = None
    notes: list[str] = field(default_factory=list)
    refused: str | None = None


@dataclass(slots=True)
class Record:
    """One function for one target."""

    function: dict[str, Any]  # qualname, path, line, findings
    target: str
    inputs: list[Input]
    donated: tuple[bool, ...]
    outputs: tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]  # paths and groups
    updates: tuple[Update, ...]
    constants: tuple[Constant, ...]
    dtype: str
    differentiates: bool
    versions: dict[tuple[str, ...], Kept]  # by the sorted names of the candidates, without donation
    candidates: dict[str, tuple[str, Candidate]]  # by name: the transformation and the candidate
    donations: dict[str, tuple[bool, ...]]  # by name of those that donate: the leaves
    config: dict[str, Any]


def config() -> dict[str, Any]:
    """The JAX settings that the measuring process must have too."""
    values = {name: getattr(jax.config, name, None) for name in _CONFIG}
    return {name: value for name, value in values.items() if value is not None}


def configure(settings: Mapping[str, Any]) -> None:
    """Applies the settings of `config`, before a backend starts."""
    for name, value in settings.items():
        if getattr(jax.config, name, None) != value:
            jax.config.update(name, value)


def write(record: Record, folder: Path) -> str:
    """Writes the record beside its artefacts, and returns its digest. Raises NotExported."""
    try:
        data = pickle.dumps(record)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise NotExported(f"the captured call cannot be saved: {error}") from error
    (folder / RECORD).write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def read(folder: Path, digest: str) -> Record:
    """The record in a folder, as `write` wrote it: a pickle of anyone else's could run code. Raises
    Unusable."""
    data = (folder / RECORD).read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise Unusable("the stored function is not what this run stored")
    found = pickle.loads(data)
    assert isinstance(found, Record)
    return found


def load(path: Path) -> Any:
    """The exported program of a file: `jax.export.Exported`."""
    return export.deserialize(bytearray(path.read_bytes()))


def placement(sharding: Any) -> Placement | None:
    """A sharding as device numbers, None for the default device. Raises NotExported for another kind of sharding."""
    if sharding is None:
        return None
    kind = sharding.memory_kind
    if isinstance(sharding, jax.sharding.SingleDeviceSharding):
        return Placement(_device_numbers(sharding.device_set), memory_kind=kind)
    if isinstance(sharding, jax.sharding.NamedSharding):
        mesh = sharding.mesh
        return Placement(
            _device_numbers(mesh.devices.flat),
            mesh.devices.shape,
            tuple(mesh.axis_names),
            tuple(sharding.spec),
            kind,
        )
    raise NotExported(f"its inputs have a {type(sharding).__name__}")


def _device_numbers(devices: Iterable[Any]) -> tuple[int, ...]:
    return tuple(device.id for device in devices)


def sharding(place: Placement, devices: Sequence[Any]) -> Any:
    """The sharding on the devices with the same numbers. Raises Unusable."""
    by_number = {device.id: device for device in devices}
    if not by_number.keys() >= set(place.devices):
        raise Unusable(f"its arrays lie on {max(place.devices) + 1} devices, and there are {len(devices)}")
    found = [by_number[number] for number in place.devices]
    if not place.axes:
        return jax.sharding.SingleDeviceSharding(found[0], memory_kind=place.memory_kind)
    mesh = jax.sharding.Mesh(np.array(found).reshape(place.shape), place.axes)
    spec = jax.sharding.PartitionSpec(*place.spec)
    return jax.sharding.NamedSharding(mesh, spec, memory_kind=place.memory_kind)
