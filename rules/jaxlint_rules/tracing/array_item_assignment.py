"""Item assignment to a JAX array."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, StoreEvent, concerns
from jaxlint.api.syntax import walk
from jaxlint.api.tables import CHANGING_METHODS, IN_PLACE_FUNCTIONS, NUMPY_ONLY_METHODS
from jaxlint.api.values import (
    Array,
    ExternalMethod,
    ExternalObject,
    NumpyArray,
    Value,
    changed_in_place,
    short_source,
)
from jaxlint.finding import FixRequest, Severity
from jaxlint_rules._fixes import propose
from jaxlint_rules._reasons import is_parameter, traced

_UPDATES: dict[type[ast.operator] | type[None], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
}


class ArrayItemAssignment(Rule):
    """An item of a JAX array is assigned in place.

    ## What it does
    Finds `x[i] = v` and `x[i] += v` where `x` is a JAX array. Also finds NumPy methods and
    functions that change an array in place: `x.fill(0)`, `np.add.at(x, i, v)`,
    `np.multiply(x, 2, out=x)`, `random.shuffle(x)`. `np.asarray` and `jax.device_get` return
    read-only views of JAX arrays, so writes to those are found too.

    ## Why is this bad?
    JAX arrays are immutable. Item assignment raises `TypeError`, inside and outside `jit`. A write
    to a NumPy view of a JAX array raises `ValueError: assignment destination is read-only`.

    ## Example
    ```python
    x = jnp.zeros(3)
    x[0] = 1.0
    ```

    ## Use instead
    ```python
    x = jnp.zeros(3)
    x = x.at[0].set(1.0)
    ```
    Inside `jit`, XLA performs the update in place where it can.

    ## Fix safety
    The fix is safe for variables: the statement raised before. `x[0][j] = v` becomes
    `x.at[0, j].set(v)` where `x` is certainly an array. The fix is unsafe for an attribute of
    `self` in a class without bases or decorators: another reference to the same array keeps the old
    value. Other attributes and items of lists and dicts are not rewritten.

    ## When not to fix
    NumPy arrays, lists, dicts and Pallas refs support assignment and are not reported.

    ## References
    - [jax.numpy.ndarray.at](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html)
    """

    code = "JAX106"
    name = "array-item-assignment"
    category = "tracing"
    severity = Severity.ERROR
    fixable = "partly safe"

    @concerns(
        "numpy.",
        *IN_PLACE_FUNCTIONS,
        callees=("ExternalMethod",),
        methods=("shuffle", *NUMPY_ONLY_METHODS, *CHANGING_METHODS),
    )
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        callee = event.callee
        changed: Value | None = None
        if isinstance(callee, ExternalMethod):
            if callee.name in NUMPY_ONLY_METHODS or (
                isinstance(callee.receiver, NumpyArray) and callee.name in CHANGING_METHODS
            ):
                changed, what = callee.receiver, f"`.{callee.name}()`"
            elif callee.name == "shuffle" and event.args:
                owner = callee.receiver.name if isinstance(callee.receiver, ExternalObject) else ""
                changed = event.args[0] if owner in _SHUFFLING else None
                what = "`.shuffle`"
        else:
            changed = changed_in_place(event.name, event.args, event.kwargs)
            by_name = event.name in IN_PLACE_FUNCTIONS
            what = f"`{event.name.replace('numpy.', 'np.')}`" if by_name else "`out=`"
        if isinstance(changed, NumpyArray) and changed.shares and not what.endswith(".at`"):
            self.read_only(event, f"{what} changes", report)
            return
        if not isinstance(changed, Array) or changed.tree or not changed.certain or changed.role == "ref":
            return
        if event.is_guarded() or event.is_caught():
            return
        report(
            event.node,
            f"{what} fails because JAX arrays are immutable; use the result of a `jnp` function",
            reason=traced(event, changed) if changed.staged else "a JAX function returned this array",
        )

    def on_store(self, event: StoreEvent, report: Reporter) -> None:
        base = event.base
        if isinstance(base, NumpyArray):
            changed = event.target.value if isinstance(event.target, ast.Subscript) else event.target
            self.read_only(event, f"`{short_source(changed)}` is", report)
            return
        if not isinstance(event.target, ast.Subscript):
            return
        if (
            not isinstance(base, Array)
            or (base.tree and not _is_parameter_array(base, event.target))
            or not base.certain
            or base.role == "ref"
            or event.frame.stage.within("pallas")  # kernels pass references to loops and helpers
            or event.is_guarded()
        ):
            return
        whole = isinstance(event.target.slice, ast.Constant) and event.target.slice.value is ...
        if whole and is_parameter(event.target.value, event.frame):
            return  # `ref[...] = value` is the write of a mutable reference, which jitted functions accept
        name = ast.unparse(event.target.value)
        if isinstance(event.target.value, ast.Attribute) and event.target.value.attr == "at":
            array, method = ast.unparse(event.target.value.value), _UPDATES.get(type(event.operator), "set")
            report(
                event.node,
                f"`{name}[...] = ` raises TypeError; use `{array} = {name}[...].{method}(...)`",
                reason="`.at[...]` has methods such as `.set` that return the updated array; it has no items to assign",
            )
            return
        if _has_counterpart(name, event, report):
            return
        fix = self.fix(event, report) if isinstance(event.node, (ast.Assign, ast.AugAssign)) else None
        report(
            event.node,
            f"item assignment to `{name}` raises TypeError; use `{name} = {name}.at[...].{_UPDATES.get(type(event.operator), 'set')}(...)`",
            reason=traced(event, base) if base.staged else f"`{name}` is a JAX array, which is immutable",
            fix=fix,
        )

    @staticmethod
    def read_only(event: CallEvent | StoreEvent, what: str, report: Reporter) -> None:
        """A NumPy array is a view of a JAX array; `what` begins the sentence that says so."""
        if event.is_guarded() or event.is_caught():
            return
        report(
            event.node,
            f"{what} a read-only view of a JAX array: ValueError; copy it with `np.array`",
            reason="`np.asarray` and `jax.device_get` return views of JAX arrays, which are immutable",
        )

    @staticmethod
    def fix(event: StoreEvent, report: Reporter) -> FixRequest | None:
        assert isinstance(event.target, ast.Subscript)
        array = event.target.value
        message = f"Use `{short_source(array)}.at[...]`"
        if isinstance(array, ast.Attribute):
            # The statement rebinds an attribute, which a frozen class refuses and other objects may not see.
            if not _in_plain_class(array, report):
                return None
            return propose(report, event.node, "item-assignment-to-at", message, safe=False, target_ok=True)
        return propose(report, event.node, "item-assignment-to-at", message, safe=True)


_SHUFFLING = frozenset(["numpy.random.default_rng", "numpy.random.RandomState", "random.Random"])
_ARRAYS_OF_LAYERS = ("kernel", "bias", "scale", "embedding")


def _is_parameter_array(base: Array, target: ast.Subscript) -> bool:
    """`params["dense"]["kernel"][0] = 0`, in the variables of a flax module, whose keys are strings."""
    held = target.value
    if (
        base.role != "variables"
        or not isinstance(held, ast.Subscript)
        or not isinstance(held.slice, ast.Constant)
    ):
        return False
    index = target.slice
    number = isinstance(index, ast.Constant) and type(index.value) is int
    sliced = isinstance(index, (ast.Slice, ast.Tuple))
    return sliced or (number and held.slice.value in _ARRAYS_OF_LAYERS)


def _has_counterpart(name: str, event: StoreEvent, report: Reporter) -> bool:
    """Whether the other branch of an `if` updates the same array by `.at`: this branch is for NumPy arrays."""
    node: ast.AST = event.node
    for above in report.module.ancestors(event.node):
        if isinstance(above, ast.If):
            other = above.orelse if node in above.body else above.body
            if any(
                isinstance(part, ast.Attribute) and part.attr == "at" and ast.unparse(part.value) == name
                for statement in other
                for part in walk(statement)
            ):
                return True
        elif isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        node = above
    return False


def _in_plain_class(array: ast.Attribute, report: Reporter) -> bool:
    """Whether `array` is an attribute of `self` in a class without bases and decorators."""
    if not (isinstance(array.value, ast.Name) and array.value.id == "self"):
        return False
    for parent in report.module.ancestors(array):
        if isinstance(parent, ast.ClassDef):
            return not (parent.bases or parent.keywords or parent.decorator_list)
    return False
