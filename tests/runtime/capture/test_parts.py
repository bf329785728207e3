"""Parts of the capture that need no program: options, signatures, identities, import hooks, stopping."""

from __future__ import annotations

import functools
import runpy
import signal
import sys
import threading
import time
from pathlib import Path
from types import ModuleType

import jax.numpy as jnp
import pytest

from jaxlint_runtime.capture.function_identity import Identity, Project, code_key, identify, unwrap
from jaxlint_runtime.capture.import_hooks import AfterImport
from jaxlint_runtime.capture.run_program import ending_of
from jaxlint_runtime.capture.signature import compare, explain, read_signature
from jaxlint_runtime.capture.stop import Stopper, StopProgram
from jaxlint_runtime.lowering.jit_options import Parameters, read_options

HERE = Path(__file__).resolve().parent


def outer(x, n, *rest, key=None):
    return x


class Callable:
    def __call__(self, x):
        return x


@pytest.mark.parametrize(
    ("given", "numbers", "names"),
    [
        ({"static_argnums": 1}, {1}, {"n"}),
        ({"static_argnames": "n"}, {1}, {"n"}),
        ({"static_argnames": ("n", "key")}, {1}, {"n", "key"}),
        ({"static_argnums": (1,), "static_argnames": "key"}, {1}, {"key"}),
        ({}, set(), set()),
    ],
    ids=["number", "name", "names", "both", "none"],
)
def test_static_arguments_by_number_and_name(given: dict, numbers: set, names: set) -> None:
    parameters = Parameters.of(outer, read_options(given))
    assert (parameters.static_numbers, parameters.static_names) == (numbers, names)
    assert [parameters.name(i) for i in range(4)] == ["x", "n", "rest[0]", "rest[1]"]


def test_negative_static_numbers_count_from_the_end() -> None:
    parameters = Parameters.of(lambda a, b, c: a, read_options({"static_argnums": -1}))
    assert [parameters.is_static_position(i, 3) for i in range(3)] == [False, False, True]


def signature(*args, **kwargs):
    return read_signature(Parameters.of(outer, read_options({"static_argnames": "n"})), args, kwargs)


def test_what_changed_between_two_signatures() -> None:
    assert compare(signature(jnp.ones(3), 1), signature(jnp.ones(3), 1)) == []
    assert compare(signature(jnp.ones(3), 1), signature(jnp.ones((3, 1)), 1)) == [
        "`x`: float32[3] -> float32[3,1]"
    ]
    assert compare(signature(jnp.ones(3), 1), signature(jnp.ones(3, int), 1)) == [
        "`x`: float32[3] -> int32[3]"
    ]
    assert compare(signature(jnp.ones(3), 1), signature(jnp.ones(3), 2)) == ["static `n`: 1 -> 2"]
    assert compare(signature({"a": 1.0}, 1), signature({"b": 1.0}, 1)) == [
        "`x`: the pytree structure changed: has new `x['b']`, lost `x['a']`"
    ]
    one, other = Callable(), Callable()
    assert "static `n`" in compare(signature(1.0, one), signature(1.0, other))[0]


def test_the_nearest_earlier_signature_explains_a_compile() -> None:
    earlier = [signature(jnp.ones(3), 1), signature(jnp.ones(5), 2)]
    assert explain(signature(jnp.ones(5), 3), earlier) == "static `n`: 2 -> 3"
    assert explain(earlier[0], []) == "first call"


def test_new_leaves_of_one_subtree_are_named_by_it() -> None:
    old = signature({"w": 1.0, "average": None}, 1)
    weights = {"a.b": jnp.ones(2), "c": [jnp.ones(2), jnp.ones(2)]}
    grown = signature({"w": 1.0, "average": weights}, 1)
    assert compare(old, grown) == ["`x`: the pytree structure changed: has new `x['average']`"]
    wider = signature({"w": 1.0, "average": {**weights, "c": [jnp.ones(2)] * 4}}, 1)
    assert compare(grown, wider) == [
        "`x`: the pytree structure changed: has new `x['average']['c'][2]`, `x['average']['c'][3]`"
    ]


