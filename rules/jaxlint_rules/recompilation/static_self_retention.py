"""Objects that the cache of a jitted method keeps alive."""

from __future__ import annotations

import ast

from jaxlint.api import Reporter, Rule, StaticArgumentEvent
from jaxlint.api.values import Instance
from jaxlint.finding import Severity
from jaxlint_rules._compiled_methods import is_identified_by_itself
from jaxlint_rules._loops import assigned_once, host_loops


class StaticSelfRetention(Rule):
    """A jitted method with a static `self` recompiles for every new object.

    ## What it does
    Finds loops that create objects and call a method on each that is jitted with a static `self`,
    where the class has no `__eq__` and `__hash__` of its own.

    ## Why is this bad?
    Static arguments are keys of the compilation cache. Each new object is a new key, so the method
    recompiles for it. The cache then keeps the object and its arrays alive as long as the class
    lives. After five objects with a matrix each, all five were still alive when nothing else
    referred to them, and the cache held five programs.

    ## Example
    ```python
    class Model:
        @functools.partial(jax.jit, static_argnums=0)
        def predict(self, x):
            return x @ self.w

    for seed in range(100):
        model = Model(seed)
        scores.append(model.predict(x))
    ```

    ## Use instead
    ```python
    @jax.jit
    def predict(w, x):
        return x @ w

    for seed in range(100):
        scores.append(predict(Model(seed).w, x))
    ```
    Or make the class a pytree (`flax.struct.dataclass`, `eqx.Module`), or define `__eq__` and
    `__hash__` by its settings.

    ## Fix safety
    There is no automatic fix: the fields that the method reads must become arguments.

    ## When not to fix
    Keep it if there are few objects and they live as long as the program.

    ## References
    - [JAX FAQ: how to use `jit` with methods](https://docs.jax.dev/en/latest/faq.html#how-to-use-jit-with-methods)
    """

    code = "JAX407"
    name = "static-self-retention"
    category = "recompilation"
    severity = Severity.WARNING

    def on_static_argument(self, event: StaticArgumentEvent, report: Reporter) -> None:
        frame, value = event.frame, event.value
        if frame.stage.staged or frame.module.is_test or not isinstance(value, Instance):
            return
        if not isinstance(event.node, ast.Call) or not is_identified_by_itself(value.cls):
            return
        receiver = event.node.func.value if isinstance(event.node.func, ast.Attribute) else event.argument
        for loop in host_loops(frame):
            made = assigned_once(loop.node).get(receiver.id) if isinstance(receiver, ast.Name) else receiver
            if not isinstance(made, ast.Call) or frame.is_conditional_in(loop):
                continue
            held = frame.value_of(made.func.id) if isinstance(made.func, ast.Name) else None
            if held is value.cls:
                report(
                    event.node,
                    f"each new `{value.cls.qualname}` recompiles `{event.transformed.label}` and stays in its cache; do not make it static",
                    reason=f"{event.transformed.why.explain(report.module)}; pass the fields it reads as arguments",
                )
                return
