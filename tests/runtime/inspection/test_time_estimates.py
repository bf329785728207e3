"""What is said of devices that are not there: what fits, what would make it fit, how long it takes at least."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from jaxlint_runtime import inspection
from jaxlint_runtime.inspection import device_peaks
from jaxlint_runtime.inspection.time_estimates import estimated_ms, roofline_ms
from jaxlint_runtime.lowering import function_versions
from jaxlint_runtime.lowering.function_versions import DoesNotFit, too_big
from jaxlint_runtime.model import Cost, Result, Status
from jaxlint_runtime.proof import gain
from jaxlint_runtime.report.targets_table import verdicts
from jaxlint_runtime.targets import SURVEYED, parse

GIB = 2**30


def staged(function, *args, target="cpu"):
    captured = function_versions.capture(function, *args)
    return function_versions.stage(
        function_versions.version_of(captured), function_versions.bind(captured), parse(target)
    )


@pytest.mark.parametrize(
    ("message", "needed", "available"),
    [
        (
            "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries (37.00G) exceeds "
            "available HBM (15.75G).",
            38 * GIB,
            15.75 * GIB,
        ),
        (
            "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 32.02G of 15.75G hbm. "
            "Exceeded hbm capacity by 16.27G.",
            32.02 * GIB,
            15.75 * GIB,
        ),
    ],
)
def test_what_compilers_say_of_memory(message, needed, available):
    found = too_big(message, GIB)
    assert (found.needed, found.available) == (
        pytest.approx(needed, rel=1e-6),
        pytest.approx(available, rel=1e-6),
    )
    assert "at least" in str(found)
    assert too_big("INVALID_ARGUMENT: something else", GIB) is None


def test_a_program_that_does_not_fit_has_a_cost(monkeypatch):
    one = staged(lambda x: x @ x, jnp.ones((64, 64)))

    def refuse(*args):
        raise RuntimeError("Ran out of memory in memory space hbm. Used 32.00G of 15.75G hbm.")

    monkeypatch.setattr(type(one.lowered), "compile", refuse)
    cost = inspection.cost(one)
    assert (cost.fits, cost.peak_bytes, cost.flops) == (False, 32 * GIB, 2.0 * 64**3)
    with pytest.raises(DoesNotFit):
        one.compiled  # noqa: B018 - compiles


def test_a_version_that_fits_where_the_original_does_not_is_a_gain_by_the_compiler():
    found = Result("f", "f.py", 1, None, "remat", Status.FAILED, "", "")
    found.before = Cost(peak_bytes=32 * GIB, fits=False)
    found.after = Cost(peak_bytes=8 * GIB)
    assert gain.figures(found) == "memory at least 32 GiB to 8 GiB (0.25x), which fits the device"


def test_the_report_says_what_makes_it_fit():
    place = {"function": "step", "path": "a.py", "line": 1}
    cost = {"peak_bytes": 32 * GIB, "fits": False}
    run = {
        "target": "tpu:v5e-1x1",
        "peaks": {"memory": 16 * GIB},
        "inspections": [{**place, "version": "original", "cost": cost}],
        "results": [],
    }
    needs = "step does not fit the 16 GiB of tpu:v5e-1x1: it needs at least 32 GiB"
    assert list(verdicts([run])) == [f"{needs}; no candidate makes it smaller"]

    def tried(name, peak):
        return {
            **place, "candidate": name, "status": "compiled", "before": cost, "after": {"peak_bytes": peak}, "speedup": None,
        }  # fmt: skip

    run["results"] = [tried("donation", 20 * GIB)]
    assert next(verdicts([run])) == f"{needs}; donation brings it to 20 GiB, still too much"
    run["results"] += [tried("remat", 9 * GIB), tried("donation + remat", 8 * GIB)]
    assert next(verdicts([run])) == f"{needs}; with remat it needs 9 GiB and fits"
    run["inspections"][0]["cost"] = {"peak_bytes": 8 * GIB}
    run["results"] = []
    assert list(verdicts([run])) == ["step fits the 16 GiB of tpu:v5e-1x1: it needs 8 GiB"]


def test_the_device_at_hand_is_measured_and_never_estimated():
    one = staged(lambda x: x @ x, jnp.ones((64, 64)))
    assert estimated_ms(one) is None
    assert roofline_ms(one) is None
    found = device_peaks.measured(jax.devices("cpu")[0], seconds=0.1)
    assert found.kind == "measured"
    assert 1e9 < found.flops["float32"] < 1e14
    assert 1e8 < found.bandwidth < 1e13


def test_published_peaks_cover_what_can_be_named():
    chips = {parse(name).chip for name in SURVEYED} - {None}
    assert chips <= set(device_peaks.PUBLISHED)
    for chip in device_peaks.PUBLISHED.values():
        assert chip.kind == "published"
        assert chip.source.startswith("https://")
        assert chip.flops_for("bfloat16") >= chip.flops_for("float32") == chip.flops_for("float64")
    assert device_peaks.PUBLISHED["v5e"].memory == 16 * GIB
