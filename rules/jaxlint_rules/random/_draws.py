"""Source around PRNG keys: which calls draw, and whether a class renews a key."""

from __future__ import annotations

import ast

from jaxlint.api.syntax import dotted
from jaxlint.api.values import ClassValue
from jaxlint_rules._names import last_name

# Functions of `jax.random` whose numbers should differ at each draw.
_DRAWS = frozenset(
    """ball bernoulli beta categorical cauchy dirichlet double_sided_maxwell exponential gamma generalized_normal gumbel laplace
    loggamma logistic lognormal maxwell multivariate_normal normal pareto poisson rademacher rayleigh t triangular truncated_normal
    uniform weibull_min generate_gaussian_noise""".split()  # noqa: SIM905
)


def is_draw(node: ast.AST) -> bool:
    """Whether a call draws from a distribution; a permutation or choice may be repeated on purpose."""
    return isinstance(node, ast.Call) and last_name(node.func) in _DRAWS


def renews(cls: ClassValue, name: str) -> bool:
    """Whether the module of a class assigns the attribute `name` outside `__init__`."""
    for node in ast.walk(cls.module.tree):
        if isinstance(node, ast.Call) and last_name(node.func) in (
            "replace",
            "_replace",
            "tree_at",
        ):
            if any(keyword.arg in (name, None) for keyword in node.keywords) or "tree_at" in dotted(
                node.func
            ):
                return True
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr == name:
            owner = cls.module.parents.get(node)
            while owner is not None and not isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                owner = cls.module.parents.get(owner)
            if owner is None or owner.name not in ("__init__", "__post_init__", "setup"):
                return True
    return False
