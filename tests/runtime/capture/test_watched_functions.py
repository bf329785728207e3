"""Flagged functions are counted, timed and described from inside, and the program cannot tell."""

from __future__ import annotations

import copyreg
import inspect
import io
import pickle
import textwrap
import traceback
import types
from pathlib import Path
from typing import Any

import pytest

from jaxlint_runtime.capture import watched_functions
from jaxlint_runtime.capture.watched_functions import Watcher
from jaxlint_runtime.report.document import Document
from jaxlint_runtime.source_analysis.imported_files import TooMany, program_files
from tests.helpers.worker_runs import run_source


def load(folder: Path, source: str, busy: Any = lambda: False) -> tuple[Watcher, dict[str, Any]]:
    """Run a source with the functions around its `# flag` lines watched."""
    path = folder / "watched.py"
    text = textwrap.dedent(source).lstrip("\n")
    path.write_text(text)
    places = [number for number, line in enumerate(text.splitlines(), 1) if "# flag" in line]
    watcher = Watcher({str(path.resolve()): places}, busy, active=True)
    code = watcher.compile(path.read_bytes(), str(path))
    namespace: dict[str, Any] = {"__name__": "watched"}
    if code is not None:
        exec(code, namespace)
    return watcher, namespace


def test_the_functions_around_each_call_are_known(tmp_path: Path) -> None:
    watcher, names = load(
        tmp_path,
        """
        def inner(x):
            return x + 1  # flag

        def through(x): return inner(x)

        def outer(x):
            try:
                return through(x) + inner(None)  # flag
            except TypeError:
                return 0

        class Model:
            def __call__(self, x):
                return inner(x)  # flag
        """,
    )
    names["outer"](1)
    names["Model"]()(2)
    path = str((tmp_path / "watched.py").resolve())
    callers = {one.qualname: one.callers for one in watcher.records}
    assert callers == {
        "inner": {(path, "outer"), (path, "Model.__call__")},
        "outer": {("", "")},
        "Model.__call__": {("", "")},
    }
    names["inner"](3)
    assert ("", "") in callers["inner"]


def test_methods_nested_and_decorated_functions_are_counted_where_they_are(tmp_path: Path) -> None:
    watcher, names = load(
        tmp_path,
        """
        import functools

        def keep(function):
            @functools.wraps(function)
            def inner(*args): return function(*args)
            return inner

        class C:
            __secret = 3
            def method(self, x):
                "docs"
                self.__secret += x  # flag
                return super().__hash__() and self.__secret

        @keep
        @keep
        def outer(n):
            total = 0
            def nested(k):
                nonlocal total
                total += k  # flag
                return total
            return [nested(i) for i in range(n)][-1]  # flag

        def untouched(x): return x
        """,
    )
    assert names["C"]().method(2) == 5
    assert names["outer"](4) == 6
    counted = {record.qualname: record.calls for record in watcher.records}
    assert counted == {"C.method": 1, "outer": 1, "outer.<locals>.nested": 4}
    lines = {record.qualname: record.line for record in watcher.records}
    assert lines["outer"] == inspect.unwrap(names["outer"]).__code__.co_firstlineno == 15
    assert names["C"].method.__doc__ == "docs"
    assert "self.__secret += x" in inspect.getsource(names["C"].method)
    for record in watcher.records:
        assert record.timed == record.calls
        assert record.seconds > 0


def test_a_watched_function_is_still_the_plain_function(tmp_path: Path) -> None:
    source = """
        import sys
        def f(a, /, b: int = 2, *rest, c=3, **more) -> int:
            before = sorted(locals()), sys._getframe(1).f_code.co_name
            if a < 0:
                raise ValueError(a)  # flag
            return before
        """
    watcher, names = load(tmp_path, source)
    f = names["f"]
    assert type(f) is types.FunctionType
    assert not hasattr(f, "__wrapped__")
    assert str(inspect.signature(f)) == "(a, /, b: int = 2, *rest, c=3, **more) -> int"
    assert set(f.__globals__) == set(names)

    def caller() -> Any:
        return f(1, 2, 5, c="x", d=(1, 2))

    assert caller() == (["a", "b", "c", "more", "rest"], "caller")
    (record,) = watcher.records
    described = {entry["name"]: entry for entry in record.arguments or ()}
    assert list(described) == ["a", "b", "*rest", "c", "**more"]
    assert (described["a"]["value"], described["c"]["value"]) == ("1", "'x'")
    with pytest.raises(ValueError, match="-1") as raised:
        f(-1)
    frames = traceback.extract_tb(raised.value.__traceback__)[1:]
    assert [(frame.name, frame.line) for frame in frames] == [("f", "raise ValueError(a)  # flag")]
    assert record.timed == record.calls == 2


