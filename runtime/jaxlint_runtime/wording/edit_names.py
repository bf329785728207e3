"""Names of candidates as people read them: what an edit does, without the codemods that make it."""

from __future__ import annotations

_EDITS = {
    "together": "all edits",
    "region-to-jit": "jit of statements",
    "loop-to-steps": "one scan of all steps",
    "steps-between-looks": "one loop of many steps",
    "grown-array-to-list": "a list for a growing array",
    "pad-arguments": "padded arguments",
    "jit-model-call": "jit of model calls",
}
_LOOPS = {
    "for-to-scan": "loop as scan",
    "for-to-vmap": "loop as vmap",
    "stack-to-vmap": "list as vmap",
    "while-to-while-loop": "loop as while_loop",
    "break-to-while-loop": "loop as while_loop",
    "add-jit": "jit",
}


_FUNCTIONS = {"kernels": "attention", "cross_entropy": "cross entropy"}


def label(candidate: str) -> str:
    """A candidate's name for people: "host-sync-in-loop" for `source:fix:host-sync-in-loop`, "edits of the source" for `source`."""
    if candidate == "source":
        return "edits of the source"
    kind, _, edit = candidate.partition("source:")
    if kind or not edit:
        return " + ".join(map(_of_function, candidate.split(" + ")))
    name, _, more = edit.partition(":")
    if name == "fix":
        return more
    if name == "jit-call":
        return f"jit of {more}"
    if name == "jit":
        return _jit(more)
    if name == "loops":
        return _loops(more)
    return _EDITS.get(name, edit)


def _of_function(candidate: str) -> str:
    """A candidate for one function: "remat (dots_saveable)" for `remat:dots_saveable`."""
    transform, _, choice = candidate.partition(":")
    if not choice:
        return candidate
    if transform == "microbatch":
        return f"{choice} microbatches"
    if transform == "fusions":
        what, _, how = choice.partition(":")
        return f"{what.replace('_', ' ')}{' ' if how == 'recomputed' else ' by '}{how}"
    if transform in _FUNCTIONS:
        return f"{_FUNCTIONS[transform]} by {choice}"
    return f"{transform} ({choice})"


def _jit(how: str) -> str:
    """A transformation and what is static under it: "jit (k static)" for "jax.jit, k static"."""
    transform, _, static = how.partition(", ")
    short = transform.removeprefix("jax.")
    return f"{short} ({static})" if static else short


def _loops(edit: str) -> str:
    """The rewrites of loops: "loop as scan, jit (n static)" for "for-to-scan + add-jit:jax.jit, n static"."""
    codemods, _, how = edit.partition(":")
    names = [_LOOPS.get(one, one) for one in codemods.split(" + ")]
    if how:
        names = [_jit(how) if one == "jit" else one for one in names]
    return ", ".join(dict.fromkeys(names))
