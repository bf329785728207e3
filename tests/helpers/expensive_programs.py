"""Programs that are made to blow up an abstract interpreter: each is small to write down, legal, and has no finding of error level.

`PROGRAMS` has a function for each, which gives its files by name. `size` scales what grows.
"""

from __future__ import annotations

from collections.abc import Callable

Files = dict[str, str]
PROGRAMS: dict[str, Callable[[], Files]] = {}
HEAD = "import jax\nimport jax.numpy as jnp\n"


def program(make: Callable[[], str | Files]) -> Callable[[], str | Files]:
    """Adds a generator; what gives one text is one file."""

    def files() -> Files:
        made = make()
        return {"program.py": HEAD + made} if isinstance(made, str) else made

    PROGRAMS[make.__name__] = files
    return make


# -- containers in containers


@program
def deep_lists_go_into_stages_and_come_out() -> str:
    """Of each list one item is known, and what all items are: two ways down at each step."""
    deep = "[" * 60 + "x" + "]" * 60
    return (
        f"def nested(x):\n    return jax.lax.cond(jnp.all(x), lambda x: {deep}, lambda x: {deep}, x)\n"
        f"run = jax.jit(nested)\nx = jnp.ones(3)\nrun(x)\nprint(jax.jit(lambda tree: tree)({deep}))\n"
        f"print(jax.grad(lambda x: jnp.sum(jnp.asarray({deep})))(x))\n"
    )


# -- calls


@program
def thousands_of_calls_differ_in_their_types() -> str:
    given = ["1", "1.0", "jnp.ones(3)", "[1, 2]", "(jnp.ones(3), 2)", "None", "{'a': 1}"]
    calls = [f"f({given[i % len(given)]}, {i})" for i in range(6000)]
    return "\n".join(["@jax.jit", "def f(x, n):", "    return n", *calls, ""])


@program
def each_function_calls_the_next_twice() -> str:
    lines = [f"def f{i}(x):\n    return f{i + 1}(x) + f{i + 1}(x * {i})\n" for i in range(60)]
    return "\n".join([*lines, "def f60(x):\n    return x\n", "run = jax.jit(f0)\nrun(jnp.ones(3))\n"])


@program
def each_call_gives_another_container() -> str:
    """Each function hands the next ever larger containers of what it got, in ways of its own."""
    forms = ["(x, x)", "[x, 1]", "{'a': x}", "(x, [x])", "lambda: x"]
    lines = []
    for i in range(25):
        calls = ", ".join(f"f{i + 1}({form})" for form in forms)
        lines.append(f"def f{i}(x):\n    return [{calls}]\n")
    return "\n".join([*lines, "def f25(x):\n    return x\n", "run = jax.jit(f0)\nrun(jnp.ones(3))\n"])


@program
def every_function_calls_every_other() -> str:
    count = 60
    lines = []
    for i in range(count):
        calls = " + ".join(f"f{j}(x, n - {j})" for j in range(count) if j != i)
        lines.append(f"def f{i}(x, n):\n    if n < 0:\n        return x\n    return {calls}\n")
    return "\n".join([*lines, "@jax.jit\ndef run(x):\n    return f0(x, 3)\n", "run(jnp.ones(3))\n"])


@program
def recursion_with_growing_arguments() -> str:
    return """
def walk(x, path, seen):
    if len(path) > 50:
        return x
    a = walk(x + 1, path + (x,), {**seen, len(path): path})
    b = walk(x * 2, (path, x), {"seen": seen})
    return walk(a, [*path, b], [seen, a]) + b

@jax.jit
def run(x):
    return walk(x, (), {})

run(jnp.ones(3))
"""


@program
def closures_made_in_loops() -> str:
    return """
def compose(f, g):
    return lambda x: f(g(x))

def build(n):
    functions = [lambda x: x]
    for i in range(n):
        last = functions[-1]
        functions.append(lambda x, i=i, last=last: last(x) + i)
        functions += [compose(f, functions[0]) for f in functions]
        functions = functions + functions
    whole = functions[0]
    for f in functions:
        whole = compose(whole, f)
        whole = compose(f, whole)
    return whole

run = jax.jit(build(40))
run(jnp.ones(3))
"""