def test_code_that_is_pickled_counts_for_nobody(tmp_path: Path) -> None:
    watcher, names = load(tmp_path, "def f(x):\n    return x + 1  # flag\n")

    class ByValue(pickle.Pickler):
        """Sends functions with their code, as some libraries do for `__main__`."""

        dispatch_table = {
            **copyreg.dispatch_table,
            types.CodeType: lambda code: (rebuild, (code.co_consts,)),
        }

    stream = io.BytesIO()
    ByValue(stream).dump(names["f"].__code__)
    constants = pickle.loads(stream.getvalue())
    assert not any(type(constant).__module__.startswith("jaxlint") for constant in constants)
    assert [record.calls for record in watcher.records] == [0]


def rebuild(constants: tuple[Any, ...]) -> tuple[Any, ...]:
    return constants


def test_recursion_is_timed_once_and_traced_calls_are_not_calls(tmp_path: Path) -> None:
    busy = False
    watcher, names = load(
        tmp_path, "def f(n):\n    return 1 if n == 0 else n * f(n - 1)  # flag\n", lambda: busy
    )
    assert names["f"](5) == 120
    busy = True
    assert names["f"](0) == 1
    (record,) = watcher.records
    assert (record.calls, record.timed, record.inner_calls) == (6, 1, 1)
    watcher.active = busy = False
    assert names["f"](0) == 1
    assert record.calls == 6


def test_arguments_are_described_again_when_that_takes_little_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher, names = load(
        tmp_path,
        """
        def f(x):  # flag
            return x
        """,
    )
    clock = types.SimpleNamespace(now=100.0)

    def describe(frame: types.FrameType) -> list[dict[str, Any]]:
        clock.now += 0.5
        return [{"value": frame.f_locals["x"]}]

    monkeypatch.setattr(watched_functions, "time", types.SimpleNamespace(perf_counter=lambda: clock.now))
    monkeypatch.setattr(watched_functions, "describe_frame", describe)
    (record,) = watcher.records
    seen = []
    for call in range(1, 13):
        names["f"](call)
        clock.now += 60.0
        seen.append(record.described_call)
    # The second time makes it a whole second, which is a hundredth from the third call on; then each time waits for half as many calls more.
    assert seen == [1, 1, 3, 3, 5, 5, 5, 8, 8, 8, 8, 12]
    assert record.arguments == [{"value": 12}]


def test_generators_coroutines_and_numba_are_left_alone(tmp_path: Path) -> None:
    watcher, names = load(
        tmp_path,
        """
        class numba:
            @staticmethod
            def njit(function): return function

        def generator():
            yield 1  # flag

        async def coroutine():
            return 2  # flag

        @numba.njit
        def compiled():
            return 3  # flag

        def holds_a_generator():
            return list((lambda: (yield))())  # flag
        """,
    )
    assert list(names["generator"]()) == [1]
    assert inspect.iscoroutinefunction(names["coroutine"])
    assert {record.qualname: record.uncounted for record in watcher.records} == {
        "generator": "a generator",
        "coroutine": "a coroutine",
        "compiled": "compiled by numba",
        "holds_a_generator": None,
    }
    assert not any(isinstance(c, str) and "watch" in c for c in names["generator"].__code__.co_consts)


def nested(depth: int) -> str:
    blocks = ["    " * (n + 1) + "with x:" for n in range(depth)]
    return "\n".join(["def f(x):", *blocks, "    " * (depth + 1) + "return 1  # flag", ""])


def compiles(text: str) -> bool:
    """Python 3.11 and 3.12 take 20 blocks inside of each other, 3.13 takes 40."""
    try:
        compile(text, "nested.py", "exec")
    except SyntaxError:
        return False
    return True


def test_what_python_cannot_compile_in_a_block_is_left_as_it_is(tmp_path: Path) -> None:
    deepest = next(depth for depth in range(10, 100) if not compiles(nested(depth + 1)))
    watcher, names = load(tmp_path, nested(deepest))
    assert names == {"__name__": "watched"}  # Python's own compile follows
    assert watcher.records == []
    (record,) = watcher.missed([str((tmp_path / "watched.py").resolve())])
    assert record.uncounted == "its file cannot be watched"
    assert watcher.compile(b"def f(:", str(tmp_path / "watched.py")) is None
    assert watcher.compile(b"x = 1", str(tmp_path / "other.py")) is None


