"""`region-to-jit`: what a region is given, what it hands out, where its function stands, and what is no region."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from tests.engine.codemods.conftest import Rewrite

HEAD = "import jax\nimport jax.numpy as jnp\nimport optax\n\n"
LOSS = "def loss_fn(params, x):\n    return jnp.sum((x @ params) ** 2)\n\n\n"

REWRITES: dict[str, tuple[str, str]] = {
    "an optimiser of the function around is read from there, the state is handed in and out": (
        HEAD + "\n" + LOSS + "def main(batches):\n"
        "    params = jnp.ones(3)\n"
        "    optimizer = optax.adam(1e-3)\n"
        "    opt_state = optimizer.init(params)\n"
        "    for x in batches:\n"
        "        «loss, grads = jax.value_and_grad(loss_fn)(params, x)\n"
        "        updates, opt_state = optimizer.update(grads, opt_state)  # eager until now\n"
        "        params = optax.apply_updates(params, updates)»\n"
        "        print(loss)\n",
        HEAD + "\n" + LOSS + "def main(batches):\n"
        "    params = jnp.ones(3)\n"
        "    optimizer = optax.adam(1e-3)\n"
        "    opt_state = optimizer.init(params)\n"
        "\n"
        "    @jax.jit\n"
        "    def train_step(params, opt_state, x):\n"
        "        loss, grads = jax.value_and_grad(loss_fn)(params, x)\n"
        "        updates, opt_state = optimizer.update(grads, opt_state)  # eager until now\n"
        "        params = optax.apply_updates(params, updates)\n"
        "        return params, opt_state, loss\n"
        "\n"
        "    for x in batches:\n"
        "        params, opt_state, loss = train_step(params, opt_state, x)\n"
        "        print(loss)\n",
    ),
    "what is read from the module needs no place in the function, and a script has its own": (
        HEAD + "SCALE = 2.0\nkey = jax.random.key(0)\nx = jnp.zeros(3)\n"
        "for i in range(10):\n"
        "    «key, sub = jax.random.split(key)\n"
        "    x = x + SCALE * jax.random.normal(sub, x.shape)»\n"
        "    print(x)\n",
        HEAD + "SCALE = 2.0\nkey = jax.random.key(0)\nx = jnp.zeros(3)\n\n\n"
        "@jax.jit\n"
        "def step(key, x):\n"
        "    key, sub = jax.random.split(key)\n"
        "    x = x + SCALE * jax.random.normal(sub, x.shape)\n"
        "    return key, x\n\n\n"
        "for i in range(10):\n"
        "    key, x = step(key, x)\n"
        "    print(x)\n",
    ),
    "a loss that is defined in the loop": (
        HEAD + "def fit(batches):\n"
        "    w = jnp.ones(3)\n"
        "    for x in batches:\n"
        "        «def loss_fn(p):\n"
        "            return jnp.sum((x @ p) ** 2)\n"
        "\n"
        "        loss, grads = jax.value_and_grad(loss_fn)(w)\n"
        "        w = w - 0.1 * grads»\n"
        "        print(loss)\n",
        HEAD.rstrip("\n") + "\n\n\n"
        "@jax.jit\n"
        "def step(w, x):\n"
        "    def loss_fn(p):\n"
        "        return jnp.sum((x @ p) ** 2)\n"
        "\n"
        "    loss, grads = jax.value_and_grad(loss_fn)(w)\n"
        "    w = w - 0.1 * grads\n"
        "    return w, loss\n\n\n"
        "def fit(batches):\n"
        "    w = jnp.ones(3)\n"
        "    for x in batches:\n"
        "        w, loss = step(w, x)\n"
        "        print(loss)\n",
    ),
    "what an object keeps goes in and comes out, its optimiser stays": (
        HEAD + "class Trainer:\n"
        "    def fit(self, batches):\n"
        "        for x in batches:\n"
        "            «grads = jax.grad(self.loss)(self.w, x)\n"
        "            updates, self.state = self.opt.update(grads, self.state)\n"
        "            self.w = optax.apply_updates(self.w, updates)»\n"
        "            print(self.w)\n\n"
        "    def __init__(self):\n"
        "        self.w = jnp.ones(3)\n"
        "        self.opt = optax.sgd(0.1)\n"
        "        self.state = self.opt.init(self.w)\n\n"
        "    @staticmethod\n"
        "    def loss(w, x):\n"
        "        return jnp.sum((x @ w) ** 2)\n",
        HEAD + "class Trainer:\n"
        "    def fit(self, batches):\n"
        "        @jax.jit\n"
        "        def train_step(w, state, x):\n"
        "            grads = jax.grad(self.loss)(w, x)\n"
        "            updates, state = self.opt.update(grads, state)\n"
        "            w = optax.apply_updates(w, updates)\n"
        "            return w, state\n\n"
        "        for x in batches:\n"
        "            self.w, self.state = train_step(self.w, self.state, x)\n"
        "            print(self.w)\n\n"
        "    def __init__(self):\n"
        "        self.w = jnp.ones(3)\n"
        "        self.opt = optax.sgd(0.1)\n"
        "        self.state = self.opt.init(self.w)\n\n"
        "    @staticmethod\n"
        "    def loss(w, x):\n"
        "        return jnp.sum((x @ w) ** 2)\n",
    ),
    "a variable of a function around the one around it": (
        HEAD + "def outer(optimizer):\n"
        "    def fit(w, state, grads):\n"
        "        for g in grads:\n"
        "            «u, state = optimizer.update(g, state)\n"
        "            w = w + u»\n"
        "            print(w)\n\n"
        "    fit(jnp.ones(3), optimizer.init(jnp.ones(3)), [jnp.ones(3)])\n\n\n"
        "outer(optax.sgd(0.1))\n",
        HEAD + "def outer(optimizer):\n"
        "    def fit(w, state, grads):\n"
        "        @jax.jit\n"
        "        def step(state, w, g):\n"
        "            u, state = optimizer.update(g, state)\n"
        "            w = w + u\n"
        "            return state, w\n\n"
        "        for g in grads:\n"
        "            state, w = step(state, w, g)\n"
        "            print(w)\n\n"
        "    fit(jnp.ones(3), optimizer.init(jnp.ones(3)), [jnp.ones(3)])\n\n\n"
        "outer(optax.sgd(0.1))\n",
    ),
}
AGENT = (
    HEAD + "class Agent:\n"
    "    def __init__(self, rate):\n"
    "        self.w = {'b': jnp.ones(3), 'a': [jnp.ones(3)]}\n"
    "        self.opt = optax.sgd(rate)\n"
    "        self.state = self.opt.init(self.w)\n"
    "        self.scale = 2.0\n\n"
    "    def loss(self, w, x):\n"
    "        return self.scale * jnp.sum(x * w['b']) + sum(jnp.sum(one) for one in w['a'][:1])\n\n"
    "    # one step\n"
    "    def update(self, x):\n"
    "        «loss, grads = jax.value_and_grad(self.loss)(self.w, x)\n"
    "        updates, self.state = self.opt.update(grads, self.state)\n"
    "        self.w = optax.apply_updates(self.w, updates)»\n"
    "        print(loss)\n\n\n"
    "agent = Agent(0.1)\n"
    "for i in range(9):\n"
    "    agent.update(jnp.ones(3))\n"
)


def test_a_step_that_keeps_functions_in_its_object_becomes_a_method(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", AGENT)
    assert (
        "    @functools.partial(jax.jit, static_argnums=0)\n"
        "    def _train_step(self, w, state, x):\n"
        "        loss, grads = jax.value_and_grad(self.loss)(w, x)\n"
        "        updates, state = self.opt.update(grads, state)\n"
        "        w = optax.apply_updates(w, updates)\n"
        "        return w, state, loss\n\n"
        "    # one step\n"
        "    def update(self, x):\n"
        "        self.w, self.state, loss = self._train_step(self.w, self.state, x)\n"
        "        print(loss)\n"
    ) in after


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("agent.update", "agent.scale = i; agent.update", "whose `scale` is set at"),
        ("self.scale = 2.0", "self.scale = 2.0; self.w = self.w; self.scale = 1.0", "sets `scale` twice"),
        ("    # one step", "    def anneal(self):\n        self.opt = optax.sgd(0.1)\n\n    # one step", "`opt` is set"),
        ("    # one step", "    def __eq__(self, other):\n        return True\n\n    # one step", "defines `__eq__`"),
        ("class Agent", "@functools.total_ordering\nclass Agent", "compare by identity"),
        ("class Agent:", "class Agent(dict):", "compare by identity"),
        ("agent = Agent", "class Other(Agent):\n    def __hash__(self):\n        return 1\n\n\nagent = Agent", "defines `__hash__`"),
    ],
)  # fmt: skip
def test_a_method_that_would_keep_an_old_value_is_not_compiled(
    rewrite: Rewrite, old: str, new: str, why: str
) -> None:
    assert old in AGENT
    found = rewrite(
        "region-to-jit", AGENT.replace(old, new).replace("import jax\n", "import functools\nimport jax\n", 1)
    )
    assert found.startswith("refused: ")
    assert why in found


def test_a_number_that_a_method_counts_is_given_to_the_function(rewrite: Rewrite) -> None:
    before = AGENT.replace("print(loss)", "self.scale += 1.0\n        print(loss)").replace(
        "return self.scale * ", "return "
    )
    before = before.replace("self.w, x)\n", "self.w, self.scale * x)\n")
    assert "def _train_step(self, w, scale, x, state)" in rewrite("region-to-jit", before).replace(
        "w, scale, state, x", "w, scale, x, state"
    )


SAMPLER = (
    HEAD + "class Sampler:\n"
    "    def __init__(self, log_prob):\n"
    "        self.grad = jax.grad(log_prob)\n"
    "        self.rate = 0.1\n"
    "        self.count = 0\n"
    "        self.key = jax.random.key(0)\n\n"
    "    def step(self, theta):\n"
    "        grads = self.grad(theta)\n"
    "        self.count += 1\n"
    "        «rate = self.rate * self.count ** -0.5\n"
    "        self.key, *keys = jax.random.split(self.key, 3)\n"
    "        moved = []\n"
    "        for key, leaf, grad in zip(keys, jax.tree.leaves(theta), jax.tree.leaves(grads)):\n"
    "            noise = jax.random.normal(key, leaf.shape)\n"
    "            moved.append(leaf.at[0].add(rate * grad[0]) + noise)\n"
    "        return jax.tree.unflatten(jax.tree.structure(theta), moved)»\n\n\n"
    "sampler = Sampler(lambda theta: -jnp.sum(theta['w'] ** 2))\n"
    "theta = {'w': jnp.ones(3)}\n"
    "for i in range(9):\n"
    "    theta = sampler.step(theta)\n"
)


def test_a_step_to_the_end_of_its_method_loops_over_the_leaves_of_a_tree(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", SAMPLER, wide=True)
    assert (
        "        return key_2, jax.tree.unflatten(jax.tree.structure(theta), moved)\n\n    def step" in after
    )
    assert (
        "        self.count += 1\n"
        "        self.key, result = self._step(self.count, self.key, theta, grads)\n"
        "        return result\n"
    ) in after
    names: dict[str, Any] = {}
    exec(SAMPLER.replace("«", "").replace("»", ""), names)
    expected, found = names["theta"]["w"], dict[str, Any]()
    exec(after, found)
    assert float(abs(found["theta"]["w"] - expected).max()) < 1e-5
    assert (found["sampler"].count, type(found["sampler"].count)) == (9, int)


def test_the_value_of_a_return_may_stand_on_its_own_lines(rewrite: Rewrite) -> None:
    value = "jax.tree.unflatten(jax.tree.structure(theta), moved)"
    after = rewrite("region-to-jit", SAMPLER.replace(value, f"(\n            {value}\n        )"), wide=True)
    assert f"        return key_2, (\n            {value}\n        )\n" in after


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("        return jax", "        if i:\n            «return jax", "returns inside a block"),
        ("moved)»", "moved), rate»", "several values"),
        ("zip(keys, jax.tree.leaves(theta), jax.tree.leaves(grads))", "zip(keys, theta, grads)", "how often its loop runs is unknown"),
        ("            moved.append", "            print(noise)\n            moved.append", "more than assign"),
    ],
)  # fmt: skip
def test_what_a_step_to_the_end_of_its_method_may_not_hold(
    rewrite: Rewrite, old: str, new: str, why: str
) -> None:
    assert old in SAMPLER
    text = SAMPLER.replace(old, new)
    text = text.replace("«", "", 1) if text.count("«") > 1 else text
    assert why in rewrite("region-to-jit", text, wide=True)


@pytest.mark.parametrize(
    ("made", "why"), [("jax.grad(log_prob)", ""), ("jax.jit(jax.grad(log_prob))", "compiled already"), ("log_prob", "compiled already")]
)  # fmt: skip
def test_a_call_alone_is_compiled_if_it_is_of_a_bare_gradient(rewrite: Rewrite, made: str, why: str) -> None:
    text = SAMPLER.replace("«", "").replace("»", "").replace("jax.grad(log_prob)", made)
    found = rewrite("region-to-jit", text.replace("grads = self.grad(theta)", "«grads = self.grad(theta)»"))
    assert why in found
    assert ("self._step(theta)" in found) == (not why)


def test_in_a_function_that_is_called_often_nothing_is_compiled_at_each_call(rewrite: Rewrite) -> None:
    before = HEAD + (
        "def often(opt, w, state, grads):\n    for g in grads:\n        «u, state = opt.update(g, state)\n"
        "        w = w + u»\n        print(w)\n\n\noften(optax.sgd(0.1), jnp.ones(3), (), [jnp.ones(3)])\n"
    )
    assert not rewrite("region-to-jit", before).startswith("refused: ")
    assert "recompile at each call" in rewrite("region-to-jit", before, often=True)


TRAINER = HEAD + (
    "class Trainer:\n    def __init__(self, w, opt):\n        self.w = w\n        self.opt = optax.sgd(opt)\n"
    "        self.state = self.opt.init(w)\n\n"
    "    def epoch(self, grads):\n        for g in grads:\n"
    "            «u, self.state = self.opt.update(g, self.state)\n            self.w = self.w + u»\n"
    "            print(self.w)\n\n\n"
    "trainer = Trainer(jnp.ones(3), 0.1)\nfor i in range(5):\n    trainer.epoch([jnp.ones(3)])\n"
)


def test_in_a_method_that_is_called_again_the_function_is_a_method(rewrite: Rewrite) -> None:
    nested = "        @jax.jit\n        def train_step(state, w, g):\n"
    assert nested in rewrite("region-to-jit", TRAINER, name="train_step")
    once = "    @functools.partial(jax.jit, static_argnums=0)\n    def _train_step(self, state, w, g):\n"
    assert once in rewrite("region-to-jit", TRAINER, name="train_step", again=True)
    donates = once.replace("=0)", "=0, donate_argnums=(1, 2))")
    assert donates in rewrite("region-to-jit", TRAINER, name="train_step", again=True, donate=True)


def test_a_state_whose_method_is_called_is_the_parameter_wherever_it_is_read(rewrite: Rewrite) -> None:
    before = (
        HEAD + "from flax import linen as nn\nfrom flax.training import train_state\n\n\n"
        "class Trainer:\n    def __init__(self, params):\n        self.model = nn.Dense(3)\n"
        "        self.state = train_state.TrainState.create(\n"
        "            apply_fn=self.model.apply, params=params, tx=optax.sgd(0.1)\n        )\n\n"
        "    def test(self, xs):\n        for x in xs:\n"
        "            «y = self.state.apply_fn(self.state.params, x)\n            y = jnp.sum(y)»\n            print(y)\n"
    )
    assert "@jax.jit\ndef step(state, x):\n    y = state.apply_fn(state.params, x)\n" in rewrite(
        "region-to-jit", before
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    def epoch", "    def __eq__(self, other):\n        return True\n\n    def epoch"),
        ("trainer.epoch", "trainer.opt = optax.sgd(0.1 * i)\n    trainer.epoch"),
    ],
)
def test_where_a_method_cannot_be_the_function_stays_in_the_enclosing_one(
    rewrite: Rewrite, old: str, new: str
) -> None:
    found = rewrite("region-to-jit", TRAINER.replace(old, new), name="train_step", again=True)
    assert "        @jax.jit\n        def train_step(state, w, g):\n" in found


NNX = (
    "import jax.numpy as jnp\nimport optax\nfrom flax import nnx\n\n\n"
    "class Net(nnx.Module):\n    def __init__(self, rngs):\n        self.l = nnx.Linear(2, 1, rngs=rngs)\n\n"
    "    def __call__(self, x):\n        return self.l(x)\n\n\n"
    "def mse(model, x):\n    return jnp.mean(model(x) ** 2)\n\n\n"
)
LOOP = "def f(x, n):\n    y = jnp.ones(3)\n    for i in range(n):\n"
REFUSALS: dict[str, tuple[str, str]] = {
    "a property that runs where the attribute is set": (
        HEAD
        + "class A:\n    @property\n    def w(self):\n        return self._w\n\n    def fit(self, xs):\n        for x in xs:\n"
        "            «g = jnp.sin(x)\n            self.w = g + 1»\n            print(g)\n",
        "the class defines `w`",
    ),
    "layers of haiku": (
        HEAD + "import haiku as hk\n\n\ndef net(x):\n    for n in (8, 16):\n"
        "        «x = hk.Linear(n)(x)\n        x = jax.nn.relu(x)»\n    return x\n",
        "its layers keep their parameters in the `hk.transform`",
    ),
    "a function with layers of haiku": (
        HEAD
        + "import haiku as hk\n\n\ndef block(x, n):\n    return hk.Linear(n)(x)\n\n\ndef net(x):\n    for n in (8, 16):\n"
        "        «x = block(x, n)\n        x = jax.nn.relu(x)»\n    return x\n",
        "its layers keep their parameters in the `hk.transform`",
    ),
    "a module of flax makes its layers while it is traced": (
        HEAD
        + "from flax import linen as nn\n\n\nclass Net(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n"
        "        for n in range(3):\n            «y = nn.Dense(3)(x)\n            x = nn.relu(y)»\n        return x\n",
        "creates layers at trace time",
    ),
    "the object itself is passed on": (
        HEAD + "class A:\n    def fit(self, xs):\n        for x in xs:\n"
        "            «g = jnp.sin(x)\n            self.w = helper(self, g)»\n            print(g)\n",
        "passes `self` to other code",
    ),
    "another object of the program is stored into": (
        HEAD + "class A:\n    def fit(self, other, xs):\n        for x in xs:\n"
        "            «g = jnp.sin(x)\n            other.w = g + 1»\n            print(g)\n",
        "stores into an object",
    ),
    "an optimiser of a method that loops nowhere would be compiled at each call": (
        HEAD
        + "def make():\n    opt = optax.sgd(0.1)\n\n    def once(w, state, g):\n        «u, state = opt.update(g, state)\n"
        "        w = w + u»\n        print(w)\n        return state\n\n    return once\n",
        "recompile at each call",
    ),
    "a Python number would come back as an array": (
        HEAD + LOOP + "        «y = jnp.sin(y)\n        count = 3 * i»\n        print(y, count)\n",
        "a Python number",
    ),
    "it prints": (
        HEAD
        + "def show(v):\n    print(v)\n    return v\n\n\n"
        + LOOP
        + "        «y = jnp.sin(y)\n        y = show(y)»\n    return y\n",
        "print",
    ),
    "it stores into a list": (
        HEAD + LOOP + "        «y = jnp.sin(y)\n        n[0] = jnp.cos(y)»\n    return y\n",
        "stores into an object or a container",
    ),
    "it calls for an effect": (
        HEAD + LOOP + "        «y = jnp.sin(y)\n        print(y)»\n    return y\n",
        "more than assign",
    ),
    "nothing of it is read": (
        HEAD + LOOP + "        «z = jnp.sin(y)\n        q = jnp.cos(z)»\n    return y\n",
        "nothing that it computes",
    ),
    "NumPy's batches stay on the host": (
        HEAD
        + "import numpy as np\n\n\ndef f(n):\n    data = np.ones((100, 3))\n    y = jnp.ones(3)\n    for i in range(n):\n"
        "        «x = data[i]\n        y = y + jnp.sin(x)»\n    return y\n",
        "runs in NumPy",
    ),
    "an optimiser that is created again in the loop": (
        HEAD
        + LOSS
        + "def main(batches, params):\n    for rate in (0.1, 0.2):\n        optimizer = optax.sgd(rate)\n"
        "        state = optimizer.init(params)\n        for x in batches:\n            «g = jax.grad(loss_fn)(params, x)\n"
        "            u, state = optimizer.update(g, state)\n            params = optax.apply_updates(params, u)»\n    return params\n",
        "reassigned",
    ),
    "a function that is called after it": (
        HEAD
        + LOOP
        + "        «def g(v):\n            return v * y\n\n        y = jnp.sin(y)»\n        y = g(y)\n    return y\n",
        "cannot return a function",
    ),
    "a table of the module that the program changes": (
        HEAD
        + "SETTINGS = {'rate': 0.1}\n\n\n"
        + LOOP
        + "        «z = jnp.sin(y) * SETTINGS['rate']\n        y = z + 1»\n        SETTINGS['rate'] = 0.2\n    return y\n",
        "keeps the first value",
    ),
    "a variable of the function around": (
        HEAD
        + "def g():\n    y = jnp.ones(3)\n\n    def f(n):\n        nonlocal y\n        for i in range(n):\n"
        "            «z = jnp.sin(y)\n            y = z + 1»\n            print(z)\n\n    f(2)\n    return y\n",
        "belongs to an outer scope",
    ),
}


def test_an_optimiser_of_nnx_is_called_for_its_effect(rewrite: Rewrite) -> None:
    main = (
        "def main(batches):\n    model = Net(nnx.Rngs(0))\n    opt = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)\n"
        "    for x in batches:\n        {}        print(loss)\n"
    )
    body = "loss, grads = nnx.value_and_grad(mse)(model, x)\n        opt.update(model, grads)"
    step = (
        "@nnx.jit\ndef train_step(model, x, opt):\n    loss, grads = nnx.value_and_grad(mse)(model, x)\n"
        "    opt.update(model, grads)\n    return loss\n\n\n"
    )
    before = NNX + main.format(f"«{body}»\n")
    after = NNX + step + main.format("loss = train_step(model, x, opt)\n")
    assert rewrite("region-to-jit", before, transform="flax.nnx.jit") == after
    assert "more than assign" in rewrite("region-to-jit", before)


@pytest.mark.parametrize(("before", "after"), REWRITES.values(), ids=REWRITES)
def test_rewrites(rewrite: Rewrite, before: str, after: str) -> None:
    assert rewrite("region-to-jit", before) == after


@pytest.mark.parametrize(("before", "reason"), REFUSALS.values(), ids=REFUSALS)
def test_refusals(rewrite: Rewrite, before: str, reason: str) -> None:
    refused = rewrite("region-to-jit", before)
    assert refused.startswith("refused: ")
    assert reason in refused


def test_statements_that_are_none(rewrite: Rewrite) -> None:
    assert "no argument to trace" in rewrite("region-to-jit", "for i in «range»(3):\n    x = i\n")
    assert "there is no expr" in rewrite("region-to-jit", "for i in ran«ge(3»):\n    x = i\n")


def test_an_expression_whose_value_the_host_takes(rewrite: Rewrite) -> None:
    before = HEAD + (
        "def q_values(params, obs):\n    return obs @ params\n\n\n"
        "def main(params, env):\n    for t in range(10):\n        obs = env.step()\n"
        "        action = int(«jnp.argmax(q_values(params, jnp.asarray(obs)))»)\n        print(action)\n"
    )
    after = HEAD + (
        "def q_values(params, obs):\n    return obs @ params\n\n\n"
        "@jax.jit\ndef compute_argmax(params, obs):\n    return jnp.argmax(q_values(params, jnp.asarray(obs)))\n\n\n"
        "def main(params, env):\n    for t in range(10):\n        obs = env.step()\n"
        "        action = int(compute_argmax(params, obs))\n        print(action)\n"
    )
    assert rewrite("region-to-jit", before) == after


def test_what_a_run_has_seen_of_variables(rewrite: Rewrite) -> None:
    """That a batch of NumPy holds whole numbers, or single precision alone, only a run can tell."""
    before = HEAD + (
        "def loss(w, batch):\n    x, done = batch\n    return jnp.sum((w * x * (1 - done)) ** 2)\n\n\n"
        "def main(load):\n    w = jnp.ones(3)\n    for t in range(10):\n        batch = load()\n"
        "        «g = jax.grad(loss)(w, batch)\n        w = w - 0.1 * g»\n        print(w)\n\n\n"
        "def load():\n    import numpy as np\n\n    return tuple(np.array(c) for c in ([1.0], [0.0]))\n\n\nmain(load)\n"
    )

    def seen(dtype: str) -> list[dict[str, object]]:
        leaf = {"place": "[0]", "shape": [1], "dtype": dtype, "weak_type": False, "sharding": None}
        return [{"name": "batch", "type": "tuple", "holds": ["ndarray"], "leaves": [leaf]}]

    assert "64 bits" in rewrite("region-to-jit", before)
    assert "64 bits" in rewrite("region-to-jit", before, variables=seen("int64"))
    assert "def step(w, batch):" in rewrite("region-to-jit", before, variables=seen("float32"))


STATE = HEAD + (
    "from flax import linen as nn\nfrom flax.training import train_state\n\n\n"
    "def loss_fn(params, apply_fn, x):\n    return jnp.mean(apply_fn(params, x) ** 2)\n\n\n"
    "def main(batches):\n    model = nn.Dense(3)\n    params = model.init(jax.random.key(0), jnp.ones((1, 2)))\n"
    "    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))\n"
    "    for x in batches:\n"
    "        «grads = jax.grad(loss_fn)(state.params, state.apply_fn, x)\n"
    "        state = state.apply_gradients(grads=grads)»\n"
    "        print({})\n"
)


def test_a_state_holds_what_it_was_made_of(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", STATE.format("state.params"))
    assert "@jax.jit\ndef train_step(state, x):\n    grads = jax.grad(loss_fn)(state.params" in after
    assert "        state = train_step(state, x)\n" in after


def test_the_step_of_a_state_is_a_number_of_python(rewrite: Rewrite) -> None:
    assert "whose `step` would come back as a JAX array" in rewrite(
        "region-to-jit", STATE.format("state.step")
    )


@pytest.mark.parametrize(
    ("read", "alike"),
    [
        ("int(state.step)", True),
        ("f'{state.step:5d}'", True),
        ("jax.random.fold_in(jax.random.key(0), state.step)", True),
        ("jax.random.fold_in(jax.random.key(0), state.step + 1)", False),
        ("f'{state.step!r}'", False),
        ("int(state.step, 10)", False),
    ],
)
def test_the_step_of_a_state_may_be_read_where_an_array_gives_the_same(
    rewrite: Rewrite, read: str, alike: bool
) -> None:
    after = rewrite("region-to-jit", STATE.format(read))
    assert after.startswith("refused: ") != alike


DONATED = HEAD + (
    "def main(batches):\n    w = jnp.ones(3)\n    for x in batches:\n"
    "        «g = jnp.sin(w * x)\n        w = w - g»\n        print(w)\n"
)


def test_what_is_made_anew_is_donated_where_that_is_asked(rewrite: Rewrite) -> None:
    assert "@functools.partial(jax.jit, donate_argnums=(0,))\ndef step(w, x):" in rewrite(
        "region-to-jit", DONATED, donate=True
    )
    assert "@jax.jit\ndef step(w, x):" in rewrite("region-to-jit", DONATED)


def test_what_a_caller_keeps_is_not_donated(rewrite: Rewrite) -> None:
    kept = DONATED.replace("def main(batches):\n    w = jnp.ones(3)\n", "def main(w, batches):\n")
    kept += "\n\nstart = jnp.ones(3)\nmain(start, [jnp.ones(3)])\nprint(start)\n"
    assert "@jax.jit\ndef step(w, x):" in rewrite("region-to-jit", kept, donate=True)


@pytest.mark.parametrize("keeps", ["best = w", "best, n = w, 3", "best.append(w)", "yield w"])
def test_what_something_else_keeps_is_not_donated(rewrite: Rewrite, keeps: str) -> None:
    kept = DONATED.replace(
        "        print(w)\n", f"        if x.sum() > 0:\n            {keeps}\n        print(w)\n"
    )
    assert "@jax.jit\ndef step(w, x):" in rewrite("region-to-jit", kept, donate=True)


def test_as_many_statements_as_can_be_around_one(rewrite: Rewrite) -> None:
    before = HEAD + (
        "import numpy as np\n\n\ndef main(n):\n    data = np.ones((10, 3))\n    w = jnp.ones(3)\n    for i in range(n):\n"
        "        x = data[i]\n        g = jnp.sin(w * x)\n        «w = w - g»\n        print(w)\n"
    )
    assert "def step(w, x):\n    g = jnp.sin(w * x)\n    w = w - g\n" in rewrite(
        "region-to-jit", before, around=True
    )
    whole = before.replace("«w = w - g»", "w = w - g»").replace("x = data[i]", "«x = data[i]")
    assert rewrite("region-to-jit", whole).startswith("refused: ")


def test_a_number_of_the_object_is_read_where_it_is(rewrite: Rewrite) -> None:
    before = HEAD + (
        "class A:\n    def __init__(self):\n        self.width = 3\n\n    def run(self, w):\n        for i in range(100):\n"
        "            «z = jnp.zeros(self.width)\n            w = w + z»\n            print(w)\n\n\nA().run(jnp.ones(3))\n"
    )
    after = rewrite("region-to-jit", before)
    assert "def step(w):\n            z = jnp.zeros(self.width)\n" in after


def test_keys_of_a_dict_are_no_tracers(rewrite: Rewrite) -> None:
    text = (
        "import jax\nimport jax.numpy as jnp\n\n\ndef update(params, grads):\n    return {k: params[k] - 0.1 * grads[k] for k in params}\n\n\n"
        "def f(n):\n    params = {'w': jnp.ones(3)}\n    for i in range(n):\n"
        "        «grads = jax.grad(lambda p: jnp.sum(p['w'] ** 2))(params)\n        params = update(params, grads)»\n"
        "        print(params['w'])\n\n\nf(2)\n"
    )
    assert "@jax.jit\ndef step(params):" in rewrite("region-to-jit", text)


def test_a_closure_of_the_function_around_it_would_keep_its_first_value(rewrite: Rewrite) -> None:
    text = (
        "import jax\nimport jax.numpy as jnp\n\n\ndef f(x, n):\n    def other():\n        return x * 2\n\n    for i in range(n):\n"
        "        «y = jnp.sin(x)\n        x = y + other()»\n        print(x)\n\n\nf(jnp.ones(3), 3)\n"
    )
    assert "reads `x`, which is set in a loop" in rewrite("region-to-jit", text)


def test_an_optimiser_that_a_run_saw_as_a_tuple_of_functions_is_no_state(rewrite: Rewrite) -> None:
    before = HEAD + (
        "def loss(w, x):\n    return jnp.sum((w * x) ** 2)\n\n\n"
        "def fit(w, optimizer, batches):\n    state = optimizer.init(w)\n    for x in batches:\n"
        "        «g = jax.grad(loss)(w, x)\n        updates, state = optimizer.update(g, state)\n        w = optax.apply_updates(w, updates)»\n"
        "        print(w)\n\n\nfit(jnp.ones(3), optax.sgd(0.1), [jnp.ones(3)])\n"
    )
    kind = {"type": "GradientTransformationExtraArgs", "module": "optax._src.base", "holds": ["function"]}
    after = rewrite("region-to-jit", before, function="fit", arguments=[{"name": "optimizer", **kind}])
    assert "def train_step(w, state, x):" in after


@pytest.mark.parametrize(
    ("joined", "grows"),
    [
        ("[xs[order], x]", True),
        ("[xs, x]", True),
        ("[xs[:, order], x]", True),
        ("[xs[1:], x]", False),
        ("[ys[order], x]", False),
    ],
)
def test_an_array_that_grows_by_rows_in_another_order_is_no_part_of_a_region(
    rewrite: Rewrite, joined: str, grows: bool
) -> None:
    text = HEAD + (
        "def main(n, order):\n    xs, ys, y = jnp.ones((3, 2)), jnp.ones((3, 2)), jnp.ones(3)\n    for i in range(n):\n"
        f"        «y = jnp.sin(y) * 2\n        x = y[:, None]\n        xs = jnp.concatenate({joined}, axis=1)»\n        print(y)\n\n\nmain(3, jnp.arange(3))\n"
    )
    assert rewrite("region-to-jit", text).startswith("refused: ") == grows


CHAIN = """
import jax
import jax.numpy as jnp