@program
def a_tower_of_decorators() -> str:
    wraps = """
import functools

def logged(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        result = f(*args, **kwargs)
        again = f(*args, **kwargs)
        return result + again
    return wrapper

"""
    tower = "@logged\n" * 60 + "def step(x):\n    return x * 2\n"
    return wraps + tower + "run = jax.jit(step)\nrun(jnp.ones(3))\n"


@program
def a_chain_of_lambdas() -> str:
    lines = ["f0 = lambda x: x"]
    lines += [f"f{i} = lambda x: f{i - 1}(f{i - 1}(x))" for i in range(1, 80)]
    return "\n".join([*lines, "run = jax.jit(f79)", "run(jnp.ones(3))\n"])


@program
def numerals_of_church() -> str:
    return """
two = lambda f: lambda x: f(f(x))
three = lambda f: lambda x: f(f(f(x)))
big = two(three)(two)(three)(two)
run = jax.jit(lambda x: big(lambda y: y + 1)(x))
run(jnp.ones(3))
"""


@program
def stars_that_grow() -> str:
    lines = []
    for i in range(24):
        lines.append(f"def f{i}(*args, **kwargs):\n    return f{i + 1}(*args, *args, **kwargs, k{i}=args)\n")
    lines.append("def f24(*args, **kwargs):\n    return args[0]\n")
    return "\n".join([*lines, "@jax.jit\ndef run(x):\n    return f0(x, x)\n", "run(jnp.ones(3))\n"])


@program
def generators_in_generators() -> str:
    lines = ["def g0(x):\n    yield x\n    yield x\n"]
    for i in range(1, 40):
        lines.append(f"def g{i}(x):\n    yield from g{i - 1}(x)\n    yield from g{i - 1}(x + 1)\n")
    return "\n".join([*lines, "@jax.jit\ndef run(x):\n    return sum(g39(x))\n", "run(jnp.ones(3))\n"])


@program
def transformations_of_transformations() -> str:
    lines = ["def f0(x):\n    return x * 2\n"]
    for i in range(1, 40):
        lines.append(
            f"def f{i}(x):\n    return jax.jit(f{i - 1})(x) + jax.vmap(f{i - 1})(x[None])[0] + jax.jvp(f{i - 1}, (x,), (x,))[0]\n"
        )
    return "\n".join([*lines, "run = jax.jit(f39)\nrun(jnp.ones(3))\n"])


@program
def branches_of_control_flow() -> str:
    lines = ["def f0(x):\n    return x * 2\n"]
    for i in range(1, 30):
        lines.append(
            f"def f{i}(x):\n    a = jax.lax.cond(x.sum() > 0, f{i - 1}, f{i - 1}, x)\n"
            f"    b = jax.lax.fori_loop(0, 3, lambda _, y: f{i - 1}(y), a)\n"
            f"    c, _ = jax.lax.scan(lambda y, _: (f{i - 1}(y), None), b, None, length=3)\n    return c\n"
        )
    return "\n".join([*lines, "run = jax.jit(f29)\nrun(jnp.ones(3))\n"])


# -- containers


@program
def a_dict_of_ten_thousand() -> str:
    entries = ", ".join(f"'k{i}': {i}" for i in range(4_000))
    return f"table = {{{entries}}}\n" + "\n".join(
        [
            "@jax.jit\ndef run(x):\n    y = x",
            *[f"    y = y * table['k{i}']" for i in range(300)],
            "    copy = dict(table)\n    for key in table:\n        copy[key] = y\n    return copy\n",
            "run(jnp.ones(3))\nother = {**table, 'more': 1} | table\n",
        ]
    )


@program
def a_list_of_ten_thousand_arrays() -> str:
    entries = ", ".join("jnp.ones(3)" for _ in range(10_000))
    return f"arrays = [{entries}]\n@jax.jit\ndef run(xs):\n    return [x * 2 for x in xs]\nrun(arrays)\nrun(arrays + arrays)\n"


