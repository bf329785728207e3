"""A step may not take buffers over that something beside its caller's variable keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import pytest

from jaxlint.codemods import Workspace
from jaxlint.codemods.donation.kept_arguments import other_holder
from jaxlint.codemods.source.site import Site
from jaxlint.finding import FixRequest, Safety, Span, Step
from jaxlint.source import SourceFile

HEAD = """import sys, pickle, threading; from functools import partial
from concurrent.futures import ThreadPoolExecutor
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(p, x):
    return jax.tree.map(lambda a: a - 0.1 * a, p), jnp.sum(x)

class Best:
    def __init__(self):
        self.params = None
    def offer(self, value, params):
        if value < 1.0:
            self.value, self.params = value, params
    def show(self, params):
        print(params["w"].sum())

def save(number, params):
    SAVED[number] = params

def saves_later(params):
    save(3, params)

def evaluate(params, x):
    scores = params["w"] * x
    return scores.mean()

SAVED, best, history, pool = {}, Best(), [], ThreadPoolExecutor()

def train(p, batches, callback=None):
    for x in batches:
"""
LINE = 7
KEPT = {
    "a list": "history.append(p)",
    "a list of pairs": "history.append((len(history), p))",
    "a queue": "callback.jobs.put((1, p['w']))",
    "a generator's caller": "yield p",
    "a generator's caller, with more": "yield len(history), {'params': p}",
    "a callback": "callback(p)",
    "an object": "best.offer(0.5, p)",
    "a function that stores it": "save(1, p)",
    "a function that passes it on": "saves_later(p)",
    "a function, by keyword": "save(number=1, params=p)",
    "a thread": "threading.Thread(target=print, args=(p,)).start()",
    "a pool": "later = pool.submit(evaluate, p, 1.0)",
    "a tree of the same leaves": "history[:] = [jax.tree.map(lambda a: a, p)]",
}
FREE = {
    "its shape": "history.append(p['w'].shape)",
    "a number of it": "history.append(float(evaluate(p, x)))",
    "what is printed": "print(p, evaluate(p, x))",
    "a method that looks": "best.show(p)",
    "an optimiser": "updates, state = callback.update(p, 1, p)",
    "a copy": "history.append(jax.tree.map(jnp.copy, p))",
    "a file": "pickle.dump(p, open('a', 'wb'))",
    "a callback that is asked": "print(callback(p))",
    "a callback of another value": "callback(evaluate(p, x))",
}


# What is done before the loop, or in it, by which another variable holds the buffers; `best` is read at the end.
SHARED = {
    "an item": "best = p['w']",
    "a shape that it has": "best = p['w'].reshape(p['w'].shape)",
    "a dtype that it has": "best = jax.tree.map(lambda a: a.astype(jnp.float32), p)",
    "no copy where none is needed": "best = jax.tree.map(jnp.asarray, p)",
    "a gradient that is stopped": "best = jax.lax.stop_gradient(p)",
    "the device that it is on": "best = jax.device_put(p, jax.devices()[0])",
    "its leaves": "best, tree = jax.tree.flatten(p)",
    "a shallow copy": "best = dict(p)",
    "a pair": "best = (len(history), p)",
    "one of two": "best = p if callback else None",
    "the first": "best = best or p",
    "a walrus": "print((best := p)['w'].sum())",
    "what goes round": "best = [leaf for leaf in p.values()]",
    "a loop": "for best in p.values(): pass",
    "an iterator": "best = iter(p.values())",
    "a lazy one": "best = (leaf.sum() for leaf in p.values())",
    "a default": "best = lambda p=p: evaluate(p, 1.0)",
    "an object": "best = Pair(p)",
    "a function that hands it back": "best = first_of(3, p)",
    "a function of any arguments": "best = packed(p)",
    "a function of a table": "best = SAVED['copy'](p)",
    "a function with a name": "first = lambda params: params['w']; best = first(p)",
    "a second one of a second one": "q = p['w']; best = q.T",
    "what a step makes that takes others": "p, best = taking(None, p)",
}
FRESH = {
    "a sum": "best = p['w'].sum()",
    "a product": "best = p['w'] * 2",
    "a number": "best = float(evaluate(p, x))",
    "a copy of all": "best = jax.tree.map(jnp.copy, p)",
    "an average": "best = jax.tree.map(lambda a: 0.9 * a, p)",
    "its shape": "best = p['w'].shape",
    "a NumPy array": "best = jax.tree.map(np.asarray, p)",
    "what reads it later": "best = lambda: evaluate(p, 1.0)",
    "what a function computes": "best = evaluate(p, x)",
    "what a step makes that takes the buffers": "p, best = taking(p, 1.0)",
    "what a step makes that takes them by name": "p, best = taking_by_name(p, x)",
}
HELPERS = """
class Pair:
    def __init__(self, params):
        self.params = params

