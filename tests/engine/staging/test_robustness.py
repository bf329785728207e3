"""Other people's code: whatever it does, the analysis ends with an answer and without an internal error."""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import jax
import pytest

from jaxlint.registry import all_rules
from jaxlint.source import SourceError, SourceFile
from jaxlint.source.read import read_source, source_from_bytes
from jaxlint.staging import Analysis, analyze

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
JAX = Path(jax.__file__).parent


def load(paths: Sequence[Path]) -> list[SourceFile]:
    sources = []
    for path in paths:
        try:
            sources.append(read_source(path, path.name))
        except SourceError:  # not UTF-8, on purpose
            continue
    return sources


def run(sources: Sequence[SourceFile]) -> Analysis:
    return analyze(sources, [rule() for rule in all_rules()])


def internal_errors(analysis: Analysis) -> list[str]:
    return [str(error) for error in analysis.errors if "internal error" in str(error)]


def as_jax_program(source: SourceFile) -> SourceFile:
    """The same file with an import that makes the analysis look at it at all."""
    text = f"{source.text}\nimport jax\n".encode()
    return source_from_bytes(text, source.path, source.display)


def test_files_of_pythons_own_test_suite() -> None:
    everything = sorted((STANDARD_LIBRARY / "test").rglob("*.py")) or sorted(STANDARD_LIBRARY.glob("*.py"))
    paths = random.Random(20261120).sample(everything, min(8, len(everything)))
    sources = [as_jax_program(source) for source in load(paths)]
    analysis = run(sources)
    assert internal_errors(analysis) == []
    # Nothing of it uses JAX, so nothing of it can be wrong about JAX.
    assert [f"{finding.path}:{finding.span.line} {finding.name}" for finding in analysis.findings] == []


def test_files_of_jax_itself() -> None:
    paths = [*(JAX / "numpy").rglob("*.py"), *(JAX / "_src" / "nn").glob("*.py")]
    assert len(paths) > 3
    analysis = run(load(sorted(paths)))
    assert internal_errors(analysis) == []
    assert analysis.errors == []
    errors = [finding for finding in analysis.findings if finding.category == "tracing"]
    assert [f"{finding.path}:{finding.span.line} {finding.name}" for finding in errors] == []


SYNTAX = {
    "nothing": "",
    "comments alone": "# jax\n",
    "a byte order mark": "\ufeffimport jax\n",
    "form feeds and odd line ends": "import jax\x0c\r\ndef f(x):\r    return x\n",
    "every kind of parameter": "import jax\n@jax.jit\ndef f(a, /, b, *args, c=1, d, **kw): return a, b, args, c, d, kw\nf(1, *[2], **{'d': 3})\n",
    "async": "import jax\nasync def f(x):\n    async with x as y:\n        async for z in y:\n            await z\n    return [i async for i in x]\n",
    "generators": "import jax\n@jax.jit\ndef f(x):\n    y = yield x\n    yield from [y, x]\n    return y\n",
    "match with every pattern": (
        "import jax\n@jax.jit\ndef f(x, y):\n    match y:\n        case {'a': 1, **rest}: return rest\n"
        "        case [1, *more, 2]: return more\n        case int(z) | str(z): return z\n"
        "        case None | True: return x\n        case f.name: return x\n        case (a, b) as c if a: return c\n"
        "        case _: return x\n"
    ),
    "walrus, star expressions and slices": "import jax\n@jax.jit\ndef f(x):\n    if (n := len(x)) > 1: a, *b = x\n    return x[..., None, ::2][*[0]], n\n",
    "try of every kind": "import jax\ndef f(x):\n    try:\n        return x\n    except* ValueError as e:\n        raise\n    else:\n        pass\n    finally:\n        del x\n",
    "classes in functions in classes": "import jax\nclass A:\n    def f(self):\n        class B(A, metaclass=type):\n            x: int = 1\n            def g(self): return super().f()\n        return B().g()\njax.jit(A().f)()\n",
    "decorators that are expressions": "import jax\n@(lambda f: f)\n@[jax.jit][0]\ndef f(x): return x\n",
    "calls that cannot be right": "import jax\n@jax.jit\ndef f(x): return x\nf()\nf(1, 2, 3)\nf(y=1)\njax.jit()\njax.jit(1)(2)\njax.vmap(f, 3, 4, 5, 6)\njax.lax.scan()\njax.lax.cond(1)\njax.grad()(1)\njax.tree.map()\njax.jit(f, static_argnums=object())(1)\n",
    "names that do not exist": "import jax\nnope(jax.nope.nope(x)[y].z)\njax.numpy.nope(*nope, **nope)\ndel nope\n",
    "rebinding of everything": "import jax\njax = 1\nfor jax.x in jax: pass\nprint = len = range = jax\nlen(print)\n(a.b, c[d]), *e = f = g\n",
    "type parameters in annotations": "import jax\nfrom typing import Generic, TypeVar\nT = TypeVar('T')\nclass A(Generic[T]):\n    x: 'jax.Array[T]'\ndef f(x: A[int] | None = None) -> 'nope': return x\n",
    "globals and nonlocals": "import jax\ndef f():\n    global g\n    x = 1\n    def h():\n        nonlocal x\n        x = jax.numpy.ones(1)\n    g = h\n    return h\njax.jit(f())()\n",
    "lambdas with everything": "import jax\nf = lambda *a, k=lambda: 0, **kw: (a, k, kw)\njax.jit(f)(1, k=2, z=3)\n",
    "strings of every kind": "import jax\n@jax.jit\ndef f(x): return f'{x!r:>{len(x)}}' f\"{'a' if x is None else 'b'}\" u'y' r'''z'''\n",
    "comprehensions of every kind": "import jax\n@jax.jit\ndef f(x): return {a: b for a, b in zip(x, x) if a is b}, {a for a in x}, (a for a in x for b in a), [*x, *[1]]\n",
}


