"""What Python and JAX call on their own, or choose as they load a module: hooks of classes, registered functions, own traces, settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaxlint.finding import Severity
from tests.helpers.projects import facts_of, findings_in

HOOKS = """
    import jax
    import jax.numpy as jnp

    class Meta(type):
        def __instancecheck__(cls, value):
            return True
        def __call__(cls, x):
            return super().__call__(x)

    class Watched(metaclass=Meta):
        def __init__(self, x):
            self.x = x
        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)
        def __getattribute__(self, name):
            return object.__getattribute__(self, name)

    class Asked(metaclass=Meta):
        pass

    @jax.jit
    def step(x):
        watched = Watched(x)
        if isinstance(x, Asked):
            x = watched.x
        return x

    def on_host():
        return Asked
"""


@pytest.mark.parametrize("method", ["__instancecheck__", "__setattr__", "__call__"])
def test_what_python_asks_at_each_access_is_evaluated_where_it_is_asked(tmp_path: Path, method: str) -> None:
    facts = facts_of(tmp_path, HOOKS)
    (found,) = [fact for name, fact in facts.items() if name.endswith(method)]
    assert found.staged == "yes", found


REGISTERED = """
    import functools
    import jax
    import jax.numpy as jnp

    class Base:
        def __init_subclass__(cls, **options):
            jax.tree_util.register_pytree_with_keys(
                cls, flatten_with_keys, functools.partial(unflatten, cls), flatten_func=flatten
            )

    def flatten_with_keys(tree):
        return [(jax.tree_util.GetAttrKey("x"), tree.x)], None

    def flatten(tree):
        return (tree.x,), None

    def unflatten(cls, aux, children):
        made = object.__new__(cls)
        made.x = children[0]
        return made

    def never(cls, aux, children):
        return cls

    class Box(Base):
        def __init__(self, x):
            self.x = x

    @jax.jit
    def double(box):
        return jax.tree.map(lambda leaf: 2 * leaf, box)

    double(Box(jnp.ones(2)))
"""


def test_functions_that_a_base_class_registers_run_as_objects_cross_a_stage(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, REGISTERED)
    assert facts["unflatten"].params["children"] == "traced"
    assert facts["flatten_with_keys"].staged == "yes"
    assert facts["never"].staged == "unknown"


CHECKED = """
    from typing import TYPE_CHECKING
    import typing as tp
    import jax

    def first(x):
        return x

    def second(x):
        return x

    if TYPE_CHECKING:
        chosen = first
    else:
        chosen = second

    if not tp.TYPE_CHECKING:
        other = second
    else:
        other = first

    @jax.jit
    def step(x):
        return chosen(x) + other(x)
"""


def test_only_what_a_program_has_at_run_time_is_called(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, CHECKED)
    assert facts["second"].staged == "yes"
    assert facts["first"].staged == "unknown"


CHOICES = """
    import jax

    def one(x):
        return x

    def two(x):
        return 2 * x

    def elsewhere(x):
        return 3 * x

    def pick(kind):
        return one if kind == "one" else two if kind == "two" else elsewhere

    def train(kind, x):
        rule = pick(kind)
        @jax.jit
        def step(x):
            return rule(x)
        return step(x)

    elsewhere(1.0)
"""


def test_each_of_several_functions_that_a_staged_call_may_mean_is_staged(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, CHOICES)
    assert facts["one"].staged == facts["two"].staged == "yes"
    assert facts["elsewhere"].staged == "yes"  # it is one of them, whoever else calls it


def test_a_layer_is_staged_by_convention_only_until_it_is_seen_on_the_host(tmp_path: Path) -> None:
    layers = """
        import equinox as eqx
        import jax.numpy as jnp

        class Used(eqx.Module):
            def __call__(self, x):
                return jnp.sin(x)

        class Exported(eqx.Module):
            def __call__(self, x, key=None):
                return jnp.sin(x)

        Used()(1.0)
    """
    facts = facts_of(tmp_path, {"layers.py": layers})
    assert facts["Used.__call__"].staged != "yes"
    exported = facts["Exported.__call__"]
    assert (exported.staged, exported.basis) == ("yes", "convention")
    assert exported.params == {"self": "static", "x": "traced", "key": "unknown"}


def test_an_object_is_known_after_a_test_for_its_class(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        """
            import jax

            class Box:
                def opened(self, x):
                    return x

            @jax.jit
            def step(x, get):
                thing = get()
                return thing.opened(x) if isinstance(thing, int) else x

            @jax.jit
            def other(x, get):
                thing = get()
                if isinstance(thing, Box):
                    return thing.opened(x)
                return x
        """,
    )
    assert facts["Box.opened"].params["x"] == "traced"
    assert "other" in facts["Box.opened"].reason


TRACE = """
    import jax
    import jax.core

    class Value(jax.core.Tracer):
        def __init__(self, trace, val):
            self._trace = trace
            self.val = val

    class Watch(jax.core.Trace):
        def __init__(self, parent):
            self.parent = parent
            self.seen = []
        def unwrap(self, val):
            return val.val if isinstance(val, Value) else val
        def process_primitive(self, primitive, tracers, params):
            values = [self.unwrap(t) for t in tracers]
            out = primitive.bind_with_trace(self.parent, values, params)
            self.seen.append(name_of(primitive))
            return jax.tree.map(lambda v: Value(self, v), out)
        def process_custom_jvp_call(self, primitive, fun, jvp, given, *, symbolic_zeros):
            return fun.call_wrapped(*given)

    def name_of(primitive):
        return str(primitive)

    class Report:
        def process_primitive(self, primitive, tracers, params):
            return tracers