def first_of(number, params):
    kept = params["w"]
    return number, kept

def packed(*given):
    return given

@partial(jax.jit, donate_argnums=(0,))
def taking(params, other):
    return params, (params["w"], other)

@jax.jit(donate_argnames="params")
def taking_by_name(params, other):
    return params, params["w"]

"""


def shared_site(what: str, *, read: bool = True) -> Site:
    head, _, train = HEAD.partition("def train")
    text = f"{head.replace('SAVED, best,', 'SAVED, chosen,')}{HELPERS}def train{train}        {what}\n        p, loss = step(p, x)\n"
    text += "    print(best)\n" if read else "    print(loss)\n"
    return Site(SourceFile(Path("a.py"), "a.py", text, "utf-8", False, ""))


@pytest.mark.parametrize("what", SHARED.values(), ids=SHARED)
def test_another_variable_with_the_same_buffers_is_named(what: str) -> None:
    assert "`p` may be held by" in other_holder(shared_site(what), LINE, [0])


@pytest.mark.parametrize("what", FRESH.values(), ids=FRESH)
def test_a_variable_of_its_own_holds_nothing(what: str) -> None:
    assert other_holder(shared_site(what), LINE, [0]) == ""


@pytest.mark.parametrize("what", ["best = p['w']", "best, tree = jax.tree.flatten(p)", "best = Pair(p)"])
def test_what_nobody_reads_later_may_share_the_buffers(what: str) -> None:
    assert other_holder(shared_site(what, read=False), LINE, [0]) == ""


def test_what_an_argument_was_made_of_is_named() -> None:
    text = HEAD.partition("def train")[0] + (
        "def train(x):\n    variables = {'params': {'w': jnp.ones(3)}}\n    p = variables['params']\n"
        "    p, loss = step(p, x)\n    print(variables)\n"
    )
    told = other_holder(Site(SourceFile(Path("a.py"), "a.py", text, "utf-8", False, "")), LINE, [0])
    assert "`variables`, from which line" in told


def site_of(what: str) -> Site:
    loop = f"        {what}\n        p, loss = step(p, x)\n"
    return Site(SourceFile(Path("a.py"), "a.py", HEAD + loop, "utf-8", False, ""))


@pytest.mark.parametrize("what", KEPT.values(), ids=KEPT)
def test_what_keeps_an_argument_is_named(what: str) -> None:
    assert "`p` may be kept by" in other_holder(site_of(what), LINE, [0])
    assert other_holder(site_of(what), LINE, [1]) == ""


@pytest.mark.parametrize("what", FREE.values(), ids=FREE)
def test_what_only_looks_at_an_argument_keeps_nothing(what: str) -> None:
    assert other_holder(site_of(what), LINE, [0]) == ""


def test_an_attribute_is_kept_like_a_variable() -> None:
    text = HEAD.replace("    for x in batches:\n", "    pass\n") + (
        "class Trainer:\n    def run(self, batches):\n        for x in batches:\n"
        "            self.p, loss = step(self.p, x)\n            yield self.p\n"
    )
    source = SourceFile(Path("a.py"), "a.py", text, "utf-8", False, "")
    assert "`self.p` may be kept by the code that iterates over the generator" in other_holder(
        Site(source), LINE, None
    )


SPELLINGS = {
    "a method": "class Trainer:\n    @partial(jax.jit, static_argnums=0)\n    def step(self, p, x):\n        return p\n    def run(self, p, x):\n        history.append(p)\n        p = self.step(p, x)\n",
    "an attribute": "class Trainer:\n    def __init__(self):\n        self.step = jax.jit(evaluate)\n    def run(self, p, x):\n        history.append(p)\n        p = self.step(p, x)\n",
    "a lambda": "move = jax.jit(lambda p, x: p)\ndef run(p, x):\n    history.append(p)\n    p = move(x=x, p=p)\n",
    "of equinox": "@eqx.filter_jit\ndef move(p, x):\n    return p\ndef run(p, x):\n    history.append(p)\n    p = move(p, *x)\n",
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS)
def test_however_the_step_is_jitted(text: str) -> None:
    text = f"import equinox as eqx\nfrom functools import partial\n{HEAD.partition('def train')[0]}{text}"
    line = next(n for n, one in enumerate(text.splitlines(), 1) if "jit" in one and n > 10)
    source = SourceFile(Path("a.py"), "a.py", text, "utf-8", False, "")
    method = "self, p" in text and "partial(jax.jit" in text
    assert "`p` may be kept by `history.append(p)`" in other_holder(Site(source), line, [int(method)])


@pytest.mark.parametrize(("after", "kept"), [("print(p['w'])", True), ("print(trainer.p['w'])", False)])
def test_who_made_an_object_may_keep_what_it_was_given(after: str, kept: bool) -> None:
    text = HEAD.partition("def train")[0] + (
        "class Trainer:\n    def __init__(self, p):\n        self.p = p\n    def run(self, x):\n        self.p, loss = step(self.p, x)\n\n"
        f"def main(x):\n    p = {{'w': jnp.ones(3)}}\n    trainer = Trainer(p)\n    trainer.run(x)\n    {after}\n"
    )
    source = SourceFile(Path("a.py"), "a.py", text, "utf-8", False, "")
    told = other_holder(Site(source), LINE, [0])
    assert ("`p` may be read after" in told) == kept


def test_a_donation_of_what_is_kept_is_not_written() -> None:
    source = site_of("history.append(p)").source
    step = Step("add-donation", "a.py", Span(LINE, 2, LINE, 9), {"argnums": [0]})
    plan = Workspace({"a.py": source}, strict=True).plan(FixRequest(Safety.UNSAFE, "Donate", (step,)))
    assert isinstance(plan, str)
    assert "`history.append(p)` at line" in plan


# How the parameters are made, in `make(tie)`; a run takes the path on which `tie` is false.
TWICE = {
    "one array under two names": "w = jnp.ones(3)\nreturn {'a': w, 'b': w if tie else 2 * w}",
    "by another variable": "w = jnp.ones(3)\nv = w if tie else 2 * w\nreturn {'a': w, 'b': v}",
    "an item that is stored": "p = {'a': jnp.ones(3), 'b': jnp.zeros(3)}\nif tie:\n    p['b'] = p['a']\nreturn p",
    "two items that are stored": "p, w = {}, jnp.ones(3)\np['a'] = w\np['b'] = jnp.asarray(w) if tie else 2 * w\nreturn p",
    "a copy of a dictionary": "p = {'a': jnp.ones(3), 'b': jnp.zeros(3)}\nreturn {**p, 'b': p['a']} if tie else p",
    "an update": "p = {'a': jnp.ones(3), 'b': jnp.zeros(3)}\nif tie:\n    p.update(b=p['a'])\nreturn p",
    "an update by a dictionary": "p = {'a': jnp.ones(3), 'b': jnp.zeros(3)}\nif tie:\n    p.update({'b': p['a']})\nreturn p",
    "a list that is repeated": "w = jnp.ones(3)\nreturn [w] * 2 if tie else [w, 2 * w]",
    "a comprehension": "w = jnp.ones(3)\nreturn [w for _ in range(2)] if tie else [w * k for k in range(2)]",
    "equal keys": "w = jnp.ones(3)\nreturn dict.fromkeys('ab', w) if tie else {'a': w, 'b': 2 * w}",
    "a tree of one array": "p, w = {'a': jnp.ones(3), 'b': jnp.zeros(3)}, jnp.ones(3)\nreturn jax.tree.map(lambda _: w, p) if tie else p",
    "a class": "w = jnp.ones(3)\nreturn State(w, w) if tie else State(w, 2 * w)",
    "a field that is replaced": "s = State(jnp.ones(3), jnp.zeros(3))\nreturn s._replace(b=s.a) if tie else s",
    "a function that packs": "w = jnp.ones(3)\nreturn pack(w, w) if tie else pack(w, 2 * w)",
}  # fmt: skip
ONCE = {
    "arrays of their own": "return {'a': jnp.ones(3), 'b': jnp.ones(3)}",
    "computed from each other": "w = jnp.ones(3)\nreturn {'a': w, 'b': w + 0.5}",
    "a shape": "n = 3\nreturn {'a': jnp.ones((n, n)), 'b': jnp.zeros((n, n))}",
    "the same name": "p = {'a': jnp.ones(3), 'b': jnp.zeros(3)}\nreturn {**p, 'a': p['a']}",
    "a part that is replaced": "p = {'a': jnp.ones(3), 'b': jnp.zeros(3)}\nreturn {**p, 'b': 2 * p['a']}",
    "what is printed": "p = {'a': jnp.ones(3), 'b': jnp.zeros(3)}\nprint([p['a'], p['a']], tie)\nreturn p",
    "a new array in each turn": "return [jnp.ones(3) for _ in range(2)]",
    "a tree of new arrays": "p = {'a': jnp.ones(3), 'b': jnp.zeros(3)}\nreturn jax.tree.map(lambda a: a * 2, p)",
    "what is compared": "p = {'a': jnp.ones(3), 'b': jnp.zeros(3)}\nassert (p['a'], p['a']) != tie\nreturn p",
}  # fmt: skip
TIED = """import collections
import jax
import jax.numpy as jnp

