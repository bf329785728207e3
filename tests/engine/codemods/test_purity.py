"""What an edit must know before it stages code of the host: effects, what is read from outside, results, paths that no run took."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jaxlint.codemods.purity.checks import check_jitted, check_nodes
from jaxlint.codemods.purity.possible_values import PossibleValues
from jaxlint.codemods.purity.program import Program
from jaxlint.codemods.purity.values import kinds_of
from jaxlint.codemods.source.site import Refused
from jaxlint.source.file import SourceFile
from tests.engine.codemods.conftest import Rewrite

HEAD = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n"
CALL = "\nf(jnp.ones(3))\n"


def refusal(folder: Path, text: str, *, name: str = "f", static: tuple[str, ...] = (), **others: str) -> str:
    """Why the function `name` is not compiled; "" where it is. `others`: the other files of the program."""
    sources = {}
    for stem, content in {"main": HEAD + text, **others}.items():
        path = folder / f"{stem}.py"
        path.write_text(content)
        sources[str(path)] = SourceFile(path, str(path), content, "utf-8", False, "")
    program = Program(sources)
    file = program.file(str(folder / "main.py"))
    (function,) = (one for one in file.tree.body if getattr(one, "name", "") == name)
    try:
        check_jitted(program, file, function, static=static)  # type: ignore[arg-type]
    except Refused as refused:
        return str(refused)
    return ""


REFUSED = {
    "a number that is returned if a branch is not taken": ("def g(x, n):\n    if len(x) > 2:\n        n = jnp.sin(x)\n    return n\ndef f(x):\n    return g(x, 2.0)\n" + CALL, "may return a Python number"),
    "a number that a nested function sets": ("def g(x, n):\n    n = jnp.sin(x)\n    def reset():\n        nonlocal n\n        n = 2.0\n    reset()\n    return n\ndef f(x):\n    return g(x, 1.0)\n" + CALL, "changes the variable `n`"),
    "a list that is filled with numbers before it is returned": ("def g(x):\n    found = []\n    found.append(2.0)\n    return found\ndef f(x):\n    return x, g(x)\n" + CALL, "may return a Python number"),
    "arrays that are sorted": ("def f(x):\n    return jnp.stack([jnp.sin(one) for one in sorted([x[0], x[1]])])\n" + CALL, "tests a tracer"),
    "values of a dict that are sorted": ("def f(p):\n    return jnp.stack([jnp.sin(one) for one in sorted(p.values())])\n\nf({'w': jnp.ones(()), 'b': jnp.ones(())})\n", "tests a tracer"),
    "a dict beside rows that index it": ("def f(p, keys):\n    return [jnp.sin(p[k]) for k, name in zip(keys, sorted(p))]\n\nf({0: jnp.ones(3)}, jnp.arange(1))\n", "indexes a Python container"),
    "a sum that begins as an argument, by a number that may be 0": ("def f(x, total, n):\n    for one in x:\n        total = total * 2.0\n    return x * (total / n)\n\nf(jnp.ones(3), 1.0, 0)\n", "divides by a Python number that may be 0"),
    "a divisor that a gradient hands over": ("def loss(w, n=4):\n    total = 0.0\n    for one in w['parts']:\n        total = total + one.sum()\n    return total / n\ndef f(w, m):\n    return jax.grad(loss)(w, m)\n\nf({'parts': [jnp.ones(3)]}, 0)\n", "divides by a Python number that may be 0"),
    "an attribute whose dict another method fills": ("import optax\ndef f(kept, params):\n    return jax.tree.map(lambda k, p: 0.9 * k + 0.1 * p, kept, params)\nclass A:\n    def __init__(self):\n        self.params = {'w': jnp.ones(3)}\n        self.kept = self.params\n    def step(self, x):\n        self.params = optax.apply_updates(self.params, {'w': x})\n        self.kept = f(self.kept, self.params)\n    def name(self):\n        self.kept['name'] = 'a'\n\nA().step(jnp.ones(3))\n", "may be a string, or hold one"),
    "an attribute whose dict another function fills": ("import optax\ndef f(kept, params):\n    return jax.tree.map(lambda k, p: 0.9 * k + 0.1 * p, kept, params)\nclass A:\n    def __init__(self):\n        self.params = {'w': jnp.ones(3)}\n        self.kept = self.params\n    def step(self, x):\n        self.params = optax.apply_updates(self.params, {'w': x})\n        self.kept = f(self.kept, self.params)\ndef named(tree):\n    tree['name'] = 'a'\n\na = A()\na.step(jnp.ones(3))\nnamed(a.kept)\n", "not an array"),
    "an attribute whose dict is handed on": ("import optax\ndef f(kept, params):\n    return jax.tree.map(lambda k, p: 0.9 * k + 0.1 * p, kept, params)\nclass A:\n    def __init__(self):\n        self.params = {'w': jnp.ones(3)}\n        self.kept = self.params\n    def step(self, x):\n        self.params = optax.apply_updates(self.params, {'w': x})\n        self.kept = f(self.kept, self.params)\nimport other\na = A()\na.step(jnp.ones(3))\nother.named(a.kept)\n", "not an array"),
    "an integer that is subtracted from unknown rows": ("def f(x, done, more):\n    return x * jnp.sin((1 - done) * more)\n\nf(jnp.ones(3), np.arange(3), np.arange(3))\n", "may compute integers"),
    "a dict that is unpacked by name and gives a step": ("def g(x, w, b, stride=1):\n    return jnp.sin(x[::stride] * w + b)\ndef f(params, x):\n    return g(x, **params)\n\nf({'w': jnp.ones(3), 'b': jnp.ones(3), 'stride': 1}, jnp.ones(3))\n", "slice"),
    "a dict that is unpacked by name and may get a step": ("def g(x, w, b, stride=1):\n    return jnp.sin(x[::stride] * w + b)\ndef f(params, x):\n    return g(x, **params)\nparams = {'w': jnp.ones(3), 'b': jnp.ones(3)}\nimport sys\nparams[sys.argv[0]] = 1\nf(params, jnp.ones(3))\n", "slice"),
    "a dict that is unpacked by name into another": ("def g(x, **parts):\n    for one in parts.values():\n        x = x * one - one\n    return x\ndef f(params, x):\n    return g(x, **params)\n\nf({'w': jnp.ones(3), 'b': jnp.ones(3)}, jnp.ones(3))\n", "may depend on their order"),
    "a dict in a dict that is unpacked by name": ("def g(x, parts):\n    for one in parts.values():\n        x = x * one - one\n    return x\ndef f(params, x):\n    return g(x, **params)\n\nf({'parts': {'w': jnp.ones(3), 'b': jnp.ones(3)}}, jnp.ones(3))\n", "may depend on their order"),
    "whole numbers that a generator draws": ("class Task:\n    def __init__(self, rng):\n        self.a = rng.uniform(0.5, 2.0, (5, 1))\n        self.rng = rng\n\n    def batch(self):\n        x = self.rng.integers(1, 4, (5, 1))\n        return x, self.a * np.sin(x)\n\ndef f(w, x, y):\n    return jnp.sum(w * (x * x) * (x * y))\n\ntask = Task(np.random.default_rng(0))\nx, y = task.batch()\nf(jnp.ones(3), x, y)\n", "may compute integers"),
    "a flag of linen that is an argument": ("import flax.linen as nn\nclass Net(nn.Module):\n    @nn.compact\n    def __call__(self, x, train):\n        x = nn.Dense(3)(x)\n        if train:\n            x = x * 2\n        return x\n\nnet = Net()\n\ndef f(params, x, on):\n    return jnp.sin(net.apply(params, x, train=on))\n\nf(net.init(jax.random.key(0), jnp.ones((2, 3)), True), jnp.ones((2, 3)), jnp.array(True))\n", "branches on a tracer"),
    "a flag of linen behind a method": ("import flax.linen as nn\nclass Net(nn.Module):\n    @nn.compact\n    def __call__(self, x, train):\n        x = nn.Dense(3)(x)\n        if train:\n            x = x * 2\n        return x\n\nnet = Net()\n\ndef f(params, x):\n    return jnp.sin(net.apply(params, x, train=True, method='__call__'))\n\nf(net.init(jax.random.key(0), jnp.ones((2, 3)), True), jnp.ones((2, 3)))\n", "branches on a tracer"),
    "a copy of a dict that is listed": ("import copy\ndef f(p):\n    return {'b': p['b'] * 2, 'a': p['a']}\n\nbest = copy.deepcopy(f({'b': jnp.ones(3), 'a': jnp.ones(2)}))\nprint(list(best))\n", "may depend on their order"),
    "a handle of a parameter": ("def f(x, log):\n    log.write('x')\n    return x * 2\n\nf(jnp.ones(3), open('a', 'w'))\n", "log.write"),
    "what a call of another file does": ("import other\ndef f(x):\n    return other.scaled(x)\n" + CALL, "print("),
    "a callable in a dictionary": ("HOOKS = {}\ndef f(x):\n    HOOKS['a'](x)\n    return x + 1\n" + CALL, "may have a side effect"),
    "keywords that are called": ("def f(x, **hooks):\n    hooks['end'](x)\n    return x + 1\n\nf(jnp.ones(3), end=print)\n", "may have a side effect"),
    "an operator of a class": ("class A:\n    n = 0\n    def __add__(self, other):\n        A.n += 1\n        return other\na = A()\ndef f(x):\n    return jnp.sin(a + x)\n" + CALL, "A.n"),
    "an item of an argument": ("def f(d):\n    d['n'] = 1\n    return jnp.sin(d['x'])\n\nf({'x': jnp.ones(3)})\n", "`d['n']`"),
    "a shallow copy": ("def f(d):\n    e = dict(d)\n    e['a']['b'] = 1\n    return jnp.sin(e['x'])\n\nf({'x': jnp.ones(3), 'a': {}})\n", "e['a']['b']"),
    "an alias of a table": ("T = [1.0, 2.0]\nU = T\ndef change():\n    U.append(3.0)\ndef f(x):\n    return x * len(T)\n" + CALL, "reads `T`"),
    "a table that another function changes": ("T = {'a': 1.0}\ndef change(t):\n    t['a'] = 2.0\nchange(T)\ndef f(x):\n    return x * T['a']\n" + CALL, "changes at main.py"),
    "a table behind a method": ("class C:\n    def __init__(self):\n        self.rate = 1.0\n    def set(self, rate):\n        self.rate = rate\nc = C()\ndef f(x):\n    return x * c.rate\nc.set(2.0)\n" + CALL, "reads `c`"),
    "a setting that a file of a flag sets": ("import sys\nRATE = 1.0\nif '--fast' in sys.argv:\n    import other\ndef f(x):\n    return x * RATE\n" + CALL, "reads `RATE`"),
    "an attribute of a class": ("class C:\n    rate = 1.0\ndef slow():\n    C.rate = 0.5\ndef f(x):\n    return x * C.rate\n" + CALL, "C.rate"),
    "setattr on a module": ("import other\ndef f(x):\n    return x * other.rate\nsetattr(other, 'rate', 3.0)\n" + CALL, "setattr"),
    "a loop of the module": ("for RATE in (1.0, 2.0):\n    pass\ndef f(x):\n    return x * RATE\n" + CALL, "set in a loop"),
    "a bound once more": ("RATE = 1.0\ndef f(x):\n    return x * RATE\nf(jnp.ones(3))\nRATE = 2.0\n" + CALL, "set again"),
    "a length": ("def f(x):\n    return jnp.sin(x), len(x)\n" + CALL, "a Python number"),
    "a string on one path": ("def f(x, debug):\n    if debug:\n        return 'none'\n    return jnp.sin(x)\n\nf(jnp.ones(3), False)\n", "a string"),
    "a NumPy array": ("def f(x):\n    return np.zeros(3) + 1\n" + CALL, "a NumPy array"),
    "a branch that no run took": ("def g(x, check):\n    if check:\n        print_it = float(x.sum())\n        x = x * print_it\n    return x\ndef f(x):\n    return g(jnp.sin(x), False)\n" + CALL, "converts a tracer"),
    "options of the command line": ("import argparse\ndef f(x, o):\n    return x * o.rate\n\nf(jnp.ones(3), argparse.ArgumentParser().parse_args())\n", "an object of `argparse.Namespace`, which `jax.jit` rejects"),
    "truth values that choose leaves": ("import equinox as eqx\ndef f(model, spec):\n    return eqx.filter(model, spec)\n\nf([jnp.ones(3)], jax.tree.map(eqx.is_array, [jnp.ones(3)]))\n", "passes a tracer as a filter"),
    "numbers that are taken from each other": ("def f(x, now, start):\n    return x * (now - start)\n\nf(jnp.ones(3), 2.5, 1.5)\n", "32 bits keep only seven digits"),
    "a number that divides a number": ("def f(x, total, count):\n    return x * (total / count)\n\nf(jnp.ones(3), 2.0, 3)\nf(jnp.ones(3), 2.0, 0)\n", "may be 0"),
    "a number that is rounded down": ("def f(x, t):\n    return x * (t // 0.1)\n\nf(jnp.ones(3), 2.5)\n", "rounds a Python number"),
    "a power of a whole number": ("def f(x, step):\n    return x / (1 + step**3)\n\nfor step in range(9):\n    f(jnp.ones(3), step)\n", "may not fit into 32 bits"),
    "whole numbers that are multiplied, further down": ("def g(x, a, b):\n    return x * (a * b)\ndef f(x, step):\n    return g(x, step, step)\n\nf(jnp.ones(3), 7)\n", "may not fit into 32 bits"),
    "a row that may not be there": ("T = np.ones((3, 3))\ndef f(x, row):\n    return x * T[row]\n\nf(jnp.ones(3), 2)\n", "IndexError"),
    "the type of a number": ("def f(x, rate):\n    return x * rate if isinstance(rate, float) else x\n\nf(jnp.ones(3), 0.5)\n", "tests the type"),
    "an attribute that is not a leaf": ("@jax.tree_util.register_pytree_node_class\nclass P:\n    def __init__(self, w):\n        self.w, self.note = w, ''\n    def tree_flatten(self):\n        return (self.w,), None\n    @classmethod\n    def tree_unflatten(cls, _, leaves):\n        return cls(*leaves)\ndef f(p):\n    return P(jnp.sin(p.w))\np = f(P(jnp.ones(3)))\nprint(p.note)\n", "`note` of a `P`"),
    "a result that is compared by identity": ("def f(x):\n    return jnp.sin(x)\nx = jnp.ones(3)\nprint(f(x) is x)\n", "the same object"),
    "a list that is given back": ("def f(x, parts):\n    return jnp.sin(x), parts\n\nf(jnp.ones(3), [jnp.ones(3)])\n", "returns `parts`"),
    "the order of what an object is called with": ("class Net:\n    def __call__(self, params):\n        for one in params.values():\n            print(one)\nnet = Net()\ndef f(x):\n    return {'w': jnp.sin(x), 'b': jnp.cos(x)}\nnet(f(jnp.ones(3)))\n", "may depend on their order"),
    "the order of a result": ("def f(x):\n    return {'loss': jnp.sin(x), 'accuracy': jnp.cos(x)}\nprint(f(jnp.ones(3)))\n", "may depend on their order"),
    "the order of one of two results": ("def f(x):\n    return {'loss': jnp.sin(x), 'accuracy': jnp.cos(x)}, x\nfound, x = f(jnp.ones(3))\nprint(list(found))\n", "may depend on their order"),
    "the order of one of two results that stay together": ("def f(x):\n    return x, {'loss': jnp.sin(x), 'accuracy': jnp.cos(x)}\nboth = f(jnp.ones(3))\nprint(list(both[1]))\n", "may depend on their order"),
    "the order of a result behind a star": ("def f(x):\n    return x, {'loss': jnp.sin(x), 'accuracy': jnp.cos(x)}\n*_, found = f(jnp.ones(3))\nprint(list(found))\n", "it is stored"),
    "the order of a result after a starred one": ("def f(x):\n    return *jnp.split(x, 2), {'loss': jnp.sin(x), 'accuracy': jnp.cos(x)}, x\na, b, found, x = f(jnp.ones(4))\nprint(list(found))\n", "may depend on their order"),
    "the order of a result that is returned with others": ("def f(x):\n    return {'loss': jnp.sin(x), 'accuracy': jnp.cos(x)}\ndef g(x):\n    return x, f(x)\n_, found = g(jnp.ones(3))\nprint(list(found))\n", "may depend on their order"),
    "the order of a result that only one path jits": ("def g(x):\n    return {'loss': jnp.sin(x), 'accuracy': jnp.cos(x)}\nh = jax.jit(g)\ndef f(x, debug):\n    if debug:\n        found = h(x)\n    else:\n        found = g(x)\n    return x, found\n\n_, found = f(jnp.ones(3), True)\nprint(list(found))\n", "may depend on their order"),
    "the order of a dict of jitted results": ("@jax.jit\ndef g(x):\n    return jnp.sin(x)\ndef f(x):\n    return {'loss': g(x), 'accuracy': g(x)}\n\nprint(list(f(jnp.ones(3))))\n", "may depend on their order"),
    "the order of a result, later": ("def f(x):\n    return x, {'loss': jnp.sin(x), 'accuracy': jnp.cos(x)}\ndef show(found):\n    for key in found:\n        print(key)\nx, found = f(jnp.ones(3))\nshow(found)\n", "may depend on their order"),
    "the order of results that are kept in a list": ("def f(x):\n    return {'loss': jnp.sin(x), 'accuracy': jnp.cos(x)}\nkept = []\nkept.append({k: float(v) for k, v in f(jnp.ones(())).items()})\nprint(kept)\n", "may depend on their order"),
    "layers in the order of a dictionary": ("def f(x, layers):\n    for layer in layers.values():\n        x = jnp.tanh(x @ layer)\n    return x\n\nf(jnp.ones(3), {f'layer{n}': jnp.eye(3) for n in range(3)})\n", "may depend on their order"),
    **{
        f"numpy's {call.partition('(')[0]} on a path that no run took": (f"def g(x, check):\n    if check:\n        x = jnp.sin(np.{call})\n    return x\ndef f(x):\n    return g(jnp.sin(x), False)\n" + CALL, "to host code")
        for call in ("clip(x, 0, 1)", "dot(x, x)", "ravel(x)", "sort(x)", "trace(x)", "diagonal(x)", "float32(x)")
    },
    **{
        f"a file that `{read.partition('(')[0]}` reads on a path that no run took": (f"import sys\ndef f(x):\n    return (x - x.mean()) / x.std()\n\nx = jnp.ones(3)\nif len(sys.argv) > 1:\n    x = {read}\nprint(f(x))\n", "NumPy array")
        for read in ("np.loadtxt(sys.argv[1])", "np.load(sys.argv[1])['x']", "np.genfromtxt(sys.argv[1], delimiter=',')[:, 1:]", "np.fromfile(sys.argv[1])")
    },
    "an archive that is closed again": ("import sys\ndef f(x):\n    return (x - x.mean()) / x.std()\n\nx = jnp.ones(3)\nif len(sys.argv) > 1:\n    with np.load(sys.argv[1]) as arrays:\n        x = arrays['x']\nprint(f(x))\n", "NumPy array"),
    "an exception with an array": ("import sys\nFAR = len(sys.argv) > 1\nclass Gone(Exception):\n    pass\ndef f(x):\n    size = jnp.abs(x).max()\n    if FAR:\n        raise Gone('far', size)\n    return x / size\n" + CALL, "passes a tracer to an exception"),
    "the type of what a file holds": ("import pickle, sys\ndef f(x):\n    if isinstance(x, (list, np.ndarray)):\n        return jnp.sum(jnp.asarray(x))\n    return jnp.mean(x)\n\nf(pickle.load(open(sys.argv[1], 'rb')))\n", "tests the type"),
    "a whole number of any size": ("def f(x, seed):\n    return x * (seed % 1000)\n\nimport sys\nf(jnp.ones(3), int(sys.argv[1]))\n", "OverflowError"),
    "two moments in whole numbers": ("def f(x, now, start):\n    return x * (now - start)\n\nimport sys\nf(jnp.ones(3), int(sys.argv[1]), int(sys.argv[2]))\n", "may not fit into 32 bits"),
    "a seed, further down": ("def g(seed):\n    return jax.random.normal(jax.random.key(seed), (3,))\ndef f(x, seed):\n    return x + g(seed)\n\nimport sys\nf(jnp.ones(3), int(sys.argv[1]))\n", "OverflowError"),
    "a string on another path": ("def f(x, w):\n    return jnp.mean(x) if isinstance(w, str) else x @ w\n\nimport sys\nf(jnp.ones(3), 'mean' if len(sys.argv) > 1 else jnp.ones(3))\n", "`w` may be a string"),
    "a batch with a name": ("def batches(names):\n    for _ in range(3):\n        batch = {'x': jnp.ones(3)}\n        if names:\n            batch['name'] = 'a'\n        yield batch\ndef f(batch):\n    return jnp.sin(batch['x'])\nfor one in batches(False):\n    f(one)\n", "`batch` may be a string, or hold one"),
    "rows that come one by one": ("def f(rows, lazy):\n    x = jnp.zeros(3)\n    for row in rows:\n        x = jnp.sin(x + row)\n    return x\n\nf([jnp.ones(3)], 1)\nf((row for row in [jnp.ones(3)]), 1)\n", "`rows` may be an iterator"),
    "a list of options in the place of a tuple": ("import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--shape', type=int, nargs=2)\nargs = parser.parse_args()\ndef f(x, debug):\n    return jnp.sin(x).reshape(debug)\n\nf(jnp.ones(4), args.shape or (2, 2))\n", "`debug` may be a list, which is unhashable"),
    "settings that are equal and not the same": ("import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    n: int\n    heat: float = dataclasses.field(default=1.0, compare=False)\ndef f(x, debug):\n    return jnp.sin(x) * debug.heat\n\nf(jnp.ones(3), C(1))\nf(jnp.ones(3), C(1, 0.1))\n", "treats different values as equal"),
    "an equality of one's own": ("class C:\n    def __init__(self, heat):\n        self.heat = heat\n    def __eq__(self, other):\n        return True\n    def __hash__(self):\n        return 1\ndef f(x, debug):\n    return jnp.sin(x) * debug.heat\n\nf(jnp.ones(3), C(1.0))\nf(jnp.ones(3), C(0.1))\n", "treats different values as equal"),
    "a product of whole numbers of NumPy": ("def f(counts):\n    weight = counts * counts\n    return jnp.sin(weight / 2)\n\nf(np.arange(3))\n", "may compute integers"),
    "a sum of whole numbers of NumPy, further down": ("def g(rows):\n    return jnp.log(rows.sum(axis=0))\ndef f(x, rows):\n    return x * g(rows)\n\nf(jnp.ones(3), np.arange(3))\n", "adds up integers"),
    "a difference of wide floats": ("def f(x, now, start):\n    late = now.astype(np.float64)\n    early = start.astype(float)\n    return x * jnp.sin(late - early)\n\nf(jnp.ones(3), np.arange(3.0), np.ones(3))\n", "takes a difference"),
    "a module that is searched for functions": ("import inspect, sys\ndef f(x):\n    return jnp.sin(x)\nfound = inspect.getmembers(sys.modules[__name__], inspect.isfunction)\n" + CALL, "tests for a Python function"),
    "the class of the function": ("import types\ndef f(x):\n    return jnp.sin(x)\nHOOKS = {'f': f}\nfor hook in HOOKS.values():\n    assert isinstance(hook, (types.FunctionType, types.BuiltinFunctionType))\n" + CALL, "tests for a Python function"),
    "the code of a function": ("def f(x):\n    return jnp.sin(x)\ndef parameters(g):\n    return g.__code__.co_argcount\nprint(parameters(f))\n" + CALL, "reads an attribute that a jitted"),
    "a function that is pickled": ("import pickle\ndef f(x):\n    return jnp.sin(x)\npickle.dumps({'name': 'f', 'f': f})\n" + CALL, "may pickle the function"),
    "a function for other processes": ("import multiprocessing\ndef f(x):\n    return jnp.sin(x)\nwith multiprocessing.Pool(2) as pool:\n    pool.map(f, [1.0])\n" + CALL, "to another process"),
    "the defaults of what it calls": ("def g(x, k=1.0):\n    return x * k\ndef f(x):\n    return jnp.sin(g(x))\nf(jnp.ones(3))\ng.__defaults__ = (2.0,)\n" + CALL, "other defaults"),
    "a search for NaN": ("def f(x):\n    return jnp.where(x > 0, jnp.log(x), 0.0)\nimport sys\nwith jax.debug_nans('--strict' in sys.argv):\n    f(jnp.ones(3))\n" + CALL, "checks no value inside"),
    "a search for NaN from the start": ("jax.config.update('jax_debug_nans', True)\ndef f(x):\n    return jnp.where(x > 0, jnp.log(x), 0.0)\n" + CALL, "checks no value inside"),
    "a whole number and a float that are equal": ("import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    scale: float = 2\ndef f(x, debug):\n    return jnp.sin(x) * debug.scale\n\nf(jnp.arange(3), C())\nf(jnp.arange(3), C(2.0))\n", "treats different values as equal"),
    "settings that are copied": ("from typing import NamedTuple\nclass C(NamedTuple):\n    scale: float = 2.0\ndef f(x, debug):\n    return jnp.sin(x) * debug.scale\n\nc = C()\nf(jnp.arange(3), c)\nf(jnp.arange(3), c._replace(scale=2))\n", "treats different values as equal"),
    "a tuple of numbers that are equal": ("def f(x, debug):\n    return jnp.sin(x) * debug[0]\n\nf(jnp.arange(3), (2, 3))\nf(jnp.arange(3), (2.0, 3))\n", "numbers of more than one type"),
    "truth values that are counted": ("def f(x, step):\n    return x * ((step > 10) + (step > 20))\n\nfor step in range(30):\n    f(jnp.ones(3), step)\n", "adds Python bools"),
    "flags that are counted": ("def f(x, on, off):\n    return x * (on + off)\n\nf(jnp.ones(3), True, False)\n", "adds Python bools"),
    "the negative of a truth value": ("def f(x, step):\n    return x * -(step > 10)\n\nfor step in range(30):\n    f(jnp.ones(3), step)\n", "does arithmetic with a bool"),
    "a root of what may be negative": ("def f(x, a):\n    return jnp.abs(x * a**0.5)\n\nf(jnp.ones(3), 2.0)\nf(jnp.ones(3), -2.0)\n", "may be complex in Python"),
    "a power that divides": ("def f(x, step):\n    return x * step**-0.5\n\nfor step in range(9):\n    f(jnp.ones(3), step)\n", "ZeroDivisionError"),
    "a method of a number": ("def f(x, n):\n    return x * n.bit_length()\n\nf(jnp.ones(3), 3)\n", "that arrays do not have"),
    "a check that tracers are spared": ("def g(x):\n    if not isinstance(x, jax.core.Tracer):\n        x = jnp.clip(x, 0, 1)\n    return x\ndef f(x):\n    return jnp.sin(g(x))\n" + CALL, "distinguishes arrays"),
    "the class of an array": ("def g(x):\n    return x * 2 if type(x) is type(jnp.ones(1)) else x\ndef f(x):\n    return jnp.sin(g(x))\n" + CALL, "distinguishes arrays"),
    "a part that tracers have not": ("def g(x):\n    return x * 2 if hasattr(x, 'addressable_shards') else x\ndef f(x):\n    return jnp.sin(g(x))\n" + CALL, "distinguishes arrays"),
    "where an array lies": ("def g(x, on):\n    return jax.device_put(x, x.sharding) if on else x\ndef f(x):\n    return g(jnp.sin(x), False)\n" + CALL, "a tracer does not have"),
    "an assertion that shows an array": ("def f(x):\n    assert x.ndim == 1, x\n    return jnp.sin(x)\n" + CALL, "passes a tracer to an exception"),
    "a function that is patched by name": ("from unittest import mock\ndef g(x):\n    return x\ndef f(x):\n    return jnp.sin(g(x))\nwith mock.patch(f'{__name__}.g', lambda x: -x):\n    f(jnp.ones(3))\n" + CALL, "reads `g`"),
    "a variable of the module itself": ("import sys\nHEAT = 1.0\ndef f(x):\n    return x * HEAT\ndef late():\n    sys.modules[__name__].HEAT = 2.0\nlate()\n" + CALL, "reads `HEAT`"),
    "a variable of the main module": ("HEAT = 1.0\ndef f(x):\n    return x * HEAT\ndef late():\n    import __main__\n    __main__.HEAT = 2.0\nlate()\n" + CALL, "reads `HEAT`"),
    "an attribute of the class, set by an object": ("class C:\n    rate = 1.0\n    def slow(self):\n        type(self).rate = 0.5\nc = C()\ndef f(x):\n    return x * c.rate\nc.slow()\n" + CALL, "c.rate"),
    "an attribute of the class, set by its name": ("class C:\n    rate = 1.0\ndef change(**values):\n    for name, value in values.items():\n        setattr(C, name, value)\ndef f(x):\n    return x * C.rate\nchange(rate=2.0)\n" + CALL, "C.rate"),
    "a table that NumPy writes into": ("T = np.ones(3, np.float32)\ndef change():\n    np.multiply(T, 2, out=T)\nchange()\ndef f(x):\n    return x * T\n" + CALL, "reads `T`"),
    "an object that is no pytree": ("class Q:\n    def __init__(self, value):\n        self.value = value\ndef f(q):\n    return jnp.sin(q.value)\n\nf(Q(jnp.ones(3)))\n", "not a pytree"),
    "an array that is looked for in a list": ("def f(x):\n    return jnp.sin(x)\nseen = [jnp.ones(3)]\nx = f(seen[0])\nprint(seen.index(x), x in seen)\n", "the same object"),
    "a pattern for a type": ("def f(x, rate):\n    match rate:\n        case float():\n            return x * rate\n        case _:\n            return x\n\nf(jnp.ones(3), 0.5)\n", "branches on a tracer"),
    "an attribute of the function itself": ("def f(x):\n    return jnp.sin(x) * f.scale\nf.scale = 2.0\ndef late():\n    f.scale = 3.0\nlate()\n" + CALL, "reads `f.scale`"),
    "a string of an array": ("def f(x):\n    name = f'{x}'\n    return jnp.sin(x) * len(name)\n" + CALL, "into a string"),
}  # fmt: skip
FINE = {
    "a sum that begins as a number, by how many were added": "def f(x, rows):\n    total = 0.0\n    for one in rows:\n        total = total + jnp.sum(one * x)\n    return x * (1e3 * total / len(rows))\n\nf(jnp.ones(3), [jnp.ones(3)])\n",
    "a sum that is scaled many times": "def f(x, rows):\n    total = 0.0\n    total = total + jnp.sum(x)\n" + "    total = total * 0.9\n" * 14 + "    return x * (total / len(rows))\n\nf(jnp.ones(3), [jnp.ones(3)])\n",
    "parameters in the order of their layers": "class Layer:\n    def init(self, key):\n        return {'w': jax.random.normal(key, (3,)), 'b': jnp.zeros(3)}\n    def __call__(self, p, x):\n        return x * p['w'] + p['b']\nclass Net:\n    def __init__(self):\n        self.layers = [Layer() for _ in range(2)]\n    def init(self, key):\n        return {'layers': [one.init(key) for one in self.layers], 'bias': jnp.zeros(3)}\n    def __call__(self, params, x):\n        for layer, p in zip(self.layers, params['layers']):\n            x = layer(p, x)\n        return x + params['bias']\nnet = Net()\ndef f(params, x):\n    return jax.grad(lambda q: net(q, x).sum())(params)\n\ng = f(net.init(jax.random.key(0)), jnp.ones(3))\nprint(g['bias'])\n",
    "a dict that an object is called with": "class Net:\n    def __call__(self, params, x):\n        return x @ params['w'] + params['b']\nnet = Net()\ndef f(x):\n    return {'w': jnp.sin(x), 'b': jnp.cos(x)}\nparams = f(jnp.ones(3))\nprint(net(params, jnp.ones(3)))\n",
    "an unknown argument that is replaced before it is returned": "import json\ndef g(x, n):\n    n = jnp.sin(x)\n    return x * 2, n\ndef f(x):\n    return g(x, 2.0)\n" + CALL,
    "keys of a dict that are sorted": "def f(p, keys):\n    return {name: p[name] + jax.random.normal(k, (3,)) for k, name in zip(keys, sorted(p))}\n\nf({'w': jnp.ones(3), 'b': jnp.ones(3)}, jax.random.split(jax.random.key(0)))\n",
    "a divisor that a gradient leaves at its default": "def loss(w, n=4):\n    total = 0.0\n    for one in w['parts']:\n        total = total + one.sum()\n    return total / n\ndef f(w):\n    return jax.grad(loss)(w)\n\nf({'parts': [jnp.ones(3)]})\n",
    "a dict in an attribute that is only read": "import optax\ndef f(kept, params):\n    return jax.tree.map(lambda k, p: 0.9 * k + 0.1 * p, kept, params)\nclass A:\n    def __init__(self):\n        self.params = {'w': jnp.ones(3)}\n        self.kept = self.params\n    def step(self, x):\n        self.params = optax.apply_updates(self.params, {'w': x})\n        self.kept = f(self.kept, self.params)\n\nA().step(jnp.ones(3))\n",
    "a float from which unknown rows are subtracted": "def f(x, done, more):\n    return x * jnp.sin(1.0 - done) * (0.98 * more)\n\nf(jnp.ones(3), np.arange(3), np.arange(3))\n",
    "the order of the result of a jitted function": ("@jax.jit\ndef g(x):\n    return {'loss': jnp.sin(x), 'accuracy': jnp.cos(x)}\ndef f(x):\n    return x * 2, g(x)\n\n_, found = f(jnp.ones(3))\nprint(list(found))\n"),
    "the order of metrics beside a compiled gradient": ("def loss(p, x):\n    return jnp.sum(p['w'] * x + p['b']), {'mse': x.sum(), 'mae': x.max()}\ngrad = jax.jit(jax.value_and_grad(loss, has_aux=True))\ndef f(p, x):\n    (value, found), g = grad(p, x)\n    return jax.tree.map(jnp.subtract, p, g), value, found\n\np, value, found = f({'w': jnp.ones(3), 'b': jnp.ones(3)}, jnp.ones(3))\nfor key, one in found.items():\n    print(key, one)\n"),
    "the order of another result": ("def f(x):\n    return {'w': jnp.sin(x), 'b': jnp.cos(x)}, {'loss': x.sum()}\n\np, found = f(jnp.ones(3))\nprint(list(found), p['w'])\n"),
    "bytes of an array that are looked for in a set": ("def known(x):\n    return np.asarray(x).tobytes()\ndef f(x):\n    return jnp.sin(x)\nx = f(jnp.ones(3))\nseen = {known(x)}\nprint(known(x) in seen)\n"),
    "floats that a generator draws": "class Task:\n    def __init__(self, rng):\n        self.a = rng.uniform(0.5, 2.0, (5, 1))\n        self.rng = rng\n\n    def batch(self):\n        x = self.rng.uniform(1, 4, (5, 1))\n        return x, self.a * np.sin(x)\n\ndef f(w, x, y):\n    return jnp.sum(w * (x * x) * (x * y))\n\ntask = Task(np.random.default_rng(0))\nx, y = task.batch()\nf(jnp.ones(3), x, y)\n",
    "a flag of linen that is written out": "import flax.linen as nn\nclass Net(nn.Module):\n    @nn.compact\n    def __call__(self, x, train):\n        x = nn.Dense(3)(x)\n        if train:\n            x = x * 2\n        return x\n\nnet = Net()\n\ndef f(params, x):\n    return jnp.sin(net.apply(params, x, train=True))\n\nf(net.init(jax.random.key(0), jnp.ones((2, 3)), True), jnp.ones((2, 3)))\n",
    "a flag of linen by position": "import flax.linen as nn\nclass Net(nn.Module):\n    @nn.compact\n    def __call__(self, x, train: bool = False):\n        x = nn.Dense(3)(x)\n        if train:\n            x = x * 2\n        return x\n\nnet = Net()\n\ndef f(params, x):\n    return jnp.sin(net.apply(params, x, True))\n\nf(net.init(jax.random.key(0), jnp.ones((2, 3)), True), jnp.ones((2, 3)))\n",
    "a mapped function of many dicts": "def f(trees):\n    return jnp.sin(jax.tree.map(lambda *xs: sum(xs), *trees)['a'])\n\nprint(f([{'b': jnp.ones(3), 'a': jnp.ones(2)}, {'b': jnp.ones(3), 'a': jnp.ones(2)}]))\n",
    "a copy of a dict": "import copy\ndef f(p):\n    return {'b': p['b'] * 2, 'a': p['a']}\n\nbest = copy.deepcopy(f({'b': jnp.ones(3), 'a': jnp.ones(2)}))\nprint(best['a'])\n",
    "a letter that is looked for in a text": ("LETTERS = 'abc'\ndef f(x):\n    return jnp.sin(x)\none = f(jnp.ones(3))\nfor one in ['a', one]:\n    if isinstance(one, str):\n        print(LETTERS.index(one), one in LETTERS)\n"),
    "leaves that a test of their kind chooses": "import equinox as eqx\ndef f(model):\n    spec = jax.tree.map(eqx.is_array, model)\n    frozen = jax.tree_util.tree_map(lambda leaf: False, model)\n    return eqx.filter(model, spec), eqx.partition(model, frozen), eqx.filter(model, eqx.is_array)\n\nf([jnp.ones(3)])\n",
    "a pattern for what is static": "def f(x, debug):\n    match debug:\n        case 'sin':\n            return jnp.sin(x)\n        case _:\n            return x\n\nf(jnp.ones(3), 'sin')\n",
    "results that are kept in a list and read by their keys": "def f(x):\n    return {'loss': jnp.sin(x), 'accuracy': jnp.cos(x)}\nkept = []\nkept.append({k: float(v) for k, v in f(jnp.ones(())).items()})\nprint([one['loss'] for one in kept])\n",
    "what a function inside returns to its caller": "def f(x):\n    def loss(w):\n        return jnp.sum(w), print\n    value, _ = loss(x)\n    return value\n" + CALL,
    "truth values that choose": "def f(x, step):\n    return x * 0.5 ** (step > 10) * (1 + 2 * (step > 20)) * ((step > 3) & (step < 5))\n\nfor step in range(30):\n    f(jnp.ones(3), step)\n",
    "a rate that falls with a root": "def f(x, step):\n    return x * (step + 1) ** -0.5\n\nfor step in range(9):\n    f(jnp.ones(3), step)\n",
    "a setting of a class that is only read": "class C:\n    rate = 1.0\nc = C()\ndef f(x):\n    return x * c.rate * C.rate\n" + CALL,
    "an object that is a pytree": "from typing import NamedTuple\nclass Q(NamedTuple):\n    value: jax.Array\ndef f(q):\n    return jnp.sin(q.value)\n\nf(Q(jnp.ones(3)))\n",
    "the name of a function": "import inspect\ndef f(x):\n    return jnp.sin(x)\nprint(f.__name__, inspect.signature(f))\n" + CALL,
    "results that are pickled": "import pickle, types\ndef f(x):\n    return jnp.sin(x)\nstate = {'w': f(jnp.ones(3)), 'step': 1}\npickle.dumps(state)\ndef other():\n    return isinstance(state, types.FunctionType), other.__code__\n" + CALL,
    "a search for NaN that is switched off": "jax.config.update('jax_debug_nans', False)\ndef f(x):\n    return jnp.where(x > 0, jnp.log(x), 0.0)\n" + CALL,
    "settings that are made once": "import dataclasses, json, sys\n@dataclasses.dataclass(frozen=True)\nclass C:\n    scale: float = 2\ndef f(x, debug):\n    return jnp.sin(x) * debug.scale\ndef main():\n    config = C(json.loads(sys.argv[1]))\n    for _ in range(3):\n        f(jnp.arange(3), config)\nmain()\n",
    "settings of one type": "import dataclasses, sys\n@dataclasses.dataclass(frozen=True)\nclass C:\n    name: str\n    scale: float = 2.0\n    sizes: tuple = (3, 4)\ndef f(x, debug):\n    return jnp.sin(x) * debug.scale\nfor one in sys.argv:\n    f(jnp.arange(3), C(one, float(one)))\n",
    "shapes that are static": "def f(x, debug):\n    return jnp.sin(x).reshape(debug)\n\nx = jnp.ones(4)\nfor shape in [(2, 2), (4, 1), x.shape]:\n    f(x, shape)\nf(x, (1, 4))\n",
    "numbers that lose nothing": ("def f(x, rate, step):\n    scale = rate / (1 + 0.5 * step)\n    return (1 - scale) * x + scale * jnp.sin(x) * 0.9**step\n\nfor step in range(9):\n    f(jnp.ones(3), 0.5, step)\n"),
    "metrics that are read by name": ("def f(x):\n    return {'loss': jnp.sin(x), 'accuracy': jnp.cos(x)}\nfound = f(jnp.ones(3))\nprint(found['loss'], found.get('accuracy'))\nprint(sum(one.sum() for one in found.values()))\n"),
    "parameters by hand": ("def f(params, x):\n    new = {}\n    for key, value in params.items():\n        new[key] = value - 0.1 * x\n    return new\nparams = {'w': jnp.ones(3), 'b': jnp.ones(3)}\nfor _ in range(3):\n    params = f(params, jnp.ones(3))\nprint(params['w'])\n"),
    "parameters by trees": ("def f(params, x):\n    return jax.tree.map(lambda one: one - x, params)\nparams = f({'w': jnp.ones(3), 'b': jnp.ones(3)}, jnp.ones(3))\nfor name, one in params.items():\n    print(name, one)\n"),
    "settings that are static": "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    n: int\n    shape: tuple = (3,)\ndef f(x, debug):\n    return jnp.sin(x).reshape(debug.shape) * debug.n\n\nf(jnp.ones(3), C(1))\n",
    "parameters that are put together": "def f(params, x):\n    return {name: one - x for name, one in params.items()}\nparams = {}\nfor name in 'ab':\n    params.update({name: jnp.ones(3)})\nparams = f(params, jnp.ones(3))\nprint(params['a'])\n",
    "narrow NumPy arrays, further down": "def g(a, b):\n    return jnp.sin(a * b - a)\ndef f(rows):\n    small = rows.astype(np.float32)\n    return g(small, small)\n\nf(np.ones(3))\n",
    "a dict that is unpacked by name": "def g(x, w, b, stride=1):\n    return jnp.sin(x[::stride] * w + b)\ndef f(params, x):\n    return g(x, **params)\n\nf({'w': jnp.ones(3), 'b': jnp.ones(3)}, jnp.ones(3))\n",
    "a model of haiku with state": "import haiku as hk\nnet = hk.transform_with_state(lambda x: hk.Linear(3)(x))\nplain = hk.without_apply_rng(net)\ndef f(params, state, x):\n    out, state = plain.apply(params, state, x)\n    return out.sum(), state\n\nparams, state = net.init(jax.random.key(0), jnp.ones((1, 3)))\nf(params, state, jnp.ones((1, 3)))\n",
    "shapes, and a value that fills": "def f(x, n):\n    return x + jnp.full((3, 3), 7) + jnp.full(x.shape, n)\n\nf(jnp.ones(3), 2.5)\n",
    "parameters that are mapped over": "def f(params, x):\n    return jnp.sin(params['w'] * x)\nparams = {'w': jnp.ones(3)}\njax.vmap(f, in_axes=(None, 0))(params, jnp.ones(3))\nf(params, jnp.ones(3))\n",
    "batches of a generator": "def batches():\n    for _ in range(3):\n        yield {'x': np.ones(3), 'y': (jnp.ones(3), None)}\ndef f(batch):\n    return jnp.sin(batch['x']) * batch['y'][0]\nfor one in batches():\n    f(one)\n",
    "what is counted": "def f(x, step, epoch):\n    key = jax.random.fold_in(jax.random.key(0), step)\n    return x * (step % 10) / (1 + epoch // 2) + jax.random.normal(key, (3,))\n\nstep = 0\nfor epoch in range(3):\n    for _ in range(3):\n        step += 1\n        f(jnp.ones(3), step, epoch)\n",
    "a whole number of any size that meets an array": "def f(x, scale):\n    return x * (scale + 1)\n\nimport sys\nf(jnp.ones(3), int(sys.argv[1]))\n",
    "narrow NumPy arrays": "def f(x, rows):\n    small = rows.astype(np.float32)\n    mask = (small > 0.5).astype('float32')\n    return x * jnp.sin(small * mask - small.mean()) + (1.0 - small).sum()\n\nf(jnp.ones(3), np.ones(3))\n",
    "a NumPy array that meets one of JAX": "def f(x, rows):\n    return (x - rows) * rows\n\nf(jnp.ones(3), np.arange(3))\n",
    "a helper of another file": "import helper\ndef f(x):\n    return helper.scaled(x)\n" + CALL,
    "numpy's functions that call the array's": "def g(x, check):\n    if check:\n        x = np.sum(x) + np.cumsum(x) + np.size(x) + np.ndim(x)\n    return x\ndef f(x):\n    return g(jnp.sin(x), False)\n" + CALL,
    "a list of its own": "def f(x):\n    rows, sums = [], []\n    for _ in range(3):\n        rows.append(x)\n        sums.append(x.sum())\n    return jnp.stack(rows), jnp.stack(sums)\n" + CALL,
    "a table that is only read": "T = {'a': 1.0, 'b': [1, 2]}\nprint(len(T), T['b'][0])\ndef f(x):\n    return jnp.sin(x) * T['a']\n" + CALL,
    "one of two branches": "import sys\nif len(sys.argv) > 1:\n    RATE = 1.0\nelse:\n    RATE = 2.0\ndef f(x):\n    return jnp.sin(x) * RATE\n" + CALL,
    "a shape decides": "def f(x):\n    if x.ndim == 1 and x.shape[0] > 2:\n        x = x[None]\n    return jnp.sin(x)\n" + CALL,
    "none is none": "def f(x, mask=None):\n    x = jnp.sin(x)\n    return x if mask is None else x * mask\n" + CALL,
    "a structure decides": "def f(d):\n    y = jnp.sin(d['x'])\n    return y + d['b'] if 'b' in d else y\n\nf({'x': jnp.ones(3)})\n",
    "a name that a local hides": "RATE = 1.0\ndef other():\n    RATE = 2.0\n    return RATE\ndef f(x):\n    return jnp.sin(x) * RATE\n" + CALL,
    "a closure that is made there": "def f(x):\n    def inner(y):\n        return y * x\n    return jax.vmap(inner)(jnp.sin(x))\n" + CALL,
    "an object that is made there": "class C:\n    def __init__(self, w):\n        self.w = w\n        self.n = 0\n    def __call__(self, x):\n        return x * self.w\ndef f(x):\n    return C(jnp.sin(x))(x)\n" + CALL,
    "a recursion": "def g(x, n):\n    return x if n == 0 else g(jnp.sin(x), n - 1)\ndef f(x):\n    return g(jnp.sin(x), 3)\n" + CALL,
}  # fmt: skip
OTHERS = {
    "other": "import main\nrate = 1.0\nmain.RATE = 2.0\ndef scaled(x):\n    print(x)\n    return x\n",
    "helper": "import jax.numpy as jnp\nFACTOR = 2.0\ndef scaled(x):\n    return jnp.sin(x) * FACTOR\n",
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_staging_would_change_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    static = ("debug",) if "debug" in text else ()
    assert reason in refusal(tmp_path, text, static=static, **OTHERS)


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_what_only_computes_is_staged(tmp_path: Path, text: str) -> None:
    static = ("debug",) if "debug" in text else ()
    assert refusal(tmp_path, text, static=static, helper=OTHERS["helper"]) == ""


@pytest.mark.parametrize(("call", "known", "strict"), [("print(x)", True, True), ("g(x)", False, True), ("jnp.sin(x)", False, False)])  # fmt: skip
def test_a_loop_is_refused_for_what_is_known_and_under_proof_for_what_is_not(
    tmp_path: Path, call: str, known: bool, strict: bool
) -> None:
    text = f"{HEAD}def f(xs, g):\n    for x in xs:\n        y = {call}\n    return y\n"
    source = SourceFile(tmp_path / "a.py", "a.py", text, "utf-8", False, "")
    program = Program({"a.py": source})
    file = program.file("a.py")
    loop = file.tree.body[-1].body[0].body  # type: ignore[attr-defined]
    refused = []
    for mode in (False, True):
        try:
            check_nodes(program, file, loop, strict=mode)
            refused.append(False)
        except Refused:
            refused.append(True)
    assert refused == [known, strict]


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ("jax.config.update('jax_numpy_dtype_promotion', 'strict')", True),
        ("with jax.numpy_dtype_promotion('strict'):\n    pass", True),
        ("import os\nos.environ['JAX_NUMPY_DTYPE_PROMOTION'] = 'strict'", True),
        ("jax.config.update('jax_numpy_dtype_promotion', 'standard')", False),
        ("jax.config.update('jax_platforms', 'cpu')", False),
    ],
)
def test_a_counter_that_does_not_promote_as_an_array(tmp_path: Path, settings: str, refused: bool) -> None:
    """Under `strict`, 0.5 * 3 is fine, and 0.5 * jnp.int32(3) raises."""
    text = f"{HEAD}def f(x):\n    for t in range(9):\n        x = x + 0.05 * t\n    return x\n\n{settings}\n"
    program = Program({"a.py": SourceFile(tmp_path / "a.py", "a.py", text, "utf-8", False, "")})
    file = program.file("a.py")
    loop = next(one for one in ast.walk(file.tree) if isinstance(one, ast.For))
    told = ""
    try:
        check_nodes(program, file, loop.body, strict=True)
    except Refused as reason:
        told = str(reason)
    assert ("it may run under `jax_numpy_dtype_promotion`" in told) is refused


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("x * since(START + 0.25 * n, START)", "32 bits keep only seven digits"),
        ("x * (1.0 / n)", "may be 0"),
        ("x * n**3", "may not fit into 32 bits"),
        ("x * TABLE[n]", "IndexError"),
        ("x * (0.5 / (1 + n)) + jnp.sin(n * 0.1) - START", ""),
    ],
)
@pytest.mark.parametrize(
    "loop",
    [
        "    rows = []\n    for n in range(9):\n        rows.append({row})\n",
        "    rows = [{row} for n in range(9)]\n",
    ],
)
def test_the_number_of_a_row_that_needs_more_than_32_bits(
    tmp_path: Path, row: str, reason: str, loop: str
) -> None:
    head = f"{HEAD}START = 1.7e9\nTABLE = np.ones(5)\ndef since(now, start):\n    return now - start\n"
    text = f"{head}def f(x):\n{loop.format(row=row)}    return rows\n"
    program = Program({"a.py": SourceFile(tmp_path / "a.py", "a.py", text, "utf-8", False, "")})
    file = program.file("a.py")
    body = file.tree.body[-1].body  # type: ignore[attr-defined]
    node = body[1].body[0].value.args[0] if len(body) == 3 else body[0].value.elt
    told = ""
    try:
        check_nodes(program, file, [node], strict=True)
    except Refused as refused:
        told = str(refused)
    assert reason in told if reason else told == ""


@pytest.mark.parametrize(
    ("body", "after", "reason"),
    [
        ("w = {'b': w['b'] * 0.9, 'a': jnp.sin(w['a'])}", "for key in w:\n        print(key)", "`w` is a dict, whose keys a JAX loop sorts"),
        ("w = {'b': w['b'] * 0.9, 'a': jnp.sin(w['a'])}", "print(list(w))", "may depend on their order"),
        ("w = {'b': w['b'] * 0.9, 'a': jnp.sin(w['a'])}", "print(w['b'])", ""),
        ("w = {'a': w['a'] * 0.9, 'b': jnp.sin(w['b'])}", "print(list(w))", "whose keys a JAX loop sorts"),
        ("w = {'b': w['b'] * 0.9, 'a': jnp.sin(w['a'])}\n    for _ in range(2):\n        x = x + 1.0", "print(x)", ""),
        ("best = x", "print(best is x, w)", "the same object"),
        ("best = x", "print(best + x, w)", ""),
        ("part = {'b': x, 'a': x}\n        best = part['b'] + sum(part.values())", "print(best)", ""),
    ],
)  # fmt: skip
def test_the_carry_of_a_loop_is_made_anew(tmp_path: Path, body: str, after: str, reason: str) -> None:
    text = (
        f"{HEAD}def f(xs):\n    x = best = jnp.ones(3)\n    w = {{'b': x, 'a': x}}\n    print(list(w))\n"
        f"    for _ in range(60):\n        x = jnp.sin(x)\n        {body}\n    {after}\n"
    )
    program = Program({"a.py": SourceFile(tmp_path / "a.py", "a.py", text, "utf-8", False, "")})
    file = program.file("a.py")
    loop = next(one for one in ast.walk(file.tree) if isinstance(one, ast.For))
    told = ""
    try:
        check_nodes(program, file, loop.body, strict=True)
    except Refused as refused:
        told = str(refused)
    assert reason in told if reason else told == ""


NOTED = """
import jax

