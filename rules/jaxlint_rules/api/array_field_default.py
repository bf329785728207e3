"""Arrays as defaults of dataclass fields."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.tables import KEY_MAKERS
from jaxlint.api.values import ClassValue
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name

_MAKERS = tuple(
    f"jax.numpy.{name}"
    for name in [
        "array",
        "asarray",
        "zeros",
        "ones",
        "full",
        "empty",
        "eye",
        "identity",
        "arange",
        "linspace",
        "float32",
        "int32",
        "bfloat16",
    ]
)


class ArrayFieldDefault(Rule):
    """A dataclass field has an array as its default.

    ## What it does
    Finds `w: jax.Array = jnp.zeros(3)` in a dataclass, an `eqx.Module`, a linen module or a
    `flax.struct` or `chex` dataclass, also as `field(default=jnp.zeros(3))`.

    ## Why is this bad?
    Arrays are not hashable, and dataclasses refuse such defaults: the class definition raises
    `ValueError: mutable default <class 'jaxlib._jax.ArrayImpl'> for field w is not allowed: use
    default_factory`.

    ## Example
    ```python
    @flax.struct.dataclass
    class Stats:
        mean: jax.Array = jnp.zeros(3)
    ```

    ## Use instead
    ```python
    @flax.struct.dataclass
    class Stats:
        mean: jax.Array = flax.struct.field(default_factory=lambda: jnp.zeros(3))
    ```

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Always fix it: the class cannot be defined. Named tuples accept arrays as defaults and are not
    reported.

    ## References
    - [dataclasses: mutable default values](https://docs.python.org/3/library/dataclasses.html#mutable-default-values)
    """

    code = "JAX818"
    name = "array-field-default"
    category = "api"
    severity = Severity.ERROR

    def __init__(self) -> None:
        self.defaults: list[tuple[CallEvent, ClassValue, str]] = []

    @concerns(*_MAKERS, *KEY_MAKERS)
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        cls = event.frame.class_being_made()
        if cls is None or event.is_caught():
            return
        declared = report.module.parents.get(event.node)
        if isinstance(declared, ast.keyword) and declared.arg == "default":
            call = report.module.parents.get(declared)
            if not isinstance(call, ast.Call) or last_name(call.func) != "field":
                return
            declared = report.module.parents.get(call)
        elif isinstance(declared, ast.AnnAssign) and declared.value is not event.node:
            return
        if isinstance(declared, ast.AnnAssign) and isinstance(declared.target, ast.Name):
            if report.module.parents.get(declared) is cls.node and not _is_class_variable(
                declared.annotation
            ):
                self.defaults.append((event, cls, declared.target.id))

    def finish(self, report: Reporter) -> None:
        """Runs once the classes are complete: decorators are evaluated after the class body."""
        for event, cls, name in self.defaults:
            if cls.model.fields and cls.kind != "namedtuple":
                report.event = event
                report(
                    event.node,
                    f"the default of the field `{name}` is an array, which raises ValueError; use `default_factory`",
                    reason=f"`{cls.name}` is a dataclass, and dataclasses reject unhashable defaults",
                )


def _is_class_variable(annotation: ast.expr) -> bool:
    return last_name(annotation.value if isinstance(annotation, ast.Subscript) else annotation) == "ClassVar"
