"""The table of what functions of JAX may be given, held against the installed release."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from jaxlint.jaxapi.signatures import accepts
from tests.helpers.jax_probe import resolve
from tools.signatures import read, signatures

INSTALLED = dict(signatures())


def test_the_table_has_what_the_installed_release_accepts() -> None:
    assert len(INSTALLED) > 900
    for name, (count, names) in INSTALLED.items():
        row = accepts(name)
        assert row is not None, f"{name} is not in the table: run tools/signatures.py"
        assert row.count >= count, name
        assert set(row.names) >= set(names), name


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
