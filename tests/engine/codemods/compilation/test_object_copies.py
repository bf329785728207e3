"""`region-to-jit` in methods that call other methods of their object, and around objects that hold arrays."""

from __future__ import annotations

import pytest

from tests.engine.codemods.conftest import Rewrite

HEAD = "import jax\nimport jax.numpy as jnp\n\n\n"
BODY = HEAD + (
    "class Body:\n"
    "    def __init__(self, n):\n"
    "        self.x = jnp.ones(n)\n"
    "        self.v = jnp.zeros(n)\n"
    "        self.k = 2.0\n"
    "        self.key = jax.random.PRNGKey(0)\n\n"
    "    def force(self):\n"
    "        return -self.k * self.x\n\n"
    "    def next_key(self):\n"
    "        self.key, sub = jax.random.split(self.key)\n"
    "        return sub\n\n"
    "    def step(self, dt):\n"
    "        «a = self.force() + jax.random.normal(self.next_key(), self.x.shape)\n"
    "        self.v = self.v + dt * a\n"
    "        self.x = self.x + dt * self.v»\n"
    "        return 1\n\n\n"
    "body = Body(3)\n"
    "for _ in range(9):\n"
    "    body.step(0.1)\n"
)


def test_a_region_that_calls_methods_works_on_a_copy(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", BODY, wide=True, often=True)
    assert "import copy\n" in after
    assert (
        "    @functools.partial(jax.jit, static_argnums=0)\n    def _step(self, x, key, v, dt):\n"
        "        self = copy.copy(self)\n        self.x, self.key, self.v = x, key, v\n        a = self.force()"
    ) in after.replace("self.x, self.v, self.key = x, v, key", "self.x, self.key, self.v = x, key, v")
    assert "return self.x, self.key, self.v\n" in after or "return self.key, self.v, self.x\n" in after


def test_the_copy_computes_what_the_object_did(rewrite: Rewrite) -> None:
    results = []
    for text in (BODY.replace("«", "").replace("»", ""), rewrite("region-to-jit", BODY, wide=True)):
        space: dict[str, object] = {}
        exec(text, space)
        results.append([getattr(space["body"], name) for name in ("x", "v", "key")])
    for one, other in zip(*results, strict=True):
        assert abs(one - other).max() < 1e-5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        return -self.k", "        self.calls.append(1)\n        return -self.k"),
        ("        self.k = 2.0\n", "        self.k = 2.0\n        self.push = lambda: self.x\n"),
        ("        self.k = 2.0\n", "        self.k = 2.0\n        self.push = self.force\n"),
        ("        self.k = 2.0\n", "        self.k = 2.0\n        register(self)\n"),
        ("    def force", "    def __copy__(self):\n        return Body(3)\n\n    def force"),
        (
            "    def force",
            "    @property\n    def k2(self):\n        return 1\n\n    @jax.jit\n    def force",
        ),
        (
            "        return -self.k",
            "        if self.x[0] > 0:\n            return self.x\n        return -self.k",
        ),
        ("        self.v = jnp.zeros(n)\n", "        if n > 2:\n            self.v = jnp.zeros(n)\n"),
        ("body = Body(3)\n", "body = Body(3)\nforces = [body.force]\n"),
    ],
    ids=[
        "appends",
        "a lambda",
        "a bound method",
        "hands itself on",
        "a hook",
        "a decorator",
        "a branch on an array",
        "no attribute yet",
        "a method in a list",
    ],
)
def test_no_copy_where_it_may_differ(rewrite: Rewrite, old: str, new: str) -> None:
    assert old in BODY
    assert "copy" not in rewrite("region-to-jit", BODY.replace(old, new, 1), wide=True).partition("class")[0]


STATE = (
    "import dataclasses\n" + HEAD + "@dataclasses.dataclass\n"
    "class State:\n    params: dict\n    rate: float\n\n\n"
    "def loss(params, x):\n    return jnp.mean((x @ params['w']) ** 2)\n\n\n"
    "def step(state, x):\n"
    "    «grads = jax.grad(loss)(state.params, x)\n"
    "    new = jax.tree.map(lambda p, g: p - state.rate * g, state.params, grads)»\n"
    "    return dataclasses.replace(state, params=new)\n\n\n"
    "state = State({'w': jnp.ones(3)}, 0.1)\n"
    "for _ in range(3):\n    state = step(state, jnp.ones((2, 3)))\n"
)


