"""`loop-to-steps`: what of a loop becomes one `lax.scan`, what follows it on the host, and which loops stay as they are."""

from __future__ import annotations

import contextlib
import io

import pytest

from tests.engine.codemods.conftest import Rewrite

HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\ndef move(x):\n    return jnp.sin(x) + 0.1\n\n\n"
SCAN = "import functools\n\n" + HEAD

REWRITES: dict[str, tuple[str, str]] = {
    "what is fetched is handed out, what the host counts and keeps follows": (
        HEAD + "def simulate(x, h, steps):\n"
        "    times, means = [], []\n"
        "    t = 0.0\n"
        "    for _ in «range(steps)»:\n"
        "        x = move(x) * h\n"
        "        t += h  # the clock\n"
        "        times.append(t)\n"
        "        means.append(float(jnp.mean(x)))\n"
        "    return x, times, means\n\n\n"
        "simulate(jnp.ones(3), 0.5, 10)\n",
        SCAN + '@functools.partial(jax.jit, static_argnames=("steps",))\n'
        "def simulate_steps(x, h, steps):\n"
        "    def step(x, _):\n"
        "        x = move(x) * h\n"
        "        return x, jnp.mean(x)\n"
        "\n"
        "    return jax.lax.scan(step, x, None, length=steps)\n\n\n"
        "def simulate(x, h, steps):\n"
        "    times, means = [], []\n"
        "    t = 0.0\n"
        "    x, mean_values = simulate_steps(x, h, steps)\n"
        "    for mean_value in jax.device_get(mean_values):\n"
        "        t += h  # the clock\n"
        "        times.append(t)\n"
        "        means.append(float(mean_value))\n"
        "    return x, times, means\n\n\n"
        "simulate(jnp.ones(3), 0.5, 10)\n",
    ),
    "a number that the next step computes with stays an array there": (
        HEAD + "def decode(logits, table):\n"
        "    text = ''\n"
        "    for _ in «range(20)»:\n"
        "        token = int(jnp.argmax(logits))\n"
        "        text += chr(97 + token)\n"
        "        logits = move(logits) + table[token]\n"
        "    return text\n\n\n"
        "decode(jnp.ones(3), jnp.eye(3))\n",
        HEAD + "@jax.jit\n"
        "def decode_steps(logits, table):\n"
        "    def step(logits, _):\n"
        "        token = jnp.argmax(logits).astype(int)\n"
        "        logits = move(logits) + table[token]\n"
        "        return logits, token\n"
        "\n"
        "    return jax.lax.scan(step, logits, None, length=20)\n\n\n"
        "def decode(logits, table):\n"
        "    text = ''\n"
        "    logits, tokens = decode_steps(logits, table)\n"
        "    for token in jax.device_get(tokens):\n"
        "        token = int(token)\n"
        "        text += chr(97 + token)\n"
        "    return text\n\n\n"
        "decode(jnp.ones(3), jnp.eye(3))\n",
    ),
    "a variable that an earlier loop may not have bound is not asked for where there is no step": (
        HEAD + "def f(xs, n):\n"
        "    found = []\n"
        "    for x in xs:\n"
        "        y = move(x)\n"
        "    for _ in «range(n)»:\n"
        "        y = move(y)\n"
        "        found.append(float(y))\n"
        "    return found\n\n\n"
        "f([], 0)\n",
        SCAN + '@functools.partial(jax.jit, static_argnames=("n",))\n'
        "def f_steps(y, n):\n"
        "    def step(y, _):\n"
        "        y = move(y)\n"
        "        return y, y\n"
        "\n"
        "    return jax.lax.scan(step, y, None, length=n)\n\n\n"
        "def f(xs, n):\n"
        "    found = []\n"
        "    for x in xs:\n"
        "        y = move(x)\n"
        "    if n > 0:\n"
        "        y, y_2s = f_steps(y, n)\n"
        "        for y_2 in jax.device_get(y_2s):\n"
        "            found.append(float(y_2))\n"
        "    return found\n\n\n"
        "f([], 0)\n",
    ),
    "what prints is compiled in parts, so that its lines come while it runs": (
        HEAD + "def train(x, epochs):\n"
        "    losses = []\n"
        "    for epoch in «range(epochs)»:\n"
        "        x = move(x)\n"
        "        loss = jnp.sum(x)\n"
        "        losses.append(loss)\n"
        "        if epoch % 50 == 0:\n"
        '            print(f"{epoch}: {loss}")\n'
        "    return x, losses\n\n\n"
        "train(jnp.ones(3), 200)\n",
        HEAD + "@jax.jit\n"
        "def train_steps(x, rows):\n"
        "    def step(x, _):\n"
        "        x = move(x)\n"
        "        loss = jnp.sum(x)\n"
        "        return x, loss\n"
        "\n"
        "    return jax.lax.scan(step, x, rows)\n\n\n"
        "def train(x, epochs):\n"
        "    losses = []\n"
        "    for start in range(0, epochs, 50):\n"
        "        x, losses_2 = train_steps(x, jnp.arange(start, min(start + 50, epochs)))\n"
        "        for epoch, loss in zip(range(start, epochs), map(jnp.asarray, jax.device_get(losses_2))):\n"
        "            losses.append(loss)\n"
        "            if epoch % 50 == 0:\n"
        '                print(f"{epoch}: {loss}")\n'
        "    return x, losses\n\n\n"
        "train(jnp.ones(3), 200)\n",
    ),
    "a call of a jitted function, whatever it calls, is compiled with what it may be given": (
        HEAD + "layers = [move, jnp.cos]\n\n\n"
        "@jax.jit\n"
        "def update(x):\n"
        "    for layer in layers:\n"
        "        x = layer(x)\n"
        "    return x\n\n\n"
        "x = jnp.ones(3)\n"
        "for step in «range(200)»:\n"
        "    x = update(x)\n"
        "    print(step, float(x[0]))\n",
        HEAD + "layers = [move, jnp.cos]\n\n\n"
        "@jax.jit\n"
        "def update(x):\n"
        "    for layer in layers:\n"
        "        x = layer(x)\n"
        "    return x\n\n\n"
        "x = jnp.ones(3)\n"
        "\n"
        "\n"
        "@jax.jit\n"
        "def run_steps(x, rows):\n"
        "    def step(x, _):\n"
        "        x = update(x)\n"
        "        return x, x[0]\n"
        "\n"
        "    return jax.lax.scan(step, x, rows)\n"
        "\n"
        "\n"
        "for start in range(0, 200, 100):\n"
        "    x, values = run_steps(x, jnp.arange(start, min(start + 100, 200)))\n"
        "    for step, value in zip(range(start, 200), jax.device_get(values)):\n"
        "        print(step, float(value))\n",
    ),
    "what equinox jits may hold more than arrays": (
        "import equinox as eqx\n" + HEAD + "@eqx.filter_jit\n"
        "def update(model, state):\n"
        "    return model, state + 1, jnp.sum(state)\n\n\n"
        "model = eqx.nn.MLP(2, 2, 2, 1, key=jax.random.key(0))\n"
        "state = jnp.ones(3)\n"
        "for step in «range(200)»:\n"
        "    model, state, loss = update(model, state)\n"
        "    print(step, loss)\n",
        "import equinox as eqx\n" + HEAD + "@eqx.filter_jit\n"
        "def update(model, state):\n"
        "    return model, state + 1, jnp.sum(state)\n\n\n"
        "model = eqx.nn.MLP(2, 2, 2, 1, key=jax.random.key(0))\n"
        "state = jnp.ones(3)\n"
        "\n"
        "\n"
        "@eqx.filter_jit\n"
        "def run_steps(model, state, rows):\n"
        "    arrays, static = eqx.partition((model, state), eqx.is_array)\n"
        "\n"
        "    def step(arrays, _):\n"
        "        model, state = eqx.combine(arrays, static)\n"
        "        model, state, loss = update(model, state)\n"
        "        return eqx.filter((model, state), eqx.is_array), loss\n"
        "\n"
        "    arrays, outputs = jax.lax.scan(step, arrays, rows)\n"
        "    return eqx.combine(arrays, static), outputs\n"
        "\n"
        "\n"
        "for start in range(0, 200, 100):\n"
        "    (model, state), losses = run_steps(\n"
        "        model,\n"
        "        state,\n"
        "        jnp.arange(start, min(start + 100, 200)),\n"
        "    )\n"
        "    for step, loss in zip(range(start, 200), map(jnp.asarray, jax.device_get(losses))):\n"
        "        print(step, loss)\n",
    ),
    "the rows of an array": (
        HEAD + "def sample(key, x):\n"
        "    chain = []\n"
        "    for sub in «jax.random.split(key, 50)»:\n"
        "        x = move(x) + jax.random.normal(sub, x.shape)\n"
        "        chain.append(np.asarray(x))\n"
        "    return np.stack(chain)\n",
        HEAD + "@jax.jit\n"
        "def sample_steps(x, rows):\n"
        "    def step(x, sub):\n"
        "        x = move(x) + jax.random.normal(sub, x.shape)\n"
        "        return x, x\n"
        "\n"
        "    return jax.lax.scan(step, x, rows)\n\n\n"
        "def sample(key, x):\n"
        "    chain = []\n"
        "    x, x_2s = sample_steps(x, jax.random.split(key, 50))\n"
        "    for x_2 in jax.device_get(x_2s):\n"
        "        chain.append(np.asarray(x_2))\n"
        "    return np.stack(chain)\n",
    ),
}


