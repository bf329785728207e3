"""What several processes put into arrays that span them: told where rows come twice or copies differ, else silent."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from jaxlint_runtime.lockstep.batches import Batches, compared
from jaxlint_runtime.lockstep.order import Order, Rank
from jaxlint_runtime.protocol.launch_records import HostData, Joined, Leaf, Place, Shard, Stack
from tests.helpers.command_line import jaxlint

AT = Place("train.py", 7, "main")
PROGRAM = """
    import sys
    from functools import partial

    import jax
    import numpy as np
    from jax.experimental import multihost_utils
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    how = sys.argv[1]
    jax.distributed.initialize()
    me = jax.process_index()
    mesh = Mesh(np.array(jax.devices()), "d")
    split, whole = NamedSharding(mesh, P("d")), NamedSharding(mesh, P())
    rng = np.random.RandomState(0 if how == "same" else me)


    @jax.jit
    def step(w, batch):
        return w - 0.1 * (batch["x"] @ w - batch["y"]).mean()


    def placed(rows):
        if how == "same":
            return multihost_utils.host_local_array_to_global_array(rows, mesh, {name: P("d") for name in rows})
        return jax.tree.map(partial(jax.make_array_from_process_local_data, split), rows)


    init = np.random.RandomState(me if how == "copies" else 0).randn(16).astype(np.float32)
    multihost_utils.assert_equal(np.arange(4), "all of them count alike")
    w = jax.make_array_from_process_local_data(whole, init)
    for turn in range(3):
        rows = {name: rng.randn(*shape).astype(np.float32) for name, shape in (("x", (8, 16)), ("y", (8,)))}
        w = step(w, placed(rows))
    jax.block_until_ready(w)
"""


def order_of(*processes: list[tuple[Leaf, ...]]) -> Order:
    order = Order()
    for number, calls in enumerate(processes):
        rank = Rank()
        rank.hear(Joined(number, len(processes)), 0.0)
        rank.hear(Stack(1, (AT,)), 0.0)
        for leaves in calls:
            rank.hear(HostData(1, leaves), 0.0)
        order.add(rank)
    return order


def leaf(name: str, *shards: tuple[str, str], constant: bool = False) -> Leaf:
    return Leaf(name, tuple(Shard(place, digest, constant) for place, digest in shards))


def test_the_same_rows_in_two_processes() -> None:
    order = order_of(
        *(
            [(leaf("['x']", ("0:4", "a"), ("4:8", "b")),)] * 2,
            [(leaf("['x']", ("8:12", "a"), ("12:16", "b")),)] * 2,
        ),
        [(leaf("['x']", ("16:20", "c"), ("20:24", "d")),)] * 2,
    )
    assert compared(order) == [Batches(AT, (0, 1), 2, 2, copies=False)]


def test_copies_that_differ() -> None:
    first = [(leaf("", ("0:8", "a")),), (leaf("", ("0:8", "b")),)]
    second = [(leaf("", ("0:8", "a")),), (leaf("", ("0:8", "c")),)]
    assert compared(order_of(first, second)) == [Batches(AT, (0, 1), 1, 2, copies=True, leaf="", part="0:8")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # other rows in the second call
        ([(leaf("", ("0:4", "a")),)] * 2, [(leaf("", ("4:8", "a")),), (leaf("", ("4:8", "b")),)]),
        # positions are alike, tokens are not
        (
            [(leaf("p", ("0:4", "a")), leaf("t", ("0:4", "x")))],
            [(leaf("p", ("4:8", "a")), leaf("t", ("4:8", "y")))],
        ),
        # zeros
        ([(leaf("", ("0:4", "a"), constant=True),)], [(leaf("", ("4:8", "a"), constant=True),)]),
        # copies that are copies
        ([(leaf("", ("0:8", "a")),)], [(leaf("", ("0:8", "a")),)]),
    ],
)
def test_what_is_right(first: list[tuple[Leaf, ...]], second: list[tuple[Leaf, ...]]) -> None:
    assert compared(order_of(first, second)) == []


@pytest.mark.parametrize(
    ("how", "status", "said"),
    [
        ("own", 0, ""),
        ("same", 0, "Data: processes 0 and 1 gave the same data for different parts of an array at train.py:25, "
            "in 3 of 3 calls; give each its own part.\n"),
        ("copies", 1, "Data: processes 0 and 1 hold part [0:16] and gave different values for it at train.py:31, in the only call.\n"),
    ],
)  # fmt: skip
def test_two_processes(tmp_path: Path, how: str, status: int, said: str) -> None:
    (tmp_path / "train.py").write_text(textwrap.dedent(PROGRAM).lstrip(), encoding="utf-8")
    options = ("--processes", "2", "--local-devices", "2", "-q", "train.py", "--", how)
    done = jaxlint("verify", "--lockstep", *options, cwd=tmp_path)
    assert done.returncode == status, done.stderr
    assert done.stdout.startswith("In step: 2 processes launched the same ")
    lines = [line for line in done.stdout.splitlines(keepends=True) if line.startswith("Data: ")]
    assert "".join(lines) == said
