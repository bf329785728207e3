"""Which statements of a host function are proposed as one jitted function."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import Any

from jaxlint.source.file import SourceFile
from jaxlint_runtime.rewrites.regions import fetched, from_regions, script, stretches
from jaxlint_runtime.rewrites.tried_edit import edited

TRAINER = """
import jax
import jax.numpy as jnp
import optax

grad_fn = jax.jit(jax.value_and_grad(lambda w, x: jnp.sum((x @ w) ** 2)))

def main(batches):
    params = jnp.ones(3)
    optimizer = optax.adam(1e-3)
    state = optimizer.init(params)
    losses = []
    for x in batches:
        loss, grads = grad_fn(params, x)
        updates, state = optimizer.update(grads, state)
        params = optax.apply_updates(params, updates)
        losses.append(float(loss))
    return losses
"""


def function_of(text: str) -> ast.FunctionDef:
    (found,) = [node for node in ast.parse(textwrap.dedent(text)).body if isinstance(node, ast.FunctionDef)]
    return found


def lines_of(text: str, *, own: bool = False) -> list[list[str]]:
    return [[ast.unparse(one) for one in part] for part in stretches(function_of(text).body, own=own)]


def test_statements_that_only_assign_follow_each_other() -> None:
    text = """
    def f(xs):
        a = 1
        for x in xs:
            b = g(x)
            c = b + 1
            print(c)
            if c > 2:
                d = c * 2
    """
    assert lines_of(text) == [["b = g(x)", "c = b + 1"], ["d = c * 2"]]
    assert lines_of(text, own=True)[0] == ["a = 1"]


def test_a_statement_of_the_host_in_between_belongs_to_the_stretch() -> None:
    text = """
    def f(xs):
        for x in xs:
            b = g(x)
            log(b)
            c = b + 1
            print(c)
            raise c
            d = c
    """
    assert lines_of(text) == [["b = g(x)", "log(b)", "c = b + 1"], ["d = c"]]


def test_a_region_reaches_across_a_statement_of_the_host(tmp_path: Path) -> None:
    moved = "        losses.append(float(loss))\n"
    update = "        updates, state = optimizer"
    text = TRAINER.replace(moved, "").replace(update, f"{moved}{update}")
    entries, sources = watched(text, tmp_path)
    (rewrite,) = from_regions(entries, sources)
    assert rewrite.summary == "Compile lines 14 to 17 of main as one function"
    changed = edited(rewrite.fixes, sources)
    assert isinstance(changed, dict)
    (new,) = changed.values()
    assert new.text.endswith(f" = train_step(params, state, x)\n{moved}    return losses\n")


def test_functions_inside_are_not_looked_into() -> None:
    text = """
    def f(xs):
        for x in xs:
            print(x)
            async def g():
                a = 1
                b = a + 1
    """
    assert lines_of(text) == []


def watched(text: str, tmp_path: Path, **changes: Any) -> tuple[list[dict[str, Any]], dict[str, SourceFile]]:
    path = tmp_path / "train.py"
    path.write_text(text)
    line = next(node.lineno for node in ast.parse(text).body if getattr(node, "name", "") == "main")
    entry = {
        "path": str(path.resolve()),
        "function": "main",
        "line": line,
        "calls": 1,
        "seconds": 2.0,
        "arguments": None,
        **changes,
    }
    return [entry], {str(path): SourceFile(path, str(path), text, "utf-8", False, "")}


def test_the_largest_region_comes_first(tmp_path: Path) -> None:
    (rewrite,) = from_regions(*watched(TRAINER, tmp_path))
    assert rewrite.name == "region-to-jit:jax.jit"
    assert rewrite.function == "main"
    assert rewrite.summary == "Compile lines 14 to 16 of main as one function"
    assert rewrite.estimate == 2.0


def test_what_took_no_time_or_was_not_called_is_left_alone(tmp_path: Path) -> None:
    assert from_regions(*watched(TRAINER, tmp_path, calls=0)) == []
    entries, sources = watched(TRAINER, tmp_path, seconds=0.01)
    busy = {**entries[0], "function": "other", "line": 1, "seconds": 2.0}
    assert from_regions([*entries, busy], sources) == []


def test_a_loop_that_does_nothing_but_record_has_no_region(tmp_path: Path) -> None:
    text = "import jax\n\n\ndef main(xs):\n    found = []\n    for x in xs:\n        found.append(x)\n        print(x)\n"
    assert from_regions(*watched(text, tmp_path)) == []


def test_a_script_is_read_as_a_function(tmp_path: Path) -> None:
    text = "import jax\nimport jax.numpy as jnp\n\nx = jnp.ones(3)\nfor i in range(100):\n    y = jnp.sin(x)\n    x = x + y\n    print(x)\n"
    path = tmp_path / "train.py"
    path.write_text(text)
    sources = {str(path): SourceFile(path, str(path), text, "utf-8", False, "")}
    (rewrite,) = from_regions([script(str(path), 2.0)], sources)
    assert (rewrite.function, rewrite.line, rewrite.estimate) == ("<module>", 6, 2.0)
    assert rewrite.summary == "Compile lines 6 to 7 of the program as one function"


def test_values_that_the_host_asks_for() -> None:
    text = """
    def f(xs):
        a = int(g(xs))
        for x in xs:
            b = float(h(x) + 1)
            c = np.asarray(k(x))
            if jnp.log(x) < 1:
                d = m(x).item()
    """
    found = [ast.unparse(one) for one in fetched(function_of(text).body, own=False)]
    assert sorted(found) == ["h(x) + 1", "jnp.log(x) < 1", "k(x)", "m(x)"]


def test_regions_of_one_function_are_compiled_at_once(tmp_path: Path) -> None:
    text = TRAINER.replace(
        "        losses.append(float(loss))\n",
        "        losses.append(float(loss))\n        print(int(jnp.argmax(jnp.abs(params))))\n",
    )
    (rewrite,) = from_regions(*watched(text, tmp_path))
    assert [fix.message for fix in rewrite.fixes] == [
        "Compile lines 14 to 16 of main as one function",
        "Compile line 18 of main as one function",
    ]
    assert rewrite.instead is not None
    assert [fix.message for fix in rewrite.instead.fixes] == [
        "Compile lines 14 to 16 of main as one function"
    ]


SAMPLER = """
import jax
import jax.numpy as jnp

