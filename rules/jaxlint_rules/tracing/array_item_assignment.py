"""Assignment to items of a JAX array."""

from __future__ import annotations

import ast

from jaxlint.finding import FixRequest, Severity
from jaxlint.jaxapi.functions import CHANGING_METHODS, IN_PLACE_FUNCTIONS, NUMPY_ONLY_METHODS
from jaxlint.rule import Example, Rule, concerns
from jaxlint.staging import Reporter
from jaxlint.staging.events import CallEvent, StoreEvent
from jaxlint.staging.operations import changed_in_place
from jaxlint.staging.syntax_facts import walk
from jaxlint.staging.values import Array, ExternalMethod, ExternalObject, NumpyArray, Value
from jaxlint_rules._fixes import propose
from jaxlint_rules._reasons import guarded, is_parameter, traced

_UPDATES: dict[type[ast.operator] | type[None], str] = {
    ast.Add: "add",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
}


class ArrayItemAssignment(Rule):
    """An item of a JAX array is assigned to.

    ## What it does
    Finds `x[i] = v` and `x[i] += v` where `x` is a JAX array, and the methods and functions of NumPy that change an
    array in place (`x.fill(0)`, `np.add.at(x, i, v)`, `np.multiply(x, 2, out=x)`, `random.shuffle(x)`). So too where `x`
    is what `np.asarray` or `jax.device_get` makes of a JAX array.

    ## Why is this bad?
    JAX arrays are immutable: `TypeError`, inside and outside `jit`. NumPy sees their memory as it is, read-only:
    `ValueError: assignment destination is read-only`.

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
    Inside `jit` the update is done in place where that is possible.

    ## Fix safety
    Safe for plain variables: the statement raised before. `x[0][j] = v` becomes `x.at[0, j].set(v)` where `x` is certainly
    an array. For an attribute of `self` in a plain class the fix is unsafe, since another name may hold the same array and
    keeps the old one. Other attributes, and items of lists and dicts, are left alone.

    ## When not to fix
    NumPy arrays, lists, dicts and Pallas references may be assigned to, and are not reported.

    ## References
    - [jax.numpy.ndarray.at](https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html)
    """

    code = "JAX106"
    name = "array-item-assignment"
    category = "tracing"
    severity = Severity.ERROR
    fixable = "partly safe"
    examples = (
        Example(
            "the parameters of a module",
            """
import flax.linen as nn
import jax.numpy as jnp

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2, name="head")(x)

def zeroed(params):
    params["head"]["kernel"][0] = 0.0  # finding
    params["head"]["bias"] = jnp.zeros(2)
    return params

def main(key):
    variables = Net().init(key, jnp.ones((1, 3)))
    variables["params"]["head"]["kernel"][:, 0] = 1.0  # finding
    return zeroed(variables["params"])
""",
        ),
        Example(
            "plain and augmented assignment",
            """
import jax.numpy as jnp

def f(gain):
    v = jnp.zeros(8)
    v[0] = 1.0  # finding
    v[2:4] += gain  # finding
    return v
""",
            """
import jax.numpy as jnp

def f(gain):
    v = jnp.zeros(8)
    v = v.at[0].set(1.0)  # finding
    v = v.at[2:4].add(gain)  # finding
    return v
""",
        ),
        Example(
            "several items, items of items, an attribute",
            """
import jax.numpy as jnp

class Buffer:
    def __init__(self, n):
        self.data = jnp.zeros(n)

    def put(self, i, value):
        self.data[i] = value  # finding

def f(gain):
    v = jnp.zeros((2, 3))
    v[0, 0], v[1, 1] = v[1, 1], gain  # finding
    v[0][1:] = gain  # finding
    return v
""",
            """
import jax.numpy as jnp

class Buffer:
    def __init__(self, n):
        self.data = jnp.zeros(n)

    def put(self, i, value):
        self.data = self.data.at[i].set(value)  # finding

def f(gain):
    v = jnp.zeros((2, 3))
    v = v.at[0, 0].set(v[1, 1]).at[1, 1].set(gain)  # finding
    v = v.at[0, 1:].set(gain)  # finding
    return v
""",
        ),
        Example(
            "NumPy's ways to change an array in place",
            """
import random
import jax.numpy as jnp
import numpy as np

def f(indices):
    counts = jnp.zeros(8)
    np.add.at(counts, indices, 1.0)  # finding
    counts.fill(0.0)  # finding
    np.multiply(counts, 2.0, out=counts)  # finding
    random.shuffle(counts)  # finding
    generator = np.random.RandomState(0)
    generator.shuffle(counts)  # finding
    host = np.zeros(8)
    np.add.at(host, indices, 1.0)
    host.fill(0.0)
    np.multiply(counts, 2.0, out=host)
    random.shuffle(host)
    generator.shuffle(host)
    return counts, host
""",
        ),
        Example(
            "views that NumPy has of an array",
            """
import jax
import jax.numpy as jnp
import numpy as np

def report(logits):
    probs = np.asarray(jax.nn.softmax(logits))
    probs /= probs.sum()  # finding
    fetched = jax.device_get(jnp.exp(logits))
    fetched[0] = 0.0  # finding
    fetched.reshape(-1, 2)[:, 0] = 1.0  # finding
    np.asarray(jnp.sort(logits)).sort()  # finding
    np.random.shuffle(np.asarray(jnp.arange(8)))  # finding
    copied = np.array(jax.nn.softmax(logits))
    copied[0] = 0.0
    wide = np.asarray(jnp.exp(logits), dtype=np.float64)
    wide[0] = 0.0
    again = probs * 2.0
    again[0] = 0.0
    host = np.asarray(logits)
    host[0] = 0.0
    picked = fetched[[0, 1]]
    picked[0] = 0.0
    return copied, wide, again, host, picked
""",
        ),
        Example(
            "things that may be assigned to",
            """
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

@jax.jit
def count(counter):
    counter[...] = counter[...] + 1

def f(x, batch):
    count(jax.new_ref(jnp.zeros(())))
    host = np.zeros(3)
    host[0] = 1.0
    parts = [jnp.zeros(2), jnp.ones(2)]
    parts[0] = x
    batch["x"] = x
    copy = np.array(jnp.ones(3))
    copy[0] = 2.0
    rows = (np.zeros if isinstance(batch, np.ndarray) else jnp.zeros)(3) * x
    if isinstance(batch, np.ndarray):
        rows[0] = 1.0
    else:
        rows = rows.at[0].set(1.0)
    out = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((3,), jnp.float32))(x)
    return host, parts, batch, copy, out
""",
        ),
        Example(
            "other views of a reference",
            """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def store(ref, value):
    words = ref.bitcast(jnp.uint32)
    words[0] = value
    rows = ref.reshape(4, 8)
    rows[0] = value

def kernel(x_ref, o_ref):
    store(o_ref, x_ref[0])

def run(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

def rows():
    row = jnp.zeros(32).reshape(4, 8)
    row[0] = 1  # finding
    return run(row)
""",
        ),
        Example(
            "views of parts of a reference, which a helper hands on",
            """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from pipelines import each_stage

def store(ref, value):
    words = ref.bitcast(jnp.uint32)
    words[0] = value

class Buffer:
    def __init__(self, ref):
        self.ref = ref

    def part(self, i):
        return self.ref.at[i]

def kernel(x_ref, o_ref):
    buffer = Buffer(o_ref)

    @pl.loop(0, 4)
    def fill(i):
        store(buffer.part(i), 1)

    @each_stage
    def fill_again():
        store(buffer.part(0), 1)

@jax.jit
def run(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

run(jnp.ones((4, 8)))
""",
        ),
        Example(
            "items of `.at`",
            """
import jax
import jax.numpy as jnp
import pandas as pd

def deposit(cells, charge):
    grid = jnp.zeros(16)
    for cell, q in zip(cells, charge):
        grid.at[cell] += q  # finding
    grid.at[0] = 1.0  # finding
    grid = grid.at[1].add(2.0)
    return grid

def table(names):
    frame = pd.DataFrame({"n": [0] * len(names)}, index=names)
    for name in names:
        frame.at[name, "n"] += 1
    return frame
""",
        ),
    )

    @concerns("numpy.", *IN_PLACE_FUNCTIONS, callees=("ExternalMethod",))
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
            self.read_only(event, f"What {what} changes", report)
            return
        if not isinstance(changed, Array) or changed.tree or not changed.certain or changed.role == "ref":
            return
        if guarded(event) or event.frame.catching:
            return
        report(
            event.node,
            f"{what} changes an array in place, and a JAX array cannot be changed; use the function of `jnp` and its result",
            reason=traced(event, changed) if changed.staged else "it is the result of a JAX array function",
        )

    def on_store(self, event: StoreEvent, report: Reporter) -> None:
        base = event.base
        if isinstance(base, NumpyArray):
            changed = event.target.value if isinstance(event.target, ast.Subscript) else event.target
            self.read_only(event, f"`{ast.unparse(changed)}`", report)
            return
        if not isinstance(event.target, ast.Subscript):
            return
        if (
            not isinstance(base, Array)
            or (base.tree and not _is_parameter_array(base, event.target))
            or not base.certain
            or base.role == "ref"
            or event.frame.stage.within("pallas")  # kernels hand references to loops and helpers
            or guarded(event)
        ):
            return
        whole = isinstance(event.target.slice, ast.Constant) and event.target.slice.value is ...
        if whole and is_parameter(event.target.value, event.frame):
            return  # `ref[...] = value` is how mutable references are written, which may be passed to jitted functions
        name = ast.unparse(event.target.value)
        if isinstance(event.target.value, ast.Attribute) and event.target.value.attr == "at":
            array, method = ast.unparse(event.target.value.value), _UPDATES.get(type(event.operator), "set")
            report(
                event.node,
                f"`{name}[...]` cannot be assigned to; use `{array} = {name}[...].{method}(...)`",
                reason="`.at` gives methods that return the changed array, and has no items of its own",
            )
            return
        if _has_counterpart(name, event, report):
            return
        where = "a traced" if base.staged else "a JAX"
        fix = self.fix(event, report) if isinstance(event.node, (ast.Assign, ast.AugAssign)) else None
        report(
            event.node,
            f"`{name}` is {where} array and cannot be assigned to; use `{name} = {name}.at[...].set(...)`",
            reason=traced(event, base) if base.staged else f"`{name}` is the result of a JAX array function",
            fix=fix,
        )

    @staticmethod
    def read_only(event: CallEvent | StoreEvent, what: str, report: Reporter) -> None:
        """`what`, an array of NumPy, is a view of an array of JAX."""
        if guarded(event) or event.frame.catching:
            return
        report(
            event.node,
            f"{what} shares the memory of a JAX array and is read-only; make a copy with `np.array(...)`",
            reason="`np.asarray` and `jax.device_get` of a JAX array give a view that cannot be written to",
        )

    @staticmethod
    def fix(event: StoreEvent, report: Reporter) -> FixRequest | None:
        assert isinstance(event.target, ast.Subscript)
        array = event.target.value
        message = f"Replace by `{ast.unparse(array)}.at[...]`"
        if isinstance(array, ast.Attribute):
            # The statement binds an attribute anew, which a frozen class refuses and other objects may not see.
            if not _in_plain_class(array, report):
                return None
            return propose(report, event.node, "item-assignment-to-at", message, safe=False, target_ok=True)
        return propose(report, event.node, "item-assignment-to-at", message, safe=True)


_SHUFFLING = frozenset(["numpy.random.default_rng", "numpy.random.RandomState", "random.Random"])
_ARRAYS_OF_LAYERS = ("kernel", "bias", "scale", "embedding")


def _is_parameter_array(base: Array, target: ast.Subscript) -> bool:
    """`params["dense"]["kernel"][0] = 0`, of the variables of a flax module, whose keys are texts."""
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
    """Whether the other branch of an `if` updates the same array by `.at`: this one is for NumPy's."""
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
