"""Rematerialization that saves nothing, or recomputes more than needed."""

from __future__ import annotations

import ast
import re
from difflib import get_close_matches

from jaxlint.api import CallEvent, CarryEvent, Event, Module, Reporter, Rule, TransformEvent, concerns
from jaxlint.api.syntax import dotted, nodes_of, walk
from jaxlint.api.values import External, ListValue, Partial, Transformed, TupleValue, Value, constant
from jaxlint.finding import Severity
from jaxlint_rules._callables import argument
from jaxlint_rules._names import last_name, names_in
from jaxlint_rules.memory._checkpointed import CheckpointedCalls

_GIVES_NAMES = re.compile(r"\bcheckpoint_name\b")
_REMATS = frozenset({"checkpoint", "remat", "filter_checkpoint"})
_GRADIENTS = frozenset({"grad", "value_and_grad"})
_LIFTED_REMATS = ("flax.linen.remat", "flax.linen.checkpoint")
_NAMING_POLICIES = (
    "jax.checkpoint_policies.save_only_these_names",
    "jax.checkpoint_policies.save_and_offload_only_these_names",
)
_POLICY_MAKERS = frozenset(
    """save_only_these_names save_and_offload_only_these_names save_any_names_but_these save_anything_except_these_names
    save_from_both_policies offload_dot_with_no_batch_dims""".split()  # noqa: SIM905
)
_NAMES = "jax.ad_checkpoint.checkpoint_name"


_PLAIN = frozenset({"prevent_cse", "static_argnums", "concrete"})  # options that keep nothing more