State = collections.namedtuple("State", "a b")


def pack(one, other):
    return {"a": one, "b": other}


def make(tie):
MADE

@jax.jit
def step(p, x):
    return jax.tree.map(lambda a: a - x, p)


def run(tie):
    p = make(tie)
    for x in range(3):
        p = step(p, 0.1 * x)
    return p
"""


def donation_of(text: str, others: dict[str, str]) -> str:
    """The program with its step donating, or why it does not."""
    sources = {
        name: SourceFile(Path(name), name, one, "utf-8", False, "")
        for name, one in {"a.py": text, **others}.items()
    }
    line = text.split("@jax.jit")[0].count("\n") + 1
    step = Step("add-donation", "a.py", Span(line, 2, line, 9), {"argnums": [0]})
    workspace = Workspace(sources, strict=True)
    plan = workspace.plan(FixRequest(Safety.UNSAFE, "Donate", (step,)))
    return plan if isinstance(plan, str) else workspace.edited([plan])["a.py"].text


def tied(body: str) -> str:
    return TIED.replace("MADE", "".join(f"    {line}\n" for line in body.splitlines()))


@pytest.mark.parametrize("name", TWICE)
def test_a_buffer_that_may_be_held_twice_is_not_donated(name: str) -> None:
    text = tied(TWICE[name])
    assert "may hold one buffer in two places" in donation_of(text, {})
    names: dict[str, Any] = {}
    exec(text.replace("@jax.jit", "@jax.jit(donate_argnums=(0,))"), names)
    names["run"](False)
    with pytest.raises((ValueError, jax.errors.JaxRuntimeError), match="donate the same buffer twice"):
        names["run"](True)


@pytest.mark.parametrize("name", ONCE)
def test_what_only_looks_like_a_buffer_that_is_held_twice_is_donated(name: str) -> None:
    assert "donate_argnums=(0,)" in donation_of(tied(ONCE[name]), {})


def test_what_another_file_makes_of_one_buffer_is_not_donated() -> None:
    made, used = tied(TWICE["one array under two names"]).split("@jax.jit")
    head = "import jax\nfrom b import make as new\n\n\n@jax.jit"
    reason = donation_of(head + used.replace("make(", "new("), {"b.py": made})
    assert reason.startswith(
        "`{'a': w, 'b': w if tie else 2 * w}` at b.py:14 may hold one buffer in two places"
    )


def test_a_field_of_an_object_that_holds_one_buffer_twice_is_not_donated() -> None:
    text = tied(TWICE["one array under two names"]) + (
        "\n\nclass Trainer:\n    def __init__(self):\n        self.params = make(True)\n\n"
        "    def train(self):\n        self.params = step(self.params, 0.1)\n"
    )
    text = text.replace("    p = make(tie)\n", "    p = {'a': jnp.ones(3)}\n")
    assert "may hold one buffer in two places" in donation_of(text, {})