@jax.tree_util.register_pytree_node_class
class Weights:
    def __init__(self, w):
        self.w = w
        self.note = "fresh"

    def tree_flatten(self):
        return (self.w,), None

    @classmethod
    def tree_unflatten(cls, _, leaves):
        return cls(*leaves)

def descend(weights):
    new = Weights(weights.w * 0.9)
    new.note = weights.note + "."
    return new

def run(weights):
    for _ in range(60):
        weights = descend(weights)
    print(weights.w)

run(Weights(jax.numpy.ones(3)))
"""


@pytest.mark.parametrize("lost", [True, False])
def test_a_loop_does_not_carry_what_an_object_loses_on_the_way(tmp_path: Path, lost: bool) -> None:
    text = NOTED if lost else NOTED.replace('    new.note = weights.note + "."\n', "")
    program = Program({"a.py": SourceFile(tmp_path / "a.py", "a.py", text, "utf-8", False, "")})
    file = program.file("a.py")
    loop = next(node for node in ast.walk(file.tree) if isinstance(node, ast.For))
    if lost:
        with pytest.raises(Refused, match="`note` of a `Weights` is not a pytree leaf"):
            check_nodes(program, file, loop.body, strict=True)
    else:
        check_nodes(program, file, loop.body, strict=True)


@pytest.mark.parametrize(
    ("option", "kinds"),
    [
        ("'--start', type=float", {"number", "none"}),
        ("'-s', '--start', type=int, default=-1", {"number"}),
        ("'--start', action='store_true'", {"number"}),
        ("'--begin', dest='start'", {"text", "none"}),
        ("'--start', default='now'", {"text"}),
        ("'--start', type=float, nargs='+'", {"unknown", "none"}),
        ("'--start', type=float, nargs='?'", {"unknown"}),
        ("'--start', type=parse", {"unknown"}),
        ("'--other', type=float", {"unknown"}),
    ],
)
def test_an_option_of_the_command_line(tmp_path: Path, option: str, kinds: set[str]) -> None:
    text = f"import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument({option})\nargs = parser.parse_args()\nargs.start\n"
    program = Program({"a.py": SourceFile(tmp_path / "a.py", "a.py", text, "utf-8", False, "")})
    file = program.file("a.py")
    assert kinds_of(PossibleValues(program).of(file.tree.body[-1].value, file)) == kinds  # type: ignore[attr-defined]


def test_what_lies_outside_of_a_circle_is_worked_out_once(tmp_path: Path) -> None:
    """Each round asks the circle again, and not what hangs on it: else the work is rounds times all of a file."""
    tail = "".join(f"def g{n}(x):\n    return g{n + 1}(x) + g{n + 1}(x)\n" for n in range(100))
    text = (
        HEAD
        + tail
        + "def g100(x):\n    return x\ndef f(x, n):\n    return h(x, n) if n else g0(x)\ndef h(x, n):\n    return f(x, n - 1) + g0(x)\n"
    )
    path = tmp_path / "main.py"
    path.write_text(text)
    program = Program({str(path): SourceFile(path, str(path), text, "utf-8", False, "")})
    file = program.file(str(path))
    possible = PossibleValues(program)
    (function,) = (one for one in file.tree.body if getattr(one, "name", "") == "f")
    assert isinstance(function, ast.FunctionDef)
    possible.returned(function, file)
    assert possible.answers.steps < 600
    before = possible.answers.steps
    again = PossibleValues(program)
    again.returned(function, file)
    assert again.answers.steps < before / 10


@pytest.mark.parametrize(
    ("given", "jitted"),
    [
        ("apply_fn=model.apply, params=params, tx=tx", False),
        ("params=params, tx=optax.adam(0.1)", False),
        ("params=params, scale=jnp.ones(3)", True),
    ],
)
def test_a_call_that_is_given_a_function_is_not_jitted(rewrite: Rewrite, given: str, jitted: bool) -> None:
    before = (
        "import jax\nimport jax.numpy as jnp\nimport optax\nfrom flax import linen as nn\n\n"
        "def create(params, apply_fn=None, tx=None, scale=1.0):\n    return jax.tree.map(lambda p: p * scale, params)\n\n"
        "model = nn.Dense(3)\ntx = optax.sgd(0.1)\nparams = model.init(jax.random.key(0), jnp.ones((1, 2)))\n"
        f"state = «create({given})»\n"
    )
    after = rewrite("jit-call", before)
    assert ("is a function, which `jax.jit` rejects as an argument" not in after) == jitted
    assert after.startswith("refused: ") != jitted
