"""Programs that train with `jit` switched off."""

from __future__ import annotations

import ast

from jaxlint.api import CallEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import dotted, nodes_of
from jaxlint.api.values import constant
from jaxlint.finding import Severity
from jaxlint_rules._names import last_name

_SETTING = "jax_disable_jit"
_COMPILING = frozenset({"jit", "filter_jit", "pmap", "filter_pmap"})


class JitSwitchedOff(Rule):
    """A program switches `jit` off and then calls compiled functions.

    ## What it does
    Finds `jax.config.update("jax_disable_jit", True)`, without a condition, in a program that jits
    functions and calls them in a loop.

    ## Why is this bad?
    The setting is for debugging: every operation of every jitted function is dispatched from Python.
    A training step of a network with four small layers took hundreds of times as long on a CPU. It
    is easily left in.

    ## Example
    ```python
    import jax

    jax.config.update("jax_disable_jit", True)
    train_step = jax.jit(train_step)
    for batch in batches:
        state = train_step(state, batch)
    ```

    ## Use instead
    ```python
    import jax

    train_step = jax.jit(train_step)
    for batch in batches:
        state = train_step(state, batch)
    ```
    To look inside a step, `with jax.disable_jit():` around one call, or `JAX_DISABLE_JIT=1` in the
    shell, leaves nothing behind.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Not reported: tests, notebooks, settings under an `if`, in a function, or in a program that sets
    the option again, and programs that jit nothing or have no loop.

    ## References
    - [JAX: flags for debugging](https://docs.jax.dev/en/latest/debugging/flags.html)
    """

    code = "JAX412"
    name = "jit-switched-off"
    category = "recompilation"
    severity = Severity.WARNING
    preview = True  # half of the settings found in public code were meant: scripts that diagnose

    @concerns("jax.config.update")
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        frame, module = event.frame, event.frame.module
        if len(event.args) != 2 or constant(event.args[0]) != _SETTING or constant(event.args[1]) is not True:
            return
        if frame.function is not None or frame.is_conditional() or module.is_test:
            return
        if module.source.path.suffix == ".ipynb" or not isinstance(module.parents.get(event.node), ast.Expr):
            return
        if not _compiles_for_a_loop(module.tree) or _times_set(module.tree) > 1:
            return
        report(
            event.node,
            "`jax_disable_jit` runs every jitted function operation by operation; remove it",
            reason="the program jits functions and calls them in a loop",
        )


def _compiles_for_a_loop(tree: ast.Module) -> bool:
    """Whether a module refers to `jit` outside of imports, and has a loop."""
    jits = any(
        isinstance(part, (ast.Attribute, ast.Name)) and last_name(part) in _COMPILING
        for part in (*nodes_of(tree, ast.Attribute), *nodes_of(tree, ast.Name))
    )
    return jits and bool(nodes_of(tree, ast.For) or nodes_of(tree, ast.While))


def _times_set(tree: ast.Module) -> int:
    return sum(
        dotted(call.func).endswith("config.update")
        and bool(call.args)
        and isinstance(call.args[0], ast.Constant)
        and call.args[0].value == _SETTING
        for call in nodes_of(tree, ast.Call)
    )
