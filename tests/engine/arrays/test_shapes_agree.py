"""Shapes and dtypes that the engine gives for random calls, held against `jax.eval_shape` of the installed JAX."""

from __future__ import annotations

import ast
import collections
import functools
from typing import Any

import jax
import pytest

from jaxlint.staging.shapes.answers import applied
from jaxlint.staging.shapes.applied import MisfitError
from jaxlint.staging.tracking.operations import result_dtype, short_name
from jaxlint.staging.values import (
    Array,
    DType,
    ExternalObject,
    ListValue,
    Operation,
    Static,
    TupleValue,
    Value,
)
from jaxlint.staging.values.arrays import Form
from jaxlint.staging.values.sizes import Polynomial, Size, Symbol, symbol
from tests.engine.arrays.cases import FAMILIES, Case, cases, function_of

COUNT = 200


class Names:
    """Symbols for sizes: one that stands for a size is another each time, or the same."""

    def __init__(self) -> None:
        self.values: dict[Symbol, int] = {}
        self.by_size: dict[int, Size] = {}

    def of(self, size: int, number: int) -> Size:
        if number % 3 == 0 or size == 1:
            return size
        if number % 3 == 1:
            found = self.by_size.get(size) or symbol(f"S{size}")
            self.by_size[size] = found
        else:
            found = symbol(f"N{number}")
        assert isinstance(found, Polynomial)
        ((monomial, _),) = found.terms
        assert isinstance(monomial[0], Symbol)
        self.values[monomial[0]] = size
        return found

    def value(self, size: Size) -> int | None:
        """What a size stands for; None where it is one that is not known."""
        if isinstance(size, int):
            return size
        total = 0
        for monomial, factor in size.terms:
            for atom in monomial:
                if isinstance(atom, Symbol):
                    if atom not in self.values:
                        return None
                    factor *= self.values[atom]
                else:
                    left, right = self.value(atom.left), self.value(atom.right)
                    if left is None or not right:
                        return None
                    factor *= left // right if atom.operator == "//" else left % right
            total += factor
        return total


def model(value: Any, names: Names, symbolic: bool, counter: list[int]) -> Value:
    """A value as the analysis has it."""
    if isinstance(value, jax.ShapeDtypeStruct):
        form = Form()
        form.asked = True
        sizes: list[Size] = []
        for size in value.shape:
            counter[0] += 1
            sizes.append(names.of(size, counter[0]) if symbolic else size)
        form.shape = tuple(sizes)
        return Array(False, dtype=str(value.dtype), form=form)
    if value == "KEY" and isinstance(value, str):
        return Array(False, role="key")
    if isinstance(value, tuple):
        return TupleValue([model(part, names, symbolic, counter) for part in value])
    if isinstance(value, list):
        return ListValue([model(part, names, symbolic, counter) for part in value])
    if isinstance(value, slice):
        return ExternalObject("builtins.slice", [Static(value.start), Static(value.stop), Static(value.step)])
    if isinstance(value, type) or hasattr(value, "dtype"):
        return DType(name=jax.numpy.dtype(value).name)
    return Static(value)


def evaluated(case: Case) -> Any:
    """What JAX gives, as shapes and dtypes; None where it raises."""
    function = function_of(case.name)
    leaves, tree = jax.tree.flatten((case.args, case.kwargs), is_leaf=lambda x: x is None)
    arrays = [leaf for leaf in leaves if isinstance(leaf, jax.ShapeDtypeStruct)]
    needs_key = "KEY" in [leaf for leaf in leaves if isinstance(leaf, str)]

    def call(given: list[Any]) -> Any:
        rest = iter(given)
        filled = [
            next(rest)
            if isinstance(leaf, jax.ShapeDtypeStruct)
            else given[-1]
            if isinstance(leaf, str) and leaf == "KEY"
            else leaf
            for leaf in leaves
        ]
        args, kwargs = jax.tree.unflatten(tree, filled)
        return function(*args, **kwargs)

    if needs_key:
        arrays = [*arrays, jax.eval_shape(lambda: jax.random.key(0))]
    try:
        return jax.eval_shape(call, arrays)
    except (
        TypeError,
        ValueError,
        IndexError,
        AssertionError,
        NotImplementedError,
        ZeroDivisionError,
        RuntimeError,
    ):
        return None
    except Exception as error:
        if "Einops" in type(error).__name__ or "jaxlib" in type(error).__module__:
            return None
        raise


