"""Programs grown by Hypothesis to blow up an interpreter of programs: call graphs, containers, nesting, cycles of imports.

Each strategy gives source text. `drawn` gives a list for a seed; the tests draw from `programs()` and let Hypothesis shrink.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

HEAD = (
    "import functools, math\nimport jax\nimport jax.numpy as jnp\nimport numpy as np\nfrom jax import lax\n"
)
_NAMES = st.sampled_from(["x", "y", "key", "state", "i", "n", "self", "params"])
_WRAPPERS = st.sampled_from(
    [
        "",
        "@jax.jit\n",
        "@jax.vmap\n",
        "@jax.grad\n",
        "@functools.partial(jax.jit, static_argnums=0)\n",
        "@jax.checkpoint\n",
        "@functools.cache\n",
    ]
)
_LEAVES = st.sampled_from(
    [
        "x",
        "y",
        "1",
        "jnp.ones(3)",
        "None",
        "np.random.rand()",
        "jax.random.key(0)",
        "'a'",
        "x.shape[0]",
        "float(x)",
        "()",
    ]
)


@st.composite
def call_graph(draw: st.DrawFn) -> str:
    """Functions that call each other: fans, chains, cycles and all with all, with functions handed on as arguments."""
    count = draw(st.integers(2, 24))
    fan = draw(st.integers(1, 4))
    text = [HEAD]
    for number in range(count):
        later = st.integers(number + 1, count) if draw(st.booleans()) else st.integers(0, count)
        calls = []
        for _ in range(fan):
            callee = draw(later)
            argument = draw(
                st.sampled_from(
                    [
                        "x",
                        "x + 1",
                        "(x, x)",
                        "[x] * 3",
                        "{'a': x}",
                        f"f{callee}",
                        "lambda v: v",
                        "*x",
                        "**y",
                        f"f{number}",
                        "x.sum()",
                    ]
                )
            )
            form = draw(
                st.sampled_from(
                    [
                        "f{0}({1}, y)",
                        "jax.jit(f{0})({1}, y)",
                        "lax.cond(x, f{0}, f{0}, {1}, y)",
                        "lax.scan(f{0}, {1}, y)",
                        "y({1}, f{0})",
                        "getattr(f{0}, '__wrapped__', f{0})({1}, y)",
                        "functools.reduce(f{0}, {1})",
                        "[f{0}(v, y) for v in {1}]",
                    ]
                )
            )
            calls.append(form.format(callee, argument))
        join = draw(st.sampled_from([" + ", ", ", " or ", " if x else "]))
        body = join.join(calls)
        if join == " if x else ":
            body += " if y else x"
        text.append(
            f"{draw(_WRAPPERS)}def f{number}(x, y=None, *args, **kwargs):\n    if x > 0:\n        x = {body}\n    return {body}\n"
        )
    text.append(f"def f{count}(x, y=None):\n    return x\n")
    text.append(f"f0(jnp.ones(3), {draw(st.sampled_from(['f1', '1', 'None']))})\n")
    return "".join(text)


@st.composite
def containers(draw: st.DrawFn) -> str:
    """Containers that hold each other, double in each step, and change while they are walked."""
    text = [HEAD, "a, b, c = [], {}, ()\n"]
    names = ["a", "b", "c"]
    forms = [
        "{0} = [{1}, {1}]",
        "{0} = {{'k': {1}, **({2} if isinstance({2}, dict) else {{}})}}",
        "{0} = ({1}, {2}, {0})",
        "{0} = {1} * 3",
        "{0} = [*{1}, *{2}]",
        "{0}.append({0})",
        "{0}['x'] = {1}",
        "{0} = jax.tree.map(lambda v: ({1}, v), {2})",
        "{0} = dict(zip({1}, {2}))",
        "{0} = [({1}, i) for i in {2} for j in {1} for k in {0}]",
        "for v in {1}: {0} = [{0}, v]; {1}.append(v)",
        "{0} = {{i: {{j: {1} for j in range(40)}} for i in range(40)}}",
        "{0}, {1}, *{2} = {1}, {2}, {0}",
        "{0} = sorted({1}, key=lambda v: {2})",
        "{0} = functools.reduce(lambda p, q: (p, p, q), {1}, {2})",
        "{0} = type('T', (), dict(v={1}))().v",
        "{0} = '%s' % ({1},) * 100",
        "{0} = {1} if {2} else {0}",
        "{0} = jnp.stack({1})",
        "setattr({0}, 'm', {1})",
        "{0} = list(range(10 ** 7)) + {1}",
        "{0} = 'x' * 10 ** 9 + str({1})",
        "{0} = 9 ** 9 ** 9 if {1} else 1 << (1 << 40)",
        "{0} = {1}[{2}:][::-1][...][None]",
        "{0} = {1} | {2}",
        "del {0}; {0} = {1}",
    ]
    steps = draw(st.integers(2, 40))
    inside = draw(
        st.sampled_from(
            [
                "",
                "@jax.jit\ndef f(x, a=a, b=b, c=c):\n",
                "class C:\n",
                "for _ in range(100):\n",
                "while True:\n",
            ]
        )
    )
    text.append(inside)
    indent = "    " if inside else ""
    for _ in range(steps):
        order = draw(st.permutations(names))
        form = draw(st.sampled_from(forms))
        text.append(indent + form.format(*order) + "\n")
    if inside.startswith("@"):
        text.append("    return a, b, c\nf(jnp.ones(3))\n")
    text.append("print(a, b, c)\n")
    return "".join(text)


@st.composite
def nesting(draw: st.DrawFn) -> str:
    """One thing inside another, hundreds of times."""
    depth = draw(st.sampled_from([3, 20, 90, 150, 400, 1500, 6000]))
    kind = draw(st.integers(0, 12))
    leaf = draw(_LEAVES)
    indented = min(depth, 99)
    if kind == 0:
        text = "(" * depth + leaf + ")" * depth
    elif kind == 1:
        text = "[" * depth + leaf + "]" * depth
    elif kind == 2:
        text = " + ".join([leaf] * depth)
    elif kind == 3:
        text = leaf + ".at[0].set(1)" * depth
    elif kind == 4:
        text = "lambda: " * depth + leaf
    elif kind == 5:
        text = "jax.jit(jax.vmap(" * (depth // 2) + "f" + "))" * (depth // 2) + f"({leaf})"
    elif kind == 6:
        text = f"if x == {leaf}:\n    pass\n" + "".join(
            f"elif x == {i}:\n    y = {leaf}\n" for i in range(depth)
        )
    elif kind == 7:
        text = "".join(
            " " * i
            + draw(st.sampled_from(["if x:", "for i in x:", "def f(x):", "class C:", "while x:", "try:"]))
            + "\n"
            for i in range(indented)
        )
        text += " " * indented + f"return {leaf}\n"
    elif kind == 8:
        text = "x = " + " if x else ".join([leaf] * depth)
    elif kind == 9:
        text = "x = " + "not " * depth + leaf
    elif kind == 10:
        text = "@jax.jit\n" * depth + f"def f(x):\n    return {leaf}\n"
    elif kind == 11:
        text = (
            "".join(f"x{i} = (x{i - 1}, x{i - 1}) if x{i - 1} else [x{i - 1}]\n" for i in range(1, depth))
            + f"f(x{depth - 1})\n"
        )
        text = f"x0 = {leaf}\n{text}"
    else:
        text = "x = " + "f'{" * min(depth, 3) + leaf + "}'" * min(depth, 3) + " 'a'" * depth
    return f"{HEAD}def f(x):\n    return x if x else -x\nx = y = jnp.ones(3)\n{text}\n"


@st.composite
def classes(draw: st.DrawFn) -> str:
    """Classes with many bases, metaclasses, properties that ask for themselves, and operators that call each other."""
    count = draw(st.integers(1, 12))
    text = [HEAD, "from flax import nnx, linen as nn\nimport equinox as eqx\nimport dataclasses\n"]
    for number in range(count):
        bases = draw(
            st.lists(
                st.sampled_from(
                    [f"C{n}" for n in range(count)]
                    + [
                        "nnx.Module",
                        "nn.Module",
                        "eqx.Module",
                        "dict",
                        "list",
                        "tuple",
                        "Exception",
                        "type",
                        "object",
                        "metaclass=C0",
                    ]
                ),
                max_size=3,
            )
        )
        text.append(
            f"{draw(st.sampled_from(['', '@dataclasses.dataclass' + chr(10), '@jax.tree_util.register_pytree_node_class' + chr(10)]))}class C{number}({', '.join(bases)}):\n"
        )
        for _ in range(draw(st.integers(1, 5))):
            name = draw(
                st.sampled_from(
                    [
                        "__init__",
                        "__call__",
                        "__getattr__",
                        "__eq__",
                        "__bool__",
                        "__iter__",
                        "__add__",
                        "__radd__",
                        "__getitem__",
                        "__setattr__",
                        "__new__",
                        "__class_getitem__",
                        "__init_subclass__",
                        "__hash__",
                        "__len__",
                        "prop",
                        "tree_flatten",
                        "setup",
                    ]
                )
            )
            decorator = draw(
                st.sampled_from(
                    [
                        "",
                        "    @property\n",
                        "    @staticmethod\n",
                        "    @classmethod\n",
                        "    @jax.jit\n",
                        "    @nn.compact\n",
                        "    @functools.cached_property\n",
                    ]
                )
            )
            body = draw(
                st.sampled_from(
                    [
                        "return self",
                        "return self.prop",
                        f"return C{draw(st.integers(0, count - 1))}(*args)",
                        "yield from self",
                        "self.x = self; return self.x.x.x",
                        "return self + self",
                        "return super().__call__(self)",
                        "return [self[i] for i in self]",
                        "self.__class__ = C0",
                        "return jnp.sum(self)",
                        "raise self",
                    ]
                )
            )
            text.append(f"{decorator}    def {name}(self, *args):\n        {body}\n")
        text.append(f"C{number}()(C{number}())\n")
    return "".join(text)


@st.composite
def loops(draw: st.DrawFn) -> str:
    """Branches and loops whose ways multiply."""
    count = draw(st.integers(3, 40))
    forms = st.sampled_from(
        [
            "if x{0}: x{1} = x{0} + 1\n    else: x{1} = [x{0}]",
            "while x{0}: x{1} = x{0}; x{0} = x{1}",
            "for i in range(10**9): x{1} = x{0}, i",
            "try: x{1} = float(x{0})\n    except Exception: x{1} = x{0}\n    finally: x{0} = 1",
            "match x{0}:\n        case [a, *b]: x{1} = a\n        case {{'k': v, **r}}: x{1} = v\n        case C(): x{1} = 0\n        case _: x{1} = x{0}",
            "x{1} = [a for a in x{0} if a for b in x{0} if b]",
            "x{1} = x{0} if isinstance(x{0}, (int, list)) else f(x{0})",
            "with open(x{0}) as x{1}: pass",
            "x{1} = (yield x{0})",
            "x{1} = lax.while_loop(lambda s: s < x{0}, lambda s: f(s), x{0})",
            "x{1}: int = lambda x{0}=x{0}: f(x{0})",
            "global x{1}; x{1} = x{0}",
        ]
    )
    lines = [f"    {draw(forms).format(n, n + 1)}\n" for n in range(count)]
    return f"{HEAD}{draw(_WRAPPERS)}def f(x0, *rest):\n{''.join(lines)}    return x{count}\nf(jnp.ones(3))\n"


def programs() -> st.SearchStrategy[str]:
    """All of them."""
    return st.one_of(call_graph(), containers(), nesting(), classes(), loops())


def drawn(seed: int, count: int, strategy: Callable[[], st.SearchStrategy[Any]] = programs) -> list[str]:
    """`count` programs, the same for the same seed and version of Hypothesis."""
    found: list[str] = []

    @seeded(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy())
    def collect(text: str) -> None:
        found.append(text)

    collect()
    return found