@program
def containers_a_hundred_deep() -> str:
    lines = ["x0 = jnp.ones(3)"]
    lines += [f"x{i} = [x{i - 1}, x{i - 1}]" for i in range(1, 100)]
    return "\n".join([*lines, "run = jax.jit(lambda x: x)", "run(x99)", "print(x99 == x98)\n"])


@program
def dicts_a_hundred_deep() -> str:
    lines = ["def make(x):", "    d0 = x"]
    lines += [f"    d{i} = {{'a': d{i - 1}, 'b': (d{i - 1}, d{i - 1})}}" for i in range(1, 100)]
    use = "@jax.jit\ndef run(x):\n    tree = make(x)\n    return jax.tree.map(lambda y: y + 1, tree)\nrun(jnp.ones(3))\n"
    return "\n".join([*lines, "    return d99", use])


@program
def containers_that_hold_themselves() -> str:
    return """
a, b, c = [], {}, ()

@jax.jit
def run(x):
    a.append(a)
    b["b"] = [b]
    b.update(c=b)
    b.setdefault("d", (b, a))
    a.extend([a, b])
    a[0] = [a]
    around = [x]
    pair = (around, {"more": around})
    around.append(pair)
    around += [pair]
    inner = []
    outer = [inner]
    inner.append(0)
    inner.append(outer)
    return around, inner, outer, a, b

run(jnp.ones(3))
print(jax.tree.map(lambda v: (v, a), b), sorted(a), [*a, *b.values()], dict(zip(a, a)))
"""


@program
def one_function_under_thousands_of_transformations() -> str:
    return "@jax.jit\n" * 6000 + "def run(x):\n    return x\n\nrun(jnp.ones(3))\n"


@program
def doubled_in_a_loop() -> str:
    return """
def grow(x):
    items = [x]
    table = {"x": x}
    pair = (x, x)
    for i in range(100):
        items = items + items
        items += [items]
        pair = (pair, pair)
        table[i] = dict(table)
        table = {"t": table, **table}
        pair = pair + (items, table)
    return items, table, pair

run = jax.jit(grow)
run(jnp.ones(3))
"""


@program
def doubled_line_by_line() -> str:
    lines = ["def grow(x):", "    a = (x, x)"]
    lines += ["    a = a + a"] * 40
    lines += ["    b = [x, x]"]
    lines += ["    b = b + b", "    b = [*b, *b]", "    b.extend(b)"] * 15
    lines += ["    c = {'a': x}"]
    lines += [f"    c = {{**c, 'k{i}': c}}" for i in range(60)]
    return "\n".join([*lines, "    return a, b, c", "run = jax.jit(grow)\nrun(jnp.ones(3))\n"])


@program
def products_of_sequences() -> str:
    return """
import itertools

@jax.jit
def run(x):
    zeros = [0] * 10**9
    rows = [[x] * 10**6] * 10**6
    text = "a" * 10**10
    pair = (x, 1) * 10**8
    for i in range(10**12):
        x = x + i
    every = list(range(10**12))
    both = [i * j for i in range(10**6) for j in range(10**6)]
    many = tuple(itertools.product(range(100), repeat=20))
    table = dict.fromkeys(range(10**9), x)
    sums = sum(range(10**12))
    return x, zeros, rows, text, pair, every, both, many, table, sums

run(jnp.ones(3))
"""


@program
def large_numbers() -> str:
    return """
A = 10**10**10
B = 1 << 10**9
C = 2**2**2**2**2**2
D = (10**1000)**1000**1000
E = "x" * 10**10
F = b"x" * 10**10
G = "%1000000000d" % 3
H = f"{3:1000000000}"
I = "a".ljust(10**10)
J = int("9" * 5000)
K = 9**9**9 % 7
L = pow(9, 9**9)
M = -(-3) ** 9**9
N = [0] * 2**40
O = (1,) * 2**40
P = "ab" * 2**40
Q = "{:>1000000000}".format(3)
R = bytes(10**10)
S = [*range(10**9)]
T = max(range(10**10))
U = str(10**100000)

@jax.jit
def run(x):
    return x * A * B * len(E) * len(G)

run(jnp.ones(3))
"""