class Model:
    def __init__(self, scale):
        self.scale = scale

    def log_prob(self, w):
        return -self.scale * jnp.sum(w**2)

class Chain:
    def __init__(self, model, steps=3):
        self.steps = steps
        self.log_prob = jax.jit(model.log_prob)
        self.grad = jax.jit(jax.grad(model.log_prob))

    def move(self, w, p):
        for i in range(self.steps):
            w = w + 0.1 * p
            p = p + 0.1 * self.grad(w)
        return w, p

    def step(self, key, w):
        «p = jax.random.normal(key, w.shape)
        new, p = self.move(w, p)
        ratio = self.log_prob(new) - self.log_prob(w)»
        return new if ratio > 0 else w

chain = Chain(Model(2.0))
w = jnp.ones(3)
for key in jax.random.split(jax.random.key(0), 20):
    w = chain.step(key, w)
"""


def test_an_attribute_of_another_class_does_not_hide_a_method(rewrite: Rewrite) -> None:
    """`self.log_prob` of the chain is no attribute of the model, whose method it wraps."""
    text = rewrite("region-to-jit", CHAIN, often=True, wide=True)
    assert "        new, ratio = self._step(key, w)\n" in text


def test_an_attribute_that_anyone_may_set_is_no_known_method(rewrite: Rewrite) -> None:
    for line in ("self.log_prob = jax.jit(model.log_prob)", "model.log_prob = print"):
        outside = CHAIN.replace(
            "        self.steps = steps\n", f"        self.steps = steps\n        {line}\n"
        )
        inherited = outside.replace("class Model:", "class Model(unknown()):").replace(
            "model.log_prob = print", "self.log_prob = print"
        )
        text = rewrite(
            "region-to-jit", outside if line.startswith("model") else inherited, often=True, wide=True
        )
        assert text.startswith("refused: ")


def test_a_gradient_leaves_the_other_arguments_as_they_are(rewrite: Rewrite) -> None:
    """`jax.grad` traces only the argument that it differentiates, so a number of steps stays a number."""
    program = """
        import jax
        import jax.numpy as jnp

        def loss(w, x, steps):
            for _ in range(steps):
                w = w - 0.1 * x
            return jnp.sum(w**2)

        class Learner:
            def __init__(self, w, steps=2):
                self.w = w
                self.steps = steps

            def learn(self, x):
                «value, grads = jax.value_and_grad(loss)(self.w, x, self.steps)»
                self.w = self.w - 0.1 * grads
                return value

        learner = Learner(jnp.ones(3))
        for _ in range(10):
            print(learner.learn(jnp.ones(3)))
    """
    program = textwrap.dedent(program)
    assert "value, grads = self._step(self.w, x)" in rewrite("region-to-jit", program, often=True, wide=True)
    others = program.replace("value_and_grad(loss)", "value_and_grad(loss, argnums=(0, 2))")
    assert "range(steps)" in rewrite("region-to-jit", others, often=True, wide=True)


SUBCLASS = HEAD + (
    "from flax import linen as nn\nfrom flax.training import train_state\n\n\n"
    "class State(train_state.TrainState):\n    batch_stats: dict\n    key: jax.Array\n\n\n"
    "class Net(nn.Module):\n    @nn.compact\n    def __call__(self, x, train):\n"
    "        return nn.BatchNorm(use_running_average=not train)(nn.Dense(3)(x))\n\n\n"
    "def loss_fn(params, state, x):\n"
    "    variables = {{'params': params, 'batch_stats': state.batch_stats}}\n"
    "    y, changes = state.apply_fn(variables, x, train=True, mutable=['batch_stats'])\n"
    "    return jnp.mean(y**2), changes\n\n\n"
    "def main(batches):\n    model = Net()\n"
    "    variables = model.init(jax.random.key(0), jnp.ones((1, 2)), train=False)\n"
    "    state = State.create(apply_fn={apply}, params=variables['params'], tx=optax.sgd(0.1),\n"
    "                         batch_stats=variables['batch_stats'], key=jax.random.key(1))\n"
    "    for x in batches:\n"
    "        «(loss, changes), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params, state, x)\n"
    "        state = state.apply_gradients(grads=grads, batch_stats=changes['batch_stats'])»\n"
    "        print(loss, {read})\n"
)


def test_a_state_with_fields_of_its_own_holds_what_it_was_made_of(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", SUBCLASS.format(apply="model.apply", read="state.key"))
    assert "@jax.jit\ndef train_step(state, x):\n    (loss, changes), grads = " in after
    assert "        state, loss = train_step(state, x)\n" in after


@pytest.mark.parametrize(
    ("apply", "read", "why"),
    [
        ("model.apply", "state.step", "whose `step` would come back as a JAX array"),
        ("lambda *args, **options: print(args)", "loss", "at trace time"),
        ("model.apply, **options", "loss", "calls an unknown function"),
    ],
)
def test_the_same_reasons_hold_for_a_state_with_fields_of_its_own(
    rewrite: Rewrite, apply: str, read: str, why: str
) -> None:
    told = rewrite("region-to-jit", SUBCLASS.format(apply=apply, read=read))
    assert told.startswith("refused: ")
    assert why in told


GAN = NNX.replace("import jax.numpy as jnp\n", "import jax\nimport jax.numpy as jnp\n") + (
    "class Trainer:\n    def __init__(self):\n        self.model = Net(nnx.Rngs(0))\n"
    "        self.opt = nnx.Optimizer(self.model, optax.sgd(0.1), wrt=nnx.Param)\n"
    "        self.key = jax.random.key(0)\n\n"
    "    def noise(self):\n        self.key, sub = jax.random.split(self.key)\n"
    "        return jax.random.normal(sub, (4, 2))\n\n"
    "    def step(self, x):\n        «loss, grads = nnx.value_and_grad(mse)(self.model, x + NOISE)\n"
    "        self.opt.update(self.model, grads)»\n        return loss\n\n\n"
    "trainer = Trainer()\nlosses = [float(trainer.step(jnp.ones((4, 2)))) for _ in range(3)]\n"
)


@pytest.mark.parametrize("noise", ["1.0", "self.noise()"])
def test_modules_in_attributes_are_arguments_of_nnx_jit(rewrite: Rewrite, noise: str) -> None:
    """What is read from a static object is of another trace: `nnx.jit` refuses to change it."""
    before = GAN.replace("NOISE", noise)
    after = rewrite("region-to-jit", before, transform="flax.nnx.jit", wide=True, often=True)
    assert "opt.update(model, grads)" in after or "self.model, self.opt = " in after
    spaces: list[dict[str, list[float]]] = [{}, {}]
    for text, space in zip((before.replace("«", "").replace("»", ""), after), spaces, strict=True):
        exec(text, space)
    one, other = (space["losses"] for space in spaces)
    assert one[0] > one[-1]
    assert max(abs(a - b) for a, b in zip(one, other, strict=True)) < 1e-5


LAYERS = (
    "import jax.numpy as jnp\nimport optax\nfrom flax import nnx\n\n\n"
    "class Net(nnx.Module):\n    def __init__(self, rngs):\n"
    "        self.layers = nnx.List([nnx.Linear(2, 2, rngs=rngs) for _ in range(3)])\n\n"
    "    def __call__(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n\n\n"
    "def mse(model, x):\n    return jnp.mean(model(x) ** 2)\n\n\n"
    "def main(batches):\n    model = Net(nnx.Rngs(0))\n"
    "    opt = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)\n"
    "    for x in batches:\n        «loss, grads = nnx.value_and_grad(mse)(model, x)\n"
    "        opt.update(model, grads)»\n        print(loss)\n"
)


def test_a_list_of_layers_that_nothing_changes_is_read_where_it_is(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", LAYERS, transform="flax.nnx.jit")
    assert "@nnx.jit\ndef train_step(model, x, opt):\n" in after


@pytest.mark.parametrize(
    "change",
    [
        "model.layers.append(nnx.Linear(2, 2, rngs=nnx.Rngs(1)))",
        "model.layers[0] = nnx.Linear(2, 2, rngs=nnx.Rngs(1))",
        "layers = model.layers\n        layers.pop()",
        "getattr(model, 'layers').pop()",
    ],
)
def test_a_list_of_layers_that_the_program_changes_is_not(rewrite: Rewrite, change: str) -> None:
    told = rewrite(
        "region-to-jit",
        LAYERS.replace("print(loss)", f"print(loss)\n        {change}"),
        transform="flax.nnx.jit",
    )
    assert told.startswith("refused: ")


MIXTURE = (
    "import jax\nimport jax.numpy as jnp\n\n\n"
    "class Part:\n    def __init__(self, mean):\n        self.mean = jnp.array(mean)\n\n"
    "    def log_prob(self, x):\n        return -jnp.sum((x - self.mean) ** 2)\n\n\n"
    "class Mixture:\n    def __init__(self, means):\n        self.parts = [Part(mean) for mean in means]\n\n"
    "    def log_prob(self, x):\n"
    "        return jax.nn.logsumexp(jnp.stack([part.log_prob(x) for part in self.parts]))\n\n\n"
    "class Sampler:\n    def __init__(self, target):\n        self.target = target\n        self.x = jnp.zeros(2)\n\n"
    "    def step(self, key):\n        «gradient = jax.grad(self.target.log_prob)(self.x)\n"
    "        self.x = self.x + 0.1 * gradient + jax.random.normal(key, self.x.shape)»\n        return 1\n\n\n"
    "sampler = Sampler(Mixture([(0.0, 1.0), (1.0, 0.0)]))\nfor i in range(9):\n    sampler.step(jax.random.key(i))\n"
)


def test_a_method_of_an_object_in_the_object_is_differentiated_where_it_is(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", MIXTURE, wide=True, often=True)
    assert (
        "static_argnums=0)\n    def _step(self, x, key):\n        gradient = jax.grad(self.target.log_prob)(x)\n"
        in after
    )
    spaces: list[dict[str, Any]] = [{}, {}]
    for text, space in zip((MIXTURE.replace("«", "").replace("»", ""), after), spaces, strict=True):
        exec(text, space)
    assert abs(spaces[0]["sampler"].x - spaces[1]["sampler"].x).max() < 1e-5


@pytest.mark.parametrize(
    "change",
    [
        "sampler.target.parts[0].mean = jnp.ones(2)",
        "sampler.target.parts.append(Part((2.0, 2.0)))",
        "sampler.target = Mixture([(3.0, 3.0)])",
    ],
)
def test_an_object_that_the_program_changes_is_not_read_where_it_is(rewrite: Rewrite, change: str) -> None:
    told = rewrite("region-to-jit", MIXTURE + f"    {change}\n", wide=True, often=True)
    assert told.startswith("refused: ")


SUBCLASS_TRAINER = HEAD + (
    "from flax import linen as nn\nfrom flax.training import train_state\n\n\n"
    "class State(train_state.TrainState):\n    key: jax.Array\n\n\n"
    "class Trainer:\n    def __init__(self, batches):\n        self.batches = batches\n        model = nn.Dense(3)\n"
    "        params = model.init(jax.random.key(0), jnp.ones((1, 2)))\n"
    "        self.state = State.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1), key=jax.random.key(1))\n"
    "        {made}\n\n"
    "    def loss_fn(self, params, state, x):\n        return jnp.mean(state.apply_fn(params, x) ** 2)\n\n"
    "    def step(self, x):\n        «{head}loss, grads = {grad_fn}(self.state.params, self.state, x)\n"
    "        self.state = self.state.apply_gradients(grads=grads)»\n        return loss\n\n\n"
    "trainer = Trainer([jnp.ones((4, 2))] * 9)\nfor x in trainer.batches:\n    print(trainer.step(x))\n"
)


@pytest.mark.parametrize(
    ("made", "head", "grad_fn"),
    [
        ("pass", "", "jax.value_and_grad(self.loss_fn)"),
        ("pass", "grad_fn = jax.value_and_grad(self.loss_fn)\n        ", "grad_fn"),
        ("self.grad_fn = jax.jit(jax.value_and_grad(self.loss_fn))", "", "self.grad_fn"),
    ],
)
def test_a_loss_that_is_a_method_is_followed_to_its_gradient(
    rewrite: Rewrite, made: str, head: str, grad_fn: str
) -> None:
    before = SUBCLASS_TRAINER.format(made=made, head=head, grad_fn=grad_fn)
    after = rewrite("region-to-jit", before, wide=True, often=True)
    assert "def _train_step(self, state, x):\n" in after
    assert "        self.state, loss = self._train_step(self.state, x)\n        return loss\n" in after


def test_what_is_bound_again_before_it_is_read_is_not_handed_out(rewrite: Rewrite) -> None:
    before = HEAD + (
        "def main(batches):\n    w = jnp.ones(3)\n    for x in batches:\n        g = jnp.cos(w)\n        print(g)\n"
        "        «g = jnp.sin(w * x) + g\n        w = w - g»\n        print(w)\n"
    )
    assert "        return w\n" in rewrite("region-to-jit", before).replace(
        "    return w\n", "        return w\n"
    )
    kept = before + "    print(g)\n"
    assert "return g, w" in rewrite("region-to-jit", kept)
    jumps = before.replace("print(w)\n", "print(w)\n        if w[0] > 9:\n            break\n        g = 0\n")
    assert "return w" in rewrite("region-to-jit", jumps)
    assert "return g, w" in rewrite("region-to-jit", jumps + "    print(g)\n")


@pytest.mark.parametrize("jump", ["break", "continue"])
def test_what_a_jump_out_of_the_loop_leaves_set_is_handed_out(rewrite: Rewrite, jump: str) -> None:
    before = HEAD + (
        "def main(batches):\n    w = jnp.ones(3)\n    for x in batches:\n        if len(x) > 3:\n"
        f"            «g = jnp.sin(w * x)\n            w = w - g»\n            print(w)\n            {jump}\n"
        "        g = 0\n    print(w, g)\n"
    )
    assert "return g, w" in rewrite("region-to-jit", before).replace("return w, g", "return g, w")


KEPT = (
    HEAD
    + """class Agent:
    def __init__(self, optimizer, settings, params):
        self.optimizer, self.settings = optimizer, settings
        self.params, self.state = params, optimizer.init(params)
        self.gradient = {gradient}

    def loss(self, params, x):
        return jnp.mean((x @ params) ** 2) * self.settings["scale"]

    def learn(self, x):
        «value, g = self.gradient(self.params, x)
        u, self.state = self.optimizer.update(g, self.state)
        self.params = optax.apply_updates(self.params, u)»
        return float(value)


