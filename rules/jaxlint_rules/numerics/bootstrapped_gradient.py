"""Bootstrapped targets through which the gradient of a loss flows."""

from __future__ import annotations

import ast
import re

from jaxlint.api import CallEvent, Event, Frame, OperationEvent, Reporter, Rule, concerns
from jaxlint.api.syntax import walk
from jaxlint.api.values import Value, flow_in
from jaxlint.finding import Severity
from jaxlint_rules._loops import assigned_once
from jaxlint_rules._names import last_name, names_in

_LOSSES = ("l2_loss", "squared_error", "huber_loss", "l1_loss")
_REWARD = re.compile(r"^(rewards?|rews?|r|r_t|reward_t|rs|batch_rewards?)$|_rewards?$")
_DISCOUNT = re.compile(r"^(gamma|discounts?|discount_factor|GAMMA|DISCOUNT)$|_gamma$|_discount$")


class BootstrappedGradient(Rule):
    """The gradient of a loss flows through its bootstrapped target.

    ## What it does
    Finds temporal-difference errors, `q - (reward + gamma * next_q)`, in a differentiated function
    where both `q` and `next_q` depend on the differentiated parameters. The rule goes by names such
    as `reward` and `gamma`.

    ## Why is this bad?
    The target should be a constant. If the gradient flows through it, the network also changes the
    value of the next state to agree with this one. That is another algorithm (residual gradients),
    which learns slowly or converges to something else. No exception is raised.

    ## Example
    ```python
    def loss(params):
        q = net.apply(params, obs)
        target = reward + gamma * net.apply(params, next_obs).max(-1)
        return jnp.mean((q - target) ** 2)
    ```

    ## Use instead
    ```python
    def loss(params):
        q = net.apply(params, obs)
        target = reward + gamma * net.apply(params, next_obs).max(-1)
        return jnp.mean((q - jax.lax.stop_gradient(target)) ** 2)
    ```
    Or compute the target with the parameters of a target network.

    ## Fix safety
    There is no automatic fix.

    ## When not to fix
    Keep it if you want residual gradients.

    ## References
    - [JAX: stop_gradient, TD(0)](https://docs.jax.dev/en/latest/advanced-autodiff.html#stopping-gradients)
    """

    code = "JAX1115"
    name = "bootstrapped-gradient"
    category = "numerics"
    severity = Severity.WARNING

    @concerns("subtract")
    def on_operation(self, event: OperationEvent, report: Reporter) -> None:
        node = event.node
        if isinstance(node, ast.BinOp) and len(event.operation.args) == 2:
            self.check(event, [node.left, node.right], list(event.operation.args), report)

    @concerns(*(f"optax.{name}" for name in _LOSSES), *(f"optax.losses.{name}" for name in _LOSSES))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        node = event.node
        if isinstance(node, ast.Call) and len(node.args) >= 2 and len(event.args) >= 2:
            self.check(event, node.args[:2], event.args[:2], report)

    def check(self, event: Event, nodes: list[ast.expr], values: list[Value], report: Reporter) -> None:
        if event.frame.is_in_test() or not all(flow_in([value]) is not None for value in values):
            return
        for node in nodes:
            target = _bootstrapped(node, event.frame)
            if target is not None:
                report(
                    event.node,
                    "the gradient flows through the bootstrapped target as well; wrap it in `jax.lax.stop_gradient`",
                    reason=f"`{ast.unparse(target)}` at line {target.lineno} depends on the parameters that are differentiated",
                )
                return


def _bootstrapped(node: ast.expr, frame: Frame) -> ast.expr | None:
    """The sum of a reward and a discounted value that an expression is."""
    if isinstance(node, ast.Name) and not isinstance(frame.owner, ast.Lambda):
        node = assigned_once(frame.owner).get(node.id, node)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return None
    for reward, value in ((node.left, node.right), (node.right, node.left)):
        if any(_REWARD.search(name) for name in _names(reward)) and any(
            isinstance(part, ast.BinOp)
            and isinstance(part.op, ast.Mult)
            and any(_DISCOUNT.search(name) for name in _names(part))
            for part in walk(value)
        ):
            return node
    return None


def _names(node: ast.expr) -> set[str]:
    """Variables, attributes and keys that an expression reads."""
    keys = {
        part.slice.value
        for part in walk(node)
        if isinstance(part, ast.Subscript)
        and isinstance(part.slice, ast.Constant)
        and isinstance(part.slice.value, str)
    }
    return names_in(node) | {last_name(part) for part in walk(node) if isinstance(part, ast.Attribute)} | keys