def test_one_shape_is_nearer_than_a_new_subtree() -> None:
    grown = {"w": jnp.ones(3), "average": {"a": jnp.ones(3), "b": jnp.ones(3)}}
    earlier = [signature({"w": jnp.ones(4)}, 1), signature(grown, 1)]
    assert explain(signature({**grown, "w": jnp.ones(4)}, 1), earlier) == "`x['w']`: float32[3] -> float32[4]"


def test_many_differences_are_cut_short() -> None:
    old = signature({str(i): jnp.ones(2) for i in range(6)}, 1)
    new = signature({str(i): jnp.ones(3) for i in range(6)}, 1)
    assert explain(new, [old]).endswith("and 3 more")


def test_a_function_is_found_behind_what_wraps_it() -> None:
    @functools.wraps(outer)
    def decorated(*args):
        return outer(*args)

    project = Project([HERE])
    line = outer.__code__.co_firstlineno
    expected = Identity("outer", str(Path(__file__).resolve()), line, line + 1)
    for function in (outer, functools.partial(outer, 1), decorated, functools.partial(decorated, n=1)):
        assert identify(function, project, None) == expected
    found = identify(Callable(), project, None)
    assert found is not None
    assert found.qualname == "Callable.__call__"
    assert identify(jnp.sum, project, None) is None
    assert code_key(outer) == code_key(functools.partial(outer, 2))
    assert code_key(outer) != code_key(decorated)


def test_a_loop_of_wrapped_ends() -> None:
    def f():
        pass

    f.__wrapped__ = f
    assert list(unwrap(f)) == [f]


def test_installed_packages_in_the_project_are_not_the_users(tmp_path: Path) -> None:
    installed = tmp_path / ".venv" / "lib" / "site-packages" / "package" / "__init__.py"
    mine = tmp_path / "mine.py"
    project = Project([tmp_path])
    assert project.file(str(mine)) == str(mine)
    assert project.file(str(installed)) is None
    assert Project([tmp_path], include_packages=True).file(str(installed)) == str(installed)
    assert project.file("<string>") is None
    assert project.file(str(tmp_path.parent / "other.py")) is None
    project.add(installed)
    assert project.file(str(installed)) == str(installed)


def test_a_module_is_acted_on_once_after_its_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jaxlint_probe_module.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    seen: list[int] = []

    def action(module: ModuleType) -> None:
        seen.append(module.value)
        module.value = 2

    hook = AfterImport({"jaxlint_probe_module": action})
    hook.install()
    try:
        import jaxlint_probe_module  # type: ignore[import-not-found]

        assert jaxlint_probe_module.value == 2
        assert type(jaxlint_probe_module.__loader__).__name__ == "SourceFileLoader"
        assert seen == [1]
    finally:
        hook.remove()
        sys.modules.pop("jaxlint_probe_module", None)
    assert hook not in sys.meta_path


@pytest.fixture
def stopper():
    before = signal.getsignal(signal.SIGVTALRM)
    stopper = Stopper()
    stopper.start()
    yield stopper
    stopper.finish()
    signal.signal(signal.SIGVTALRM, before)


def test_a_sleeping_program_is_interrupted(stopper: Stopper) -> None:
    stopper.request("after a test")
    threading.Timer(0.1, stopper.interrupt).start()
    start = time.monotonic()
    with pytest.raises(StopProgram, match="after a test"):
        time.sleep(30)
    assert time.monotonic() - start < 25


def test_the_first_reason_stays_and_nothing_is_raised_afterwards(stopper: Stopper) -> None:
    stopper.request("first")
    stopper.request("second")
    assert stopper.reason == "first"
    stopper.finish()
    stopper.interrupt()
    stopper.raise_here()


def test_the_ending_names_the_lines_on_the_way_to_what_was_raised(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import jax\n@jax.jit\ndef f(x):\n    return int(x)\nf(1.0)\n")
    with pytest.raises(Exception) as raised:
        runpy.run_path(str(program))
    ending = ending_of(raised.value)
    assert [line for path, line in ending.frames if path == str(program)] == [5, 4]
    assert ending.message.endswith(f"({program}:4)")
