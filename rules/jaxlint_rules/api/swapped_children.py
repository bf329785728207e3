"""Pytree classes that are rebuilt with two of their children exchanged."""

from __future__ import annotations

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.values import ClassValue
from jaxlint.finding import Severity
from jaxlint_rules.api._rebuilt import swapped_children


class SwappedChildren(Rule):
    """A class is rebuilt with its children in each other's place.

    ## What it does
    Finds classes whose `tree_flatten` lists the children in another order than `tree_unflatten`
    passes them to the constructor.

    ## Why is this bad?
    JAX flattens an object and rebuilds it at each `jit`, `grad`, `scan` and `tree.map`. Each time
    the two attributes change places. If their shapes agree, nothing raises, and the results are
    wrong.

    ## Example
    ```python
    @jax.tree_util.register_pytree_node_class
    class Affine:
        def __init__(self, shift, scale):
            self.shift, self.scale = shift, scale

        def tree_flatten(self):
            return (self.scale, self.shift), None

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(*children)
    ```

    ## Use instead
    ```python
        def tree_flatten(self):
            return (self.shift, self.scale), None
    ```

    ## Fix safety
    There is no automatic fix: checkpoints that were saved depend on the order of the children.

    ## When not to fix
    Always fix it. Classes whose children are not plain attributes, or whose constructor does more
    than to store them, are not reported.

    ## References
    - [JAX: custom pytree nodes](https://docs.jax.dev/en/latest/custom_pytrees.html)
    """

    code = "JAX829"
    name = "swapped-children"
    category = "api"
    severity = Severity.ERROR

    def __init__(self) -> None:
        self.seen: set[int] = set()

    @concerns(callees=("ClassValue",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        cls = event.callee
        if not isinstance(cls, ClassValue) or id(cls.node) in self.seen:
            return
        self.seen.add(id(cls.node))
        swap = swapped_children(cls)
        if swap is not None and swap.module is report.module and not report.module.is_test:
            report(
                swap.node,
                f"a rebuilt `{cls.name}` has `{swap.child}` in `{swap.becomes}`; list the children in the order of its constructor",
                reason="`tree_unflatten` passes the children on in the order in which `tree_flatten` lists them",
            )