class RematWholeFunction(Rule):
    """Rematerialization does not save memory.

    ## What it does
    Finds `jax.checkpoint` (also `jax.remat`, `nn.remat`)

    - around everything that is differentiated: `jax.grad(jax.checkpoint(loss))`;
    - around the gradient itself: `jax.checkpoint(jax.grad(loss))`;
    - around a function that runs all layers, in a `lax.scan` or a loop, where the differentiated
      function does little else;
    - with the policy `everything_saveable`, or with a policy that saves names that no value has;
    - with a function that creates a policy, passed without a call;
    - around the body of a `lax.scan`, without `prevent_cse=False`;
    - with `prevent_cse=False` in differentiated code outside a JAX loop.

    ## Why is this bad?
    Around the whole function, the backward pass first repeats the whole forward pass and then holds
    all activations anyway: an 8-layer network needed the same 14.7 MB of temporary memory with and
    without it. The same holds for a scan over layers: 53.2 MB for 32 layers without
    `jax.checkpoint` and with it around the scan, 3.1 MB with it around the body of the scan.
    `everything_saveable` saves all activations, which is the default without `jax.checkpoint`.

    By default `jax.checkpoint` inserts barriers that keep XLA from merging the recomputation with
    the first computation (common subexpression elimination, CSE). Under `lax.scan` the loop already
    keeps the two apart, so the barriers only prevent fusion; `prevent_cse=False` omits them.
    Outside a loop, without the barriers, XLA may merge the two and keep the activations.

    ## Example
    ```python
    @jax.checkpoint
    def body(h, layer):
        return block(layer, h), None

    h, _ = jax.lax.scan(body, h, layers)
    ```

    ## Use instead
    ```python
    @functools.partial(jax.checkpoint, prevent_cse=False)
    def body(h, layer):
        return block(layer, h), None

    h, _ = jax.lax.scan(body, h, layers)
    ```
    Checkpoint the blocks of a network, not the whole network.

    ## Fix safety
    There is no automatic fix. `jaxlint verify` tries rematerialization per block and reads the
    memory use from the compiler.

    ## When not to fix
    Keep the barriers if the checkpointed function is also used outside the scan.

    ## References
    - [JAX: `jax.checkpoint`](https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint.html)
    """

    code = "JAX604"
    name = "remat-whole-function"
    category = "memory"
    severity = Severity.WARNING
    proof = "remat"

    def __init__(self) -> None:
        self.made: dict[ast.AST, TransformEvent] = {}
        self.inside: dict[ast.AST, tuple[Transformed, str]] = {}
        self.outside: set[ast.AST] = set()
        self.named: dict[str, set[Module]] = {}  # names in `checkpoint_name`, "" for an unknown one
        self.policies: dict[ast.AST, tuple[CallEvent, list[str]]] = {}
        self.calls = CheckpointedCalls()
        # functions that checkpoint a gradient
        self.around: dict[ast.AST, tuple[TransformEvent, Transformed]] = {}

    def on_transform(self, event: TransformEvent, report: Reporter) -> None:
        transformed = event.transformed
        if transformed.kind == "checkpoint":
            self.made.setdefault(event.node, event)
            policy = transformed.options.get("policy")
            keeps_all = isinstance(policy, External) and policy.name.endswith("everything_saveable")
            if keeps_all and _is_written(event):
                report(
                    event.decorator or event.node,
                    f"`everything_saveable` saves all activations of `{transformed.label}`, so `checkpoint` has no effect; remove one",
                    reason=transformed.why.explain(report.module),
                )
            if isinstance(policy, External) and policy.name.rpartition(".")[2] in _POLICY_MAKERS:
                report(
                    event.decorator or event.node,
                    f"`{policy.name.rpartition('.')[2]}` creates a policy and is not one; call it with its arguments",
                    reason=transformed.why.explain(report.module),
                )
            inner = transformed.target
            if isinstance(inner, Transformed) and inner.kind in _GRADIENTS and not report.module.is_test:
                self.around.setdefault(event.node, (event, inner))
        elif transformed.kind in _GRADIENTS and not report.module.is_test:
            inner = transformed.target
            if (
                isinstance(inner, Transformed)
                and inner.kind == "checkpoint"
                and not inner.options.keys() - _PLAIN
            ):
                place: ast.AST = event.decorator or event.node
                remat = self.made.get(inner.node)
                if remat is not None and remat.frame.module is event.frame.module:
                    place = remat.decorator or remat.node  # the call to move
                report(
                    place,
                    f"`checkpoint` of all of `{inner.label}` saves no memory: the backward pass recomputes and keeps it all",
                    reason=f"{inner.why.link(report.module)}, {transformed.why.link(report.module)}; checkpoint parts of it",
                )

    def on_carry(self, event: CarryEvent, report: Reporter) -> None:
        if event.api.rpartition(".")[2] == "scan":
            self.note(event.body, event, "the body of")
            self.calls.note_scan(event)

    @concerns("flax.linen.scan", *_LIFTED_REMATS, *_NAMING_POLICIES, _NAMES, callees=("Transformed",))
    def on_call(self, event: CallEvent, report: Reporter) -> None:
        if event.name in _LIFTED_REMATS:
            policy = event.kwargs.get("policy")
            if isinstance(policy, External) and policy.name.endswith("everything_saveable"):
                report(
                    event.node,
                    "`everything_saveable` saves all activations, so `nn.remat` has no effect; remove one",
                    reason="the policy says what to save for the backward pass, and this one saves everything",
                )
            cse = event.kwargs.get("prevent_cse")
            if cse is not None and constant(cse) is False and not _may_scan(event, report):
                report(
                    event.node,
                    "`prevent_cse=False` outside a scan lets XLA undo the rematerialization; remove it",
                    reason="`prevent_cse=False` is for modules under `nn.scan`, and this file has none",
                )
        elif event.name == _NAMES:
            given = argument(event, 1, "name")
            name = constant(given) if given is not None else None
            self.named.setdefault(name if isinstance(name, str) else "", set()).add(event.frame.module)
        elif event.name in _NAMING_POLICIES:
            kept = _names_kept(event)
            if kept and not event.frame.module.is_test:
                self.policies.setdefault(event.node, (event, kept))
        if event.name == "flax.linen.scan" and isinstance(event.node, ast.Call) and event.node.args:
            self.check_lifted(event, event.node, report)
        callee = event.callee
        if isinstance(callee, Transformed) and callee.kind == "checkpoint":
            self.calls.note(callee, event)
            if event.frame.stage.kind == "scan":
                self.note(callee, event, "called in the body of a")
            elif event.frame.stage.kind != "checkpoint":
                self.outside.add(callee.node)

    def note(self, body: Value, event: Event, how: str) -> None:
        if isinstance(body, Partial):
            body = body.function
        if not isinstance(body, Transformed) or body.kind != "checkpoint" or "**" in body.options:
            return
        kept = body.options.get("prevent_cse")
        if kept is None or "prevent_cse=True" in ast.unparse(body.node):
            line = getattr(event.node, "lineno", "?")
            self.inside.setdefault(body.node, (body, f"it is {how} `lax.scan` at line {line}"))

    def check_lifted(self, event: CallEvent, node: ast.Call, report: Reporter) -> None:
        """`nn.scan(nn.remat(Block), ...)`."""
        target = node.args[0]
        if isinstance(target, ast.Name):
            owner = event.frame.owner
            bound = [
                c.value
                for c in walk(owner)
                if isinstance(c, ast.Assign) and any(dotted(t) == target.id for t in c.targets)
            ]
            if len(bound) != 1:
                return
            target = bound[0]
        if not isinstance(target, ast.Call) or last_name(target.func) not in _REMATS:
            return
        names = {keyword.arg for keyword in target.keywords}
        if "prevent_cse" not in names and None not in names:
            report(
                target,
                "`nn.remat` inside `nn.scan` needs no CSE barriers; pass `prevent_cse=False`",
                reason=f"the scan at line {node.lineno} keeps forward and backward pass apart",
            )

    def check_names(self, event: CallEvent, kept: list[str], report: Reporter) -> None:
        """A policy that saves values by name, but no value of the project has one of the names."""
        module, top = event.frame.module, report.project.top(event.frame.module)
        here = {name for name, modules in self.named.items() if module in modules}
        near = {
            name
            for name, modules in self.named.items()
            if any(other.source.path.is_relative_to(top) for other in modules)
        }
        if not here or "" in near or report.project.is_read_in_part(module):
            return
        if report.project.in_context(_GIVES_NAMES, top):
            return  # the names in context files are not collected
        report.event = event
        if near.intersection(kept):
            self.check_spelling(event, [name for name in kept if name not in near], here, report)
            return
        listed, given = (", ".join(f"`{name}`" for name in sorted(names)) for names in (kept, here))
        several = len(here) > 1
        report(
            event.node,
            f"no `checkpoint_name` call uses {listed}, so this policy saves nothing; correct the name{'s' * (len(kept) > 1)}",
            reason=f"the name{'s' * several} in this file {'are' if several else 'is'} {given}",
        )

    def check_spelling(self, event: CallEvent, absent: list[str], here: set[str], report: Reporter) -> None:
        """A name that no value has, similar to one that some value has and no policy saves."""
        beside = [
            kept for policy, kept in self.policies.values() if policy.frame.module is event.frame.module
        ]
        unkept = here - {name for kept in beside for name in kept}
        for name in absent:
            meant = get_close_matches(name, sorted(unkept), n=1)
            if meant:
                report(
                    event.node,
                    f"no `checkpoint_name` call uses `{name}`, and no policy saves `{meant[0]}`; correct the name",
                    reason=f"this file has the name `{meant[0]}`, whose values are recomputed",
                )
                return

    def finish(self, report: Reporter) -> None:
        for policy, kept in self.policies.values():
            self.check_names(policy, kept, report)
        for node, (made, inner) in self.around.items():
            if node not in self.calls.called or node in self.calls.differentiated:
                continue  # a gradient of a gradient
            report.event = made
            report(
                made.decorator or made.node,
                f"`checkpoint` around the gradient of `{inner.label}` saves no memory; checkpoint its blocks",
                reason=f"{made.transformed.why.explain(report.module)}; the backward pass runs inside it",
            )
        for node, made in self.made.items():
            if node not in self.inside and made.frame.module.reported and not made.frame.module.is_test:
                report.event = made
                self.check_calls(made, report)
        for node, (body, where) in self.inside.items():
            event = self.made.get(node)
            if event is None or node in self.outside or not event.frame.module.reported:
                continue
            if event.frame.module.is_test:
                continue
            report.event = event
            report(
                event.decorator or node,
                f"`checkpoint` of `{body.label}` inside `lax.scan` needs no CSE barriers; pass `prevent_cse=False`",
                reason=f"{where}, which keeps forward and backward pass apart",
            )

    def check_calls(self, made: TransformEvent, report: Reporter) -> None:
        """Missing barriers at a call, and one call for all the layers."""
        remat = made.transformed
        if self.calls.may_merge(remat):
            report(
                made.decorator or made.node,
                f"`prevent_cse=False` outside a loop lets XLA undo the remat of `{remat.label}`; remove it",
                reason=f"{remat.why.explain(report.module)}; `prevent_cse=False` is for the body of a JAX loop",
            )
        elif self.calls.runs_all_layers(remat):
            report(
                made.decorator or made.node,
                f"`checkpoint` of all layers of `{remat.label}` saves no memory; checkpoint one layer at a time",
                reason=f"{remat.why.explain(report.module)}; the backward pass recomputes all layers at once",
            )


