"""What classes give their instances: attributes by Python's order of bases, fields as `field(...)` keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.projects import expected, findings_in, reported

ORDER = """
    import jax.numpy as jnp

    class Goal:
        def __init__(self, target):
            self.target = target

        def wanted(self):
            return self.target

    class Line(Goal):
        def wanted(self):
            return jnp.asarray(self.target)

    class Vertex(Goal):
        pass

    class VertexLine({bases}):
        pass

    def distance():
        return jnp.sum(VertexLine([1.0, 2.0]).wanted()){mark}

    distance()
"""


@pytest.mark.parametrize(
    ("bases", "mark"),
    [("Vertex, Line", ""), ("Line, Vertex", ""), ("Vertex", "  # finding: list-argument")],
)
def test_a_method_is_found_where_python_finds_it(tmp_path: Path, bases: str, mark: str) -> None:
    files = {"goals.py": ORDER.format(bases=bases, mark=mark)}
    assert reported(findings_in(tmp_path, files)) == expected(files)


AGENT = """
    import functools
    from typing import Any

    import flax.struct
    import jax
    import jax.numpy as jnp

    aside = functools.partial(flax.struct.field, pytree_node={node})

    class Agent(flax.struct.PyTreeNode):
        rng: Any
        config: Any = aside()

        @jax.jit
        def sample(self, x):
            for _ in range(self.config["steps"]):{mark}
                x = x + 1
            return x

    Agent(rng=jax.random.key(0), config={{"steps": 3}}).sample(jnp.ones(2))
"""


@pytest.mark.parametrize(("node", "mark"), [("False", ""), ("True", "  # finding: tracer-index")])
def test_a_helper_may_declare_what_is_no_part_of_the_pytree(tmp_path: Path, node: str, mark: str) -> None:
    files = {"agent.py": AGENT.format(node=node, mark=mark)}
    assert reported(findings_in(tmp_path, files)) == expected(files)


CELL = """
    import dataclasses

    import jax
    import jax.numpy as jnp

    @dataclasses.dataclass(frozen=True)
    class Cell:
        volume: jax.Array
        periodic: bool = False

    {registration}

    @jax.jit
    def pressure(cell):
        if cell.periodic:{periodic}
            return 1.0 / cell.volume
        return cell.volume if cell.volume > 1.0 else 1.0{volume}

    pressure(Cell(jnp.float32(2.0)))
"""
BRANCH = "  # finding: tracer-branch"


@pytest.mark.parametrize(
    ("registration", "periodic", "volume"),
    [
        ('jax.tree_util.register_dataclass(Cell, ["volume"], ["periodic"])', "", BRANCH),
        (
            'jax.tree_util.register_dataclass(Cell, data_fields=["volume"], meta_fields=("periodic",))',
            "",
            BRANCH,
        ),
        ("jax.tree_util.register_dataclass(Cell)", BRANCH, BRANCH),
        (
            "names = [field.name for field in dataclasses.fields(Cell)]\n    "
            "jax.tree_util.register_dataclass(Cell, names[:1], names[1:])",
            "",
            "",
        ),
    ],
)
def test_a_call_registers_what_a_decorator_would(
    tmp_path: Path, registration: str, periodic: str, volume: str
) -> None:
    files = {"cell.py": CELL.format(registration=registration, periodic=periodic, volume=volume)}
    assert reported(findings_in(tmp_path, files)) == expected(files)


BINS = """
    from dataclasses import dataclass
    from functools import partial

    import jax
    import jax.numpy as jnp

    @partial(jax.tree_util.register_dataclass, data_fields=["edges"], meta_fields=[])
    @dataclass
    class Power:
        edges: jax.Array

    @partial(jax.tree_util.register_dataclass, data_fields=["edges"], meta_fields=[])
    @dataclass
    class Correlation{base}:
        edges: jax.Array

    @jax.jit
    def compute(x, bins):
        if isinstance(bins, Correlation):
            return jnp.unique(bins.edges){mark}
        return x

    compute(1.0, {given}(jnp.ones(3)))
"""
UNIQUE = "  # finding: dynamic-shape"


@pytest.mark.parametrize(
    ("base", "given", "mark"),
    [("", "Power", ""), ("", "Correlation", UNIQUE), ("(Power)", "Correlation", UNIQUE)],
)
def test_an_object_is_of_its_own_class_alone(tmp_path: Path, base: str, given: str, mark: str) -> None:
    files = {"bins.py": BINS.format(base=base, given=given, mark=mark)}
    assert reported(findings_in(tmp_path, files)) == expected(files)


TREE = """
    import jax
    import jax.numpy as jnp

    @jax.tree_util.register_pytree_node_class
    class Tree:
        def __init__(self, depth, nodes=None):
            self.depth = depth
            self.nodes = nodes

        def tree_flatten(self):
            {flatten}

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(aux, *children)

        @jax.jit
        def fit(self, x):
            return Tree(self.depth, x)

        @jax.jit
        def predict(self, x):
            for _ in range(self.depth + 1):{mark}
                x = x + self.nodes
            return x

    tree = Tree(3).fit(jnp.ones(3))
    tree.predict(jnp.ones(3))
