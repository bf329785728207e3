"""Settings that cost or save something without a change of the program: the compilation cache, 64-bit arrays from the host."""

from __future__ import annotations

import textwrap
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime.capture.trial_run import _globals
from jaxlint_runtime.lowering.function_versions import capture
from jaxlint_runtime.model import Status
from jaxlint_runtime.optimiser_settings import Settings
from jaxlint_runtime.proof.host_inputs import host_inputs
from jaxlint_runtime.proof.reference import Reference
from jaxlint_runtime.request import Request
from jaxlint_runtime.rewrites import environment_variables
from jaxlint_runtime.rewrites.outcome import other_outcome
from jaxlint_runtime.rewrites.side_effects import Leavings
from jaxlint_runtime.rewrites.trial_runs import Trial
from jaxlint_runtime.run import Listener
from jaxlint_runtime.verify import Verification

PROGRAM = """
    import jax, jax.numpy as jnp
    import numpy as np

    @jax.jit
    def step(w):
        for i in range(30):
            w = jnp.tanh(w @ w) + jnp.sin(w) * (0.5 + i / 1000)  # goes to a fixed point, however it is rounded
        return w / jnp.abs(w).max()

    w = jnp.eye(8)
    for i in range(3):
        w = step(w)
    print("sum", float(w.sum()))
"""


def verified(folder: Path, source: str, wanted: str = "settings") -> Verification:
    program = folder / "program.py"
    program.write_text(textwrap.dedent(source))
    request = Request(kind="script", target=str(program), transforms=(wanted,))
    verification = Verification(request, Listener(), examine=False)
    verification.run()
    return verification


@pytest.mark.flaky(reruns=2)  # rests on times, which other processes disturb
def test_a_persistent_cache_is_measured_in_fresh_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.setattr(environment_variables, "_PAIRS", 2)
    results = {r["candidate"]: r for _, r in verified(tmp_path, PROGRAM).document.results}
    cache = results["setting:compilation-cache"]
    assert cache["status"] == "verified", cache["reason"]
    assert cache["after"]["compile_s"] < 0.8 * cache["before"]["compile_s"]
    assert "jax_compilation_cache_dir" in cache["reason"]
    assert "65 values and 1 printed lines" in cache["evidence"]
    assert results["setting:matmul-precision"]["status"] == "not-applicable"


def test_a_program_is_compared_with_itself_operation_by_operation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment_variables, "_PAIRS", 1)
    source = PROGRAM.replace("range(30)", "range(6)").replace("range(3)", "range(9)")
    ((_, result),) = verified(tmp_path, source, "eager").document.results
    assert result["candidate"] == "jit against eager"
    assert "values, lines and files agree" in result["reason"]
    assert result["before"]["compile_s"] is not None
    assert result["before"]["time_ms"]["median"] > 0


def test_a_setting_is_compared_by_the_files_that_the_program_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    asks = "import os\nopen('which.txt', 'w').write(str('JAX_COMPILATION_CACHE_DIR' in os.environ))\n"
    source = textwrap.dedent(PROGRAM).replace("range(30)", "range(2)") + asks
    results = {r["candidate"]: r for _, r in verified(tmp_path, source).document.results}
    assert results["setting:compilation-cache"]["status"] == "rejected"
    assert "the files it writes differ: which.txt has" in results["setting:compilation-cache"]["reason"]


def test_all_that_a_run_comes_to_is_compared() -> None:
    """By the same code for edits and for settings."""
    base = Trial(printed="loss 0.2500\n", left=Leavings(errors="step\n"))
    for found, problem in (
        (Trial(printed="loss 0.2501\n", left=Leavings(errors="step\n")), None),
        (Trial(printed="loss 0.2600\n", left=Leavings(errors="step\n")), "it prints 'loss 0.2600'"),
        (Trial(printed="loss 0.2500\n", left=Leavings(errors="stop\n")), "to stderr instead of"),
        (Trial(printed="loss 0.2500\n", left=Leavings({"a": 1}, errors="step\n")), "a is new"),
        (Trial(printed="loss 0.2500\n", left=Leavings(errors="step\n"), status=3), "exit status 3"),
    ):
        told = other_outcome(base, [base], found)
        assert told is None if problem is None else problem in str(told)
    assert "call 3 of f" in str(other_outcome(base, [base], base, values="call 3 of f: other"))


def test_a_program_that_does_not_end_well_is_not_measured(tmp_path: Path) -> None:
    source = "import jax\njax.jit(lambda x: x + 1)(1.0)\nraise ValueError('no')\n"
    results = {r["candidate"]: r for _, r in verified(tmp_path, source).document.results}
    assert results["setting"]["status"] == "not-applicable"
    assert "ValueError" in results["setting"]["reason"]


def test_modules_among_the_names_of_a_program_are_no_values(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    main = types.ModuleType("__main__")
    main.__dict__.update(np=np, jnp=jnp, x=np.ones(3), n=4, name="text")
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert set(_globals()) == {"x", "n"}


def test_arrays_that_come_in_64_bits_from_the_host() -> None:
    def total(x, labels, small):
        return (x * 2).sum() + labels.sum() + small

    def measured(*arguments):
        return host_inputs(Reference(capture(total, *arguments), Settings(seconds=0.3)))

    x = np.random.default_rng(0).normal(size=(1000, 200))
    labels = np.arange(1000)
    found = measured(x, labels, np.float64(3.0))
    assert found is not None
    assert found.status in (Status.VERIFIED, Status.REJECTED)
    assert "pass x, labels in 32 bits" in found.reason
    assert "float64 and int64" in found.reason
    assert found.evidence.startswith("the same bits")
    assert measured(x.astype(np.float32), labels.astype(np.int32), 3.0) is None
