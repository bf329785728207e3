"""The recorder in this process: which inputs it keeps, what they look like, what it costs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint_runtime.capture.function_identity import Project
from jaxlint_runtime.capture.recorder import FunctionRecord, Recorder
from jaxlint_runtime.capture.stop import Stopper, StopProgram

HERE = Path(__file__).parent


@pytest.fixture
def stopper() -> Stopper:
    return Stopper()


@pytest.fixture
def make(stopper: Stopper) -> Iterator[Any]:
    made: list[Recorder] = []

    def build(calls: int | None = None, capture_bytes: int = 2**20, **options: Any) -> Recorder:
        recorder = Recorder(Project([HERE]), stopper, calls, capture_bytes, **options)
        recorder.start()
        made.append(recorder)
        return recorder

    yield build
    for recorder in made:
        recorder.stop()


def wrap(recorder: Recorder, function: Any, **options: Any) -> Any:
    return recorder.wrap(jax.jit(function, **options), function, options, sys._getframe(1))


def only(recorder: Recorder) -> FunctionRecord:
    (record,) = recorder.records.values()
    return record


def test_a_late_call_is_kept_although_its_buffers_were_donated(make: Any, stopper: Stopper) -> None:
    recorder = make(calls=5)
    step = wrap(recorder, lambda w, x: w + x, donate_argnums=0)
    w = jnp.zeros(4)
    stopper.running = True
    for _ in range(5):
        w = step(w, np.ones(4, np.float32))
    with pytest.raises(StopProgram, match="after 5 calls"):
        step(w, np.ones(4, np.float32))
    stopper.finish()
    captured = only(recorder).captured()
    assert captured.calls == 5
    assert captured.call_number == 5
    assert captured.call is not None
    np.testing.assert_array_equal(captured.call.args[0], [4, 4, 4, 4])
    assert isinstance(captured.call.args[0], np.ndarray)
    assert captured.call.avals[0][0].shape == (4,)
    assert captured.call.avals[0][0].sharding is not None
    assert captured.options.donate_argnums == (0,)


def test_the_run_shows_which_arguments_are_rebound(make: Any) -> None:
    recorder = make(calls=4)
    average = wrap(recorder, lambda old, new, scale: (0.5 * old + 0.5 * new, new.sum()), donate_argnums=0)
    old, new = {"w": jnp.zeros(4)}, {"w": jnp.ones(4)}
    average_of = wrap(recorder, lambda old, new: jax.tree.map(lambda a, b: 0.5 * a + 0.5 * b, old, new))
    once = wrap(recorder, lambda x: x + 1)
    for _ in range(4):
        old = average_of(old, new)
    kept = jnp.zeros(4)
    for _ in range(4):
        kept, _total = average(kept, jnp.ones(4), scale=2.0)
    once(kept)
    rebound = [record.captured().rebound for record in recorder.records.values()]
    assert rebound == [(0,), (0,), None]


def test_arrays_are_copied_and_everything_else_is_kept_as_it_is(make: Any) -> None:
    recorder = make()
    flag, key = object(), jax.random.key(3)
    f = wrap(recorder, lambda tree, flag, key, scale: tree["a"] * scale, static_argnums=1)
    host = np.arange(3.0, dtype=np.float32)
    f({"a": host, "b": jnp.asarray(2.0, jnp.bfloat16)}, flag, key, scale=2.0)
    host[:] = -1
    call = only(recorder).captured().call
    assert call is not None
    tree, kept_flag, kept_key = call.args
    np.testing.assert_array_equal(tree["a"], [0, 1, 2])
    assert tree["b"].dtype == jnp.bfloat16
    assert kept_flag is flag
    assert call.kwargs == {"scale": 2.0}
    assert jnp.issubdtype(kept_key.dtype, jax.dtypes.prng_key)
    assert call.avals[0][1] is flag


def test_weak_types_are_told(make: Any) -> None:
    recorder = make()
    wrap(recorder, lambda x: x + 1)(jax.jit(lambda: 1.0)())
    call = only(recorder).captured().call
    assert call is not None
    assert call.avals[0][0].weak_type


def test_the_byte_budget_is_kept_and_the_refusal_says_so(make: Any) -> None:
    recorder = make(capture_bytes=4096)
    small = wrap(recorder, lambda x: x)
    large = wrap(recorder, lambda x: x * 2)
    small(jnp.ones(512))
    large(jnp.ones(1024))
    kept, refused = (record.captured() for record in recorder.records.values())
    assert kept.call is not None
    assert refused.call is None
    assert refused.refused is not None
    assert "4.0 KiB" in refused.refused
    assert "--capture-bytes" in refused.refused
    assert refused.calls == 1


def test_calls_inside_transformations_are_not_counted(make: Any) -> None:
    recorder = make()
    f = wrap(recorder, lambda x: (x**2).sum())
    jax.grad(f)(jnp.ones(3))
    jax.jit(lambda x: f(x) + 1)(jnp.ones(3))
    jax.vmap(f)(jnp.ones((2, 3)))
    record = only(recorder)
    assert (record.calls, record.inner_calls) == (0, 3)
    assert record.captured().refused == "it was only called inside another JAX transformation"


def test_functions_of_packages_are_left_alone(make: Any) -> None:
    recorder = make()

    def jit_elsewhere() -> Any:
        # as a package would: its own function, jitted in its own file
        jitted = jax.jit(jnp.linalg.norm)
        return recorder.wrap(jitted, jnp.linalg.norm, {}, _frame_of(np.linalg.norm.__wrapped__)), jitted

    wrapped, jitted = jit_elsewhere()
    assert wrapped is jitted
    assert not recorder.records
    # but jitted in the user's file it counts, by the place where that happens
    mine = wrap(recorder, jnp.linalg.norm)
    mine(jnp.ones(3))
    assert only(recorder).identity.path == str(Path(__file__).resolve())


def test_the_users_function_is_found_among_static_arguments(make: Any) -> None:
    recorder = make()
    library: dict[str, Any] = {}
    exec(
        compile("def call(x, static):\n    return static[0][0](x)\n", "/elsewhere/library.py", "exec"),
        library,
    )

    def mine(x: Any) -> Any:
        return x + 1

    outside = _frame_of(np.linalg.norm.__wrapped__)
    jitted = recorder.wrap(
        jax.jit(library["call"], static_argnums=1), library["call"], {"static_argnums": 1}, outside
    )
    jitted(jnp.ones(3), ((mine,), "other"))
    jitted(jnp.ones(3), ((mine,), "other"))
    jitted(jnp.ones(3), ((jnp.sin,), "other"))  # none of the user's: not recorded
    record = only(recorder)
    assert record.identity.qualname.endswith("mine")
    assert (record.calls, len(record.compiles)) == (2, 1)
    call = record.captured().call
    assert call is not None
    assert call.args[1] == ((mine,), "other")


def _frame_of(function: Any) -> Any:
    """A frame whose code is that of a NumPy function."""
    caught: list[Any] = []

    def tracer(frame: Any, event: str, argument: Any) -> None:
        if frame.f_code is function.__code__:
            caught.append(frame)

    sys.setprofile(tracer)
    try:
        np.linalg.norm(np.ones(2))
    finally:
        sys.setprofile(None)
    return caught[0]


def test_a_late_copy_takes_little_of_the_time(make: Any) -> None:
    recorder = make(capture_bytes=2**28)
    f = wrap(recorder, lambda x: x.sum())
    x = jnp.ones(2**20)
    f(x)
    record = only(recorder)
    first = record.copy_spent
    deadline = time.perf_counter() + 120
    while record.call_number == 1 and time.perf_counter() < deadline:
        f(x)
    assert record.call_number > 1
    # what had been spent, and was expected to be spent, when the second copy was made
    assert 2 * first <= 0.02 * (time.perf_counter() - record.first_start)


@pytest.mark.parametrize(("wanted", "kept"), [(3, 3), (1, 1), (100, None)])
def test_the_call_that_an_earlier_run_took_is_taken_again(make: Any, wanted: int, kept: int | None) -> None:
    def step(x: Any) -> Any:
        return x + 1

    recorder = make(calls=6, wanted={(__file__, step.__qualname__): wanted})
    jitted = wrap(recorder, step)
    for number in range(1, 6):
        jitted(np.full(4, number, np.float32))
    captured = only(recorder).captured()
    assert captured.call is not None
    assert captured.call.args[0][0] == captured.call_number
    if kept is not None:
        assert captured.call_number == kept
    else:  # it never came: then a late one, as without it
        assert captured.call_number >= 1


def test_an_exception_of_the_function_passes_and_counting_goes_on(make: Any) -> None:
    recorder = make()
    f = wrap(recorder, lambda x: x + jnp.ones(3))
    with pytest.raises(TypeError):
        f(jnp.ones(4))
    f(jnp.ones(3))
    f(jnp.ones(3))
    assert only(recorder).calls == 2
    assert not recorder.busy()
