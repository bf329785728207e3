"""Facts about a program's text. They are computed once for each function; `cache` does the same for a rule's own
facts."""

from jaxlint.syntax.facts import (
    FunctionNode,
    all_parameters,
    children,
    dotted,
    is_never_evaluated,
    leaf_parameters,
    may_expect_tracer_errors,
    name_loads,
    names_stored,
    nodes_of,
    none_branch,
    place_of,
    positional_parameters,
    sizes_of_kernel,
    statements,
    walk,
)
from jaxlint.syntax.function_bodies import own_nodes
from jaxlint.syntax.liveness import changed_variable, dead_after, unread_results, unread_statements
from jaxlint.syntax.memo import cache
from jaxlint.syntax.miscounted_depth import parse_expression
from jaxlint.syntax.parents import Parents
from jaxlint.syntax.parse import span_of
from jaxlint.syntax.scripts import is_script

__all__ = [
    "FunctionNode",
    "Parents",
    "all_parameters",
    "cache",
    "changed_variable",
    "children",
    "dead_after",
    "dotted",
    "is_never_evaluated",
    "is_script",
    "leaf_parameters",
    "may_expect_tracer_errors",
    "name_loads",
    "names_stored",
    "nodes_of",
    "none_branch",
    "own_nodes",
    "parse_expression",
    "place_of",
    "positional_parameters",
    "sizes_of_kernel",
    "span_of",
    "statements",
    "unread_results",
    "unread_statements",
    "walk",
]