@program
def constants_that_square() -> str:
    lines = ["n = 3", "s = 'ab'", "t = (1, 2)", "b = b'ab'"]
    for _ in range(60):
        lines += ["n = n * n", "s = s + s", "t = t + t", "b = b + b", "u = s * n"]
    return "\n".join([*lines, "@jax.jit\ndef run(x):\n    return x * n\nrun(jnp.ones(3))\n"])


@program
def shapes_that_grow() -> str:
    lines = ["@jax.jit\ndef run(x):"]
    for _ in range(40):
        lines += ["    x = jnp.concatenate([x, x])", "    x = jnp.stack([x, x])", "    x = x[None]"]
    return "\n".join([*lines, "    return x.reshape((1,) * 10000)", "run(jnp.ones((10**9, 10**9)))\n"])


@program
def comprehensions_in_comprehensions() -> str:
    inner = "x"
    for i in range(25):
        opening, closing = ("[", "]") if i % 2 else ("{k: ", "}")
        clause = f"for a{i} in (x, x, x)" if i % 2 else f"for k in (1, 2, 3) for b{i} in [x, x]"
        inner = f"{opening}{inner} {clause}{closing}"
    return f"@jax.jit\ndef run(x):\n    return {inner}\nrun(jnp.ones(3))\n"


# -- branches and loops


@program
def flags_that_go_together() -> str:
    flags = [f"f{i}" for i in range(16)]
    lines = ["def step(x, " + ", ".join(f"{flag}=False" for flag in flags) + "):"]
    for _ in range(12):
        for flag in flags:
            lines += [f"    if {flag}:", f"        y{flag} = x + 1", f"        x = y{flag}"]
            lines += [f"    if not {flag} and x is not None:", f"        y{flag} = (x, y0) if x else 1"]
    lines += ["    return x", "run = jax.jit(step, static_argnames=" + repr(flags) + ")"]
    return "y0 = 1\n" + "\n".join(lines) + "\n"


@program
def a_ladder_of_types() -> str:
    lines = ["def step(x, kind):", "    y = x"]
    for i in range(1000):
        word = "if" if i == 0 else "elif"
        lines += [f"    {word} kind == 'k{i}':", f"        y = [y, {i}]"]
    lines += ["    return y", "run = jax.jit(step, static_argnums=1)", "run(jnp.ones(3), 'k3')"]
    return "\n".join(lines) + "\n"


@program
def unions_that_grow() -> str:
    lines = ["def step(x, flag):", "    y = None", "    while flag():"]
    for i in range(200):
        form = ("(y, x)", "[y]", "{'a': y}", "lambda: y", "C(y)")[i % 5]
        lines += [f"        if flag({i}):", f"            y = {form}"]
    lines += ["    return y", "run = jax.jit(step, static_argnums=1)"]
    return "class C:\n    def __init__(self, y):\n        self.y = y\n\n" + "\n".join(lines) + "\n"


@program
def loops_in_loops_with_functions() -> str:
    lines = []
    for i in range(20):
        lines += [f"def f{i}(x, n):", "    for _ in range(n):"]
        lines += ["        for _ in range(n):", f"            x = f{i + 1}(x, n + 1)", "    return x", ""]
    lines += [
        "def f20(x, n):",
        "    return x",
        "@jax.jit\ndef run(x):\n    return f0(x, 2)",
        "run(jnp.ones(3))",
    ]
    return "\n".join(lines) + "\n"


@program
def tries_in_tries() -> str:
    """As many as Python compiles."""
    lines = ["def step(x):"]
    for depth in range(18):
        lines.append("    " * (depth + 1) + "try:")
    lines.append("    " * 19 + "x = x + 1")
    for depth in reversed(range(18)):
        pad = "    " * (depth + 1)
        lines += [
            f"{pad}except ValueError:",
            f"{pad}    x = (x, {depth})",
            f"{pad}finally:",
            f"{pad}    x = [x]",
        ]
    return "\n".join([*lines, "    return x", "run = jax.jit(step)\nrun(jnp.ones(3))\n"])


