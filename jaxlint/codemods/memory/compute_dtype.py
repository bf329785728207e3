"""`compute-dtype`: a flax layer computes in bfloat16, by its argument `dtype`; its parameters are unchanged
(`param_dtype`). A layer without that argument is refused, with the alternative of its framework."""

from __future__ import annotations

import ast

from jaxlint.codemods.registry import Draft, codemod
from jaxlint.codemods.source.arguments import with_arguments
from jaxlint.codemods.source.imports import reference
from jaxlint.codemods.source.site import Refused, Site
from jaxlint.finding import Span, Step

_LINEN = frozenset(
    """Conv ConvLocal ConvTranspose Dense DenseGeneral Einsum GRUCell LSTMCell MultiHeadAttention
    MultiHeadDotProductAttention OptimizedLSTMCell SelfAttention SimpleCell""".split()  # noqa: SIM905
)
_NNX = frozenset(
    {"Conv", "ConvTranspose", "Einsum", "Linear", "LinearGeneral", "LoRALinear", "MultiHeadAttention"}
)
_INSTEAD = {
    "equinox": "equinox layers have no `dtype`; cast the module and its input where the loss is computed",
    "haiku": "haiku sets the policy per module class: hk.mixed_precision.set_policy(Net, jmp.get_policy(...))",
}


@codemod("compute-dtype")
def compute_dtype(draft: Draft, step: Step) -> None:
    """The span is the call that creates a layer. The parameter `dtype` is the full name of a dtype,
    jax.numpy.bfloat16 by default."""
    site = draft.site
    node = site.find_ast(step.span, ast.Call)
    assert isinstance(node, ast.Call)
    problem = _problem(site, node)
    if problem is not None:
        raise Refused(problem)
    dtype = reference(site, draft.imports, str(step.parameters.get("dtype", "jax.numpy.bfloat16")), node)
    draft.replace(step.span, with_arguments(site.text(node), {"dtype": dtype}))


def find_layers(site: Site, line: int) -> list[Span]:
    """The calls that create the layers which the statement in `line` calls: `nn.Dense(8)(x)`, `self.dense(x)`,
    `layer(x)`.

    Raises Refused for a layer of a framework with another mechanism.
    """
    found: list[Span] = []
    for node in ast.walk(site.tree):
        if not isinstance(node, ast.Call) or not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        for made in _made(site, node.func):
            name = site.names.qualified(made.func) or ""
            for framework, instead in _INSTEAD.items():
                if name.startswith(f"{framework}."):
                    raise Refused(instead)
            if _is_layer(name) and site.span(made) not in found:
                found.append(site.span(made))
    return found


def _made(site: Site, called: ast.expr) -> list[ast.Call]:
    """The calls that create the callee."""
    if isinstance(called, ast.Call):
        return [called]
    if isinstance(called, ast.Name):
        bindings = site.names.bindings_of(called.id, site.names.scope_at(called))
        made = [site.names.parents.get(one.node) for one in bindings]
        return [one.value for one in made if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)]
    if not (isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name)):
        return []
    around = next((one for one in site.names.ancestors(called) if isinstance(one, ast.ClassDef)), None)
    target = ast.unparse(called)
    return [
        one.value
        for one in (ast.walk(around) if around is not None else ())
        if isinstance(one, ast.Assign)
        and isinstance(one.value, ast.Call)
        and any(ast.unparse(each) == target for each in one.targets)
    ]


def _is_layer(name: str) -> bool:
    home, _, last = name.rpartition(".")
    return (home == "flax.linen" and last in _LINEN) or (home == "flax.nnx" and last in _NNX)


def _problem(site: Site, node: ast.Call) -> str | None:
    name = site.names.qualified(node.func) or ""
    if not _is_layer(name):
        return f"`{ast.unparse(node.func)}` is not a flax layer with a `dtype`"
    if any(one.arg is None for one in node.keywords) or any(
        isinstance(one, ast.Starred) for one in node.args
    ):
        return "the layer takes unpacked arguments, which may hold its `dtype`"
    if any(one.arg == "dtype" for one in node.keywords):
        return "the layer already has a `dtype`"
    return None