"""


@pytest.mark.parametrize(
    ("flatten", "mark"),
    [
        ("return [self.nodes], self.depth", ""),
        ("return [self.depth, self.nodes], None", "  # finding: tracer-index"),
    ],
)
def test_what_is_no_leaf_comes_back_as_it_was(tmp_path: Path, flatten: str, mark: str) -> None:
    files = {"tree.py": TREE.format(flatten=flatten, mark=mark)}
    assert reported(findings_in(tmp_path, files)) == expected(files)


FILLED = """
    import dataclasses

    import jax

    class Base:
        def __init__(self, size):
            self.size = size{mark}

    @dataclasses.dataclass(frozen=True{option})
    class Grid(Base):
        size: int

    def make():
        return Grid(3)

    make()
"""


@pytest.mark.parametrize(
    ("option", "mark"), [("", ""), (", init=False", "  # finding: frozen-field-assignment")]
)
def test_a_dataclass_has_its_own_constructor_instead_of_one_that_it_inherits(
    tmp_path: Path, option: str, mark: str
) -> None:
    files = {"grid.py": FILLED.format(option=option, mark=mark)}
    assert reported(findings_in(tmp_path, files)) == expected(files)


CACHED = """
    import functools
    import jax
    import jax.numpy as jnp

    class Fake:
        pass

    class Batcher:
        def __init__(self, state):
            self.state = state

        @functools.cached_property
        def compiled(self):
            return jax.jit(lambda state, x: x + 1)

        def run(self, x):
            return self.compiled(self.state, x){mark}

    def check():
        batcher = Batcher(Fake())
        {given}
        return batcher.run(jnp.ones(3))

    check()
"""


@pytest.mark.parametrize(
    ("given", "mark"),
    [
        ('batcher.__dict__["compiled"] = lambda state, x: x', ""),
        ('batcher.__dict__["other"] = lambda state, x: x', "  # finding: missing-static"),
    ],
)
def test_what_is_put_into_the_dict_of_an_object_is_its_attribute(
    tmp_path: Path, given: str, mark: str
) -> None:
    files = {"batcher.py": CACHED.format(given=given, mark=mark)}
    assert reported(findings_in(tmp_path, files)) == expected(files)


@pytest.mark.parametrize(("state", "mark"), [("self.state", ""), ("None", "  # finding: branch-mismatch")])
def test_none_in_a_class_stands_for_what_its_users_set(tmp_path: Path, state: str, mark: str) -> None:
    files = {
        "scenario.py": f"""
            import jax
            import jax.numpy as jnp

            class Scenario:
                state: jax.Array = None

                def sample(self, go):
                    return simulate({state}, go)

            @jax.jit
            def simulate(state, go):
                return jax.lax.cond(go, lambda s: jnp.ones(3), lambda s: s, state){mark}
        """
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


@pytest.mark.parametrize(
    ("call", "mark"),
    [
        ("Primitive(**{**asdict(b), 'powers': b.powers + 1})", ""),
        ("Primitive(*parts)", ""),
        ("Primitive(powers=b.powers + 1, width=b.width)", "  # finding: tracer-to-numpy"),
    ],
)
def test_a_field_may_be_among_what_a_spread_gives(tmp_path: Path, call: str, mark: str) -> None:
    files = {
        "primitives.py": f"""
            from dataclasses import asdict, dataclass

            import jax
            import numpy as np

            @jax.tree_util.register_dataclass
            @dataclass
            class Primitive:
                powers: jax.Array
                width: float = 1.0
                norm: jax.Array | None = None

                def __post_init__(self):
                    if self.norm is None:
                        self.norm = np.prod(np.asarray(self.powers)){mark}

            @jax.jit
            def shifted(b: Primitive, parts):
                return {call}
        """
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)


@pytest.mark.parametrize(
    ("registration", "sizes", "mark"),
    [
        ("@jax.tree_util.register_static", "(jax.device_count(),)", ""),
        ("@jax.tree_util.register_static", "()", "  # finding: spec-mismatch"),
        ("", "(jax.device_count(),)", ""),
        ("", "()", "  # finding: spec-mismatch"),
    ],
)
def test_a_static_dataclass_runs_what_follows_its_constructor(
    tmp_path: Path, registration: str, sizes: str, mark: str
) -> None:
    files = {
        "config.py": f"""
            from dataclasses import dataclass

            import jax

            @dataclass(frozen=True)
            {registration}
            class Config:
                names: tuple[str, ...] = ("data",)
                sizes: tuple[int, ...] = ()

                def __post_init__(self):
                    object.__setattr__(self, "sizes", {sizes})

            def devices(config: Config):
                return jax.make_mesh(config.sizes, config.names){mark}

            devices(Config())
        """
    }
    assert reported(findings_in(tmp_path, files)) == expected(files)
