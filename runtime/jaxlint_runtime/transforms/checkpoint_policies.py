"""The policies of `jax.checkpoint` that are tried: which residuals are stored, recomputed, or offloaded to the host."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Collection
from typing import Any

import jax

from jaxlint_runtime.targets import Target

POLICIES = ("nothing_saveable", "dots_with_no_batch_dims_saveable", "dots_saveable")
_HOST = "pinned_host"
_ENDS = f'offload_src="device", offload_dst="{_HOST}"'


def policies(names: Collection[str], target: Target) -> list[str]:
    """The policies to try, as code below `jax.checkpoint_policies`. `names`: those that the program gave by
    `checkpoint_name`."""
    quoted = ", ".join(f'"{name}"' for name in sorted(names))
    found = [*POLICIES, *([f"save_only_these_names({quoted})"] if names else [])]
    if why_not_offloaded(target) is None:
        found.append(f"offload_dot_with_no_batch_dims({_ENDS})")
        if names:
            given = f"names_which_can_be_saved=[], names_which_can_be_offloaded=[{quoted}]"
            found.append(f"save_and_offload_only_these_names({given}, {_ENDS})")
    return found


@functools.cache
def why_not_offloaded(target: Target) -> str | None:
    """Why a target's memory cannot be offloaded to its host; None if it can."""
    if target.platform == "cpu":
        return "offloading policies are not tried: a CPU computes in host memory"
    try:
        kinds = {memory.kind for memory in target.devices()[0].addressable_memories()}
    except Exception as error:
        return f"offloading policies are not tried: the memories of {target.name} are unknown ({error})"
    if _HOST not in kinds:
        return f"offloading policies are not tried: {target.name} has no {_HOST} memory"
    return None


def policy_of(code: str) -> Callable[..., Any]:
    """The policy object of this code."""
    expression = ast.parse(code, mode="eval").body
    if not isinstance(expression, ast.Call):
        found: Callable[..., Any] = getattr(jax.checkpoint_policies, code)
        return found
    assert isinstance(expression.func, ast.Name)
    make: Callable[..., Callable[..., Any]] = getattr(jax.checkpoint_policies, expression.func.id)
    given = [ast.literal_eval(argument) for argument in expression.args]
    return make(*given, **{str(k.arg): ast.literal_eval(k.value) for k in expression.keywords})


def is_offloaded(value: Any) -> bool:
    """Whether a traced value is in the host's memory."""
    return getattr(jax.typeof(value), "memory_space", None) == jax.memory.Space.Host
