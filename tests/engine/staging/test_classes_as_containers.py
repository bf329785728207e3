"""Objects whose class derives from a container, or that the abstract classes call one; objects that are themselves and nothing else."""

from __future__ import annotations

import runpy
import textwrap
from pathlib import Path

import pytest

from tests.helpers.projects import answers_of, findings_in

NAMED_TUPLES = """
    from typing import NamedTuple
    import jax
    import jax.numpy as jnp

    class Position(NamedTuple):
        row: jax.Array
        column: jax.Array

        def __eq__(self, other):
            return equal(self.row, other.row) & equal(self.column, other.column)

        def __add__(self, other):
            return Position(moved(self.row, other.row), moved(self.column, other.column))

    def equal(here, there):
        return here == there

    def moved(here, by):
        return here + by

    @jax.jit
    def reached(row, column):
        here = Position(row, column)
        return here + Position(1, 0) == Position(column, row)

    reached(jnp.ones(()), jnp.ones(()))
"""


def test_a_named_tuple_says_what_operators_do_with_it(tmp_path: Path) -> None:
    known = answers_of(tmp_path, NAMED_TUPLES)
    runpy.run_path(str(tmp_path / "program.py"))
    assert known["equal"] == ("yes", {"here": "traced", "there": "traced"})
    assert known["moved"] == ("yes", {"here": "traced", "by": "static"})
    assert not findings_in(tmp_path, {"program.py": NAMED_TUPLES})


ABLE = """
    import jax
    import jax.numpy as jnp
    from collections.abc import Iterable, Mapping, Sequence

    class Pairs(BASE):
        def __init__(self, keys, values):
            self._keys, self._values = keys, values
        def __len__(self):
            return len(self._keys)
        def __getitem__(self, i):
            return self._keys[i], self._values[i]
        def __iter__(self):
            return iter(zip(self._keys, self._values))

    def nested(pairs):
        if not isinstance(pairs, Mapping):
            pairs = dict(pairs)
        if isinstance(pairs, Mapping):
            pairs = pairs.items()
        result = {}
        for path, value in pairs:
            inner = result
            for key in path[:-1]:
                inner = inner.setdefault(key, {})
            inner[path[-1]] = value
        return result

    def read(tree):
        return jax.tree.leaves(tree)

    @jax.jit
    def step(x):
        return read(nested(Pairs([("a", "b")], [x])))

    if __name__ == "program":
        step(jnp.ones(3))
"""


def test_containers_are_what_the_abstract_classes_say_they_can_do(tmp_path: Path) -> None:
    source = textwrap.dedent(ABLE).replace("BASE", "Sequence")
    exec(compile(source, "program.py", "exec"), {"__name__": "program"})
    assert answers_of(tmp_path, source)["read"] == ("yes", {"tree": "traced"})


@pytest.mark.parametrize("base", ["Mapping", "Base"])
def test_what_derives_from_a_mapping_or_from_what_is_not_known_may_be_one(tmp_path: Path, base: str) -> None:
    source = textwrap.dedent(ABLE).replace("BASE", base)
    source = source.replace("import jax\n", "import jax\nfrom elsewhere import Base\n", 1)
    assert answers_of(tmp_path, source)["read"][0] == "unknown"


def test_an_array_can_be_gone_through_and_is_no_sequence(tmp_path: Path) -> None:
    source = """
        import jax
        from collections.abc import Iterable, Sequence

        def parts(x): return x
        def items(x): return x

        @jax.jit
        def step(x, y):
            x, y = x + 1, y + 1
            return parts(x) if isinstance(x, Iterable) else None, items(y) if isinstance(y, Sequence) else None

        step(jax.numpy.ones(3), jax.numpy.ones(3))
    """
    known = answers_of(tmp_path, source)
    assert known["parts"] == ("yes", {"x": "traced"})
    assert known["items"][0] == "unknown"


