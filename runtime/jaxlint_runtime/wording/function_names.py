"""Names of functions as people write them."""

from __future__ import annotations


def short_name(qualified: str) -> str:
    """A function's name without its enclosing functions: "init_fn" for `chain.<locals>.init_fn`, "lambda" for a
    lambda."""
    name = qualified.rpartition("<locals>.")[2]
    return "lambda" if name == "<lambda>" else name