@pytest.mark.parametrize("name", SYNTAX)
def test_all_of_the_language(name: str, tmp_path: Path) -> None:
    source = source_from_bytes(SYNTAX[name].encode(), tmp_path / "program.py", "program.py")
    analysis = run([source])
    assert internal_errors(analysis) == []
    assert analysis.errors == []


@pytest.mark.parametrize(
    "text",
    ["import jax\ndef f(:\n", "import jax\n\tx = 1\n", "import jax\nx = '\n", "import jax\nreturn = 1\n"],
)
def test_what_cannot_be_parsed_is_one_clear_line(text: str, tmp_path: Path) -> None:
    good = source_from_bytes(
        b"import jax\n@jax.jit\ndef f(x):\n    assert x > 0\n", tmp_path / "good.py", "good.py"
    )
    bad = source_from_bytes(text.encode(), tmp_path / "bad.py", "bad.py")
    analysis = run([bad, good])
    (error,) = analysis.errors
    assert str(error).startswith("bad.py")
    assert len(str(error).splitlines()) == 1
    assert [finding.path for finding in analysis.findings] == ["good.py"]


def test_a_crash_in_a_rule_is_an_error_of_that_file_alone(tmp_path: Path) -> None:
    class Broken(all_rules()[0]):  # type: ignore[misc]
        def on_test(self, event: object, report: object) -> None:
            raise ZeroDivisionError("a bug\nof ours")

    text = b"import jax\n@jax.jit\ndef f(x):\n    assert x > 0\n"
    bad = source_from_bytes(text, tmp_path / "bad.py", "bad.py")
    good = source_from_bytes(b"import jax\nx = jax.numpy.ones(3)\n", tmp_path / "good.py", "good.py")
    analysis = analyze([bad, good], [Broken()])
    (error,) = analysis.errors
    assert "internal error (ZeroDivisionError: a bug of ours" in str(error)
    assert str(error).startswith("bad.py")


def test_attributes_beside_the_leaves_of_a_flattened_class_may_be_undeclared() -> None:
    text = """
import jax

@jax.tree_util.register_pytree_node_class
class Config:
    rate: float
    def __init__(self, rate):
        self.rate = rate
        self.extra = {"a": [rate]}
    def tree_flatten(self):
        return (self.rate,), self.extra
    @classmethod
    def tree_unflatten(cls, extra, children):
        return cls(children[0])

@jax.jit
def f(config):
    return config.rate * 2

f(Config(1.0))
"""
    assert internal_errors(run([source_from_bytes(text.encode(), Path("config.py"), "config.py")])) == []


def test_modules_may_hold_each_other() -> None:
    text = """
from flax import nnx

class Node(nnx.Module):
    def __init__(self):
        self.other = None
        self.weight = nnx.Param(1.0)

@nnx.jit
def pair():
    a, b = Node(), Node()
    a.other = b
    b.other = a
    return a

@nnx.jit
def total(node):
    return node.weight + node.other.weight

print(total(pair()))
"""
    assert internal_errors(run([source_from_bytes(text.encode(), Path("pair.py"), "pair.py")])) == []