HOLDING = """
    import jax
    import jax.numpy as jnp
    from collections import deque
    from typing import TypeVar

    T = TypeVar("T")

    class Held(BASE): ...

    def flatten(held):
        return tuple(held), None

    REGISTER

    def fill(held, x):
        FILL

    def read(held):
        return READ

    @jax.jit
    def step(x):
        held = Held()
        fill(held, x)
        return read(held)

    step(jnp.ones(3))
"""


HOLDS = {
    "list": ("list", "held.append(x)", "held[0] + 1"),
    "deque": ("deque[T]", "held.appendleft(x)", "sum(held)"),
    "dict": ("dict", "held['a'] = x", "held.get('a') + 1"),
}


REGISTER = "jax.tree_util.register_pytree_node(Held, flatten, lambda _, parts: Held(parts))"


@pytest.mark.parametrize("base", HOLDS)
def test_an_object_whose_class_derives_from_a_container_holds_what_is_put_into_it(
    tmp_path: Path, base: str
) -> None:
    name, fill, read = HOLDS[base]
    source = textwrap.dedent(HOLDING).replace("BASE", name).replace("FILL", fill).replace("READ", read)
    registered = source.replace("REGISTER", REGISTER)
    exec(compile(registered, "program.py", "exec"), {"__name__": "program"})
    known = answers_of(tmp_path, registered)
    assert known["read"] == ("yes", {"held": "traced"})
    assert known["fill"][1] == {"held": "static", "x": "traced"}  # it is empty
    # What JAX was not told about is a leaf, whatever it holds.
    assert answers_of(tmp_path, source.replace("REGISTER", ""))["read"][1] == {"held": "static"}


def test_a_list_of_functions_keeps_those_that_are_known(tmp_path: Path) -> None:
    source = """
        import jax
        from elsewhere import hook

        def double(x):
            return 2 * x

        def number(x):
            return x

        def hooks(*more):
            found = []
            for given in (double, *more):
                found.append(given)
            found.insert(0, hook())
            return found

        @jax.jit
        def step(x):
            for made in hooks():
                x = made(x)
            kept = []
            for _ in range(3):
                kept.append(0)
            kept.insert(0, hook())
            return x, number(kept[0])
    """
    known = answers_of(tmp_path, source)
    assert known["double"] == ("yes", {"x": "traced"})
    assert known["number"][1] == {"x": "unknown"}


def test_what_object_makes_is_itself_and_nothing_else(tmp_path: Path) -> None:
    source = """
        import functools
        import jax
        import jax.numpy as jnp

        MISSING = object()
        OTHER = object()

        def rule(function=MISSING, *, scale=1.0):
            if function is MISSING:
                return functools.partial(rule, scale=scale)

            def wrapped(x):
                return function(given(x * scale))

            return wrapped

        def given(x):
            return x

        def left_out(x):
            return x

        @rule(scale=2.0)
        def double(x):
            return 2 * x

        def value(x, y=MISSING):
            if y is OTHER:
                return left_out(x)
            return x if y is MISSING else x + y

        @jax.jit
        def step(x):
                return double(value(x)) + value(x, 1.0 * x)

        step(jnp.ones(3))
    """
    exec(compile(textwrap.dedent(source), "program.py", "exec"), {"__name__": "program"})
    known = answers_of(tmp_path, source)
    assert known["rule"] == ("no", {"function": "static", "scale": "static"})
    assert known["rule.<locals>.wrapped"] == ("yes", {"x": "traced"})
    assert known["given"] == ("yes", {"x": "traced"})
    assert known["double"] == ("yes", {"x": "traced"})
    assert known["left_out"][0] == "unknown"


def test_a_name_that_is_set_elsewhere_may_be_what_object_made(tmp_path: Path) -> None:
    source = """
        import jax
        from elsewhere import MISSING

        OWN = object()

        def maybe(x): return x

        @jax.jit
        def step(x, y=OWN):
            if y is MISSING:
                return maybe(x)
            return x
    """
    assert answers_of(tmp_path, source)["maybe"] == ("yes", {"x": "traced"})
