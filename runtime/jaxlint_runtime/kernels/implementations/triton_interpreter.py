"""Triton's interpreter in a separate process, so that kernels for NVIDIA GPUs can be checked at a small size without
one.

Triton decides at import whether it interprets. Its interpreter reads and writes host memory, and needs objects like
torch tensors: an address, a type, and a storage to copy from and to.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

_SECONDS = 300  # for one kernel at a small size


class InterpreterFailed(Exception):
    """A kernel could not be interpreted; the message says why."""


def launch(
    kernel: tuple[str, str],
    grid: Sequence[int],
    given: Sequence[Any],
    shapes: Sequence[Any],
    constants: dict[str, Any],
) -> list[np.ndarray]:
    """The output arrays of a kernel, given by module and function, with these shapes and dtypes. Raises
    InterpreterFailed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arrays = [np.ascontiguousarray(array) for array in given]
        arrays += [np.zeros(shape.shape, shape.dtype) for shape in shapes]
        for number, array in enumerate(arrays):
            (folder / f"{number}.bin").write_bytes(array.tobytes())
        told = {
            "kernel": kernel,
            "grid": list(grid),
            "types": [str(array.dtype) for array in arrays],
            "constants": constants,
        }
        (folder / "launch.json").write_text(json.dumps(told))
        command = [sys.executable, "-m", __name__, str(folder)]
        paths = os.pathsep.join(path for path in sys.path if path)
        environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": paths}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise InterpreterFailed(said[-1] if said else f"it ended with {done.returncode}")
        return [
            np.frombuffer((folder / f"{number}.bin").read_bytes(), arrays[number].dtype).reshape(shape.shape)
            for number, shape in enumerate(shapes, len(given))
        ]


class _Memory:
    """An array in the form that Triton's interpreter needs."""

    def __init__(self, data: bytearray, dtype: str) -> None:
        self._data = np.frombuffer(data, np.uint8)
        self.dtype = dtype

    def data_ptr(self) -> int:
        return int(self._data.ctypes.data)

    def untyped_storage(self) -> _Memory:
        return self

    def cpu(self) -> _Memory:
        return self

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return self._data.shape

    def stride(self) -> tuple[int, ...]:
        return (1,)

    def new_empty(self, *_shape: int, **_options: Any) -> _Memory:
        return _Memory(bytearray(1), self.dtype)

    def set_(self, storage: _Memory, *_place: Any) -> None:
        self._data = storage._data  # shared memory: the kernel's writes appear there

    def copy_(self, other: _Memory) -> None:
        self._data[...] = other._data


def _main(folder: Path) -> None:
    told = json.loads((folder / "launch.json").read_text())
    module, name = told["kernel"]
    kernel = getattr(importlib.import_module(module), name)
    data = [bytearray((folder / f"{n}.bin").read_bytes()) for n in range(len(told["types"]))]
    memories = [_Memory(one, dtype) for one, dtype in zip(data, told["types"], strict=True)]
    constants = {
        key: tuple(value) if isinstance(value, list) else value for key, value in told["constants"].items()
    }
    kernel.run(*memories, grid=tuple(told["grid"]), warmup=False, **constants)
    for number, one in enumerate(data):
        (folder / f"{number}.bin").write_bytes(one)


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