class Sampler:
    def __init__(self):
        self.accepted = 0

    def step(self, key, x):
        noise_key, accept_key = jax.random.split(key)
        proposal = x + 0.1 * jax.random.normal(noise_key, x.shape)
        log_ratio = 0.5 * (jnp.sum(x**2) - jnp.sum(proposal**2))
        if jnp.log(jax.random.uniform(accept_key)) < log_ratio:
            self.accepted += 1
            return proposal
        return x

def main(key):
    sampler, x = Sampler(), jnp.ones(3)
    for sub in jax.random.split(key, 100):
        x = sampler.step(sub, x)
    return x
"""


def test_a_method_that_decides_by_an_array_has_regions_like_a_function(tmp_path: Path) -> None:
    entries, sources = watched(SAMPLER, tmp_path, function="Sampler.step", line=9, calls=100)
    (rewrite,) = from_regions(entries, sources)
    assert rewrite.function == "Sampler.step"
    assert rewrite.summary == "Compile lines 10 to 13 of Sampler.step as one function"


def test_methods_of_one_name_get_functions_of_two_names(tmp_path: Path) -> None:
    """A second `def jitted_step` would take the place of the first."""
    classes = SAMPLER.partition("def main")[0]
    first = classes.index("class Sampler")
    text = classes + "".join(classes[first:].replace("Sampler", name) for name in ("Walker", "Jumper"))
    text += "def main():\n    return None\n"
    entries, sources = [], {}
    for name in ("Sampler", "Walker", "Jumper"):
        line = text[: text.index("def step", text.index(f"class {name}"))].count("\n") + 1
        (one,), sources = watched(text, tmp_path, function=f"{name}.step", line=line, calls=100)
        entries.append(one)
    rewrites = from_regions(entries, sources)
    names = [fix.steps[0].parameters.get("name", "") for one in rewrites for fix in one.fixes[:1]]
    assert names == ["", "jitted_step", "jitted_Jumper_step"]


def test_two_regions_of_a_method_get_functions_of_two_names(tmp_path: Path) -> None:
    """A name that another function took was used for both, so that neither was written."""
    halved = SAMPLER.replace("        log_ratio", "        assert x.shape\n        log_ratio").partition(
        "def main"
    )[0]
    first = halved.index("class Sampler")
    text = halved + halved[first:].replace("Sampler", "Walker") + "def main():\n    return None\n"
    entries, sources = [], {}
    for name in ("Sampler", "Walker"):
        line = text[: text.index("def step", text.index(f"class {name}"))].count("\n") + 1
        (one,), sources = watched(text, tmp_path, function=f"{name}.step", line=line, calls=100)
        entries.append(one)
    rewrites = from_regions(entries, sources)
    assert [len(one.fixes) for one in rewrites] == [2, 2]
    for one in rewrites:
        assert not isinstance(edited(one.fixes, sources), str)


ADAPT = """
import jax
import jax.numpy as jnp

