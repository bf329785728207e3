"""`region-to-jit` around statements of the host, which then follow the region."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from tests.engine.codemods.conftest import Rewrite

HEAD = (
    "import time\nimport jax\nimport jax.numpy as jnp\nimport numpy as np\nimport optax\n\n\n"
    "def mse(w, x):\n    return jnp.mean((x @ w) ** 2)\n\n\n"
    "def shown(value):\n    return f'{float(value):.3f}'\n\n\n"
)
LOOP = HEAD + (
    "def fit(batches):\n    w = jnp.ones(3)\n    opt = optax.sgd(0.1)\n    state = opt.init(w)\n    losses = []\n    total = 0.0\n"
    "    for i, x in enumerate(batches):\n"
    "        «loss, grads = jax.value_and_grad(mse)(w, x)\n"
    "        HOST\n"
    "        updates, state = opt.update(grads, state)\n"
    "        w = optax.apply_updates(w, updates)»\n"
    "    return w, losses, total\n\n\n"
    "w, losses, total = fit([np.full((4, 3), n, np.float32) for n in (0.1, 0.2, 0.3)])\n"
)


def asked(rewrite: Rewrite, host: str, **parameters: object) -> str:
    """The program with its region compiled around one statement of the host."""
    before = LOOP.replace("HOST", host)
    plain = before.replace("«", "").replace("»", "")
    first = host.splitlines()[0].split("  #")[0]
    place = next(
        [one.lineno, one.col_offset, one.end_lineno, one.end_col_offset]
        for one in ast.walk(ast.parse(plain))
        if isinstance(one, ast.stmt) and plain.splitlines()[one.lineno - 1].strip().startswith(first)
    )
    return rewrite("region-to-jit", before, behind=[place], **parameters)


@pytest.mark.parametrize(
    "host",
    [
        "losses.append(float(loss))  # for the plot",
        "total += float(loss)",
        "print(f'{i} {loss:.3f}')",
        "if i % 2 == 0:\n            print(i, shown(loss))",
        "norm = float(jnp.linalg.norm(grads))",
    ],
)
def test_a_statement_of_the_host_follows_the_region(
    rewrite: Rewrite, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    after = asked(rewrite, host, donate=True)
    assert (
        "        updates, state = opt.update(grads, state)\n        w = optax.apply_updates(w, updates)\n"
        in after
    )
    lines = after.splitlines()
    called = next(n for n, line in enumerate(lines) if " = train_step(" in line)
    assert [line.strip() for line in lines[called + 1 :]][: len(host.splitlines())] == [
        line.strip() for line in host.splitlines()
    ]
    results = []
    for text in (LOOP.replace("HOST", host).replace("«", "").replace("»", ""), after):
        space: dict[str, object] = {}
        exec(text, space)
        results.append((capsys.readouterr().out, space["losses"], space["total"], np.asarray(space["w"])))
    assert results[0][0] == results[1][0]
    assert results[0][1] == pytest.approx(results[1][1], rel=1e-4)
    assert results[0][2] == pytest.approx(results[1][2], rel=1e-4)
    assert results[0][3] == pytest.approx(results[1][3], rel=1e-4)


@pytest.mark.parametrize(
    "host",
    [
        "print(w)",  # what the region sets later
        "losses.append(state)",
        "grads = np.asarray(grads)",  # what it reads later
        "opt = optax.sgd(float(loss))",
        "started = time.perf_counter()",
        "noise = np.random.normal(float(loss))",
        "if loss > 3:\n            break",
        "assert loss < 3",
        "seen = [w for _ in range(2)]",
    ],
)
def test_what_reads_or_changes_what_follows_stays(rewrite: Rewrite, host: str) -> None:
    assert asked(rewrite, host).startswith("refused: ")


def test_what_a_handler_could_see_stays(rewrite: Rewrite) -> None:
    before = LOOP.replace("HOST", "losses.append(float(loss))")
    lines = before.splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if "«" in line)
    body = ["    " + line for line in lines[first : first + 4]]
    text = "".join(
        [
            *lines[:first],
            "        try:\n",
            *body,
            "        except ValueError:\n            pass\n",
            *lines[first + 4 :],
        ]
    )
    number = text.splitlines().index("            losses.append(float(loss))") + 1
    told = rewrite("region-to-jit", text, behind=[[number, 12, number, 38]])
    assert told.startswith("refused: ")
    assert "a handler could see" in told


AGENT = (
    "import jax\nimport jax.numpy as jnp\n\n\n"
    'CONFIG = {"rate": 0.5, "steps": 3}\n\n\n'
    "class Agent:\n"
    "    def __init__(self, config):\n"
    "        self.config = config\n"
    "        self.w, self.slow = jnp.ones(3), jnp.zeros(3)\n\n"
    "    def learn(self, x):\n"
    "        «grads = jax.grad(lambda p: jnp.sum((p * x) ** 2))(self.w)\n"
    "        self.w = self.w - 0.1 * grads\n"
    "        HOST\n"
    "        self.slow = (1.0 - rate) * self.slow + rate * self.w»\n"
    "        return self.slow.sum().item()\n\n\n"
    "agent = Agent(CONFIG)\n"
    "for n in range(3):\n"
    "    print(round(agent.learn(jnp.ones(3)), 4))\n"
)


def read_first(rewrite: Rewrite, host: str, *pairs: tuple[str, str]) -> str:
    before = AGENT.replace("HOST", host)
    for old, new in pairs:
        assert old in before
        before = before.replace(old, new)
    lines = before.replace("«", "").replace("»", "").splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.strip() == host)
    place = [line, 8 + 4 * before.count("        try:"), line, len(lines[line - 1])]
    return rewrite("region-to-jit", before, ahead=[place], again=True, wide=True)


@pytest.mark.parametrize("host", ['rate = self.config["rate"]', 'rate = 0.5 * self.config["rate"]'])
def test_what_only_reads_a_number_comes_before_the_region(
    rewrite: Rewrite, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    after = read_first(rewrite, host)
    assert f"    def learn(self, x):\n        {host}\n        self.w, self.slow = " in after
    assert "(w, slow, x, rate):\n    grads = " in after
    exec(AGENT.replace("HOST", host).replace("«", "").replace("»", ""), {})
    told = capsys.readouterr().out
    exec(after, {})
    assert capsys.readouterr().out == told


@pytest.mark.parametrize(
    ("host", "pairs", "why"),
    [
        ("rate = self.w", [], "reads what they set"),
        ("rate = grads[0]", [], "reads what they set"),
        ("rate = self.config.pop('rate')", [], "more than read"),
        ("rate = x[0]", [], "something else than a number"),
        ('rate = self.config["rate"]', [("0.1 * grads", "rate * grads"), ("        «", "        rate = 0.1\n        «")], "used before"),
        ('self.rate = self.config["rate"]', [], "more than read"),
    ],
)  # fmt: skip
def test_what_may_not_come_before_the_region(
    rewrite: Rewrite, host: str, pairs: list[tuple[str, str]], why: str
) -> None:
    answer = read_first(rewrite, host, *pairs)
    assert answer.startswith("refused: ")
    assert why in answer