@program
def conditional_expressions() -> str:
    inner = "x"
    for i in range(60):
        inner = f"({inner} if flag({i}) else [x, {i}])"
    return f"def step(x, flag):\n    return {inner}\nrun = jax.jit(step, static_argnums=1)\n"


@program
def walrus_and_boolean_chains() -> str:
    parts = " and ".join(f"(a{i} := x) is not None and a{i} is not {i}" for i in range(150))
    more = " or ".join(f"(b{i} := flag({i}))" for i in range(150))
    return f"def step(x, flag):\n    if {parts} or {more}:\n        return x\n    return x + 1\nrun = jax.jit(step, static_argnums=1)\n"


# -- classes


@program
def a_dataclass_of_lists_of_itself() -> str:
    return """
from dataclasses import dataclass, field, replace

@jax.tree_util.register_dataclass
@dataclass
class Node:
    value: jax.Array
    left: "Node | None" = None
    right: "Node | None" = None
    children: "list[Node]" = field(default_factory=list)
    table: "dict[str, Node]" = field(default_factory=dict)

    def grown(self):
        child = Node(self.value + 1, self, self, [self, self], {"a": self})
        self.children.append(child)
        self.table["b"] = child
        child.children.append(child)
        return replace(child, left=child, right=Node(child.value, child, child, [child] * 3))

@jax.jit
def run(x):
    node = Node(x)
    for i in range(30):
        node = node.grown()
        node = node.grown().grown()
    return node

run(jnp.ones(3))
jax.tree.map(lambda leaf: leaf + 1, run(jnp.ones(3)))
"""


@program
def a_diamond_thirty_wide() -> str:
    lines = ["class Base:\n    def call(self, x):\n        return x\n"]
    for level in range(6):
        names = [f"C{level}_{i}" for i in range(30)]
        above = ["Base"] if level == 0 else [f"C{level - 1}_{i}" for i in range(30)]
        for name in names:
            lines.append(
                f"class {name}({', '.join(above)}):\n    def call(self, x):\n        return super().call(x) + super().call(x * 2)\n"
            )
    last = ", ".join(f"C5_{i}" for i in range(30))
    lines.append(f"class Last({last}):\n    pass\n")
    return "\n".join([*lines, "@jax.jit\ndef run(x):\n    return Last().call(x)\nrun(jnp.ones(3))\n"])


@program
def bases_without_an_order() -> str:
    """Classes that Python refuses; reading them has to end all the same."""
    lines = ["class A: pass", "class B(A): pass"]
    for i in range(40):
        lines.append(f"class X{i}(A, B{', X' + str(i - 1) if i else ''}): pass")
    return "\n".join([*lines, "jax.jit(lambda x: X39())(1)\n"])


@program
def attributes_on_attributes() -> str:
    lines = [
        "class Box:\n    def __init__(self, value):\n        self.value = value\n        self.me = self\n"
    ]
    lines += ["def make(x):", "    box = Box(x)"]
    for i in range(150):
        lines += [f"    box = Box((box, box, Box({i})))", f"    box.more{i} = box.value"]
    return "\n".join([*lines, "    return box", "run = jax.jit(lambda x: make(x).value)\nrun(jnp.ones(3))\n"])


@program
def a_class_in_each_function() -> str:
    lines = []
    for i in range(30):
        lines.append(
            f"def f{i}(x):\n    class Local:\n        def call(self, y):\n            return f{i + 1}(y) + f{i + 1}([y])\n"
            f"    return Local().call(x) + Local().call((x, x))\n"
        )
    return "\n".join([*lines, "def f30(x):\n    return x\n", "run = jax.jit(f0)\nrun(jnp.ones(3))\n"])


