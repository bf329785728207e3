"""Canaries: what the runtime needs of JAX's insides, to be run on every supported version."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import pytest

from jaxlint_runtime import compat
from jaxlint_runtime.lowering.jaxpr_interpreter import evaluate, inlined, scan


def names(jaxpr):
    return [eqn.primitive.name for eqn in compat.open_jaxpr(jaxpr).eqns]


def test_a_traced_program_is_taken_apart_with_its_constants():
    weights = jnp.arange(6.0)
    traced = compat.jit(lambda x: jnp.tanh(x) * weights).trace(jnp.ones(6))
    parts = compat.open_jaxpr(traced.jaxpr)
    assert len(parts.constvars) == len(parts.consts)
    assert len(parts.invars) == 1
    assert len(parts.outvars) == 1
    assert "tanh" in [eqn.primitive.name for eqn in parts.eqns]


def test_a_checkpointed_body_opens_like_a_whole_program():
    traced = jax.make_jaxpr(jax.grad(lambda x: jax.checkpoint(jnp.sin)(x)))(1.0)
    bodies = [body for eqn in compat.open_jaxpr(traced).eqns for _, body in compat.inner_jaxprs(eqn)]
    assert bodies
    assert all(compat.is_jaxpr(body) and compat.open_jaxpr(body).invars for body in bodies)


def test_binding_every_equation_again_gives_the_same_result():
    @jax.custom_jvp
    def clipped(x):
        return jnp.minimum(x, 1.0)

    clipped.defjvp(lambda primals, tangents: (clipped(*primals), 3.0 * tangents[0]))

    def f(x):
        def turn(carry, row):
            carry = jax.lax.cond(row.sum() > 0, lambda c: c + row, lambda c: c - row, carry)
            return carry, jax.nn.relu(carry)

        carry, rows = jax.lax.scan(turn, x[0], x)
        carry = jax.lax.while_loop(lambda c: c.sum() < 50, lambda c: c + 1, carry)
        return clipped(carry).sum() + jax.nn.logsumexp(rows)

    x = jax.random.normal(jax.random.key(0), (4, 3))
    jaxpr = jax.make_jaxpr(f)(x)
    for program in (jaxpr, inlined(jaxpr, [x])):
        assert jnp.allclose(evaluate(program, [x])[0], f(x))
    assert "jit" not in names(inlined(jaxpr, [x]))
    assert "pjit" not in names(inlined(jaxpr, [x]))


def test_the_operands_of_a_scan_are_told_apart():
    def f(w, start, xs):
        return jax.lax.scan(lambda c, x: ((c[0] @ w + x, c[1] + 1), c[1]), start, xs, reverse=True)

    w, start, xs = jnp.eye(4), (jnp.ones(4), 0), jnp.ones((3, 4))
    jaxpr = jax.make_jaxpr(f)(w, start, xs)
    (eqn,) = [eqn for eqn in compat.open_jaxpr(jaxpr).eqns if eqn.primitive.name == "scan"]
    assert compat.scan_counts(eqn) == (1, 2)
    body = compat.inner_jaxprs(eqn)[0][1]

    def replay(eqn, values):
        return (
            scan(eqn, values, lambda *flat: evaluate(body, flat))
            if eqn.primitive.name == "scan"
            else compat.bind(eqn, values)
        )

    for left, right in zip(
        evaluate(jaxpr, jax.tree.leaves((w, start, xs)), replay),
        jax.tree.leaves(f(w, start, xs)),
        strict=True,
    ):
        assert jnp.array_equal(left, right)


def test_a_custom_derivative_survives_binding():
    @jax.custom_jvp
    def f(x):
        return x * 2

    f.defjvp(lambda primals, tangents: (f(*primals), 7.0 * tangents[0]))
    jaxpr = jax.make_jaxpr(f)(1.0)
    assert jax.grad(lambda x: evaluate(jaxpr, [x])[0])(1.0) == 7.0


def test_an_equation_knows_the_line_that_staged_it():
    def where(x):
        return jnp.sin(x)

    (eqn,) = compat.open_jaxpr(jax.make_jaxpr(where)(1.0)).eqns
    path, line, function = compat.user_frames(eqn)[0]
    assert path == __file__
    assert line == where.__code__.co_firstlineno + 1
    assert function.endswith("where")


early_grad = jax.grad(jnp.sin)  # made long before anything is replaced


@pytest.mark.parametrize(
    "derivative",
    [
        pytest.param(lambda x: early_grad(x), id="grad"),
        pytest.param(lambda x: jax.value_and_grad(jnp.sin)(x)[1], id="value_and_grad"),
        pytest.param(lambda x: jax.vjp(jnp.sin, x)[1](1.0)[0], id="vjp"),
        pytest.param(lambda x: jax.jacrev(jnp.sin)(x), id="jacrev"),
        pytest.param(lambda x: jax.jit(early_grad)(x), id="grad inside of jit"),
    ],
)
def test_every_reverse_derivative_is_caught(derivative):
    caught = []

    def vjp(original, fun, *primals, **options):
        caught.append(fun)
        return original(lambda x: 3.0 * fun(x), *primals, **options)

    function = jax.jit(derivative)
    plain = function(0.5)
    with compat.replaced_vjp(vjp):
        replaced = function(0.5)
    assert len(caught) == 1
    assert jnp.allclose(replaced, 3.0 * plain)


def test_what_was_staged_while_replaced_is_not_found_afterwards():
    inner = jax.jit(jax.grad(jnp.sin))

    def vjp(original, fun, *primals, **options):
        return original(lambda x: 3.0 * fun(x), *primals, **options)

    with compat.replaced_vjp(vjp):
        assert jnp.allclose(jax.jit(lambda x: inner(x))(0.0), 3.0)
    assert jnp.allclose(inner(0.0), 1.0)
    assert jnp.allclose(jax.jit(lambda x: inner(x))(0.0), 1.0)


def test_what_a_vjp_holds_are_its_residuals():
    held = []

    def vjp(original, fun, *primals, **options):
        result = original(fun, *primals, **options)
        held.append(sum(leaf.size for leaf in jax.tree.leaves(result[1])))
        return result

    def saved(function):
        with compat.replaced_vjp(vjp):
            jax.make_jaxpr(jax.grad(function))(jnp.ones(10))
        return held.pop()

    def two(x):
        return jnp.sin(jnp.sin(x)).sum()

    assert saved(jax.checkpoint(two)) < saved(two)


def test_compiles_are_fresh_though_a_persistent_cache_is_set(tmp_path):
    from jax.experimental.compilation_cache import compilation_cache

    options = {
        "jax_compilation_cache_dir": str(tmp_path),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: getattr(jax.config, name) for name in options}
    compilation_cache.reset_cache()
    try:
        for name, value in options.items():
            jax.config.update(name, value)
        with compat.fresh_compiles():
            compat.jit(lambda x: x * 3.5).lower(1.0).compile()
        assert not list(tmp_path.iterdir())
        compat.jit(lambda x: x * 4.5).lower(1.0).compile()
        assert list(tmp_path.iterdir())
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()


def test_what_nnx_jits_is_traced_alone():
    from flax import nnx

    model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
    handed = []
    original = jax.jit

    def spy(function, *args, **kwargs):
        handed.append(function)
        return original(function, *args, **kwargs)

    jax.jit = spy
    try:
        predict = nnx.jit(lambda model, x: model(x))
    finally:
        jax.jit = original
    x = jnp.ones((4, 3))
    given = []
    alone = compat.callable_alone(handed[0])
    predict.jitted_fn = lambda *pure: given.append(pure) or original(alone)(*pure)
    assert jnp.allclose(predict(model, x), model(x))
    result = original(alone)(*given[0])
    assert [leaf.shape for leaf in jax.tree.leaves(result[2])] == [(4, 2)]
    # what it returns of the module has the names of the module's own state
    assert [path.removesuffix(".value") for path in compat.named_paths(((result,), {}))] == [
        "[0][0]['bias']",
        "[0][0]['kernel']",
        "[2]",
    ]


def test_every_launch_of_a_program_is_told_of_and_no_other(monkeypatch):
    from jax._src import compiler, pjit
    from jax._src.interpreters import pxla

    for place, name in (
        (compiler, "compile_or_get_cached"),
        (pjit, "_get_fastpath_data"),
        (pxla.ExecuteReplicated, "__call__"),
        (pxla.MeshExecutable, "create_cpp_call"),
    ):
        monkeypatch.setattr(place, name, getattr(place, name))  # put back at the end
    told: list[object] = []

    def compiling(name, module, devices):
        assert len(devices) == 1
        assert "stablehlo" in str(module)
        return name if name == "jit_watched" else None

    def compiled(token, executable):
        assert executable is not None
        told.append(f"compiled {token}")

    compat.LaunchHooks(compiling, compiled, told.append, lambda results: None).install()

    def watched(x):
        return x * 3

    def unwatched(x):
        return x * 4

    x = jnp.arange(3.0)
    told.clear()
    step, other = compat.jit(watched), compat.jit(unwatched)
    for _ in range(3):
        step(x)
        other(x)
    assert told == [
        "compiled jit_watched",
        "jit_watched",
        "compiled None",
        "jit_watched",
        "jit_watched",
    ]
    ahead = step.lower(x).compile()
    told.clear()
    assert [ahead(x).tolist() for _ in range(2)] == [[0.0, 3.0, 6.0]] * 2
    assert told == ["jit_watched", "jit_watched"]


def test_initialize_is_called_with_what_is_given(monkeypatch):
    from jax._src import distributed

    called = []

    @functools.wraps(distributed.State.initialize)
    def initialize(state, **kwargs):
        called.append(kwargs)
        state.process_id, state.num_processes = kwargs["process_id"], kwargs["num_processes"]

    monkeypatch.setattr(distributed.State, "initialize", initialize)
    monkeypatch.setattr(distributed, "global_state", distributed.State())
    monkeypatch.setattr("jax._src.xla_bridge.backends_are_initialized", lambda: False)
    done, asked = [], []
    given = {"num_processes": 4, "process_id": 3}
    compat.on_initialize(lambda *numbers: done.append(numbers), given, asked.append)
    jax.distributed.initialize("elsewhere:1", num_processes=2, process_id=0, initialization_timeout=7)
    assert done == [(3, 4)]
    assert asked == [2]
    assert called[0]["num_processes"] == 4
    assert called[0]["initialization_timeout"] == 7
    assert "coordinator_address" not in called[0]


def test_processes_share_values_until_they_are_let_go(monkeypatch):
    from jax._src import distributed

    assert compat.process_of() == (0, 1)
    ended = []
    monkeypatch.setattr(distributed.State, "shutdown", lambda state: ended.append(state))
    monkeypatch.setattr(distributed, "global_state", distributed.State())
    free = compat.stay_connected()
    jax.distributed.shutdown()
    assert ended == []
    free()
    jax.distributed.shutdown()
    assert len(ended) == 1
    names = ("key_value_set", "blocking_key_value_get")
    assert all(hasattr(jax._src.lib._jax.DistributedRuntimeClient, name) for name in names)


def test_a_backend_that_runs_is_seen():
    jnp.ones(3).block_until_ready()
    assert compat.has_backend()
