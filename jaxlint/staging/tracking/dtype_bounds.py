"""Facts about a result's dtype if its operands' dtypes are partly unknown: whether it is weak, and its kind.

A loop compiles a second time if its state starts weak and returns strong. A mean is certainly strong for any operand,
and a strong operand stays strong beside a Python number. Nothing is recorded during the evaluation: the answer is
computed on demand from the operations behind an array.
"""

from __future__ import annotations

from collections.abc import Mapping

from jaxlint.jaxapi.dtypes import KINDS, canonical_dtype, is_float, is_integer, promote
from jaxlint.staging.tracking.operations import result_dtype
from jaxlint.staging.values.arrays import Array, Operation
from jaxlint.staging.values.dtypes import dtype_of
from jaxlint.staging.values.objects import ListValue, TupleValue
from jaxlint.staging.values.plain import Value, is_none

# Strong dtypes of which only the kind is known.
SOME_FLOAT = "some float"  # floating or complex
SOME_NUMBER = "some number"  # an integer, floating or complex
MAX_DEPTH = 32

_MEANS = frozenset("mean nanmean var nanvar std nanstd norm logsumexp softmax log_softmax".split())  # noqa: SIM905
_TOTALS = frozenset("sum nansum prod nanprod cumsum cumprod nancumsum nancumprod trace".split())  # noqa: SIM905
_FOLDING = frozenset({"promote", "promote all", "count", "inexact promote", "inexact all"})
_KEEPING = frozenset({"same", "inexact", "floats", "measure", "inexact measure"})


def certain_dtype(value: Value, given: Mapping[str, str] | None = None, depth: int = MAX_DEPTH) -> str:
    """The certain dtype of `value`, possibly SOME_FLOAT or SOME_NUMBER; "" if not even that is known.

    `given`: dtypes of parameters of the jitted function that computed `value`, if a call says more about them than
    their arrays do.
    """
    if not isinstance(value, Array):
        return canonical_dtype(dtype_of(value))
    if value.tree or value.mixed or depth == 0:
        return ""
    made = value.made
    if made is not None and made.args:
        return canonical_dtype(value.dtype) or _of_operation(made, given or {}, depth - 1)
    if value.dtype:
        return canonical_dtype(value.dtype)
    if given and value.why is not None and value.why.parameter in given:
        return given[value.why.parameter]
    form = value.form
    if form is not None and form.how == "" and len(form.of) == 1:
        return certain_dtype(form.of[0], given, depth - 1)
    return ""


def _of_operation(made: Operation, given: Mapping[str, str], depth: int) -> str:
    """The dtype of an operation's result, from what is certain about its operands."""
    operands = [_certain_part(part, given, depth) for part in made.args]
    stand_ins = tuple(
        Array(False, dtype="" if dtype in (SOME_FLOAT, SOME_NUMBER) else dtype)
        if isinstance(part, Array)
        else part
        for part, dtype in zip(made.args, operands, strict=True)
    )
    known = result_dtype(made.name, stand_ins, made.kwargs, made.full)
    if known or made.kwargs.get("dtype") is not None or made.kwargs.get("preferred_element_type") is not None:
        return known
    return _bounded(made, operands)


def _certain_part(part: Value, given: Mapping[str, str], depth: int) -> str:
    if isinstance(part, (ListValue, TupleValue)):
        return meeting(*(certain_dtype(item, given, depth) for item in part.elements()))
    return certain_dtype(part, given, depth)


def _bounded(made: Operation, operands: list[str]) -> str:
    first = operands[0]
    lax = made.full.startswith("jax.lax.")
    if made.name in _MEANS and not lax:
        return SOME_FLOAT
    if made.name in _TOTALS and not lax:
        return first if first == SOME_FLOAT else SOME_NUMBER
    kind = KINDS.get(made.name, "")
    if kind in _FOLDING:
        return meeting(*(dtype for dtype, arg in zip(operands, made.args, strict=True) if not is_none(arg)))
    if made.name == "where" and len(operands) == 3:
        return meeting(operands[1], operands[2])
    if kind == "elements" or made.name in ("array", "asarray"):
        return first if first in (SOME_FLOAT, SOME_NUMBER) else ""
    if kind in _KEEPING or made.name in ("getitem", "positive"):
        return first if first == SOME_FLOAT or (first == SOME_NUMBER and kind in ("same", "")) else ""
    return ""


def meeting(*dtypes: str) -> str:
    """The promotion of dtypes, some of which are unknown."""
    result = dtypes[0] if dtypes else ""
    for dtype in dtypes[1:]:
        result = _meeting(result, dtype)
    return result


def _meeting(one: str, two: str) -> str:
    known = promote(one, two)
    if known:
        return known
    if _is_some_float(one) or _is_some_float(two):
        return SOME_FLOAT  # with any other operand
    left, right = sorted((_rank(one), _rank(two)))
    return SOME_NUMBER if right == 2 and left >= 1 else ""


def _is_some_float(dtype: str) -> bool:
    """Whether a dtype is strong and floating, whatever its width."""
    return dtype == SOME_FLOAT or (
        not dtype.endswith("*") and (is_float(dtype) or dtype.startswith("complex"))
    )


def _rank(dtype: str) -> int:
    """How far a dtype decides the dtype of a sum: 2 for strong numbers, 1 for dtypes that keep those strong, 0 for
    others."""
    if dtype == SOME_NUMBER or (is_integer(dtype) and not dtype.endswith("*")):
        return 2
    return 1 if dtype in ("int*", "bool") else 0


def changes_dtype(first: str, later: str) -> bool:
    """Whether a value with one certain dtype later has another one, for `jit`."""
    if not first or not later or first == later:
        return False
    if later == SOME_FLOAT:
        return first.endswith("*") or first == "bool" or is_integer(first)
    if later == SOME_NUMBER:
        return first in ("int*", "bool")
    return first not in (SOME_FLOAT, SOME_NUMBER)