def test_programs_and_what_they_import_are_watched(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "parts.py").write_text(
        "import jax.numpy as jnp\n"
        "def evaluate(params, batches, scale=2.0):\n"
        "    return [float((params['w'] * b * scale).sum()) for b in batches]\n"
        "def helper(x):\n"
        "    return x * 2\n"
        "def unused(x):\n"
        "    return x\n"
    )
    parts = str((tmp_path / "package" / "parts.py").resolve())
    program = str((tmp_path / "program.py").resolve())
    outcome = run_source(
        tmp_path,
        """
        import inspect
        import jax, jax.numpy as jnp
        from package.parts import evaluate, helper
        import package.parts

        jitted = jax.jit(helper)

        def never():
            @jax.jit
            def step(x):
                return x + 1

        def train(steps):
            for i in range(steps):
                evaluate({"w": jnp.ones((2, 3)), "n": i}, [jnp.arange(3) * 1.0])
                jitted(jnp.ones(3))

        train(7)
        assert inspect.getsource(evaluate).startswith("def evaluate")
        assert type(package.parts.__loader__).__mro__[1].__name__ == "SourceFileLoader"
        """,
        flagged=[[parts, 3], [parts, 5], [parts, 7], [program, 12], [program, 16]],
    )
    assert outcome.ending["status"] == 0, outcome.output
    flagged = {entry["function"]: entry for entry in outcome.captured["flagged"]}
    assert set(flagged) == {"evaluate", "unused", "train"}  # `helper` is jitted: its record is the other one
    assert outcome.functions["helper"]["calls"] == 7
    assert flagged["unused"]["calls"] == 0
    assert flagged["unused"]["call_ms"] is None
    evaluate = flagged["evaluate"]
    assert (evaluate["calls"], evaluate["line"], evaluate["end_line"]) == (7, 2, 3)
    assert 0 < evaluate["seconds"] <= flagged["train"]["seconds"]
    params, batches, scale = evaluate["arguments"]
    assert params["structure"] == "{'n': *, 'w': *}"
    (leaf,) = params["leaves"]
    assert (leaf["place"], leaf["shape"], leaf["dtype"], leaf["weak_type"]) == (
        "['w']",
        [2, 3],
        "float32",
        False,
    )
    assert batches["leaves"][0]["place"] == "[0]"
    assert scale["value"] == "2.0"
    assert 1 <= evaluate["described_call"] <= 7  # which of them depends on how long describing takes
    held = {entry["name"]: entry["leaves"] for entry in evaluate["variables"]}
    assert held["params"][0]["dtype"] == "float32"  # as the first call left it
    assert "scale" not in held  # a number, and no array


def test_a_file_that_another_loader_took_is_named_as_uncounted(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("def f(x):\n    return x\n")
    outcome = run_source(
        tmp_path,
        """
        import importlib.machinery, importlib.util, sys
        class Other(importlib.machinery.SourceFileLoader): pass
        spec = importlib.util.spec_from_loader("helper", Other("helper", "helper.py"))
        sys.modules["helper"] = helper = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(helper)
        helper.__file__ = __file__.replace("program", "helper")
        helper.f(1)
        """,
        flagged=[[str(helper.resolve()), 2]],
    )
    (entry,) = outcome.captured["flagged"]
    assert (entry["function"], entry["calls"]) == ("f", None)
    assert entry["uncounted"] == "its file cannot be watched"


def test_imports_are_followed_inside_the_project_only(tmp_path: Path) -> None:
    files = {
        "train.py": "import jax\nfrom pkg.a import (\n    f,\n    sub,\n)\ndef late():\n    import tool\n",
        "pkg/__init__.py": "",
        "pkg/a.py": "from . import b, sub\nfrom .b import g\nimport missing\n",
        "pkg/sub.py": "",
        "pkg/b.py": "def g(:\n",
        "tool.py": "",
        "unrelated.py": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    root = tmp_path.resolve()

    def found(kind: str, target: str, *arguments: str) -> set[str]:
        return {str(Path(path).relative_to(root)) for path in program_files(kind, target, arguments, [root])}

    everything = {"train.py", "pkg/__init__.py", "pkg/a.py", "pkg/sub.py", "tool.py"}
    assert found("script", str(root / "train.py")) == everything
    assert found("module", "train") == everything
    assert found("module", "pkg.a") == {"pkg/__init__.py", "pkg/a.py", "pkg/sub.py"}
    (root / "test_it.py").write_text("import tool\n")
    assert found("pytest", "pytest", "-x", str(root / "test_it.py") + "::test_x") == {"test_it.py", "tool.py"}
    assert found("pytest", "pytest", str(root)) == {"test_it.py", "tool.py"}


def test_too_many_files_are_not_examined_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jaxlint_runtime.source_analysis.imported_files._MOST", 1)
    (tmp_path / "a.py").write_text("import b\n")
    (tmp_path / "b.py").touch()
    with pytest.raises(TooMany):
        program_files("script", str(tmp_path / "a.py"), (), [tmp_path.resolve()])


def test_each_finding_is_shown_once() -> None:
    document = Document(program={}, targets=[])
    place = {"path": "/p/a.py", "jit_path": None, "jit_line": None}
    document.functions = [
        {**place, "function": "step", "line": 20, "end_line": 30, "jit_line": 5, "jit_path": "/p/a.py"}
    ]
    document.flagged = [
        {**place, "function": "main", "line": 1, "end_line": 40},
        {**place, "function": "main.<locals>.log", "line": 10, "end_line": 12},
        {**place, "function": "main.<locals>.step_inner", "line": 22, "end_line": 24},
    ]
    brief = {
        "code": "J",
        "name": "n",
        "severity": "warning",
        "message": "m",
        "end_line": 0,
        "category": "api",
    }
    document.add_findings({"path": "/p/a.py", "line": line, **brief} for line in (3, 5, 11, 23))
    lines = {f["function"]: [one["line"] for one in f["findings"]] for f in document.flagged}
    assert lines == {"main": [3], "main.<locals>.log": [11]}
    assert [one["line"] for one in document.functions[0]["findings"]] == [5, 23]
