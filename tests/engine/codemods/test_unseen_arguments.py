"""What no run has shown is not given to compiled code, unless the source says that JAX takes it."""

from __future__ import annotations

import pytest

from tests.helpers.missed_code import refusal

PROGRAM = """
import pickle
import sys

def fresh():
    return {{"w": jnp.ones(3), "turn": 0}}

def stored(path):
    {stored}  # missed

def advance(state):
    w = jnp.tanh(state["w"]) * 0.5
    return {{**state, "w": w, "turn": state["turn"] + 1}}

def main():
    state = {chosen}
    {changed}  # missed
    for _ in range(3):
        w, turn = state["w"], state["turn"]
        w = jnp.tanh(w) * 0.5 + jnp.sin(w)
        w = w / (1 + jnp.abs(w).sum())
        print(turn)
        state = {{"w": w, "turn": turn + 1}}

main()
"""


def of_region(
    chosen: str = "stored('x') if '--go' in sys.argv else fresh()",
    stored: str = "return fresh()",
    changed: str = "pass",
) -> str | None:
    if "if" in chosen:  # the branch that was not reached stands last
        one, _, rest = chosen.partition(" if ")
        test, _, other = rest.partition(" else ")
        chosen = f"{other} if not ({test}) else {one}  # missed"
    text = PROGRAM.format(chosen=chosen, stored=stored, changed=changed)
    return refusal(text, "region-to-jit", "w = jnp.tanh(w)", "w = jnp.tanh(w)")


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        ("return pickle.load(open(path, 'rb'))", "whose type is unknown"),
        ("return fresh() | {'w': np.linspace(0, 1, 3)}", "64 bits"),
        ("return {'w': [2**40, 3_000_000_000, 1], 'turn': 0}", "more than 32 bits"),
        ("return {'w': {1: jnp.ones(3), 'a': jnp.ones(3)}, 'turn': 0}", "not all strings"),
        ("return {'w': np.load(path)['w'], 'turn': 0}", "64 bits"),
        ("return {**fresh(), **pickle.load(open(path, 'rb'))}", "whose type is unknown"),
    ],
)
def test_a_definition_that_no_run_reached_and_that_may_be_of_another_kind(stored: str, why: str) -> None:
    told = of_region(stored=stored)
    assert told is not None
    assert told.startswith("`w` may be `")
    assert why in told
    assert "program.py:" in told
    assert "--also" in told


@pytest.mark.parametrize(
    "stored",
    [
        "return fresh()",
        "return {'w': jnp.zeros(3), 'turn': 7}",
        "return fresh() | {'w': jnp.asarray(np.load(path))}",
        "return {'w': np.asarray([1.0, 2.0, 3.0], np.float32), 'turn': 0}",
        "return {'turn': pickle.load(open(path, 'rb')), 'w': jnp.ones(3)}",
    ],
)
def test_a_definition_of_the_same_kind(stored: str) -> None:
    assert of_region(stored=stored) is None


def test_a_variable_that_another_path_puts_in() -> None:
    told = of_region(chosen="fresh()", changed="state['w'] = pickle.load(open('x', 'rb'))")
    assert told is not None
    assert "pickle.load" in told
    assert of_region(chosen="fresh()", changed="state['w'] = jnp.zeros(3)") is None
    assert of_region(chosen="fresh()", changed="state['turn'] = pickle.load(open('x', 'rb'))") is None


def test_methods_of_arrays_give_what_they_are_called_on() -> None:
    shown = "pickle.load(open('a', 'rb'))"  # by a run
    changed = "w = state['w']; state['w'] = w.at[0].set(w.sum(0)).reshape(3)"
    assert of_region(chosen=shown, changed=changed) is None
    told = of_region(chosen="fresh()", changed="state['w'] = pickle.load(open('x', 'rb')).sum(0)")
    assert told is not None
    assert "pickle.load" in told


def test_what_a_run_has_shown_may_come_back_on_another_path() -> None:
    assert of_region(chosen="fresh()", changed="best = state; state = best") is None


CALLED = """
import pickle

class Trainer:
    def __init__(self):
        self.w = pickle.load(open("w", "rb"))

    def restore(self, path):
        {restored}  # missed

    def step(self, x):
        w = self.w
        w = w - jnp.sin(w * x) * 0.5
        w = w / (1 + jnp.abs(w).sum())
        print("x")
        self.w = w

def f(x):
    return jnp.sin(x) * 2 + jnp.cos(x)

def main():
    f(pickle.load(open("x", "rb")))
    {called}  # missed
    Trainer().step(jnp.ones(3))

main()
"""


def test_another_call_of_a_function() -> None:
    seen = [{"name": "x", "type": "ArrayImpl", "leaves": [{}]}]

    def asked(called: str) -> str | None:
        text = CALLED.format(restored="pass", called=called)
        return refusal(text, "add-jit", "def f", arguments=seen)

    told = asked("f(pickle.load(open('y', 'rb')))")
    assert told is not None
    assert told.startswith("`x` may be `pickle.load(open('y', 'rb'))` at program.py:")
    assert asked("f(jnp.zeros(3))") is None


def test_an_attribute_that_another_method_sets() -> None:
    def asked(restored: str) -> str | None:
        text = CALLED.format(restored=restored, called="pass")
        return refusal(text, "region-to-jit", "w = w - jnp.sin", "w = w - jnp.sin")

    told = asked("self.w = pickle.load(open(path, 'rb'))")
    assert told is not None
    assert "whose type is unknown" in told
    assert asked("self.w = jnp.zeros(3)") is None


OPTION = """
import argparse
import json

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type={kind}, default=1.5)
    args = parser.parse_args()
    scale = args.scale
    for turn in range(3):
        w = jnp.ones(3) * turn
        w = jnp.tanh(w * scale) + jnp.sin(w)
        w = w / (1 + jnp.abs(w).sum())
        print(w)

main()
"""


def test_an_option_of_the_command_line_that_may_be_anything() -> None:
    def asked(kind: str) -> str | None:
        return refusal(
            OPTION.format(kind=kind) + "\nif False:\n    pass  # missed\n",
            "region-to-jit",
            "w = jnp.tanh(w",
            "w = jnp.tanh(w",
        )

    told = asked("json.loads")
    assert told is not None
    assert "`args.scale`" in told
    assert asked("float") is None