@program
def flax_modules_in_each_other() -> str:
    lines = [
        "from flax import linen as nn, nnx\n",
        "class M0(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return nn.Dense(3)(x)\n",
    ]
    for i in range(1, 30):
        lines.append(
            f"class M{i}(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return M{i - 1}()(x) + M{i - 1}()(x) + nn.remat(M{i - 1})()(x)\n"
        )
    return "\n".join(
        [
            *lines,
            "model = M29()",
            "variables = model.init(jax.random.key(0), jnp.ones(3))",
            "run = jax.jit(model.apply)",
            "run(variables, jnp.ones(3))\n",
        ]
    )


# -- whole files and projects


@program
def a_cycle_of_two_hundred_modules() -> Files:
    count = 200
    files = {}
    for i in range(count):
        names = [(i + 1) % count, (i + 7) % count, (i * i + 3) % count]
        imports = "".join(f"from m{j} import *\nimport m{j}\n" for j in names)
        files[f"m{i}.py"] = (
            f"{HEAD}{imports}\ndef f{i}(x):\n    return m{names[0]}.f{names[0]}(x) + 1\n\nrun{i} = jax.jit(f{i})\n"
        )
    return files


@program
def stars_all_the_way() -> Files:
    files = {"m0.py": HEAD + "".join(f"def g{i}(x):\n    return x + {i}\n" for i in range(300))}
    for i in range(1, 60):
        files[f"m{i}.py"] = (
            f"{HEAD}" + "".join(f"from m{j} import *\n" for j in range(i)) + f"run{i} = jax.jit(g{i})\n"
        )
    return files


@program
def fifteen_thousand_lines_of_settings() -> str:
    return (
        "\n".join(f"value_{i} = {{'a': {i}, 'b': [{i}, {i}]}}" for i in range(15_000))
        + "\nrun = jax.jit(lambda x: x)\n"
    )


@program
def fifteen_thousand_lines_of_functions() -> str:
    return (
        "\n".join(f"def f{i}(x):\n    y = x + {i}\n    return y\n" for i in range(4_000))
        + "run = jax.jit(f0)\n"
    )


@program
def fifteen_thousand_lines_of_branches() -> str:
    return (
        "\n".join(f"if flag_{i % 9}():\n    v{i} = {i}\nelse:\n    v{i} = None" for i in range(4_000)) + "\n"
    )


@program
def one_function_of_eight_thousand_lines() -> str:
    lines = ["@jax.jit\ndef run(x):"]
    for i in range(10_000):
        lines += [f"    y{i} = jnp.sin(x) * {i}", f"    x = x + y{i}"]
    return "\n".join([*lines, "    return x", "run(jnp.ones(3))\n"])


@program
def a_function_of_branches() -> str:
    lines = ["@jax.jit\ndef run(x, n=0):"]
    for i in range(3_000):
        lines += [f"    if option({i}):", f"        y{i} = jnp.sin(x)", f"        x = x + y{i}"]
    return "\n".join([*lines, "    return x", "run(jnp.ones(3))\n"])


# -- sizes of arrays


def _sizes(lines: list[str]) -> str:
    body = ["@jax.jit\ndef run(x, y, z):\n    n, m, k = x.shape[0], y.shape[0], z.shape[0]", *lines]
    return "\n    ".join([*body, "return jnp.zeros((n,)) + jnp.ones((n + 1,))\n"])


@program
def a_size_that_uses_itself_twice() -> str:
    return _sizes(["n = (n + m) * (n - m + 1)"] * 60)


@program
def a_size_that_is_squared() -> str:
    return _sizes(["n = n * n"] * 60)


@program
def quotients_of_quotients() -> str:
    return _sizes(["n = (n * m) // (n - m + 1) % (m + n)"] * 40)


@program
def quotients_times_many_symbols() -> str:
    symbols = ["w = m + k + x.shape[1] + y.shape[1] + z.shape[1] + x.shape[2] + y.shape[2] + z.shape[2]"]
    return _sizes([*symbols, *["n = (n * w) // 7"] * 30])


@program
def a_size_that_grows_three_thousand_times() -> str:
    return _sizes(["n = n + 1"] * 3_000)


@program
def a_shape_that_is_doubled() -> str:
    return _sizes(["s = x.shape", *["s = s + s"] * 40, "jnp.zeros(s)"])
