"""Where a function runs or what it is compiled for: the current device, or a compiler without its device.

`cpu`, `gpu` and `tpu` name devices. `tpu:v5e-2x2` or `gpu:h100x1` name a topology: XLA's compiler for it runs here
and provides the memory plan and (TPU) a time estimate, and nothing is executed.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import json
import math
import os
import re
from dataclasses import asdict, dataclass
from typing import Any

DEVICES = ("cpu", "gpu", "tpu")
TPU_GENERATIONS = {"v4": 3, "v5e": 2, "v5p": 3, "v6e": 2}  # and the dimensions of their topologies
INSTALL_VERIFY = 'pip install "jaxlint-suite[verify]"'
INSTALL_TPU = 'pip install "jaxlint-suite[tpu]"'
INSTALL_GPU = 'pip install "jaxlint-suite[gpu]"'


# Otherwise libtpu searches for a metadata server, for minutes, and prints that it finds none. The target names the
# topology anyway.
_NO_TPU_HOST = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_ACCELERATOR_TYPE": "v5litepod-1",
    "TPU_WORKER_HOSTNAMES": "localhost",
}


class UnknownTarget(ValueError):
    """An unknown target name; the message lists the accepted names."""


class TargetUnavailable(RuntimeError):
    """A target that cannot be used here; the message says what is missing and what to install."""


@dataclass(frozen=True, slots=True)
class Target:
    """A device to run on (`topology` is None) or to compile for."""

    name: str
    platform: str  # "cpu", "gpu" or "tpu"
    topology: str | None = None  # in the spelling of jax.experimental.topologies
    single_chip: bool = False
    chip: str | None = None  # for a topology: which chip, "v5e" or "h100"
    chips: int = 1  # for a topology: how many

    @property
    def compile_only(self) -> bool:
        """Whether nothing can run on it."""
        return self.topology is not None

    @property
    def capability(self) -> int | None:
        """The compute capability of a compile-only GPU, such as 90; None for a device that can be queried."""
        gpu = _GPUS.get(self.chip or "")
        return None if gpu is None else 10 * gpu.capability

    @property
    def environment(self) -> dict[str, str]:
        """Variables that must be set before jax is imported in a process that uses this target."""
        if not self.compile_only:
            return {"JAX_PLATFORMS": "cpu"} if self.platform == "cpu" else {}
        if self.platform == "tpu":
            # Since no device is used, any number of processes may compile at once.
            return {"JAX_PLATFORMS": "cpu", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1", **_NO_TPU_HOST}
        return {
            "JAX_PLATFORMS": "cpu",
            "CUDA_VISIBLE_DEVICES": "-1",
            "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
            "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_gpu_autotune_level=0".strip(),
        }

    def devices(self) -> list[Any]:
        """The jax devices of this target, real ones or those of the topology.

        Raises TargetUnavailable, with what to install, if there are none.
        """
        return list(_topology_devices(self)) if self.compile_only else _local_devices(self.platform)


def parse(name: str) -> Target:
    """The target named `name`. Raises UnknownTarget with the accepted names."""
    if name in DEVICES:
        return Target(name, name)
    tpu = re.fullmatch(r"tpu:(v\d+[a-z]?)-(\d+(?:x\d+)+)", name)
    if tpu and TPU_GENERATIONS.get(tpu[1]) == tpu[2].count("x") + 1:
        chips = math.prod(int(size) for size in tpu[2].split("x"))
        if chips > 0:
            return Target(name, "tpu", f"{tpu[1]}:{tpu[2]}", chips == 1, chip=tpu[1], chips=chips)
    gpu = re.fullmatch(r"gpu:([a-z0-9-]+?)x(\d+)", name)
    if gpu and gpu[1] in _GPUS and int(gpu[2]) > 0:
        chips = int(gpu[2])
        return Target(name, "gpu", f"1x1x{chips}", chips == 1, chip=gpu[1], chips=chips)
    raise UnknownTarget(
        f"unknown target {name!r}: use cpu, gpu, tpu, tpu:GENERATION-TOPOLOGY such as tpu:v5e-1x1, tpu:v5e-2x2, "
        f"tpu:v6e-1x1, tpu:v5p-2x2x1 or tpu:v4-2x2x1, or gpu:CHIPxN such as gpu:h100x1, gpu:h100x4, gpu:a100x1 (40 GB) "
        f"or gpu:a100-80gbx1"
    )


def unavailable(target: Target) -> str | None:
    """Why this target cannot be used here and what to install; None if it can.

    Cheap for a topology (only looks for the compiler's package); a device is searched for through jax.
    """
    if importlib.util.find_spec("jax") is None:
        return f"jax is not installed: {INSTALL_VERIFY}"
    if target.compile_only:
        if target.platform == "tpu" and not _has_libtpu():
            return f"libtpu, the compiler for TPUs, is not installed: {INSTALL_TPU}"
        if target.platform == "gpu" and not _has_cuda_plugin():
            return f"the CUDA plugin of jax is not installed: {INSTALL_GPU}"
        return None
    try:
        _local_devices(target.platform)
    except TargetUnavailable as reason:
        return str(reason)
    return None


def _local_devices(platform: str) -> list[Any]:
    import jax

    try:
        return jax.devices(platform)
    except RuntimeError as error:
        lacks_cuda = "" if _has_cuda_plugin() else f", or jax without CUDA ({INSTALL_GPU})"
        lacks_libtpu = "" if _has_libtpu() else f", or jax without libtpu ({INSTALL_TPU})"
        hint = {
            "gpu": f"no GPU{lacks_cuda}; gpu:h100x1 compiles without one",
            "tpu": f"no TPU{lacks_libtpu}; tpu:v5e-1x1 compiles without one",
        }.get(platform, str(error))
        raise TargetUnavailable(f"target {platform}: {hint}") from error


def _has_libtpu() -> bool:
    return importlib.util.find_spec("libtpu") is not None


def _has_cuda_plugin() -> bool:
    return any(importlib.util.find_spec(f"jax_cuda{version}_plugin") is not None for version in (12, 13))


@functools.cache
def _topology_devices(target: Target) -> tuple[Any, ...]:
    reason = unavailable(target)
    if reason:
        raise TargetUnavailable(f"target {target.name}: {reason}")
    from jax.experimental import topologies

    for name, value in target.environment.items():
        os.environ.setdefault(name, value)
    options: dict[str, Any] = {}
    try:
        if target.platform == "tpu":
            if target.single_chip:
                options["chips_per_host_bounds"] = (1, 1, 1)
            description = topologies.get_topology_desc(
                platform="tpu", topology_name=target.topology or "", **options
            )
        else:
            description = topologies.get_topology_desc(
                platform="cuda", target_config=_gpu_config(_GPUS[target.chip or ""]), topology=target.topology
            )
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise TargetUnavailable(
            f"target {target.name}: the compiler rejects the topology: {first}"
        ) from error
    return tuple(description.devices)


@dataclass(frozen=True, slots=True)
class _Gpu:
    """A GPU for XLA's compiler; the figures are from XLA's own descriptions of the devices."""

    name: str
    capability: int
    cores: int
    fpus_per_core: int
    memory: int  # bytes
    bandwidth: int  # bytes a second
    clock_ghz: float
    l2_cache: int
    shared_per_core: int
    shared_per_block_optin: int


_GPUS = {
    "h100": _Gpu(
        *("NVIDIA H100 80GB HBM3", 9, 132, 128, 84929347584, 3352320000000, 1.98, 52428800, 233472, 232448)
    ),
    "a100": _Gpu(
        *("NVIDIA A100-SXM4-40GB", 8, 108, 64, 42331013120, 1555200000000, 1.41, 41943040, 167936, 166912)
    ),
    "a100-80gb": _Gpu(
        *("NVIDIA A100-SXM4-80GB", 8, 108, 64, 85100068864, 2039040000000, 1.41, 41943040, 167936, 166912)
    ),
}


def _gpu_config(gpu: _Gpu) -> str:
    """XLA's GpuTargetConfigProto as text, as in openxla/xla#25919 and jax-ml/jax#28376."""
    return f"""
gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: {gpu.shared_per_core}
  threads_per_core_limit: 2048
  core_count: {gpu.cores}
  fpus_per_core: {gpu.fpus_per_core}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: {gpu.bandwidth}
  l2_cache_size: {gpu.l2_cache}
  clock_rate_ghz: {gpu.clock_ghz}
  device_memory_size: {gpu.memory}
  shared_memory_per_block_optin: {gpu.shared_per_block_optin}
  cuda_compute_capability {{ major: {gpu.capability} }}
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 8 }}
runtime_version {{ major: 13 minor: 0 patch: 0 }}
device_description_str: "{gpu.name}"
"""


@dataclass(frozen=True, slots=True)
class Availability:
    """One row of `jaxlint targets`."""

    name: str
    kind: str  # "device", "compile-only" or "kernels"
    available: bool
    detail: str  # the devices, or the reason and what to install


@dataclass(frozen=True, slots=True)
class Survey:
    """The platforms that this machine can run on or compile for."""

    jax: str | None  # versions, None if not installed
    jaxlib: str | None
    targets: tuple[Availability, ...]
    kernels: tuple[Availability, ...]  # kernel packages that are tried if they are installed


KERNEL_PACKAGES = {  # by import name: the distribution, and its purpose
    "jax_triton": ("jax-triton", "flash attention by Triton, for NVIDIA GPUs: at hand or compiled for"),
    "tokamax": ("tokamax", "its attention, for GPUs and TPUs at hand"),
}

SURVEYED = (
    *DEVICES,
    "tpu:v5e-1x1",
    "tpu:v5e-2x2",
    "tpu:v5p-2x2x1",
    "tpu:v6e-1x1",
    "gpu:h100x1",
    "gpu:h100x4",
    "gpu:a100x1",
    "gpu:a100-80gbx1",
)


def survey() -> Survey:
    """Checks every kind of target once. Imports jax if it is installed."""
    for name, value in _NO_TPU_HOST.items():
        os.environ.setdefault(name, value)
    rows = []
    for name in SURVEYED:
        target = parse(name)
        reason = unavailable(target)
        if reason:
            rows.append(Availability(name, _kind(target), False, reason.removeprefix(f"target {name}: ")))
        elif target.compile_only:
            rows.append(Availability(name, _kind(target), True, "compiles without the device"))
        else:
            devices = target.devices()
            rows.append(Availability(name, _kind(target), True, f"{len(devices)} x {devices[0].device_kind}"))
    return Survey(_version("jax"), _version("jaxlib"), tuple(rows), tuple(map(_package, KERNEL_PACKAGES)))


def kernels_missing(module: str) -> str | None:
    """What to install for a kernel package; None if it is installed."""
    if importlib.util.find_spec(module) is not None:
        return None
    return f"not installed: pip install {KERNEL_PACKAGES[module][0]}"


def _package(module: str) -> Availability:
    name, use = KERNEL_PACKAGES[module]
    missing = kernels_missing(module)
    detail = use if missing is None else f"{missing} ({use})"
    return Availability(name, "kernels", missing is None, detail)


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _kind(target: Target) -> str:
    return "compile-only" if target.compile_only else "device"


if __name__ == "__main__":
    print(json.dumps(asdict(survey())))