def loss(w, x):
    return jnp.sum((w - x) ** 2)

def main(w, x, rate):
    for _ in range(3):
        g = jax.grad(loss)(w, x)
        w = w - rate * g
    return w

def outer(w, x):
    return loss(main(w, x, 0.1), x)

print(jax.grad(outer)(jnp.ones(3), jnp.zeros(3)))
print(main(jnp.ones(3), jnp.zeros(3), 0.1))
"""


def test_a_function_that_is_traced_often_makes_no_jitted_function_at_each_call(tmp_path: Path) -> None:
    """Each trace would make the function anew, and compile it again."""
    told = []
    for traced in (0, 48):
        (rewrite,) = from_regions(*watched(ADAPT, tmp_path, calls=2, inner_calls=traced))
        told.append(rewrite.fixes[0].steps[0].parameters["often"])
    assert told == [False, True]


GROUPS = """
import jax
import jax.numpy as jnp

class Sites:
    def __init__(self, counts):
        self.counts = [jnp.array(c) for c in counts]

    def score(self, rates, shift):
        total = 0.0
        for counts, rate in zip(self.counts, rates):
            mean = jnp.exp(rate + shift)
            total += jnp.sum(counts * jnp.log(mean) - mean)
        return float(total)
"""
OVER = "zip(self.counts, rates)"


def test_a_loop_of_a_few_turns_comes_before_its_body(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(GROUPS)
    sources = {str(path): SourceFile(path, str(path), GROUPS, "utf-8", False, "")}
    place = {"path": str(path), "function": "Sites.score", "line": 9}
    one = {**place, "calls": 90, "inner_calls": 0, "seconds": 2.0, "arguments": [], "variables": []}
    found: dict[int, list[str]] = {}
    for length in (2, 17):
        (rewrite,) = from_regions([{**one, "lengths": {OVER: length}}], sources, {(str(path), "Sites.score")})
        found[length] = [rewrite.summary]
        while rewrite.instead is not None:
            rewrite = rewrite.instead
            found[length].append(rewrite.summary)
    narrow = ["Compile lines 12 to 13 of Sites.score as one function"]
    assert found == {2: ["Compile lines 10 to 13 of Sites.score as one function", *narrow], 17: narrow}


def test_the_body_of_a_loop_is_a_stretch_of_its_own() -> None:
    text = """
    def f(xs, y):
        for _ in range(9):
            y = g(y)
            for x in xs:
                y = h(x, y)
            print(y)
    """
    outer = ["y = g(y)", "for x in xs:\n    y = h(x, y)"]
    body = function_of(text).body
    found = [
        [[ast.unparse(one) for one in part] for part in stretches(body, own=False, lengths=lengths)]
        for lengths in ({"xs": 3}, {"xs": 30}, {})
    ]
    assert found == [
        [outer, ["y = h(x, y)"]],
        [["y = g(y)"], ["y = h(x, y)"]],
        [["y = g(y)"], ["y = h(x, y)"]],
    ]


AGENT = """
import jax
import jax.numpy as jnp

class Agent:
    def __init__(self, config):
        self.config = config
        self.w, self.slow = jnp.ones(3), jnp.zeros(3)

    def learn(self, x):
        grads = jax.grad(lambda w: jnp.sum((w * x) ** 2))(self.w)
        self.w = self.w - 0.1 * grads
        rate = self.config["rate"]
        self.slow = (1.0 - rate) * self.slow + rate * self.w
        return self.slow.sum().item()

agent = Agent({"rate": 0.5, "steps": 3})
for n in range(3):
    print(agent.learn(jnp.ones(3)))
"""


def test_a_number_of_the_host_is_read_before_the_region(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "program.py"
    path.write_text(AGENT)
    sources = {str(path): SourceFile(path, str(path), AGENT, "utf-8", False, "")}
    place = {"path": str(path), "function": "Agent.learn", "line": 10}
    one = {**place, "calls": 90, "inner_calls": 0, "seconds": 2.0, "arguments": [], "variables": []}
    (rewrite,) = from_regions([one], sources, {(str(path), "Agent.learn")})
    assert rewrite.summary == "Compile lines 11 to 15 of Agent.learn as one function"
    new = edited(rewrite.fixes, sources)
    assert not isinstance(new, str)
    assert '    def learn(self, x):\n        rate = self.config["rate"]\n' in new[str(path)].text