"""


def test_a_trace_of_the_programs_own_is_given_tracers(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, TRACE)
    staged = {name for name, fact in facts.items() if fact.staged == "yes"}
    assert staged == {
        "Value.__init__",
        "Watch.unwrap",
        "Watch.process_primitive",
        "Watch.process_primitive.<locals>.<lambda>",
        "Watch.process_custom_jvp_call",
    }
    assert facts["Watch.process_primitive"].params["tracers"] == "traced"
    assert facts["Watch.process_primitive"].params["primitive"] == "static"
    assert facts["Watch.process_custom_jvp_call"].params["given"] == "traced"
    assert "JAX calls `Watch.process_primitive` with tracers" in facts["Watch.unwrap"].reason


UNTRACED_STAGE = """
    import jax
    import jax.core

    class Watch(jax.core.Trace):
        def process_primitive(self, primitive, tracers, params):
            return shown(tracers)

    def shown(values):
        return values

    @jax.jit
    def step(x):
        shown(["step"])
        return x
"""


def test_a_stage_that_gives_no_tracers_does_not_hide_one_that_does(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, UNTRACED_STAGE)
    assert facts["shown"].staged == "yes"
    assert "Watch.process_primitive" in facts["shown"].reason


SETTINGS = """
    import jax
    from absl import flags
    import lib

    FLAGS = flags.FLAGS

    class First:
        def go(self, x):
            return x

    class Second:
        def go(self, x):
            return x

    chosen = First if {setting} else Second

    @jax.jit
    def step(x):
        return chosen().go(x)
"""


@pytest.mark.parametrize("setting", ["FLAGS.first", "jax.config.jax_enable_x64", "lib.HAS_FIRST"])
def test_what_a_setting_of_a_library_chooses_is_not_known(tmp_path: Path, setting: str) -> None:
    facts = facts_of(tmp_path, SETTINGS.format(setting=setting))
    assert facts["First.go"].staged == facts["Second.go"].staged == "yes"


def test_a_function_of_a_library_is_true(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, SETTINGS.format(setting="jax.nn.relu"))
    assert facts["First.go"].staged == "yes"
    assert facts["Second.go"].staged != "yes"


PACKAGE = {
    "program/__init__.py": "from program.shapes.base import Shape\n",
    "program/shapes/__init__.py": """
        from program.shapes.circle import Circle
        from program.shapes.base import Shape

        def squared(size):
            return size**2
    """,
    "program/shapes/base.py": """
        import jax
        from program.shapes import helpers

        class Shape:
            def __init__(self, size):
                self.size = helpers.doubled(size)
    """,
    "program/shapes/circle.py": """
        import program.shapes
        from program.shapes.base import Shape

        class Circle(Shape):
            def __init__(self, radius):
                super().__init__(radius)

            def area(self):
                return program.shapes.squared(self.size)
    """,
    "program/shapes/helpers.py": """
        def doubled(value):
            return 2 * value
    """,
    "program/steps.py": """
        import jax
        from program.shapes import Circle

        @jax.jit
        def step(x):
            return Circle(x).area()
    """,
}


def test_a_package_is_imported_before_what_is_in_it(tmp_path: Path) -> None:
    """As Python does it: else what imports `base` first finds no `Shape` in it, wherever the cycle comes back to it."""
    facts = facts_of(tmp_path, PACKAGE)
    assert facts["doubled"].params == {"value": "traced"}
    assert facts["Shape.__init__"].params["size"] == "traced"
    assert facts["squared"].params == {"size": "traced"}


def test_tracers_stay_tracers_where_constants_are_computed_at_once(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp

        def is_valid(value):
            return jnp.all(value > 0)

        def sizes(count):
            return jnp.arange(count)

        @jax.jit
        def step(x):
            with jax.ensure_compile_time_eval():
                valid = is_valid(x)
                found = sizes(3)
                if found.sum() > 2:
                    found = found + 1
            return x + found

        @jax.jit
        def sized(x):
            with jax.ensure_compile_time_eval():
                length = int(sizes(3).sum())
            return jnp.zeros(length) + x

        def host(x):
            with jax.ensure_compile_time_eval():
                return shown(x)

        def shown(x):
            return x

        shown(1.0)
    """
    facts = facts_of(tmp_path, program)
    assert (facts["is_valid"].staged, facts["is_valid"].params) == ("yes", {"value": "traced"})
    assert facts["sizes"].params == {"count": "static"}
    assert facts["sizes"].staged != "yes"
    assert facts["shown"].staged != "yes"
    assert not [
        found for found in findings_in(tmp_path, {"program.py": program}) if found.severity is Severity.ERROR
    ]


HANDLERS = """
    import jax

    STACK = []

    class Recorder:
        def __enter__(self):
            STACK.append(self)
            self.seen = {}
            return self.seen

        def __exit__(self, *error):
            STACK.pop()

        def record(self, name, value):
            self.seen[name] = value

    def note(name, value):
        for handler in STACK:
            handler.record(name, value)

    with Recorder() as seen:
        note("start", 1.0)

    @jax.jit
    def step(x):
        with Recorder() as seen:
            note("x", x)
        return seen["x"]
"""


def test_what_a_handler_records_is_kept_where_it_was_entered(tmp_path: Path) -> None:
    assert [found.name for found in findings_in(tmp_path, {"program.py": HANDLERS})] == []


def test_what_an_object_records_that_was_there_before_leaks(tmp_path: Path) -> None:
    program = HANDLERS.replace("def __enter__", "def enter").replace("with Recorder() as seen:", "if True:")
    program = program.replace("STACK = []", "STACK = []\n").replace('return seen["x"]', "return x")
    program += """
    recorder = Recorder()
    recorder.seen = {}

    @jax.jit
    def kept(x):
        recorder.record("x", x)
        return x
"""
    assert "tracer-leak" in [found.name for found in findings_in(tmp_path, {"program.py": program})]