@pytest.mark.parametrize("name", REWRITES)
def test_written(name: str, rewrite: Rewrite) -> None:
    before, after = REWRITES[name]
    assert rewrite("loop-to-steps", before, static=["steps"]) == after


def loop(*lines: str, before: str = "", after: str = "", over: str = "range(20)", note: str = "") -> str:
    """A function with a loop of these lines."""
    inside = "".join(f"        {line}\n" for line in lines)
    return (
        HEAD
        + f"def f(x, known=[]):\n    found = []\n{before}    for i in «{over}»:{note}\n{inside}{after}    return x, found\n\n\nf(jnp.ones(3))\n"
    )


MOVE = "x = move(x)"
REFUSALS: dict[str, tuple[str, str]] = {
    "it prints to a file": (loop(MOVE, "print(float(x[0]), file=known)"), "not a constant, such as `file`"),
    "it prints values that it unpacks": (loop(MOVE, "print(*known, float(x[0]))"), "unpacks values"),
    "it prints what each step would have to compute": (
        loop(MOVE, "if i % 5 == 0:", "    print(float(jnp.mean(x)))"),
        "every step would compute it",
    ),
    "it prints the array of the step before": (
        loop("found.append(0.0)", "print(y)", "y = move(x)", "x = y", before="    y = x\n"),
        "before the step computes it",
    ),
    "it prints twice what is carried": (
        loop(MOVE, "print(i, x)", "print(x)"),
        "more than once",
    ),
    "what it keeps may not be an array": (
        loop(MOVE, "y = known[0](x)", "found.append(y)", "print(i)"),
        "may not be an array",
    ),
    "the number of steps that print is computed": (
        loop(MOVE, "print(float(x[0]))", over="range(len(known))"),
        "the number of steps is computed",
    ),
    "it calls what may do anything, under no jit": (
        loop("x = known[0](x)", "print(float(x[0]))"),
        "unknown function",
    ),
    "it stops": (loop(MOVE, "if float(x[0]) > 2:", "    break"), "may end early"),
    "it decides": (loop(MOVE, "found.append(float(x[0]))", "if known:", "    x = x / 2"), "more than assign"),
    "it asks the clock": (
        "import time\n" + loop(MOVE, "found.append((time.time(), float(x[0])))"),
        "may do more than compute a number",
    ),
    "the next step needs a number that was counted": (
        loop("scale = 1.0 + n", "x = move(x) * scale", "n = n + float(x[0])", before="    n = 0.0\n"),
        "a Python number that the host changes",
    ),
    "what it keeps may be a pair": (
        loop("x = move(x) if known else (x, x)", "found.append(x)"),
        "may not be an array",
    ),
    "a dict of lists is a caller's": (
        loop(MOVE, "history['x'].append(float(x[0]))").replace("known=[]", "history={'x': []}"),
        "other code may hold",
    ),
    "a dict of lists is read in the loop": (
        loop(
            MOVE,
            "history['x'].append(float(x[0]))",
            "n = len(history['x'])",
            before="    history = {'x': []}\n",
        ),
        "before it would be filled",
    ),
    "a NumPy array that is a view": (
        loop(MOVE, "rows[i] = x", before="    whole = np.zeros((20, 3))\n    rows = whole[::1]\n"),
        "other code may hold",
    ),
    "a NumPy array is read in the loop": (
        loop(MOVE, "rows[i] = x", "n = rows.sum()", before="    rows = np.zeros((20, 3))\n"),
        "before it would be filled",
    ),
    "a NumPy array is read before the loop": (
        loop(
            MOVE, "rows[i] = x", before="    rows = np.zeros((20, 3))\n    y = rows[0]\n", after="    x = y\n"
        ),
        "before it would be filled",
    ),
    "the row of a NumPy array is computed": (
        loop(MOVE, "rows[jnp.argmax(x)] = x", before="    rows = np.zeros((20, 3))\n"),
        "is computed",
    ),
    "a number that is read after a loop of no step": (
        loop(
            MOVE,
            "n = n + x",
            "found.append(float(x[0]))",
            before="    n = 0\n",
            after="    x = n\n",
            over="range(len(known))",
        ),
        "as a JAX array",
    ),
    "one list stands twice in a dict": (
        loop(MOVE, "history['x'].append(float(x[0]))", before="    history = {'x': found, 'y': found}\n"),
        "other code may hold",
    ),
    "the list is read in the loop": (
        loop(MOVE, "found.append(float(x[0]))", "n = len(found)"),
        "before it would be filled",
    ),
    "the list is a caller's": (loop(MOVE, "known.append(float(x[0]))"), "other code may hold"),
    "an attribute may run code that reads a variable of the loop": (
        HEAD
        + "from settings import known\n\nfound = []\nx = jnp.ones(3)\nfor i in «range(20)»:\n    x = move(x)\n"
        + "    found.append(float(x[0]) + known[0].size)\n",
        "reads an attribute",
    ),
    "what was computed last is read after the loop": (
        loop("y = move(x)", "x = y", "found.append(float(x[0]))", after="    print(y)\n"),
        "no value before the loop",
    ),
    "what is fetched depends on a count of the host": (
        loop(MOVE, "n += 1", "found.append(float(x[0] * n))", before="    n = 0\n"),
        "depends on it",
    ),
    "a generator is run over": (loop(MOVE, "found.append(float(x[0]))", over="known"), "may not be an array"),
    "a list of arrays is no array": (
        loop("x = x + i", "found.append(float(x[0]))", over="[jnp.ones(3), jnp.ones(3)]"),
        "may not be an array",
    ),
    "a list that grows in place": (
        loop(MOVE, "known += [float(x[0])]", before="    known = [0.0]\n    also = known\n"),
        "changed in place",
    ),
    "nothing is left for the host": (loop(MOVE), "does nothing on the host"),
    "a comment would be lost": (
        loop(MOVE, "found.append(float(x[0]))", note="  # steps"),
        "a comment",
    ),
    "a NumPy array would come back as one of JAX where there is no step": (
        loop(MOVE, "found.append(float(x[0]))", before="    x = np.ones(3)\n", over="range(len(known))"),
        "as a JAX array",
    ),
    "an object counts its steps": (
        loop("x = counter.move(x)", "found.append(float(x[0]))").replace(
            "def f(",
            "class Counter:\n    n = 0\n\n    def move(self, x):\n        self.n += 1\n        return x\n\n\ncounter = Counter()\n\n\ndef f(",
        ),
        "attribute of an object",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_left_alone(name: str, rewrite: Rewrite) -> None:
    text, reason = REFUSALS[name]
    refused = rewrite("loop-to-steps", text)
    assert refused.startswith("refused: ")
    assert reason in refused


def test_an_exception_would_show_that_the_host_came_later(rewrite: Rewrite) -> None:
    text = (
        HEAD
        + "def f(x):\n    found = []\n    try:\n        for i in «range(20)»:\n            x = move(x)\n            found.append(1 / float(x[0]))\n"
    )
    text += "    except ZeroDivisionError:\n        pass\n    return x, found\n"
    assert "before the host" in rewrite("loop-to-steps", text)


def test_a_progress_bar_is_around_the_parts(rewrite: Rewrite) -> None:
    text = "from tqdm import tqdm\n" + loop(
        MOVE, "found.append(float(x[0]))", over='tqdm(range(400), desc="steps")'
    )
    new = rewrite("loop-to-steps", text)
    assert 'for start in tqdm(range(0, 400, 100), desc="steps"):' in new
    assert "range(start, 400)" in new


def test_the_number_of_steps_and_what_is_printed_stand_in_an_object(rewrite: Rewrite) -> None:
    head = (
        HEAD
        + "import dataclasses\n\n\n@dataclasses.dataclass\nclass Settings:\n    steps: int = 8\n    rate: float = 0.1\n\n\n"
    )
    text = (
        head + "def f(x, settings):\n    found = []\n    for i in «range(1, settings.steps + 1)»:\n"
        "        x = move(x) * settings.rate\n        found.append(float(x[0]))\n        if i % 4 == 0:\n"
        "            print(i, settings.steps)\n    return x, found\n\n\nprint(f(jnp.ones(3), Settings()))\n"
    )
    new = rewrite("loop-to-steps", text, once=True)
    assert "for start in range(1, settings.steps + 1, 4):" in new
    assert "def f_steps(x, rows):" in new, "the settings are closed over"


def test_a_list_that_becomes_an_array_afterwards(rewrite: Rewrite) -> None:
    text = (
        HEAD
        + "x = jnp.ones(3)\nfound = []\nfor i in «range(20)»:\n    x = move(x)\n    found.append(float(x[0]))\nfound = np.asarray(found)\n"
    )
    assert "found = np.asarray(found)" in rewrite("loop-to-steps", text)
    assert "lax.scan" in rewrite("loop-to-steps", text)


def outcome(program: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(program, "program.py", "exec"), {"__name__": "__main__"})
    return out.getvalue()


KEPT: dict[str, tuple[str, str]] = {
    "arrays stay arrays": (loop(MOVE, "found.append(x)"), "map(jnp.asarray, jax.device_get(x_2s))"),
    "what becomes a NumPy array needs no array of JAX before": (
        loop(MOVE, "found.append(x)", after="    found = np.stack(found)\n"),
        "in jax.device_get(x_2s)",
    ),
    "an array that is printed": (
        loop(MOVE, "e = x * 2", "found.append(e)", "print(e)"),
        "map(jnp.asarray, jax.device_get(es))",
    ),
    "an array that is computed where it is kept": (
        loop(MOVE, "found.append(jnp.sum(x))", "x = x * 0.5"),
        "found.append(sum_value)",
    ),
    "a dict of lists": (
        loop(
            MOVE,
            "history['mean'].append(float(jnp.mean(x)))",
            "history['sum'].append(float(jnp.sum(x)))",
            before="    history = {'mean': [], 'sum': []}\n",
            after="    found = history\n",
        ),
        "history['mean'].append(float(mean_value))",
    ),
    "rows of a NumPy array": (
        loop(
            MOVE,
            "rows[i + 1] = x",
            "sums[i] = jnp.max(x * 2)",
            before="    rows, sums = np.zeros((21, 3)), np.empty(20)\n    rows[0] = x\n",
            after="    found = rows, sums\n",
        ),
        "sums[i] = max_value",
    ),
    "a count of arrays that begins as a number": (
        loop(
            MOVE,
            "accepted += jnp.where(x[0] > 0.5, 1, 0)",
            "rows[i] = x",
            before="    accepted, rows = 0, np.zeros((20, 3))\n",
            after="    found = accepted, rows\n",
        ),
        "rows[i] = x_2",
    ),
    "a dict of lists for keys": (
        loop(
            MOVE,
            "history['mean'].append(float(jnp.mean(x)))",
            before="    history = {key: [] for key in ('mean', 'sum')}\n",
            after="    found = history\n",
        ),
        "history['mean'].append(float(mean_value))",
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_the_host_keeps_is_the_same(name: str, rewrite: Rewrite) -> None:
    marked, part = KEPT[name]
    marked = marked.replace("f(jnp.ones(3))\n", "print(f(jnp.ones(3)))\n")
    new = rewrite("loop-to-steps", marked)
    assert part in new
    assert outcome(new) == outcome(marked.replace("«", "").replace("»", ""))


SEEN = [{"name": "v", "leaves": [{"place": "", "shape": [3], "dtype": "float32"}]}]


@pytest.mark.parametrize("count", ["20", "1", "len(known)"])
@pytest.mark.parametrize("how", [{"apart": True}, {"variables": SEEN}])
@pytest.mark.parametrize(
    "kept", [("found.append(float(x[0]))", "found.append(float(jnp.sum(v)))"), ("t = t + 1.0",)]
)
def test_a_carry_that_begins_as_a_number(
    count: str, how: dict[str, object], kept: tuple[str, ...], rewrite: Rewrite
) -> None:
    marked = loop(
        "v = 0.5 * v + x", "x = 0.5 * x - 0.25 * v", *kept, before="    v = t = 0.0\n", over=f"range({count})"
    )
    marked = marked.replace("f(jnp.ones(3))\n", "print(f(jnp.ones(3)))\n").replace("known=[]", "known=()")
    plain = marked.replace("«", "").replace("»", "")
    new = rewrite("loop-to-steps", marked, **how)
    assert "step((v, x), None)" in new, new
    assert outcome(new) == outcome(plain)
    without = rewrite("loop-to-steps", marked)
    assert "step((v, x), None)" not in without


def test_no_number_begins(rewrite: Rewrite) -> None:
    assert "starts as a number" in rewrite(
        "loop-to-steps", loop(MOVE, "found.append(float(x[0]))"), apart=True
    )


def test_a_refusal_names_the_line_of_the_file(rewrite: Rewrite) -> None:
    marked = loop(MOVE, "y = known[0](x)", "print(float(x[0]))", "x = y")
    refused = rewrite("loop-to-steps", marked)
    line = 1 + marked[: marked.index("y = known")].count("\n")
    assert f"program.py:{line}" in refused, refused