def _may_scan(event: Event, report: Reporter) -> bool:
    """Whether the file mentions a scan, or another file may scan the module: it names what rematerializes it, and scans."""
    module, function = event.frame.module, event.frame.function
    if module.is_test or any("scan" in line for line in module.lines):
        return True
    if function is None or "." in function.qualname:
        return False
    used = re.compile(rf"(?s)\A(?=.*\b{function.name}\b).*\b(?:nn|linen)\.scan\(")
    return report.project.mentions(used, module)


def _is_written(event: TransformEvent) -> bool:
    """Whether the policy is written at its use, or in the only binding of a variable; a setting may change."""
    place = event.decorator or event.node
    owner = event.frame.owner
    bound = [
        statement.value
        for statement in nodes_of(owner, ast.Assign)
        if {dotted(target) for target in statement.targets} & names_in(place)
    ]
    return any(
        "everything_saveable" in ast.unparse(part) for part in (place, *(bound if len(bound) == 1 else ()))
    )


def _names_kept(event: CallEvent) -> list[str]:
    """The names that a policy saves; empty if one is unknown."""
    found: list[Value] = []
    for value in [*event.args, *event.kwargs.values()]:
        if isinstance(value, (TupleValue, ListValue)):
            if value.items is None:
                return []
            found += value.items
        else:
            found.append(value)
    names = [constant(value) for value in found]
    offload = ("device", "pinned_host")
    if not all(isinstance(name, str) for name in names):
        return []
    return [str(name) for name in names if name not in offload]