def spelled(value: Any) -> str:
    name = str(value.dtype)
    weak = {"int32": "int*", "float32": "float*", "complex64": "complex*"}
    return weak.get(name, name) if value.weak_type else name


@functools.cache
def outcome(label: str) -> tuple[list[str], collections.Counter[str]]:
    """What is wrong in a family, and how often what was said."""
    wrong: list[str] = []
    counts: collections.Counter[str] = collections.Counter()
    for number, case in enumerate(cases(label, max(COUNT, 4 * len(FAMILIES[label][0])))):
        real = evaluated(case)
        for symbolic in (False, True):
            names = Names()
            args = [model(arg, names, symbolic, [number]) for arg in case.args]
            kwargs = {name: model(arg, names, symbolic, [number]) for name, arg in case.kwargs.items()}
            prefix = "" if case.name.startswith(("optax", "einops")) else "jax."
            made = Operation(
                short_name(prefix + case.name), tuple(args), kwargs, ast.Constant(0), 0, prefix + case.name
            )
            kind = "symbols" if symbolic else "integers"
            try:
                claim = applied(made)
            except MisfitError as misfit:
                counts[f"{kind}: misfit"] += 1
                if real is not None:
                    wrong.append(f"{case}: JAX gives {real}, and it is said to fail: {misfit} ({kind})")
                continue
            if real is None:
                counts[f"{kind}: JAX raises"] += 1
                continue
            if claim is None:
                counts[f"{kind}: unknown"] += 1
                continue
            results = list(real) if isinstance(real, (tuple, list)) else [real]
            claims = claim if isinstance(claim, list) else [claim] * len(results)
            if len(claims) != len(results):
                wrong.append(f"{case}: {len(claims)} results, and {len(results)} in JAX")
                continue
            counts[f"{kind}: known"] += 1
            for one, other in zip(claims, results, strict=True):
                sizes = [names.value(size) for size in one]
                # A slice of an axis of which nothing is known takes it to be long enough.
                sizes = [size if size is None else max(size, 0) for size in sizes]
                if len(sizes) != len(other.shape) or any(
                    size is not None and size != there for size, there in zip(sizes, other.shape, strict=True)
                ):
                    wrong.append(
                        f"{case}: {other.shape} in JAX, and it is said to be {tuple(map(str, one))} ({kind})"
                    )
        if real is not None and not isinstance(real, (tuple, list)):
            dtype = result_dtype(made.name, made.args, made.kwargs, made.full)
            counts["dtype known" if dtype else "dtype unknown"] += 1
            if dtype and dtype != spelled(real):
                wrong.append(f"{case}: {spelled(real)} in JAX, and the dtype is said to be {dtype}")
    return wrong, counts


@pytest.mark.parametrize("label", sorted(FAMILIES))
def test_shapes_agree_with_jax(label: str) -> None:
    wrong, counts = outcome(label)
    print(label, dict(counts))
    assert not wrong, "\n".join(wrong[:20])
    assert counts["integers: known"] > 0.4 * sum(counts[f"integers: {what}"] for what in ("known", "unknown"))


DTYPES = ("bfloat16", "int32", "uint8", "bool", "complex64")


def of_dtype(value: Any, dtype: str) -> Any:
    """A value of a case with arrays of another dtype."""
    if isinstance(value, jax.ShapeDtypeStruct):
        return jax.ShapeDtypeStruct(value.shape, jax.numpy.dtype(dtype))
    return type(value)(of_dtype(part, dtype) for part in value) if type(value) in (tuple, list) else value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("label", sorted(FAMILIES))
def test_dtypes_agree_with_jax(label: str, dtype: str) -> None:
    """Each function of a family once, with arrays of each dtype."""
    wrong: list[str] = []
    first = {case.name: case for case in reversed(list(cases(label, 4 * len(FAMILIES[label][0]))))}
    for case in first.values():
        changed = Case(case.name, of_dtype(case.args, dtype), case.kwargs)
        real = evaluated(changed)
        if real is None or isinstance(real, (tuple, list)):
            continue
        names = Names()
        args = tuple(model(arg, names, False, [0]) for arg in changed.args)
        kwargs = {name: model(arg, names, False, [0]) for name, arg in changed.kwargs.items()}
        full = case.name if case.name.startswith(("optax", "einops")) else f"jax.{case.name}"
        claim = result_dtype(short_name(full), args, kwargs, full)
        if claim and claim != spelled(real):
            wrong.append(f"{changed}: {spelled(real)} in JAX, and it is said to be {claim}")
    assert not wrong, "\n".join(wrong[:20])
