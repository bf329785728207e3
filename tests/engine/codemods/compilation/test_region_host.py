"""`region-to-jit`: what the host computes for a region, and what it fetches after one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint.codemods import Workspace
from jaxlint.codemods.source.site import Site
from jaxlint.finding import FixRequest, Safety, Step
from jaxlint.source import SourceFile
from tests.engine.codemods.conftest import Rewrite

HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\n"
TRAIN = HEAD + (
    "def main(n):\n"
    "    rng = np.random.default_rng(0)\n"
    "    x = rng.normal(size=(100, 3))\n"
    "    w = jnp.ones(3)\n"
    "    for i in range(n):\n"
    "        idx = rng.integers(0, 100, 8)\n"
    "        «g = jnp.mean(jnp.tanh(x[idx] @ w))\n"
    "        w = w - 0.1 * (1 - i / n) * g»\n"
    "        print(w)\n\n\n"
    "main(3)\n"
)


def test_rows_of_numpy_and_numbers_are_computed_before_and_handed_in(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", TRAIN, wide=True)
    assert "def step(w, x_rows, number):\n    g = jnp.mean(jnp.tanh(x_rows @ w))\n" in after
    assert "        w = step(w, x[idx], 0.1 * (1 - i / n))\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x[idx]", "x[rng.integers(0, 100, 8)]"),  # the next draw would come earlier
        ("x[idx]", "(x[idx] if n > 2 else np.zeros(3))"),
        ("        «g", "        «idx = np.arange(8)\n        g"),
        ("x[idx]", "x[take(idx)]"),
    ],
    ids=["draws", "one of two", "set in the region", "counts"],
)
def test_what_does_more_or_depends_on_the_region_stays(rewrite: Rewrite, old: str, new: str) -> None:
    text = TRAIN.replace(old, new).replace(
        "def main", "seen = []\n\n\ndef take(i):\n    seen.append(1)\n    return i\n\n\ndef main"
    )
    after = rewrite("region-to-jit", text, wide=True)
    assert after.startswith("refused: ") or "x[idx]" not in after.partition("for i in")[2]


LETTERS = HEAD + (
    "PLACES = {c: i for i, c in enumerate('abc')}\n\n\n"
    "def main(text):\n"
    "    table, h = jnp.ones((3, 4)), jnp.zeros(4)\n"
    "    for c in text:\n"
    "        «h = jnp.tanh(jnp.dot(table[PLACES[c]], h) + h)»\n"
    "    print(h)\n\n\n"
    "main('abca')\n"
)


def test_an_item_of_a_dict_by_its_string_is_read_by_the_host(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", LETTERS, wide=True)
    assert "def step(h, table, places_item):\n    h = jnp.tanh(jnp.dot(table[places_item], h) + h)\n" in after
    assert "        h = step(h, table, PLACES[c])\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print(h)", "print(h, PLACES)\n    PLACES['d'] = 2**40"),  # others may fill it
        ("enumerate('abc')", "zip([2**40, 1, 2], 'abc')"),
        ("table[PLACES[c]]", "table[ord(c) % 3]"),
    ],
)
def test_a_string_is_no_argument(rewrite: Rewrite, old: str, new: str) -> None:
    after = rewrite("region-to-jit", LETTERS.replace(old, new), wide=True)
    assert after.startswith("refused: ")


DRAWS = HEAD + (
    "def batch(rng):\n    return rng.normal(size=(8, 3))\n\n\n"
    "def main(n):\n"
    "    rng = np.random.default_rng(0)\n"
    "    w, scale = jnp.ones(3), 1.0\n"
    "    for i in range(n):\n"
    "        «g = jnp.tanh(jnp.dot(batch(rng), w)).mean()\n"
    "        w = w - 0.1 * g»\n"
    "        print(w, scale)\n\n\n"
    "main(3)\n"
)


def test_a_draw_at_the_start_stays_on_the_host(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", DRAWS, wide=True)
    assert "def step(w, batch_value):\n    g = jnp.tanh(jnp.dot(batch_value, w)).mean()\n" in after
    assert "        w = step(w, batch(rng))\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        w = w - 0.1 * g»", "        w = w - 0.1 * g - batch(rng).mean()»"),
        ("jnp.dot(batch(rng), w)", "jnp.dot(batch(rng), w + batch(rng)[0])"),
        ("        «g = ", "        «w = jnp.sin(w)\n        g = "),
        ("jnp.dot(batch(rng), w)", "jnp.dot(jnp.sin(w * len(seen)), batch(rng).T)"),
        ("jnp.dot(batch(rng), w)", "jnp.dot(batch(rng) if n > 2 else np.zeros((8, 3)), w)"),
    ],
    ids=["later as well", "twice", "after a computation", "after a read", "one of two"],
)
def test_a_draw_that_would_come_earlier_or_once_is_refused(rewrite: Rewrite, old: str, new: str) -> None:
    text = DRAWS.replace(old, new).replace(
        "def batch(rng):\n", "seen = []\n\n\ndef batch(rng):\n    seen.append(1)\n"
    )
    after = rewrite("region-to-jit", text, wide=True)
    assert after.startswith("refused: "), after


def test_a_draw_that_rebinds_a_variable_is_refused(rewrite: Rewrite) -> None:
    text = (
        DRAWS.replace(
            "    for i in range(n):\n",
            "\n    def draw():\n        nonlocal scale\n        scale *= 0.5\n        return rng.normal(size=(8, 3))\n\n    for i in range(n):\n",
        )
        .replace("batch(rng), w", "draw(), w")
        .replace("0.1 * g", "scale * g")
    )
    assert rewrite("region-to-jit", text, wide=True).startswith("refused: ")


def test_a_draw_of_an_object_that_may_set_what_the_region_reads_is_refused(rewrite: Rewrite) -> None:
    text = HEAD + (
        "class A:\n    def __init__(self):\n        self.rng = np.random.default_rng(0)\n        self.w = jnp.ones(3)\n        self.heat = jnp.ones(())\n\n"
        "    def draw(self):\n        self.heat = self.heat * 0.5\n        return self.rng.normal(size=(8, 3))\n\n"
        "    def step(self):\n        «g = jnp.tanh(jnp.dot(self.draw(), self.w)).mean()\n        self.w = self.w - self.heat * g»\n\n\n"
        "A().step()\n"
    )
    assert rewrite("region-to-jit", text, wide=True).startswith("refused: ")


def test_what_raises_after_an_attribute_is_set_stays_there(rewrite: Rewrite) -> None:
    text = HEAD + (
        "class A:\n    def __init__(self):\n        self.x = jnp.ones(3)\n\n    def step(self, i, n):\n"
        "        «y = self.x * (1.0 / i)\n        self.x = jnp.sin(y)\n        z = self.x * (1.0 / n)»\n        return z\n\n\nA().step(1, 2)\n"
    )
    assert (
        "1.0 / n"
        not in rewrite("region-to-jit", text, wide=True, often=True)
        .partition("z = ")[2]
        .partition("return z")[2]
    )


@pytest.mark.parametrize(("where", "handed"), [("", True), ("try", False), ("with open('x')", False)])
def test_what_a_handler_could_see_is_not_moved(rewrite: Rewrite, where: str, handed: bool) -> None:
    text = HEAD + (
        "def main(n):\n    w = u = jnp.ones(3)\n    for i in range(n):\n        if True:\n"
        "            «u = jnp.sin(u)\n            w = w * (1.0 / max(i, 2.5)) * u»\n            print(w)\n        print(u)\n\n\nmain(3)\n"
    )
    if where:
        text = text.replace("if True", where)
    if where == "try":
        text = text.replace("        print(u)", "        except ZeroDivisionError:\n            print(u)")
    after = rewrite("region-to-jit", text, wide=True)
    assert ("step(u, w, 1.0 / max(i, 2.5))" in after) == handed


def test_an_integer_that_need_not_fit_into_32_bits_is_not_handed_in(rewrite: Rewrite) -> None:
    text = HEAD + (
        "def main(n):\n    key = jax.random.key(0)\n    w = jnp.ones(3)\n    for i in range(n):\n"
        "        «sub = jax.random.fold_in(key, max(i * 2**20, n))\n        w = w + jax.random.normal(sub, (3,))»\n        print(w)\n\n\nmain(3)\n"
    )
    assert "max(i" not in rewrite("region-to-jit", text, wide=True).partition("for i in")[2] or rewrite(
        "region-to-jit", text, wide=True
    ).startswith("refused: ")


def test_a_number_is_an_array_where_it_would_be_static(rewrite: Rewrite) -> None:
    text = TRAIN.replace("import jax\n", "import equinox as eqx\nimport jax\n")
    after = rewrite("region-to-jit", text, wide=True, transform="equinox.filter_jit")
    assert "step(w, x[idx], jnp.asarray(0.1 * (1 - i / n)))" in after


OPTIONS = HEAD.replace("import jax\n", "import argparse\nimport jax\n", 1) + (
    "@jax.jit\n"
    "def loss(w, x, decay):\n"
    "    return jnp.sum((x @ w) ** 2) + decay * jnp.sum(w**2)\n\n\n"
    "def main():\n"
    "    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--weight-decay', type=float, default=1e-4)\n"
    "    args = parser.parse_args()\n"
    "    w = x = jnp.eye(3)\n"
    "    for _ in range(9):\n"
    "        «value = loss(w, x, args.weight_decay)\n"
    "        w = w - 0.1 * value * args.weight_decay»\n"
    "        print(w, value)\n\n\n"
    "main()\n"
)


def test_a_number_of_the_command_line_is_an_argument(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", OPTIONS, wide=True)
    assert "def step(w, x, decay):\n    value = loss(w, x, decay)\n    w = w - 0.1 * value * decay\n" in after
    assert "        w, value = step(w, x, args.weight_decay)\n" in after


def test_a_number_of_an_object_is_an_argument(rewrite: Rewrite) -> None:
    settings = "class Settings:\n    def __init__(self, decay):\n        self.weight_decay = decay\n\n\n@jax.jit\ndef loss"
    text = OPTIONS.replace("@jax.jit\ndef loss", settings)
    begin, end = text.index("    parser ="), text.index("    w = x")
    text = (
        text[:begin]
        + "    args = Settings(0.5)\n"
        + text[end:].replace("print(w", "args.weight_decay *= 0.9\n        print(w")
    )
    assert "w, value = step(w, x, args.weight_decay)\n" in rewrite("region-to-jit", text, wide=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@jax.jit\n", "import functools\n@functools.partial(jax.jit, static_argnums=2)\n"),
        ("@jax.jit\n", "import functools\n@functools.partial(jax.jit, static_argnames=('decay',))\n"),
        ("loss(w, x, args", "jax.jit(loss, static_argnums=2)(w, x, args"),
        ("loss(w, x, args", "jax.jit(loss, **{'static_argnums': 2})(w, x, args"),
        ("default=1e-4", "default=None"),
        ("type=float, default=1e-4", "default='0.5'"),
        (
            "value = loss(w, x, args.weight_decay)",
            "value = loss(w, x, args.weight_decay) if w.ndim else loss(w, x, args.weight_decay)",
        ),
    ],
    ids=[
        "static",
        "static by name",
        "static in a call",
        "settings",
        "maybe None",
        "text",
        "one of two",
    ],
)
def test_what_may_be_no_number_or_is_static_stays(rewrite: Rewrite, old: str, new: str) -> None:
    text = OPTIONS.replace(old, new)
    assert rewrite("region-to-jit", text, wide=True).startswith("refused: ")


def test_an_integer_of_the_command_line_is_not_handed_to_what_nothing_compiled(rewrite: Rewrite) -> None:
    text = (
        OPTIONS.replace("type=float", "type=int")
        .replace("default=1e-4", "default=1")
        .replace("@jax.jit\n", "")
    )
    text = text.replace("0.1 * value * args.weight_decay", "jnp.tanh(value) * w")
    assert rewrite("region-to-jit", text, wide=True).startswith("refused: ")


@pytest.mark.parametrize("name", ["size", "ndim"])
def test_the_size_of_an_array_is_no_argument(rewrite: Rewrite, name: str) -> None:
    text = OPTIONS.replace("args.weight_decay", f"x.{name}")
    after = rewrite("region-to-jit", text, wide=True)
    assert f"step(w, x, x.{name})" not in after


def test_a_number_that_a_property_counts_is_no_argument(rewrite: Rewrite) -> None:
    settings = "class Settings:\n    n = 0.5\n    @property\n    def weight_decay(self):\n        self.n += 1\n        return self.n\n\n\n@jax.jit\ndef loss"
    text = OPTIONS.replace("@jax.jit\ndef loss", settings)
    begin, end = text.index("    parser ="), text.index("    w = x")
    text = text[:begin] + "    args = Settings()\n" + text[end:]
    assert rewrite("region-to-jit", text, wide=True).startswith("refused: ")


def test_a_parameter_gives_its_name_to_what_the_host_computes(rewrite: Rewrite) -> None:
    text = TRAIN.replace("def main", "def scaled(g, rate):\n    return g * rate\n\n\ndef main")
    text = text.replace("0.1 * (1 - i / n) * g", "scaled(g, 0.1 * (1 - i / n))")
    after = rewrite("region-to-jit", text, wide=True)
    assert "def step(w, x_rows, rate):\n" in after


STATIC = HEAD.replace("import jax\n", "import equinox as eqx\nimport jax\n", 1) + (
    "@eqx.filter_jit\n"
    "def loss(w, beta):\n"
    "    return beta * jnp.sum(w**2)\n\n\n"
    "def main(n):\n"
    "    w = jnp.eye(3)\n"
    "    for i in range(n):\n"
    "        beta = min(1.0, i / 5)\n"
    "        «value = loss(w, beta)\n"
    "        w = w - 0.1 * value»\n"
    "        print(w, value)\n\n\n"
    "main(9)\n"
)


def test_a_number_in_a_variable_is_an_array_where_it_would_be_static(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", STATIC, wide=True, transform="equinox.filter_jit")
    assert "def step(w, beta):\n    value = loss(w, beta)\n" in after
    assert "        w, value = step(w, jnp.asarray(beta))\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return beta", "return (beta if beta > 0.5 else 0.5)"),
        ("min(1.0, i / 5)", "i * 2**20"),
        ("min(1.0, i / 5)", "min(1.0, i / 5)\n        if i > 3:\n            beta = i"),
        ("min(1.0, i / 5)", "0.5 if i else None"),
        ("0.1 * value»", "0.1 * value\n        beta = 0.5»"),
        ("return beta", "return jnp.ones(int(beta)).sum()"),
    ],
    ids=["branch", "integer", "integer on a path", "maybe None", "set in the region", "shape"],
)
def test_a_static_number_that_may_not_be_an_array_stays(rewrite: Rewrite, old: str, new: str) -> None:
    after = rewrite("region-to-jit", STATIC.replace(old, new), wide=True, transform="equinox.filter_jit")
    assert "jnp.asarray(beta)" not in after


FETCHED = HEAD + (
    "class Walker:\n"
    "    def __init__(self):\n"
    "        self.x = jnp.zeros(3)\n"
    "        self.kept = []\n"
    "        self.accepted = 0\n\n"
    "    def step(self, key):\n"
    "        «a, b = jax.random.split(key)\n"
    "        proposal = self.x + jax.random.normal(a, (3,))»\n"
    "        STATEMENT\n\n\n"
    "Walker().step(jax.random.key(0))\n"
)
SUM = "jnp.sum(self.x * proposal)"


def with_fetch(rewrite: Rewrite, statement: str, expression: str = SUM) -> str:
    text = FETCHED.replace("STATEMENT", statement)
    tree = ast.parse(text.replace("«", "").replace("»", ""))
    (node,) = [one for one in ast.walk(tree) if isinstance(one, ast.expr) and ast.unparse(one) == expression]
    place = [node.lineno, node.col_offset, node.end_lineno, node.end_col_offset]
    return rewrite("region-to-jit", text, wide=True, often=True, ends=place)


@pytest.mark.parametrize(
    "statement",
    [
        f"if {SUM} < jnp.log(jax.random.uniform(b)):\n            self.x = proposal",
        f"self.kept.append(float({SUM}))",
        f"self.accepted += int({SUM})",
        f"return {SUM}.item()",
    ],
)
def test_what_the_next_statement_fetches_belongs_to_the_region(rewrite: Rewrite, statement: str) -> None:
    after = with_fetch(rewrite, statement)
    assert "jnp.sum(x * proposal)\n" in after
    assert after.count("jnp.sum") == 1
    assert statement.partition("\n")[0].replace(SUM, "computed_sum") in after


@pytest.mark.parametrize(
    "statement",
    [
        f"self.kept.append((print(self.x), float({SUM})))",
        f"y = 0.0 if self.accepted else float({SUM})",
        f"self.kept.extend(float({SUM}) for _ in self.kept)",
        f"y = self.accepted > 3 and float({SUM}) > 0",
    ],
)
def test_what_is_not_evaluated_first_or_always_does_not(rewrite: Rewrite, statement: str) -> None:
    assert with_fetch(rewrite, statement).startswith("refused: the next statement does something else first")


def strict_plan(text: str) -> object:
    """What the codemod says under `verify`, for the second and the third statement of the loop."""
    source = SourceFile(Path("program.py"), "program.py", text, "utf-8", False, "", missed=frozenset())
    site = Site(source)
    (loop,) = [one for one in ast.walk(site.tree) if isinstance(one, ast.For)]
    parameters = {"wide": True, "function": "main", "arguments": [], "variables": []}
    step = Step("region-to-jit", "program.py", site.across(loop.body[1:3]), parameters)
    return Workspace({"program.py": source}, strict=True).plan(FixRequest(Safety.UNSAFE, "Compile", (step,)))


def test_rows_of_a_buffer_that_is_filled_again_are_not_handed_to_compiled_code() -> None:
    text = TRAIN.replace("«", "").replace("»", "").replace("x[idx]", "x[:8]")
    assert not isinstance(strict_plan(text), str)
    filled = text.replace("idx = rng.integers(0, 100, 8)", "x[:] = rng.normal(size=(100, 3))")
    assert not isinstance(strict_plan(filled), str)  # `print` waits
    unread = filled.replace("print(w)", "ws.append(w)").replace(
        "    w = jnp.ones(3)", "    w, ws = jnp.ones(3), []"
    )
    assert "changes a NumPy buffer while JAX may still read it" in str(strict_plan(unread))


DECODE = HEAD + (
    "def main(w, n):\n"
    "    tokens = jnp.zeros((4, 1))\n"
    "    for i in range(n):\n"
    "        «h = jnp.tanh(tokens[:, -1] @ w)\n"
    "        token = jnp.argmax(h) * jnp.ones((4, 1))»\n"
    "        tokens = jnp.concatenate([tokens, token], axis=1)\n"
    "        print(token)\n\n\n"
    "main(jnp.ones((4, 4)), 3)\n"
)


def test_a_row_of_an_array_that_grows_is_handed_in(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", DECODE, wide=True)
    assert (
        "        token = step(tokens[:, -1], w)\n" in after
        or "        token = step(w, tokens[:, -1])\n" in after
    )
    assert "        tokens = jnp.concatenate([tokens, token], axis=1)\n" in after


@pytest.mark.parametrize(
    "read",
    ["tokens.mean(axis=1)", "tokens[:, 0:]", "tokens[-1, :4].mean() * jnp.ones(4)", "tokens[:, i]"],
)
def test_an_array_that_grows_is_no_argument(rewrite: Rewrite, read: str) -> None:
    after = rewrite("region-to-jit", DECODE.replace("tokens[:, -1]", read), wide=True)
    assert (
        after == "refused: `tokens` grows in the loop, so a function that takes it recompiles for each length"
    )


def test_a_list_that_each_turn_of_the_loop_begins_again_does_not_grow(rewrite: Rewrite) -> None:
    rows = (
        "def main(w, n):\n"
        "    for i in range(n):\n"
        "        rows = []\n"
        "        for _ in range(4):\n"
        "            rows.append(w + i)\n"
        "        «h = jnp.stack(rows)\n"
        "        w = w + h.mean(axis=0)»\n"
        "        print(w)\n\n\n"
        "main(jnp.ones(4), 3)\n"
    )
    assert "        w = step(w, rows)\n" in rewrite("region-to-jit", HEAD + rows, wide=True)
    kept = rows.replace("        rows = []\n", "").replace("    for i in", "    rows = []\n    for i in", 1)
    refused = rewrite("region-to-jit", HEAD + kept, wide=True)
    assert (
        refused == "refused: `rows` grows in the loop, so a function that takes it recompiles for each length"
    )


GREEDY = (
    "import equinox as eqx\nimport jax\nimport jax.numpy as jnp\n\n\n"
    "class Net(eqx.Module):\n    cell: eqx.nn.GRUCell\n    out: eqx.nn.Linear\n\n"
    "    def __init__(self, key):\n        self.cell = eqx.nn.GRUCell(3, 3, key=key)\n        self.out = eqx.nn.Linear(3, 3, key=key)\n\n"
    "    def greedy(self, x, n):\n        tokens = []\n        for _ in range(n):\n            «x = self.cell(x, x)\n"
    "            token = jnp.argmax(self.out(x))»\n            tokens.append(int(token))\n        return tokens\n\n\n"
    "net = Net(jax.random.key(0))\nfor _ in range(3):\n    print(net.greedy(jnp.ones(3), 4))\n"
)


def test_the_arrays_of_a_module_of_equinox_are_traced(rewrite: Rewrite) -> None:
    after = rewrite(
        "region-to-jit", GREEDY, wide=True, again=True, often=True, transform="equinox.filter_jit"
    )
    assert "    @eqx.filter_jit\n    def _step(self, x):\n        x = self.cell(x, x)\n" in after
    assert "            x, token = self._step(x)\n" in after


@pytest.mark.parametrize(
    ("old", "new", "transform"),
    [
        ("eqx.Module", "Base", "equinox.filter_jit"),
        ("self.out(x))", "self.out(x) * self.scale[0])", "equinox.filter_jit"),
        ("eqx.Module", "eqx.Module", "jax.jit"),
    ],
    ids=["a base of its own that is equal to others", "a list that another method sets", "jax.jit"],
)
def test_an_object_that_is_no_tree_or_changes_is_refused(
    rewrite: Rewrite, old: str, new: str, transform: str
) -> None:
    text = GREEDY.replace(old, new).replace(
        "class Net(",
        "class Base:\n    def __eq__(self, other):\n        return True\n    def __hash__(self):\n        return 1\n\n\nclass Net(",
    )
    text = text.replace("        self.cell =", "        self.scale = [1.0]\n        self.cell =").replace(
        "    def greedy", "    def cool(self):\n        self.scale[0] *= 0.5\n\n    def greedy"
    )
    after = rewrite("region-to-jit", text, wide=True, again=True, often=True, transform=transform)
    assert after.startswith("refused: ") or "scale[0]" in new, after


WAVELET = HEAD + (
    "class Wave:\n    def __init__(self, n):\n        self.u, self.at = jnp.zeros(8), 0\n"
    "        self.pulse = [float(np.exp(-i)) for i in range(n)]\n\n"
    "    def step(self):\n        «u = jnp.roll(self.u, 1) * 0.9\n"
    "        self.u = u.at[3].add(self.pulse[self.at])»\n        self.at += 1\n\n\n"
    "wave = Wave(9)\nfor _ in range(9):\n    wave.step()\n"
)


def test_an_item_of_a_list_of_real_numbers_is_handed_in(rewrite: Rewrite) -> None:
    after = rewrite("region-to-jit", WAVELET, wide=True, often=True)
    assert "u.at[3].add(pulse_rows)" in after
    assert "(self.u, self.pulse[self.at])" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("float(np.exp(-i))", "3 ** i"),
        ("    wave.step()", "    wave.step()\n    wave.pulse.append(2 ** 40)"),
        ("    wave.step()", "    wave.step()\n    wave.pulse = [2 ** 40]"),
        ("    wave.step()", "    wave.step()\n    wave.pulse[3] = 2 ** 40"),
    ],
    ids=["integers", "appended to", "set again", "an item set"],
)
def test_an_item_that_may_be_a_large_integer_is_not(rewrite: Rewrite, old: str, new: str) -> None:
    assert old in WAVELET
    after = rewrite("region-to-jit", WAVELET.replace(old, new, 1), wide=True, often=True)
    assert after.startswith("refused: ")


LEARNER = HEAD.replace("import jax\n", "import jax\nimport optax\n", 1) + (
    "from typing import NamedTuple\n\n\n"
    "class Options(NamedTuple):\n    n: int = 3\n    rate: float = 0.1\n\n\n"
    "def loss(params, x):\n    return jnp.mean((x @ params['w']) ** 2)\n\n\n"
    "def main(options, x):\n    optimizer = optax.inject_hyperparams(optax.adam)(learning_rate=options.rate)\n"
    "    params = {'w': jnp.ones(3)}\n    state = optimizer.init(params)\n    key = jax.random.PRNGKey(0)\n"
    "    for _ in range(9):\n        «key, sub = jax.random.split(key)\n"
    "        rows = x[jax.random.randint(sub, (options.n,), 0, len(x))]\n"
    "        grads = jax.grad(loss)(params, rows)\n"
    "        updates, state = optimizer.update(grads, state)\n"
    "        params = optax.apply_updates(params, updates)»\n    return params\n\n\n"
    "main(Options(), jnp.ones((8, 3)))\n"
)


def test_settings_in_a_named_tuple_and_an_optimiser_with_other_settings_are_read_in_place(
    rewrite: Rewrite,
) -> None:
    after = rewrite("region-to-jit", LEARNER, wide=True)
    assert "    def train_step(key, params, state, x):\n" in after
    assert "(options.n,)" in after
