"""What a variable may hold where it is read: what reaches that place, on every path."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.codemods.test_attribute_holders import told
from tests.engine.codemods.test_purity import refusal

NUMBERS = {
    "set again": ("x = 1.0\nx = jnp.ones(3)\ntold(x)\n", {"array"}),
    "set again later": ("x = jnp.ones(3)\ntold(x)\nx = 1.0\n", {"array"}),
    "in one branch": ("import sys\nx = 1.0\nif sys.argv:\n    x = jnp.ones(3)\ntold(x)\n", {"array", "number"}),
    "in both branches": ("import sys\nx = 1.0\nif sys.argv:\n    x = jnp.ones(3)\nelse:\n    x = np.ones(3)\ntold(x)\n", {"array", "numpy"}),
    "another type in a later turn": ("x = jnp.ones(3)\nfor i in range(3):\n    told(x)\n    x = 1.0\n", {"array", "number"}),
    "another type two turns later": ("x = y = jnp.ones(3)\nfor i in range(3):\n    told(x)\n    x = y\n    y = 1.0\n", {"array", "number"}),
    "after a loop that may have no turn": ("x = 1.0\nfor x in jnp.ones(3):\n    pass\ntold(x)\n", {"array", "number"}),
    "the variable of a loop": ("x = 1.0\nfor x in jnp.ones(3):\n    told(x)\n", {"array"}),
    "a loop that is left": ("x = jnp.ones(3)\nwhile True:\n    if f():\n        x = 1.0\n        break\n    x = np.ones(3)\ntold(x)\n", {"number"}),
    "an exception": ("x = 1.0\ntry:\n    x = jnp.ones(3)\nexcept ValueError:\n    pass\ntold(x)\n", {"array", "number"}),
    "in the handler": ("x = 1.0\ntry:\n    x = jnp.ones(3)\n    f()\nexcept ValueError:\n    told(x)\n", {"array", "number"}),
    "after the handler has set it": ("x = 1.0\ntry:\n    x = jnp.ones(3)\nexcept ValueError:\n    x = np.ones(3)\ntold(x)\n", {"array", "numpy"}),
    "an exception that is swallowed": ("x = 1.0\nwith suppress(ValueError):\n    x = jnp.ones(3)\ntold(x)\n", {"array", "number"}),
    "a function that sets it": ("x = 1.0\nx = jnp.ones(3)\ndef reset():\n    global x\n    x = 'a'\nreset()\ntold(x)\n", {"array", "number", "text"}),
    "a nested function that sets it": ("def g():\n    x = jnp.ones(3)\n    def reset():\n        nonlocal x\n        x = 1.0\n    reset()\n    told(x)\n", {"array", "number"}),
    "a function that reads it": ("x = 1.0\nx = jnp.ones(3)\ndef read():\n    told(x)\nread()\nx = 'a'\n", {"array", "number", "text"}),
    "a parameter": ("def g(x):\n    x = jnp.asarray(x)\n    told(x)\n\ng(1.0)\n", {"array"}),
    "the parameter before": ("def g(x):\n    told(x)\n    x = jnp.asarray(x)\n\ng(1.0)\n", {"number"}),
    "added to": ("x = 1.0\nx = jnp.ones(3)\nx += 1.0\ntold(x)\n", {"array"}),
    "added to in turns": ("x = 0.0\nfor i in range(3):\n    x += jnp.ones(3)\ntold(x)\n", {"array", "number"}),
    "a comprehension": ("x = 1.0\nx = jnp.ones(3)\n[told(x) for _ in range(3)]\nx = 'a'\n", {"array"}),
    "a generator": ("x = 1.0\nx = jnp.ones(3)\ny = (told(x) for _ in range(3))\nx = 'a'\nlist(y)\n", {"array", "number", "text"}),
    "several at once": ("rewards, done = np.ones(3), 1.0\nrewards, done = (jnp.stack([one]) for one in (rewards, done))\ntold(rewards)\n", {"array"}),
}  # fmt: skip


@pytest.mark.parametrize("case", NUMBERS)
def test_what_reaches_a_place(case: str) -> None:
    text, kinds = NUMBERS[case]
    assert told(text) == kinds


CONTAINERS = {
    "filled": ("x = []\nx.append(1.0)\ntold(x[0])\n", "number"),
    "filled later": ("x = []\ntold(x[0])\nx.append(1.0)\n", "number"),
    "filled by another name": ("x = []\ny = x\ny.append(1.0)\ntold(x[0])\n", "number"),
    "filled by another name, of that name now": ("x = []\ny = x\ny.append(1.0)\nx = jnp.ones(3)\nx = y\ntold(x[0])\n", "number"),
    "filled before it goes on": ("x = []\ny = x\nx.append(1.0)\nx = jnp.ones(3)\ntold(y[0])\n", "number"),
    "extended in place": ("x = []\ny = x\nx += [1.0]\nx = jnp.ones(3)\ntold(y[0])\n", "number"),
    "a list in a dict": ("x = {'layers': []}\nx['layers'].append(1.0)\ntold(x['layers'][0])\n", "number"),
    "a list in a dict, by another name": ("x = {'layers': []}\ny = x\ny['layers'].append(1.0)\ntold(x['layers'][0])\n", "number"),
    "a dict in a list": ("x = [{'a': jnp.ones(3)}]\nx[0]['a'] = 1.0\ntold(x[0]['a'])\n", "number"),
    "a dict in a list of many": ("x = [{} for _ in range(3)]\nfor i in range(3):\n    x[i]['a'] = 1.0\ntold(x[0]['a'])\n", "number"),
}  # fmt: skip


@pytest.mark.parametrize("case", CONTAINERS)
def test_what_is_put_into_a_container(case: str) -> None:
    text, kind = CONTAINERS[case]
    assert kind in told(text)


def test_a_list_gets_what_is_put_into_it_alone() -> None:
    text = "x = {'a': [], 'b': []}\nx['a'].append(1.0)\nx['b'].append(jnp.ones(3))\n"
    assert told(f"{text}told(x['b'][0])\n") == {"array"}


ROLLOUT = """
def gae(rewards, values, last):
    running, found = jnp.zeros_like(last), []
    for t in reversed(range(len(rewards))):
        running = f(rewards, values, running, t)
        found.insert(0, running)
    return jnp.stack(found)