def main(xs):
    settings = dict(scale=2.0)
    agent = Agent(optax.sgd(0.1), settings, jnp.ones(3))
    print([agent.learn(x) for x in xs])
    settings["scale"] = 3.0
"""
)


@pytest.mark.parametrize("jitted", [True, False])
def test_what_a_compiled_function_has_kept_before_may_change(rewrite: Rewrite, jitted: bool) -> None:
    """JAX uses the trace of a function that the program jits again, whatever compiles its call."""
    made = "jax.value_and_grad(self.loss)"
    before = KEPT.format(gradient=f"jax.jit({made})" if jitted else made)
    after = rewrite("region-to-jit", before, wide=True, often=True)
    assert after.startswith("refused: ") is not jitted, after
    assert jitted or "may change" in after


GROUPS = HEAD + (
    "class Sites:\n"
    "    def __init__(self, counts):\n"
    "        self.counts = [jnp.array(c) for c in counts]\n"
    "        self.names = ['a', 'b']\n\n"
    "    def score(self, rates, shift):\n"
    "        «total = 0.0\n"
    "        for counts, rate in zip(self.counts, rates):\n"
    "            mean = jnp.exp(rate + shift)\n"
    "            total += jnp.sum(counts * jnp.log(mean) - mean)»\n"
    "        return float(total)\n\n\n"
    "sites = Sites([[1.0, 2.0], [3.0, 4.0, 5.0]])\n"
    "for n in range(9):\n"
    "    print(sites.score(jnp.zeros(2) + n, 0.5))\n"
)
OVER = "zip(self.counts, rates)"


def test_a_loop_of_a_few_turns_belongs_to_the_region(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", GROUPS, wide=True, lengths={OVER: 2})
    assert (
        "@jax.jit\n"
        "def step(counts_2, rates, shift):\n"
        "    total = 0.0\n"
        "    for counts, rate in zip(counts_2, rates):\n"
        "        mean = jnp.exp(rate + shift)\n"
        "        total += jnp.sum(counts * jnp.log(mean) - mean)\n"
        "    return total\n"
    ) in after
    assert "        total = step(self.counts, rates, shift)\n        return float(total)\n" in after


@pytest.mark.parametrize(
    ("old", "new", "lengths", "why"),
    [
        ("", "", {}, "how often its loop runs is unknown"),
        ("", "", {OVER: 17}, "runs 17 times"),
        ("zip(self.counts, rates)", "load(self.counts, rates)", {"load(self.counts, rates)": 2}, "more than assign"),
        ("            mean = ", "            print(rate)\n            mean = ", {OVER: 2}, "more than assign"),
        ("            mean = ", "            if n: break\n            mean = ", {OVER: 2}, "more than assign"),
        ("float(total)", "total", {OVER: 2}, "a Python number"),
        ("total = 0.0", "total = 0.1", {OVER: 2}, "a Python number"),  # with 64 bits if no turn adds to it
        ("float(total)", "float(total), total > 0", {OVER: 2}, "a Python number"),
    ],
)  # fmt: skip
def test_what_a_loop_in_a_region_may_not_do(
    rewrite: Rewrite, old: str, new: str, lengths: dict[str, int], why: str
) -> None:
    assert old in GROUPS
    text = GROUPS.replace(old, new, 1) if old else GROUPS
    assert why in rewrite("region-to-jit", text, wide=True, lengths=lengths)


def test_a_loop_in_a_loop_runs_as_often_as_both(rewrite: Rewrite) -> None:
    text = HEAD + (
        "def relax(x, turns):\n"
        "    for _ in range(40):\n"
        "        «for _ in range(3):\n"
        "            for side in (-1, 1):\n"
        "                x = x + 0.1 * jnp.roll(x, side)»\n"
        "        print(x)\n\n"
        "relax(jnp.ones(3), 4)\n"
    )
    text = text.replace("(-1, 1)", "SIDES").replace("def relax", "SIDES = (-1, 1)\n\n\ndef relax")
    assert "def step(x):\n    for _ in range(3):\n        for side in SIDES:\n" in rewrite(
        "region-to-jit", text, wide=True, lengths={"range(3)": 3, "SIDES": 2}
    )
    found = rewrite("region-to-jit", text, wide=True, lengths={"range(3)": 3, "SIDES": 6})
    assert found.startswith("refused: its loop runs 18 times")


TWICE = HEAD + (
    "def main(w, xs, ys):\n    for x in xs:\n        w = w - 0.1 * x\n        w = w / jnp.sum(w)\n        print(w)\n"
    "    for {0} in ys:\n        «w = w - 0.1 * {0}\n        w = w / jnp.sum(w)»\n        print(w)\n\n\n"
    "main(jnp.ones(3), jnp.ones((2, 3)), jnp.ones((2, 3)))\n"
)


@pytest.mark.parametrize(("name", "shared"), [("x", True), ("y", False)])
def test_two_regions_of_one_text_call_one_function(rewrite: Rewrite, name: str, shared: bool) -> None:
    text = TWICE.format(name)
    first = text.splitlines().index("        w = w - 0.1 * x") + 1
    after = rewrite("region-to-jit", text, wide=True, same=[first, 9, first + 1, 27, 0])
    if shared:
        assert "        w = step(w, x)\n" in after
        assert "def step" not in after
    else:
        assert after == "refused: the other region computes something else"
