"""The part that a process has of an array: here of one process, which has all of it, on four devices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

PROGRAM = """
    import json
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    from jaxlint_runtime.across.local_shards import LocalShards, local, spans

    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    array = jax.device_put(values, NamedSharding(mesh, P("a")))
    held = LocalShards.of(array)
    back = held.put()
    seen = []
    moved = held.mapped(lambda part, place: (seen.append(place), part + 1)[1]).put()
    keys = jax.device_put(jax.random.split(jax.random.key(3), 4), NamedSharding(mesh, P("b")))
    again = LocalShards.of(keys).put()
    print(json.dumps({
        "back": np.array_equal(back, values) and back.sharding == array.sharding,
        "parts": [len(held.parts), held.nbytes, len(list(held.distinct()))],
        "flat": held.flat().tolist() == values.reshape(-1).tolist(),
        "moved": np.array_equal(moved, values + 1),
        "places": len(seen) == len(set(seen)) == 2,
        "keys": bool((jax.random.key_data(again) == jax.random.key_data(keys)).all()) and again.dtype == keys.dtype,
        "spans": [spans(held), spans(array), spans(values), local(values) is values],
    }))
"""


def test_an_array_comes_back_as_it_was() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
            "JAX_PLATFORMS": "cpu",
        },
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "back": True,
        "parts": [4, 192, 2],
        "flat": True,
        "moved": True,
        "places": True,
        "keys": True,
        "spans": [True, False, False, True],
    }