def f(rewards, values, running, t):
    return rewards[t] - values[t] + 0.9 * running

def main(fleet):
    for update in range(3):
        trajectory = []
        for _ in range(4):
            values = jnp.ones(2)
            rewards = np.ones(2)
            trajectory.append((rewards, values))
        {stacked}
        {between}
        gae(rewards, values, jnp.ones(2))

main(None)
"""
STACKED = "rewards, values = (jnp.stack([jnp.asarray(x) for x in part]) for part in zip(*trajectory))"


@pytest.mark.parametrize(
    ("stacked", "between", "said"),
    [
        (STACKED, "pass", ""),
        ("pass", "pass", "indexes a NumPy array"),
        (f"if fleet:\n            {STACKED}", "pass", "indexes a NumPy array"),
        (f"try:\n            {STACKED}\n        except ValueError:\n            pass", "pass", "indexes a NumPy array"),
        (f"with fleet:\n            {STACKED}", "pass", "indexes a NumPy array"),
        (STACKED, "rewards = np.asarray(rewards)", "indexes a NumPy array"),
        (STACKED, "for k in range(3):\n            gae(rewards, values, jnp.ones(2))\n            rewards = np.ones(2)", "indexes a NumPy array"),
        ("rewards_again = rewards", "def again():\n            gae(rewards, values, jnp.ones(2))\n        rewards = jnp.ones(2)\n        again()", "indexes a NumPy array"),
    ],
)  # fmt: skip
def test_rewards_that_are_stacked_on_the_device(
    tmp_path: Path, stacked: str, between: str, said: str
) -> None:
    """Rewards come from NumPy in each step, and all of them are one array of JAX afterwards."""
    found = refusal(tmp_path, ROLLOUT.format(stacked=stacked, between=between))
    assert said in found if said else found == ""