def test_arrays_of_an_object_are_handed_in(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", STATE, wide=True)
    assert "p - rate * g, params, grads)" in after
    assert "state.params, state.rate)" in after


def test_a_name_that_a_nested_function_takes_is_not_used(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", STATE.replace("lambda p, g: p -", "lambda params, rate: params -").replace("* g", "* rate"), wide=True)  # fmt: skip
    assert "params - rate_2 * rate" in after


def test_an_object_that_changes_is_not_kept(rewrite: Rewrite) -> None:
    text = HEAD + (
        "class Noise:\n    def __init__(self):\n        self.scale = jnp.ones(2)\n\n"
        "    def loss(self, w):\n        return jnp.sum((self.scale * w) ** 2)\n\n\n"
        "def main():\n    noise = Noise()\n    w = jnp.ones(2)\n    for i in range(9):\n"
        "        «g = jax.grad(noise.loss)(w)\n        w = w - 0.1 * g»\n        print(w)\n\n\nmain()\n"
    )
    assert "def step(w):\n        g = jax.grad(noise.loss)(w)" in rewrite("region-to-jit", text, wide=True)
    changed = text.replace("print(w)", "noise.scale = noise.scale * 0.9")
    assert rewrite("region-to-jit", changed, wide=True).startswith("refused: ")


WAVE = (
    "from dataclasses import dataclass, field\n" + HEAD + "@dataclass\n"
    "class Options:\n    n: int = 8\n    speed: float = 1.0\n    dx: float = field(init=False)\n\n"
    "    def __post_init__(self):\n        self.dx = self.speed / self.n\n\n\n"
    "class Wave:\n    def __init__(self, options):\n        self.p = options\n        self.speed = jnp.ones(8)\n"
    "        self.u = jnp.zeros(8)\n\n"
    "    def slope(self, u):\n        return (jnp.roll(u, 1) - u) / self.p.dx ** 2\n\n"
    "    def source(self, t):\n        return jnp.sin(2 * jnp.pi * t)\n\n"
    "    def step(self, t):\n"
    "        «accel = self.speed * self.slope(self.u) + self.source(t)\n"
    "        self.u = self.u + self.p.dx * accel»\n\n\n"
    "wave = Wave(Options())\n"
    "for i in range(9):\n    wave.step(i * 0.1)\n"
)


def test_options_of_an_object_are_read_where_they_are(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", WAVE, wide=True, often=True)
    assert "    def _step(self, speed, u, t):\n" in after
    assert "u = u + self.p.dx * accel\n" in after
    plain = rewrite("region-to-jit", WAVE.replace("@dataclass\n", "").replace(" = field(init=False)", " = 1.0").replace("__post_init__", "__init__"), wide=True, often=True)  # fmt: skip
    assert "    def _step(self, speed, u, t):\n" in plain


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    wave.step", "    wave.p.dx = wave.p.dx / 2\n    wave.step"),
        ("    wave.step", "    setattr(wave.p, 'dx', 0.5)\n    wave.step"),
        ("    wave.step", "    wave.p = Options(4 + i)\n    wave.step"),
        ("    def slope", "    def calm(self):\n        self.p.dx = 2.0\n\n    def slope"),
    ],
    ids=["set again", "setattr", "replaced", "set by a method"],
)
def test_options_that_may_change_are_not_kept(rewrite: Rewrite, old: str, new: str) -> None:
    assert old in WAVE
    assert rewrite("region-to-jit", WAVE.replace(old, new, 1), wide=True, often=True).startswith("refused: ")


def test_methods_read_no_options_that_change(rewrite: Rewrite) -> None:
    text = HEAD + (
        "class Options:\n    def __init__(self):\n        self.dx = 0.5\n\n\n"
        "class Wave:\n    def __init__(self, options):\n        self.p = options\n        self.u = jnp.zeros(8)\n\n"
        "    def slope(self, u):\n        return (jnp.roll(u, 1) - u) / self.p.dx\n\n"
        "    def step(self, t):\n        «accel = self.slope(self.u) + t\n        self.u = self.u + accel»\n\n\n"
        "wave = Wave(Options())\nfor i in range(9):\n    wave.step(i * 0.1)\n"
    )
    assert "def _step(self, u, t):" in rewrite("region-to-jit", text, wide=True, often=True)
    changed = text.replace("    wave.step", "    wave.p.dx /= 2\n    wave.step")
    assert "keeps the first value" in rewrite("region-to-jit", changed, wide=True, often=True)


TABLE = (
    "import numpy as np\n" + HEAD + "table = np.zeros(8)\n\n\n"
    "class Schedule:\n    def __init__(self, n):\n        betas = np.linspace(0.1, 0.2, n)\n        self.rates = np.cumprod(1.0 - betas)\n\n\n"
    "class Model:\n    def __init__(self, n):\n        self.schedule = Schedule(n)\n        self.w = jnp.ones(3)\n\n"
    "    def loss(self, w, t):\n        return jnp.sum(w ** 2) * jnp.asarray(self.schedule.rates)[t]\n\n"
    "    def step(self, t):\n        «grads = jax.grad(self.loss)(self.w, t)\n        self.w = self.w - 0.1 * grads»\n\n\n"
    "model = Model(8)\nfor i in range(8):\n    model.step(i)\n"
)


def test_tables_that_nothing_changes_are_kept(rewrite: Rewrite) -> None:
    assert "_step(self, w, t):" in rewrite("region-to-jit", TABLE, wide=True, often=True)


LISTED = WAVE.replace("    n: int = 8", "    n: list = field(default_factory=lambda: [8])").replace(
    "speed / self.n", "speed / self.n[0]"
)


def test_a_list_in_options_matters_where_it_is_read(rewrite: Rewrite) -> None:
    longer = LISTED.replace("    wave.step", "    wave.p.n[0] = i\n    wave.step")
    assert "self._step(" in rewrite("region-to-jit", longer, wide=True, often=True)
    read = longer.replace("/ self.p.dx **", "/ self.p.n[0] **")
    assert rewrite("region-to-jit", read, wide=True, often=True).startswith("refused: ")


POSTERIOR = HEAD + (
    "import numpy as np\n\n\n"
    "class Posterior:\n    def __init__(self, x, y):\n        self.x, self.y = x, y\n\n"
    "    def __call__(self, w):\n        return -jnp.sum((jnp.asarray(self.x) @ w - jnp.asarray(self.y)) ** 2)\n\n\n"
    "class Chain:\n    def __init__(self, target, start):\n        self.target, self.w, self.logp = target, start, target(start)\n"
    "        self.key, self.rate, self.n = jax.random.PRNGKey(0), 0.1, 0\n\n"
    "    def noise(self):\n        self.key, sub = jax.random.split(self.key)\n"
    "        return jax.random.normal(sub, (3,))\n\n"
    "    def move(self, w, noise):\n        slope = jax.grad(self.target)(w)\n"
    "        return jax.tree.map(lambda w, g, n: w + self.rate * (g + n), w, slope, noise)\n\n"
    "    def step(self):\n        «new = self.move(self.w, self.noise())\n        logp = self.target(new)»\n"
    "        if float(logp) > float(self.logp) - 5.0:\n            self.w, self.logp = new, logp\n            self.n += 1\n\n\n"
    "rng = np.random.default_rng(0)\nchain = Chain(Posterior(rng.normal(size=(8, 3)), rng.normal(size=8)), jnp.ones(3))\n"
    "for _ in range(9):\n    chain.step()\nend = chain.w\n"
)


def test_a_sampler_with_an_object_for_its_density(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", POSTERIOR, wide=True, often=True)
    assert "def _step(self, key, w):\n        self = copy.copy(self)\n" in after
    ends = []
    for text in (POSTERIOR.replace("«", "").replace("»", ""), after):
        space: dict[str, object] = {}
        exec(text, space)
        ends.append(space["end"])
    assert abs(ends[0] - ends[1]).max() < 1e-5  # type: ignore[operator]


DRAWN = POSTERIOR.replace("        «new = ", "        «before = self.w\n        new = ").replace(
    "        logp = self.target(new)»\n        if float(logp) >",
    "        logp = self.target(new)»\n        if {test} >",
)


@pytest.mark.parametrize("in_test", [True, False])
def test_what_the_value_sets_is_handed_out_after_it(rewrite: Rewrite, in_test: bool) -> None:
    """The key that a draw in the fetched value, or in the returned one, leaves in the object."""
    test = "float(self.target(self.noise()) + 2.0 * logp)"
    text = DRAWN.replace("{test}", test)
    ends = None
    if in_test:
        line = next(number for number, one in enumerate(text.splitlines(), 1) if test in one)
        column = text.splitlines()[line - 1].index("self.target(self.noise()")
        ends = [line, column, line, column + len(test) - len("float()")]
    else:
        text = text.replace("logp = self.target(new)»", "logp = self.target(new)")
        text = text.replace(
            f"        if {test} > float(self.logp) - 5.0:\n            self.w, self.logp = new, logp\n            self.n += 1\n",
            "        self.w = new\n        return logp + self.target(self.noise())»\n",
        )
    after = rewrite("region-to-jit", text, wide=True, often=True, **({"ends": ends} if ends else {}))
    assert "self = copy.copy(self)" in after
    keys = []
    for each in (text.replace("«", "").replace("»", ""), after):
        space: dict[str, object] = {}
        exec(each, space)
        keys.append(space["chain"].key)  # type: ignore[attr-defined]
    assert (keys[0] == keys[1]).all()


def test_an_expression_that_sets_an_attribute_is_no_function(rewrite: Rewrite) -> None:
    text = (
        POSTERIOR.replace("«", "")
        .replace("»", "")
        .replace("float(logp) >", "float(«logp + self.target(self.noise())») >")
    )
    assert rewrite("region-to-jit", text, wide=True, often=True).startswith("refused: ")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    chain.step()", "    chain.step()\n    chain.target.x[0] = 2.0"),
        (
            "    chain.step()",
            "    chain.step()\n    chain.target = Posterior(chain.target.x, chain.target.y + 1.0)",
        ),
        ("return jax.tree.map(lambda", "return map(lambda"),
        ("        slope = ", "        self.later = lambda: self.rate\n        slope = "),
    ],
    ids=["its data change", "another density", "a map that runs later", "a function that reads it is kept"],
)
def test_a_sampler_that_is_not_constant(rewrite: Rewrite, old: str, new: str) -> None:
    assert old in POSTERIOR
    assert "copy.copy" not in rewrite("region-to-jit", POSTERIOR.replace(old, new, 1), wide=True, often=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    model.step", "    model.schedule.rates[i] = 1.0\n    model.step"),
        ("    model.step", "    model.schedule.rates *= 0.9\n    model.step"),
        ("    model.step", "    np.exp(i, out=model.schedule.rates)\n    model.step"),
        ("    model.step", "    kept = model.schedule.rates\n    kept[0] = i\n    model.step"),
        ("    model.step", "    model.schedule.rates.sort()\n    model.step"),
        ("= np.cumprod(1.0 - betas)", "= table\n        table[n % 2] = 3.0"),
    ],
    ids=["an item", "in place", "out", "by another name", "sorted", "held elsewhere"],
)
def test_tables_that_may_change_are_not_kept(rewrite: Rewrite, old: str, new: str) -> None:
    assert old in TABLE
    assert "change" in rewrite("region-to-jit", TABLE.replace(old, new, 1), wide=True, often=True)


NESTED = HEAD + (
    "class Model:\n    def __init__(self, apply):\n        self.apply, self.scale = apply, 2.0\n        self.w = jnp.ones(3)\n\n"
    "    def step(self, x):\n        «def loss(w):\n            return jnp.sum(self.apply(w * self.scale, x) ** 2)\n"
    "        self.w = self.w - 0.1 * jax.grad(loss)(self.w)»\n\n\n"
    "model = Model(jnp.dot)\nfor _ in range(9):\n    model.step(jnp.ones(3))\n"
)


def test_what_a_nested_function_reads_of_the_object_may_not_change(rewrite: Rewrite) -> None:
    assert "self.apply(w * self.scale, x)" in rewrite("region-to-jit", NESTED, wide=True, often=True)
    for name, value in (("scale", "3.0"), ("apply", "jnp.multiply")):
        changed = NESTED + f"    model.{name} = {value}\n"
        after = rewrite("region-to-jit", changed, wide=True, often=True)
        assert (
            after.startswith("refused: ")
            or f"self.{name}" not in after.partition("def step")[0].partition("jit")[2]
        )
