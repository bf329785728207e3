"""Runs one program and tells how it went: python observe.py PROGRAM RESULT.json [ARGS...]

Times start when the packages that the program imports are loaded and the backend is up, since those are the same for every version
of it. Memory is the highest resident set of the process above what it was then; on a GPU the peak of the device's allocator.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
import re
import runpy
import sys
import time
from pathlib import Path
from typing import Any


class Lines(io.TextIOBase):
    """Standard output that notes when each line was finished."""

    def __init__(self) -> None:
        self.finished: list[tuple[float, str]] = []
        self._open = ""

    def write(self, text: str) -> int:
        *whole, self._open = (self._open + text).split("\n")
        now = time.perf_counter()
        self.finished += [(now, line) for line in whole]
        return len(text)


def load_packages(program: Path) -> None:
    """Import what the program imports at its top, but for its own modules."""
    for node in ast.parse(program.read_text()).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            if not (program.parent / (name.partition(".")[0] + ".py")).exists():
                importlib.import_module(name)


def status(name: str) -> int:
    """A figure of this process in bytes, by its name in /proc/self/status."""
    found = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def main() -> None:
    program, result, *arguments = sys.argv[1:]
    load_packages(Path(program))
    import jax

    device = jax.devices()[0]
    jax.block_until_ready(jax.numpy.zeros(8) + 1)
    sys.argv = [program, *arguments]
    sys.path.insert(0, str(Path(program).parent))
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # forget the highest resident set so far
    resident = status("VmRSS")
    lines = Lines()
    start = time.perf_counter()
    with contextlib.redirect_stdout(lines):
        runpy.run_path(program, run_name="__main__")
    times = [when - start for when, _ in lines.finished]
    peak: Any = status("VmHWM") - resident
    if device.platform != "cpu":
        peak = (device.memory_stats() or {}).get("peak_bytes_in_use")
    record = {
        "cold_s": times[0],
        "step_s": (times[-1] - times[0]) / (len(times) - 1),
        "total_s": times[-1],
        "peak_bytes": peak,
        "lines": [line for _, line in lines.finished],
        "device": f"{device.platform}: {device.device_kind}",
    }
    Path(result).write_text(json.dumps(record))


if __name__ == "__main__":
    main()
