"""What is kept of staged versions: their text, traces of calls, and a server for profilers."""

from __future__ import annotations

import socket
from pathlib import Path

import jax.numpy as jnp

from jaxlint_runtime.inspection import dumps
from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.targets import parse

captured = function_versions.capture(lambda x: jnp.tanh(x @ x), jnp.ones((64, 64)))


def staged() -> function_versions.Staged:
    return function_versions.stage(
        function_versions.version_of(captured), function_versions.bind(captured), parse("cpu")
    )


def test_programs_are_kept_by_function_target_and_version(tmp_path: Path) -> None:
    dumps.dump(tmp_path, captured.qualname, captured.line, "cpu", "donation + remat:a/b", staged())
    (folder,) = tmp_path.glob("*/cpu/*")
    assert folder.name == "donation_remat_a_b"
    assert folder.parent.parent.name == f"lambda_-{captured.line}"
    assert "tanh" in (folder / "jaxpr.txt").read_text()
    assert "stablehlo.tanh" in (folder / "stablehlo.mlir").read_text()
    assert "ENTRY" in (folder / "hlo.txt").read_text()


def test_a_stage_that_is_not_reached_says_why(tmp_path: Path) -> None:
    broken = function_versions.capture(lambda x: x @ jnp.ones((3, 3)), jnp.ones((64, 64)))
    version = function_versions.stage(
        function_versions.version_of(broken), function_versions.bind(broken), parse("cpu")
    )
    dumps.dump(tmp_path, broken.qualname, broken.line, "cpu", "original", version)
    assert "could not trace" in next(tmp_path.rglob("hlo.txt")).read_text()


def test_traces_stand_beside_each_other_by_date_and_time(tmp_path: Path) -> None:
    dumps.trace(tmp_path, captured.qualname, captured.line, "cpu", "original", staged())
    (kept,) = tmp_path.rglob("*.xplane.pb")
    assert kept.parent.parent.name == "profile"
    assert kept.parent.name[:2] == "20"
    assert list(kept.parent.glob("perfetto_trace.json.gz"))


def test_a_profiler_can_connect() -> None:
    with socket.socket() as one:
        one.bind(("localhost", 0))
        port = one.getsockname()[1]
    assert dumps.serve_profiler(port) is None
    socket.create_connection(("localhost", port), timeout=60).close()
    assert "no profiler on port" in str(dumps.serve_profiler(port))
