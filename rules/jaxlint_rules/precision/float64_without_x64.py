"""64-bit dtypes requested while x64 is off."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, OperationEvent, Reporter, Rule, TracedArgumentEvent, concerns
from jaxlint.api.syntax import walk
from jaxlint.api.tables import JIT_KINDS, MAKERS, RANDOM_MAKERS
from jaxlint.api.values import (
    External,
    ListValue,
    NumpyArray,
    Operation,
    Reading,
    Static,
    Value,
    dtype_named,
    grain_of,
)
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name
from jaxlint_rules._x64 import may_have_x64

_GIVEN = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}
_WIDE = frozenset(_GIVEN)
_CONVERTING = frozenset({"array", "asarray", "float32", "float64"})
# Functions that take a dtype by position.
_TAKING_DTYPES = frozenset(
    {"astype", *MAKERS, *RANDOM_MAKERS, *(f"jax.random.{name}" for name in RANDOM_MAKERS)}
)
_LAYERS = ("flax.", "haiku.", "equinox.", "jax.nn.initializers.")


class Float64WithoutX64(Rule):
    """A 64-bit dtype becomes 32 bits because x64 is off.

    ## What it does
    Finds `dtype=jnp.float64`, `"float64"`, `.astype(np.float64)`, `jnp.float64(...)` and their
    complex and integer counterparts in projects that never enable x64: neither by `jax_enable_x64`,
    nor `JAX_ENABLE_X64`, nor `enable_x64()`. In such projects it also finds `time.time()` that
    becomes an array or an argument of a jitted function, and NumPy arrays whose numbers float32
    cannot tell apart, such as dates in seconds, if the program shows how large they are and how far
    apart.

    ## Why is this bad?
    JAX truncates the dtype to 32 bits, with a warning at most: about 7 digits instead of 16.
    Results that need the precision are wrong. In float32 the seconds since 1970 have steps of 128
    seconds, so differences of such times are 0 or 128.

    ## Example
    ```python
    x = jnp.linspace(0, 1, 1000, dtype=jnp.float64)
    print(x.dtype)  # float32
    ```

    ## Use instead
    ```python
    jax.config.update("jax_enable_x64", True)  # before the first array is created
    x = jnp.linspace(0, 1, 1000, dtype=jnp.float64)
    ```
    Or ask for `float32` where that is enough.

    ## Fix safety
    There is no automatic fix: the option changes the dtypes of the whole program.

    ## When not to fix
    Keep it in a library whose users enable x64. A project that mentions the option anywhere, also
    in its tests or settings, is not reported, except for its programs that nothing imports: there
    the option counts if the program, or what it imports, mentions it. NumPy's own `float64` stays
    64 bits until JAX takes the array, and is not reported. One finding for each function and dtype.
    In a file of a project it is advice: most such code asks for 64 bits out of habit.

    ## References
    - [JAX: double (64 bit) precision](https://docs.jax.dev/en/latest/default_dtypes.html)
    """

    code = "JAX1001"
    name = "float64-without-x64"
    category = "precision"
    severity = Severity.WARNING
    needs_whole_program = True

    def __init__(self) -> None:
        self.told: dict[tuple[ast.AST, str], ast.AST] = {}  # by function and dtype: one change corrects all

    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        operation = event.operation
        if operation.name in _CONVERTING and operation.args:
            self.check_clock(event, operation.args[0], report)
            self.check_grain(event, operation.args[0], report)
        if operation.name in _WIDE:
            self.check(event, operation.name, report)
            return
        asked = _asked(operation)
        if asked is not None:
            self.check(event, _explicit(asked), report, asked)

    @concerns(*_LAYERS)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if isinstance(event.callee, External) and event.name.startswith(_LAYERS):
            for keyword in ("dtype", "param_dtype"):
                if keyword in event.kwargs:
                    self.check(event, _explicit(event.kwargs[keyword]), report, event.kwargs[keyword])

    def on_traced_argument(self, event: TracedArgumentEvent, report: Reporter) -> None:
        if event.transformed.kind in JIT_KINDS and event.transformed.kind != "filter_jit":
            self.check_clock(event, event.value, report)
            self.check_grain(event, event.value, report)

    @staticmethod
    def check_clock(event: OperationEvent | TracedArgumentEvent, value: Value, report: Reporter) -> None:
        """The seconds since 1970, which need 64 bits."""
        if not isinstance(value, Reading) or value.clock != "time.time" or report.module.is_test:
            return
        if not may_have_x64(report, event.frame.module):
            report(
                event.node,
                "`time.time()` becomes float32, in steps of 128 seconds; subtract the start on the host",
                reason="the clock is at 1.8e9 seconds, and float32 has 24 bits; nothing that runs with this file enables `jax_enable_x64`",
                shown=True,  # no seconds are left in it, whatever the program does
            )

    @staticmethod
    def check_grain(event: OperationEvent | TracedArgumentEvent, value: Value, report: Reporter) -> None:
        """Numbers of the host that float32 cannot tell apart."""
        if report.module.is_test or not isinstance(value, (NumpyArray, ListValue)):
            return
        if isinstance(event, OperationEvent) and event.result.dtype != "float32":
            return
        if isinstance(event, TracedArgumentEvent) and getattr(value, "dtype", "") != "float64":
            return
        found = grain_of(value)
        if found is None or not found.is_lost or may_have_x64(report, event.frame.module):
            return
        report(
            event.node,
            f"float32 loses differences of {found.step:.2g} near {found.nearest:,.7g}; subtract an offset in NumPy first",
            reason=f"there float32 has steps of {found.spacing:.3g}; nothing that runs with this file enables `jax_enable_x64`",
        )

    def check(
        self, event: OperationEvent | CallEvent, dtype: str, report: Reporter, value: Value | None = None
    ) -> None:
        if dtype not in _WIDE or may_have_x64(report, event.frame.module):
            return
        if _only_for_wide(event) or _is_of_another_library(value):
            return
        if self.told.setdefault((event.frame.owner, dtype), event.node) is not event.node:
            return
        given = _GIVEN[dtype]
        report(
            event.node,
            f"`{dtype}` becomes `{given}` while `jax_enable_x64` is off; enable it or ask for `{given}`",
            reason="nothing that runs with this file enables `jax_enable_x64`",
            severity=Severity.INFO if _means_default(value) else None,
        )


def _means_default(value: Value | None) -> bool:
    """Whether a name means the default dtype: `jnp.int_` and similar names."""
    return isinstance(value, External) and value.name.endswith("_")


def _is_of_another_library(value: Value | None) -> bool:
    """Whether a library around JAX gives the dtype, `jaxm.float64`: that library may enable `jax_enable_x64` itself."""
    root = value.name.partition(".")[0] if isinstance(value, External) else ""
    return root not in ("", "jax", "numpy", "builtins", "jaxlib", "ml_dtypes")


def _only_for_wide(event: OperationEvent | CallEvent) -> bool:
    """Whether an enclosing `if` tests for a wide dtype first: `if x.dtype == jnp.float64:`."""
    below: ast.AST = event.node
    for above in event.frame.module.ancestors(event.node):
        if isinstance(above, (ast.If, ast.IfExp)) and below is not above.test:
            names = {last_name(n) for n in walk(above.test) if isinstance(n, ast.Attribute)}
            if names & _WIDE:
                return True
        below = above
    return False


def _asked(operation: Operation) -> Value | None:
    """The dtype argument of an operation, by any position."""
    if not operation.kwargs and operation.name not in _TAKING_DTYPES:
        return None
    if operation.name == "astype":
        return operation.operand(1, "dtype") or operation.kwargs.get("new_dtype")
    maker = MAKERS.get(operation.name) or RANDOM_MAKERS.get(operation.name.removeprefix("jax.random."))
    return operation.operand(maker[0], "dtype") if maker is not None else operation.kwargs.get("dtype")


def _explicit(value: Value) -> str:
    """The dtype that a value names explicitly; Python's `float` means the default dtype."""
    if isinstance(value, External) and value.name.startswith("builtins."):
        return ""
    if isinstance(value, Static) and value.kind == "dtype":
        return ""  # the dtype of another array
    return dtype_named(value)
