"""The table of what functions of JAX may be given, held against the installed release."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from jaxlint.jaxapi.signatures import accepts
from tests.helpers.jax_probe import resolve
from tools.signatures import ANY, merged, read, signatures

FOUND = dict(signatures())
INSTALLED = {name: row for name, row in FOUND.items() if row != ANY}


def test_the_table_has_what_the_installed_release_accepts() -> None:
    assert len(INSTALLED) > 1500
    for name, (count, names) in INSTALLED.items():
        row = accepts(name)
        if row is None:
            assert read().get(name) == ANY, f"{name} is not in the table: run tools/signatures.py"
            continue
        assert row.count >= count, name
        assert set(row.names) >= {one.strip("!") for one in names if not one.startswith("/")}, name
        assert {one for _, one in row.required} <= {one.strip("/!") for one in names if one.endswith("!")}, (
            name
        )


def test_what_accepts_any_keyword_has_no_row() -> None:
    assert FOUND["jax.tree_util.Partial"] == ANY
    assert all(accepts(name) is None for name, row in FOUND.items() if row == ANY)


def test_a_release_without_the_requirement_lifts_it() -> None:
    assert merged((2, ["x!", "n!"]), (3, ["x!", "n", "dtype"])) == (3, ["x!", "n", "dtype"])
    assert merged((1, ["/x!"]), (1, ["x!"])) == (1, ["x"])
    assert merged((2, ["x!", "n!"]), (2, ["n!", "x!"])) == (2, ["x", "n"])
    assert merged((1, ["x!", "key!"]), (1, ["x!", "eps", "key!"])) == (1, ["x!", "key!", "eps"])
    assert merged((1, ["x!"]), ANY) == ANY


def test_missing_counts_positions_and_keywords() -> None:
    row = accepts("jax.random.randint")
    assert row is not None
    assert row.missing(2, {"maxval"}) == ["minval"]
    assert row.missing(4, set()) == []
    layer = accepts("flax.nnx.Linear")
    assert layer is not None
    assert layer.missing(2, set()) == ["rngs"]
    with pytest.raises(TypeError):
        resolve("flax.nnx.Linear")(2, 3)


@pytest.mark.parametrize("module", sorted({name.rpartition(".")[0] for name in INSTALLED}))
def test_any_other_keyword_raises(module: str) -> None:
    array = jnp.ones(2)
    for name in INSTALLED:
        if name.rpartition(".")[0] == module:
            short = name.rpartition(".")[2]
            function = getattr(array, short) if module == "jax.Array" else resolve(name)
            with pytest.raises(TypeError):
                function(no_such_argument=1)


def test_methods_count_their_arguments_without_the_array() -> None:
    assert read()["jax.Array.sum"][1][0] == "axis"
    row = accepts("jax.Array.argmax")
    assert row is not None
    array = jnp.ones(2)
    with pytest.raises(TypeError):
        array.argmax(*[None] * (row.count + 1))


def test_what_no_row_covers_is_unknown() -> None:
    assert accepts("jax.numpy.no_such_function") is None
