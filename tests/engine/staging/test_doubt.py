"""Where the analysis cannot be sure which value it has, nothing is reported."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from jaxlint.source.read import source_from_bytes
from jaxlint.staging.events import ConvertEvent
from jaxlint.staging.project import Module
from jaxlint.staging.values import Array
from jaxlint.staging.values.frame import Frame
from jaxlint.staging.values.scope import Scope
from jaxlint.staging.values.stage import HOST, Stage
from jaxlint_rules._reasons import guarded
from tests.helpers.projects import expected, findings_in, reported

PROGRAMS = {
    "lists that stand beside what is not known in one list": """
        import jax.numpy as jnp

        def put(names, params, rows):
            given = []
            for name in names:
                if name in params:
                    given.append(params[name][0])
                else:
                    given.append([row[name] for row in rows])
            inputs, kernel = given
            return inputs, jnp.squeeze(kernel, 0)
    """,
    "a constant that a function is given beside ever more numbers": """
        import jax
        import jax.numpy as jnp

        def rescaled(matrix, rounds, norm=float("inf")):
            for _ in range(rounds):
                if norm == float("inf"):
                    sizes = jnp.abs(matrix).max(axis=0)
                elif jnp.all(matrix == 0):
                    sizes = jnp.ones(matrix.shape[1])
                else:
                    sizes = jnp.linalg.norm(matrix, norm, axis=0)
                matrix = matrix / sizes
            return matrix

        @jax.jit
        def solve(matrix):
            tries = [rescaled(matrix, 1), rescaled(matrix, 2), rescaled(matrix, 3), rescaled(matrix, 4)]
            tries += [rescaled(matrix, 5, jnp.inf), rescaled(matrix, 6, jnp.inf), rescaled(matrix, 7)]
            return tries, rescaled(matrix, 8)

        solve(jnp.ones((3, 3)))
    """,
    "two runners and two carries that one setting chooses": """
        import jax
        import jax.numpy as jnp

        def make_short():
            def run(carry, xs):
                def body(carry, x):
                    key, state, env = carry
                    return (key, state + x, env), None
                return jax.lax.scan(body, carry, xs)
            return jax.jit(run)

        def make_long():
            def run(carry, xs):
                def body(carry, x):
                    key, state, env, buffer = carry
                    return (key, state + x, env, buffer), None
                return jax.lax.scan(body, carry, xs)
            return jax.jit(run)

        def train(config, key, state, env, steps):
            on_policy = config.rollout is not None
            if on_policy:
                buffer = None
                run = make_short()
            else:
                buffer = jnp.zeros(3)
                run = make_long()
            done = 0
            while done < steps:
                if not on_policy:
                    (key, state, env, buffer), _ = run((key, state, env, buffer), jnp.ones(3))
                else:
                    (key, state, env), _ = run((key, state, env), jnp.ones(3))
                done += 3
            return state
    """,
    "many fields that a helper makes static by the type of their default": """
        import dataclasses

        import flax.struct
        import jax
        import numpy as np

        def field(*, default=dataclasses.MISSING, metadata=None, pytree_node=None):
            if pytree_node is None and isinstance(default, int):
                pytree_node = False
            if pytree_node is None:
                pytree_node = True
            metadata = {} if metadata is None else dict(metadata)
            metadata.setdefault("pytree_node", pytree_node)
            return dataclasses.field(default=default, metadata=metadata)

        class Settings(flax.struct.PyTreeNode):
            epochs: int = field(default=8)
            envs: int = field(default=64)
            steps: int = field(default=65)
            batches: int = field(default=16)
            seeds: int = field(default=128)
            every: int = field(default=4_096)
            total: int = field(default=131_072)
            rate: float = field(default=0.1)

        class Algorithm(flax.struct.PyTreeNode):
            settings: Settings

            @jax.jit
            def train(self, x):
                return x * np.ceil(self.settings.total / self.settings.every) * self.settings.rate

        Algorithm(Settings(every=2000)).train(1.0)
    """,
    "static arguments where chex puts vmap in the place of pmap": """
        import dataclasses

        import chex
        import jax
        import jax.numpy as jnp

        @dataclasses.dataclass
        class Scale:
            by: int

        def scaled(x, scale):
            return x * scale.by

        with chex.fake_pmap_and_jit():
            print(jax.pmap(scaled, static_broadcasted_argnums=1)(jnp.ones((1, 2)), Scale(2)))
    """,
    "branches that only a variable of the environment opens": """
        import os

        import jax
        import jax.numpy as jnp

        CHECKED = os.environ.get("CHECKED", "no").lower() in ("1", "yes")

        class Helper:
            @staticmethod
            def use_scan():
                return bool(int(os.getenv("USE_SCAN", "0")))

        def window(i, x):
            return x[: max(i, 1)]

        @jax.jit
        def rotate(x):
            if Helper.use_scan():
                return jax.lax.fori_loop(0, 3, window, x)
            if not CHECKED:
                for i in range(3):
                    x = window(i, x)
                return x
            if x.sum() > 0:
                raise ValueError("positive")
            shift = int(x[0]) if os.environ.get("SHIFT") == "on" else 1
            CHECKED and bool(x[0])
            return jnp.roll(x, shift)

        rotate(jnp.ones(3))
    """,
    "loops over arrays that are given without rows": """
        from functools import partial

        import jax
        import jax.numpy as jnp
        import numpy as np

        def masks(pairs, scales, n):
            mask = np.ones((n, n))
            for (i, j), scale in zip(pairs, scales[:, 0]):
                mask[i, j] = 1 - scale
            return mask

        def energy(x, pairs, scales, checked=True):
            return jnp.sum(x * masks(pairs, scales, 3))

        def nothing():
            return jnp.ones((3, 3)), np.zeros((0, 2), dtype=np.int32), np.zeros((0, 2))

        def compare(first, second, args):
            return first(*args), second(*args)

        def test_energies():
            compare(jax.jit(partial(energy, checked=False)), jax.jit(energy), nothing())
    """,
    "the differences of one number": """
        import jax
        import jax.numpy as jnp

        def sizes(splits, total):
            gaps = jnp.diff(jnp.array(splits))
            return (splits[0], *tuple([int(gap) for gap in gaps]), total - splits[-1])

        @jax.jit
        def parts(x):
            for part in jnp.asarray(()):
                if part > 0:
                    return part
            start, *rest = sizes((2,), 6)
            return x[:start], {float(n): n for n in jnp.arange(start - 2)}

        parts(jnp.ones(6))
    """,
    "a call on the spot that gives a jitted function less than it takes": """
        import jax

        def make_train(config):
            def train(key, exposure, states, task):
                state = states[f"task_{task}"]
                return state if exposure == 0 else jax.random.normal(key)

            return train

        def run(config, key, states):
            return [jax.jit(lambda k: make_train(config)(k, 0, states, task))(key) for task in range(3)]

        def tune(config, key):
            return jax.jit(make_train(config))(key)
    """,
    "a jitted function that a call in a stage makes and does not run": """
        import jax
        import jax.numpy as jnp

        def make_loss(smoothing=0.1, axis=1):
            def loss(logits, targets):
                return smoothing + jnp.sum(logits, axis=axis) - targets

            return jax.jit(loss)

        @jax.jit
        def evaluate(logits, targets):
            return jax.eval_shape(lambda x: make_loss(x, targets), logits)
    """,
    "a call on the spot that leaves a switch at its default": """
        import jax
        import jax.numpy as jnp

        def respond(spacing, x, with_fields):
            if with_fields:
                x = x + int(jnp.ceil(2.0 / spacing))
            return x

        def response(x, with_fields: bool = False):
            return respond(0.1, x, with_fields=with_fields)

        jax.jit(response)(jnp.ones(3))
    """,
    "a helper that asks for NumPy arrays and scalars": """
        import jax
        import numpy as np

        def is_host(given):
            return isinstance(given, np.ndarray) or np.isscalar(given)

        @jax.jit
        def zeros(x):
            if is_host(x) and x.size == 1:
                return np.all(np.equal(x, 0))
            return False

        zeros(1.0)
    """,
    "types of arrays that a table holds": """
        import jax
        import numpy as np

        KINDS = (jax.Array,)
        try:
            from jax.stages import ArgInfo

            KINDS = (*KINDS, ArgInfo)
        except ImportError:
            pass

        @jax.jit
        def unchanged(x):
            if isinstance(x, (*KINDS, np.ndarray)):
                return x
            return np.asarray(x)

        unchanged(1.0)
    """,
    "a donated array that a helper asks whether it is gone": """
        import jax
        import jax.numpy as jnp

        double = jax.jit(lambda p: p * 2, donate_argnums=0)

        def drop(value):
            if isinstance(value, jax.Array) and not value.is_deleted():
                value.delete()

        def doubled(params):
            result = double(params)
            jax.tree.map(drop, params)
            return result
    """,
    "a call that lacks an argument, which raises before anything runs": """
        import jax

        def simulate(model, props, history, steps=10):
            update = jax.jit(model.update)
            return update(history(0.0), props)

        class Model:
            def update(self, strain, props):
                return strain * 2

        def history(t):
            return 0.1 * t

        def main():
            return simulate(Model(), history, steps=20)
    """,
    "a switch that a map on the spot leaves as it is given": """
        import jax

        def single(row, n, safe=False):
            total = row * n
            if not safe:
                assert total.sum() > 0
            return total

        def run(rows, n):
            return jax.vmap(single, (0, None, None))(rows, n, True)
    """,
    "a function that one of two objects would jit": """
        import jax
        import numpy as np

        class Jitted:
            def quality(self, sampler):
                return jax.jit(sampler)(1.0)

        class Plain:
            def quality(self, sampler):
                return sampler(1.0)

        def load(classes):
            if classes > 1:
                return Plain()
            return Jitted()

        def sampler(x):
            return np.array(x)

        def main(classes):
            return load(classes).quality(sampler)
    """,
    "functions of a table, told apart by their names": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        @partial(jax.jit, static_argnums=2)
        def plain(x, times, count):
            return x[:count] * times

        @partial(jax.jit, static_argnums=1)
        def parallel(keys, count, x):
            return x[:count] + keys

        METHODS = [("plain", plain), ("parallel", parallel)]

        def main(flag):
            x, times, keys = jnp.ones(4), jnp.ones(4), jnp.ones(4)
            for name, method in METHODS:
                if "parallel" not in name:
                    for _ in range(3):
                        method(x, times, 2)
                if "parallel" in name:
                    method(keys, 2, x)
    """,
    "what holds no array is not donated with all the others": """
        import equinox as eqx
        import optax

        @eqx.filter_jit(donate="all")
        def train_step(model, state, batch, opt: optax.GradientTransformation):
            updates, state = opt.update(batch, state)
            return eqx.apply_updates(model, updates), state

        def train(make, batches):
            model, opt, state = make()
            for batch in batches:
                model, state = train_step(model, state, batch, opt)
            return model
    """,
    "a cached property that the host has asked for": """
        import functools

        import flax.struct
        import jax
        import jax.numpy as jnp

        @flax.struct.dataclass
        class Input:
            text: jax.Array
            images: jax.Array

            @functools.cached_property
            def count(self):
                return self.images.shape[1]

            @property
            @jax.jit
            def tokens(self):
                return jnp.zeros((self.count,)) + self.text

        given = Input(jnp.ones(3), jnp.ones((2, 3)))
        print(given.count, given.tokens)
    """,
    "a flag and a helper that ask for tracers": """
        import jax
        import jax.numpy as jnp
        import numpy as np
        from elsewhere import context
        from jax._src.core import is_concrete

        def is_traced(x):
            return isinstance(x, jax.core.Tracer)

        @jax.jit
        def checked(state):
            x = context.replace(state).flat
            known = not is_traced(x)
            if known and not bool(jnp.all(jnp.isfinite(x))):
                raise ValueError("not finite")
            if not is_traced(x):
                print(float(jnp.max(jnp.abs(x))))
            if is_traced(x):
                return x
            return int(jnp.sum(x))

        @jax.jit
        def kept(edges, table):
            cacheable = is_concrete(edges) and is_concrete(table)
            if cacheable:
                return tuple(np.ravel(edges))
            return edges

        checked(1.0)
        kept(jnp.ones(3), jnp.ones(3))
    """,
    "a switch of the module that nobody turns while tracing": """
        from contextlib import contextmanager
        from jax import lax

        EAGER = False
        staged: bool = True

        @contextmanager
        def without_control_flow():
            global EAGER, staged
            kept, other = EAGER, staged
            try:
                EAGER = True
                staged = False
                yield
            finally:
                EAGER = kept
                staged = other

        def cond(test, yes, no):
            if EAGER:
                if test:
                    return yes()
                return no()
            return lax.cond(test, yes, no)

        def repeat(test, step, x):
            if staged:
                return lax.while_loop(test, step, x)
            while test(x):
                x = step(x)
            return x

        def collect(x):
            def body(i, x):
                x = cond(i > 0, lambda: x, lambda: -x)
                return repeat(lambda y: y < 10, lambda y: y + (int(y) if EAGER else 1), x)

            return lax.fori_loop(0, 4, body, x)
    """,
    "what is done for the type of another library": """
        import jax
        import jax.numpy as jnp
        import numpy as np
        from lists import Table

        class Rotation:
            def __init__(self, covariance):
                self.covariance = jnp.array(covariance)

            def rotate(self, matrix, covariance=None):
                if covariance is None:
                    covariance = self.covariance
                if isinstance(covariance, Table):
                    rotated = np.eye(3)
                    rotated[:2, :2] = matrix
                    return rotated
                return matrix @ covariance

            def fit(self, matrix):
                return jax.jit(lambda m: self.rotate(m))(matrix)

        Rotation([[1.0]]).fit(jnp.ones((2, 2)))
    """,
    "an argument whose place is not known": """
        import inspect
        import jax

        def with_flag(function):
            place = inspect.getfullargspec(function).args.index("flag")

            def wrapped(*args, **kwargs):
                if place < len(args):
                    if not args[place]:
                        raise ValueError("flag")
                return function(*args, **kwargs)

            return wrapped

        @with_flag
        def kernel(x, y, flag=True):
            return x + y

        fast = jax.jit(lambda x, y: kernel(x, y))
        print(fast(1.0, 2.0))
    """,
    "what an operator makes of something unknown": """
        import jax.numpy as jnp
        from elsewhere import numpy as np

        def derivative():
            x = jnp.array([0.5, 0.2])
            parts = 0.5 * np.array([np.cos(x / 2), np.sin(x / 2)])
            parts[:, 1] = 0.0
            return parts
    """,
    "a field that its annotation calls an array and a caller fills with numbers": """
        import equinox as eqx
        import jax

        class Integrator(eqx.Module):
            times: jax.Array

            def steps(self):
                return round(self.times[-1] - self.times[0])

            def run(self, key):
                count = self.steps()

                def step(carry, key):
                    return carry, jax.random.normal(key, (count // 10,))

                return jax.lax.scan(step, 0.0, jax.random.split(key, 3))
    """,
    "a static field whose annotation alone says array": """
        import equinox as eqx
        import jax

        class Operator(eqx.Module):
            value: jax.Array
            times: tuple = eqx.field(static=True)

        @jax.jit
        def apply(operator):
            return operator.value

        class Result(eqx.Module):
            times: jax.Array

            def again(self, value):
                return apply(Operator(value, self.times))
    """,
    "what was asked to be concrete": """
        import jax
        import jax.numpy as jnp
        import numpy as np
        from jax.extend.core import concrete_or_error

        def offsets(x):
            concrete_or_error(None, x, "x has to be known")
            return np.nonzero(x)

        @jax.jit
        def shifted(x, y):
            count = concrete_or_error(int, y, "y has to be known")
            return offsets(x), jnp.zeros(count)
    """,
    "a branch that depends on how many dimensions there are": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        def ratio(x, y):
            ratio = x.sum(axis=(-2, -1)) / y.sum(axis=(-2, -1))
            if ratio.ndim == 0:
                return 1 if jnp.isclose(ratio, 0) else ratio
            return jnp.where(jnp.isclose(ratio, 0), 1, ratio)

        def levels(x):
            is_field = np.ndim(x) > 0
            if is_field:
                return jnp.diff(x)
            else:
                x = np.diff(x)
            return x + (1 if np.ndim(x) else float(x))

        @jax.jit
        def loss(x, y):
            return jax.vmap(ratio)(x, y), levels(x)
    """,
    "a method of something that a pytree holds": """
        import jax

        @jax.jit
        def reduced(transforms, data):
            grid = transforms["grid"]
            return grid.compress(data["iota"])
    """,
    "a carry of doubles that NumPy made": """
        import jax
        import numpy as np

        def run(xs):
            return jax.lax.scan(lambda carry, x: ((carry[0] + 1,), x), (np.zeros(3),), xs)
    """,
    "keys that one of two ways gives, unpacked": """
        import jax
        from itertools import repeat

        def split_if_given(key, num):
            if key is None:
                return tuple(repeat(None, num))
            return jax.random.split(key, num)

        def dropout(x, key=None):
            if key is None:
                return x
            return x * jax.random.bernoulli(key, 0.5, x.shape)

        @jax.jit
        def block(x, key=None):
            first, second = split_if_given(key, 2)
            return dropout(dropout(x, first), second)

        def evaluate(x):
            return block(x, key=None)
    """,
    "a number beside the arrays of a state that is donated": """
        import jax
        from flax.training.train_state import TrainState

        def step(state, batch):
            return state.apply_gradients(grads=batch), 0.0

        class Run(TrainState):
            epoch: int = 0

        def main(state: Run, loader, epochs):
            run = jax.jit(step, donate_argnums=(0,))
            state = Run.create(apply_fn=None, params=loader.params, tx=loader.tx)
            for epoch in epochs:
                state = state.replace(epoch=epoch)
                for batch in loader:
                    state, loss = run(state, batch)
                print(epoch + 1, state.step)
    """,
    "a key that lives in a table of a state, renewed where it is used": """
        import jax

        class Env:
            def noise(self, info, value, scale):
                info["rng"], sub = jax.random.split(info["rng"])
                return value + scale * jax.random.normal(sub, value.shape)

            def step(self, state, action):
                state.info["rng"], first, second = jax.random.split(state.info["rng"], 3)
                push = jax.random.normal(first) + jax.random.uniform(second)
                position = self.noise(state.info, action, 0.1)
                velocity = self.noise(state.info, action, 0.2)
                state.key, sub = jax.random.split(state.key)
                state.key, other = jax.random.split(state.key)
                return position + velocity + push, jax.random.normal(sub), jax.random.normal(other)
    """,
    "what a library's own question keeps from tracers": """
        import jax
        from somewhere import math

        def probabilities(probs, names):
            if not math.is_abstract(sum(probs)):
                if min(probs) < 0:
                    raise ValueError("negative")
            if isinstance(names[0], str):
                names = [int(name) for name in names]
            return probs

        def prepared(state, names):
            if math.is_abstract(state):
                return state
            return [name for name in names for _ in range(state)]

        jax.jit(lambda probs, state, names: (probabilities(probs, names), prepared(state, names)))
    """,
    "arrays and indices that are made by brackets": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        @jax.jit
        def loop(x, ts):
            return x + ts

        def main(x):
            first = loop(x, jnp.r_[:3])
            second = loop(jnp.mgrid[:3, :4], np.r_[:3])
            return first, second, x[jnp.s_[:2]], x[np.index_exp[1:]]
    """,
    "structures of trees, and the modules that a function is given": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        def unique(np_, values, size):
            if np_ is jnp:
                return jnp.unique(values, size=size)
            result = np_.unique(values)
            result[0] = 1
            return result

        def update(tree, gradients, x):
            leaves, structure = jax.tree.flatten(gradients)
            if structure != tree:
                raise TypeError("another structure")
            return jax.tree.unflatten(structure, leaves), unique(jnp, x, 3), unique(np, [1], 3)

        def run(gradients, xs):
            def body(carry, x):
                tree, gradients = carry
                gradients, *_ = update(tree, gradients, x)
                return (tree, gradients), None

            return jax.lax.scan(body, (jax.tree.structure(gradients), gradients), xs)
    """,
    "an item of the settings that decides whether a function is jitted, and is tested in it": """
        import argparse

        import jax
        import jax.numpy as jnp

        def make_train(config):
            def train(key):
                x = jax.random.normal(key, (3,))
                if config["SAVE"]:
                    print(f"{len(jnp.unique(x))} kept")
                if not config["FAST"] and x.sum() > 0:
                    x = -x
                return x.sum()

            return train

        def main(arguments):
            config = {key.upper(): value for key, value in vars(arguments).items()}
            key = jax.random.key(0)
            if config["SAVE"]:
                return make_train(config)(key)
            elif not config["FAST"]:
                return make_train(config)(key)
            else:
                train = jax.jit(make_train(config))
                return train(key)

        parser = argparse.ArgumentParser()
        parser.add_argument("--save", action="store_true")
        parser.add_argument("--fast", action="store_true")
        main(parser.parse_args([]))
    """,
    "a setting that decides which loop runs a function, and is tested in the function": """
        import jax
        import jax.numpy as jnp

        def solve(x, verbose: bool = False, quiet=None):
            def step(state):
                x, i = state
                if verbose:
                    print(f"{i:3d} {jnp.linalg.norm(x):.2e}")
                if not quiet:
                    print(f"{i:3d}")
                return x * 0.5, i + 1

            def going(state):
                return state[1] < 10

            state = (x, 0)
            if verbose or not quiet:
                while going(state):
                    state = step(state)
            else:
                state = jax.lax.while_loop(going, step, state)
            return state
    """,
    "a jitted class method and a jitted property": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        class Dense:
            def __init__(self, array):
                self.array = array

            @classmethod
            @partial(jax.jit, static_argnames=["cls", "shape"])
            def made(cls, array, shape):
                return jnp.reshape(array, shape)

            @property
            @partial(jax.jit, static_argnums=0)
            def size(self):
                return 4

            def doubled(self):
                if self.size > 3:
                    return self.made(self.array * 2, self.array.shape)
                return Dense.made(self.array, self.array.shape)

        class Wide(Dense):
            @classmethod
            def made(cls, array, shape):
                return super().made(array, (*shape, 1))

        @partial(jax.jit, static_argnames=["rows", "columns"])
        def zeros(rows, columns):
            return Dense.made(jnp.zeros((rows, columns)), (rows, columns))
    """,
    "parameters that a partial fills from a dict": """
        from functools import partial

        import jax

        class Stack:
            def body(self, carry, layer, graph, width):
                return carry + layer * width, graph

            def forward(self, x, layers, *more, **options):
                x, _ = jax.lax.scan(partial(self.body, graph=3, **options), x, layers)
                y, _ = jax.lax.scan(partial(self.body, *more), x, layers)
                return x + y
    """,
    "what an abstract method gives": """
        from abc import ABC, abstractmethod

        import jax
        import jax.numpy as jnp

        class Density(ABC):
            @abstractmethod
            def score(self, x):
                pass

            def weigh(self, flag, x):
                return jax.lax.cond(flag, lambda x: (self.score(x), x), lambda x: (jnp.float32(0), x), x)
    """,
    "functions that every argument of a donating step stands beside": """
        from functools import partial

        import equinox as eqx
        import jax.numpy as jnp

        def loss(model, x, weight):
            return jnp.sum(model * x * weight)

        @eqx.filter_jit(donate="all")
        def step(model, loss_fn, x):
            return model - eqx.filter_grad(loss_fn)(model, x)

        def train(model, loader, flag):
            weighted = partial(loss, weight=2.0) if flag else partial(loss, weight=1.0)
            for batch in loader:
                model = step(model, weighted, batch)
                model = step(model, loss, batch.copy())
                print(batch.mean())
            return model, weighted, loss
    """,
    "settings and arrays in one dict": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        ARRAYS = ("positions", "triangles")
        SETTINGS = ("depth", "degree")

        def joined(settings, arrays):
            whole = dict(zip(SETTINGS, settings[:-1]))
            whole.update({name: arrays[name] for name in ARRAYS})
            whole["tables"] = dict(arrays["tables"], order=settings[-1])
            return whole

        @partial(jax.jit, static_argnames="degree")
        def raised(x, degree):
            return x**degree

        def evaluate(whole, x):
            return raised(x, whole["degree"]) + jnp.zeros(whole["depth"]).sum() + x[: whole["tables"]["order"]]

        def geometry(arrays, x):
            return {name: arrays[name] * x for name in arrays}

        @partial(jax.jit, static_argnames="settings")
        def forward(arrays, x, settings):
            whole = joined(settings, arrays)
            return evaluate({**settings.defaults, **geometry(arrays, x), **whole}, x)

        @partial(jax.jit, static_argnames="settings")
        def other(arrays, x, settings):
            return evaluate({**settings, **geometry(arrays, x)}, x)
    """,
    "what a union of types, or a type that is not known, asks for": """
        import jax
        import numpy as np
        from elsewhere import Quantity

        Scalar = np.generic | (bool | int | float)

        def to_array(data):
            if isinstance(data, Scalar):
                return np.asarray(data)
            if isinstance(data, Quantity):
                return np.asarray(data)
            if isinstance(data, int | None):
                return int(data or 0)
            return data

        @jax.jit
        def doubled(x):
            return to_array(x) * 2
    """,
    "a class that is registered by a private name": """
        import jax
        import jax.numpy as jnp
        from jax._src.tree_util import register_pytree_node

        class Box:
            def __init__(self, x):
                self.x = x

        register_pytree_node(Box, lambda box: ((box.x,), None), lambda _, parts: Box(*parts))

        @jax.jit
        def doubled(box):
            return box.x * 2

        doubled(Box(jnp.ones(3)))
    """,
    "keys under names": """
        import jax

        def draws(key):
            keys = dict(zip(("params", "noise"), jax.random.split(key)))
            more = {name: part for name, part in zip(("a", "b"), jax.random.split(keys["params"]))}
            return jax.random.normal(more["a"]) + jax.random.normal(more["b"]) + jax.random.normal(keys["noise"])
    """,
    "vmap where nothing is jitted": """
        import jax
        import jax.numpy as jnp

        def other(i, j):
            return jax.lax.cond(i < 3, lambda: j, lambda: 10 - j)

        def all_pairs():
            rows = jax.vmap(other, in_axes=(None, 0))
            return jax.vmap(rows, in_axes=(0, None))(jnp.arange(4), jnp.arange(3))

        with jax.disable_jit():
            all_pairs()
    """,
    "a jitted static method of a class that a parameter stands for": """
        from functools import partial

        import jax

        class Planner:
            @classmethod
            @partial(jax.jit, static_argnums=0)
            def closest(cls, area, targets, position):
                def moves(position):
                    return cls.reach(position, area) + targets

                return jax.lax.cond(targets[0] > 0, lambda p: p, moves, position)

            @staticmethod
            @jax.jit
            def reach(position, mask):
                return position * mask
    """,
    "a loop that registers classes": """
        from dataclasses import dataclass, fields

        import jax
        import jax.numpy as jnp

        def register(cls, *, meta=()):
            names = [field.name for field in fields(cls) if field.name not in meta]
            return jax.tree_util.register_dataclass(cls, data_fields=names, meta_fields=list(meta))

        @dataclass(frozen=True)
        class State:
            x: jax.Array

        @dataclass(frozen=True)
        class Carry:
            x: jax.Array

        for cls in (State, Carry):
            register(cls)

        @jax.jit
        def doubled(state):
            return state.x * 2

        doubled(State(jnp.ones(3))), doubled(Carry(jnp.ones(3)))
    """,
    "questions for tracers by type, and of one of two values": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        def is_tracer(x):
            return isinstance(x, jax.core.Tracer)

        def check(x):
            array = jnp.asarray(x)
            if is_tracer(x) or is_tracer(array):
                return
            if np.any(np.asarray(array) <= 0.0):
                raise ValueError(float(array))

        def same(x):
            if type(x) != jax.interpreters.partial_eval.DynamicJaxprTracer:
                if len(jnp.unique(x)) > 1:
                    raise ValueError("different")
            return x

        class Pair:
            def __init__(self, a, b):
                self.a, self.b = a, b

        jax.tree_util.register_dataclass(Pair, data_fields=["a", "b"], meta_fields=[])

        @jax.jit
        def product(pair, y):
            check(pair.a)
            check(y)
            return pair.a * same(y)

        product(Pair(1.0, 2.0), 3.0)
        check(1.0)
    """,
    "keys that a dict has on some paths alone": """
        import jax
        import settings

        def step(x, block=3, limit=0):
            if limit > 2:
                return x
            return x + block

        @jax.jit
        def run(x, kwargs):
            return step(x, **kwargs)

        def main(x):
            kwargs = {}
            if settings.passes():
                kwargs["limit"] = 3
            return run(x, kwargs)
    """,
    "a list of places that a loop fills": """
        from functools import partial
        import jax

        def step(x, factor, limit):
            if limit > 2:
                return x * factor
            return x

        @partial(jax.jit, static_argnames=("places", "held"))
        def run(places, held, x):
            args = [x] * 3
            for place, value in zip(places, held):
                args[place] = value
            return step(*args)

        def main(x):
            return run((2,), (4,), x)
    """,
    "names that a later import gives to another library": """
        import jax
        import jax.numpy as np

        def normalize(x):
            return x / np.linalg.norm(x, axis=-1, keepdims=True)

        fast = jax.pmap(lambda rays: normalize(rays))
        print(fast(np.ones((1, 3))))

        import numpy as np

        np.save("out.npy", np.zeros(3))
    """,
    "attributes that are set again, by names that are not known": """
        import jax
        import jax.numpy as jnp
        import numpy as np

        class Schedule:
            def __init__(self, betas):
                self.betas = np.array(betas)
                self.products = np.cumprod(self.betas)
                for name, value in vars(self).items():
                    if isinstance(value, np.ndarray):
                        setattr(self, name, jnp.array(value))

            def at(self, t):
                return self.products[t]

        schedule = Schedule([0.1, 0.2])

        @jax.jit
        def loss(x, t):
            return x * schedule.at(t)

        loss(1.0, 1)
    """,
    "attributes that a hook keeps in another form": """
        import jax

        class Parameter:
            def __init__(self, data):
                self.data = data

        class Base:
            def __setattr__(self, name, value):
                if isinstance(value, Parameter):
                    self.register(name)
                    value = value.data
                super().__setattr__(name, value)

            def register(self, name):
                print(name)

        @jax.jit
        def gain(x, factor):
            return x * factor

        class Amplifier(Base):
            def __init__(self):
                self.factor = Parameter(2.0)

            def __call__(self, x):
                return gain(x, self.factor)

        Amplifier()(1.0)
    """,
    "a transformation of several, which take other functions": """
        import jax

        MAPS = {"vmap": jax.vmap, "scan": jax.lax.scan, "lmap": lambda f, **k: lambda xs: jax.lax.map(f, xs, **k)}

        def mapped(kind, xs, **options):
            def one(view):
                return view + 1

            return MAPS[kind](one, **options)(xs)
    """,
    "lists that are put behind each other by sum": """
        import jax.numpy as jnp

        def compare(dtypes, comparator):
            operands = sum([[jnp.array(0, dtype)] * 2 for dtype in dtypes], [])
            operands[1] = jnp.array(1)
            return comparator(*operands)
    """,
    "a branch for a dtype, or for a machine": """
        import jax
        import jax.numpy as jnp

        def counts(labels):
            if jnp.issubdtype(labels, jnp.integer):
                labels = jax.nn.one_hot(labels, labels.max() + 1)
            return labels.sum(0)

        def reference(lengths):
            return [length + 1 for length in range(lengths[-1])]

        @jax.jit
        def loss(logits, lengths):
            if jax.devices()[0].platform == "cpu":
                print(reference(lengths))
            return counts(jax.nn.softmax(logits))
    """,
    "what flax's remat left concrete when it was asked to": """
        from functools import partial
        import flax.linen as nn

        class Layer(nn.Module):
            @nn.compact
            def __call__(self, x, deterministic=True):
                x = nn.Dense(4)(x)
                return x if deterministic else x + 1

        class Model(nn.Module):
            remat: bool = False

            @nn.compact
            def __call__(self, x, deterministic: bool = True):
                wrap = partial(nn.remat, concrete=True) if self.remat else lambda cls: cls
                return wrap(Layer)()(x, deterministic=deterministic)
    """,
    "shapes that a rule of differentiation keeps": """
        from functools import partial
        import jax
        import jax.numpy as jnp

        @partial(jax.custom_vjp, nondiff_argnames=("empty",))
        def gather(x, index, inverse=None, empty=True):
            return x[index]

        def forward(x, index, inverse, empty):
            return gather(x, index, inverse, empty=empty), (x.shape, index, inverse)

        def backward(empty, kept, g):
            shape, index, inverse = kept
            if g.shape[0] == shape[0]:
                return g, None, None
            return jnp.zeros(shape).at[index].set(g), None, None

        gather.defvjp(forward, backward)

        @jax.jit
        def run(x, index):
            return gather(jnp.repeat(x, 2), index, empty=False)
    """,
    "what one path has donated and another still holds": """
        import jax

        def main(state, batches, settings):
            step = jax.jit(lambda state, batch: (0.0, state), donate_argnums=(0,))
            kept = state["params"] if settings.keep else None
            while settings.more():
                with settings.mesh():
                    settings.use(state["params"])
                if settings.ready():
                    for batch in batches:
                        loss, state = step(state, batch)
                        if settings.stop:
                            break
    """,
    "what two dicts fill the parameters of a function with": """
        import equinox as eqx
        import jax

        def mixture(count, **params):
            if count == 0:
                return []
            return [params[f"rate_{i}"] for i in range(count)]

        def make(names, constants):
            def loss(x):
                values = {name: jax.lax.dynamic_index_in_dim(x, i) for name, i in names.items()}
                return mixture(**constants, **values)

            return eqx.filter_jit(loss)
    """,
    "a library that is asked for its name": """
        import numpy as np
        import jax

        def spence(z):
            return np.abs(z)

        def dilogarithm(z):
            if "jax" in np.__name__:
                function = jax.vmap(spence)
            else:
                from scipy.special import spence as function
            return function(z)
    """,
    "static arguments behind arguments that are unpacked": """
        import functools
        import jax
        import jax.numpy as jnp

        class Solver:
            @functools.partial(jax.jit, static_argnums=(0, 5))
            def hessian(self, controls, states, lower, upper, gauss_newton, weight):
                if gauss_newton:
                    return states * weight
                return controls

            @functools.partial(jax.jit, static_argnums=(0,))
            def solve(self, primals, duals):
                return self.hessian(*primals, *duals, self.method == "gauss-newton", 1.0)

        Solver().solve(jnp.ones((2, 3)), jnp.ones((2, 3)))
    """,
    "shapes for which a function asks": """
        import jax
        import jax.numpy as jnp
        from jax import lax

        def scalar(n, x):
            return lax.cond(n == 0, lambda: x, lambda: x + 1)

        def evaluate(n, x):
            shape = jnp.shape(n)
            several = len(shape) > 0
            if several:
                return jax.vmap(lambda one: scalar(one, x))(n)
            return scalar(n, x)

        evaluate(jnp.arange(3), 1.0)
    """,
    "derivatives for one argument after another": """
        import jax
        import jax.numpy as jnp

        def loss(a, b):
            return a * b

        def check(params, expected):
            for index, value in enumerate(params):
                assert jnp.allclose(value, jax.jacobian(loss, argnums=index)(*params))
    """,
    "cases that a range counts": """
        from absl.testing import parameterized
        import jax

        class PowerTest(parameterized.TestCase):
            @parameterized.parameters(range(2, 9, 2))
            def test_power(self, p):
                assert jax.jit(lambda x, p: x**p)(1.0, p) == 1.0
    """,
    "names of other versions behind flags and early returns": """
        import sys
        import jax

        NEW = tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 5)
        NAMED = hasattr(jax, "tree")
        try:
            from jax.tree import map as tree_map
            IMPORTED = True
        except ImportError:
            IMPORTED = False

        chosen = jax.tree.map if NEW else jax.tree_map

        def after_a_question(function, tree):
            if hasattr(jax, "tree"):
                return jax.tree.map(function, tree)
            return jax.tree_map(function, tree)

        def after_a_version(function, tree):
            if jax.__version_info__ >= (0, 4, 25):
                return jax.tree.map(function, tree)
            return jax.tree_map(function, tree)

        def after_a_flag(function, tree):
            if not NEW:
                return jax.tree_map(function, tree)
            if NAMED and function is not None:
                return jax.tree.map(function, tree)
            if IMPORTED:
                return tree_map(function, tree)
            return jax.tree_multimap(function, tree)

        def after_a_try(function, tree):
            try:
                return jax.tree.map(function, tree)
            except AttributeError:
                pass
            return jax.tree_map(function, tree)

        @jax.jit
        def checked(x):
            if not hasattr(sys, "debugger_of_ours") or not sys.debugger_of_ours.active:
                return x
            if x > 0:
                raise ValueError("positive")
            return x
    """,
    "a cached property of an object that a trace finds": """
        from functools import cached_property
        import jax
        import jax.numpy as jnp

        class Bounds:
            def __init__(self, low, high):
                low, high = jnp.asarray(low), jnp.asarray(high)
                if jnp.any(low > high):
                    raise ValueError("bounds")
                self.low, self.high = low, high

        class Environment:
            def __init__(self, size):
                self.size = size
                self.bounds

            @cached_property
            def bounds(self):
                return Bounds(0.0, self.size)

        def clip(environment, x):
            return jnp.clip(x, environment.bounds.low, environment.bounds.high)

        jax.jit(clip, static_argnums=0)(Environment(3.0), 1.0)
    """,
    "contexts that take themselves off the stack where they stand": """
        import jax

        class Context:
            def __init__(self, key, stack):
                self.key, self.stack = key, stack

            def __enter__(self):
                return self

            def __exit__(self, *reason):
                self.stack.remove(self)

        class Contexts:
            def __init__(self):
                self.stack = []

            def new(self, key):
                context = Context(key, self.stack)
                self.stack.append(context)
                return context

        contexts = Contexts()

        @jax.jit
        def sample(key):
            with contexts.new(key) as context:
                return jax.random.normal(context.key)
    """,
    "keys of a call that is lowered alone": """
        import jax

        def reset(key):
            return jax.random.normal(key, (3,))

        @jax.jit
        def step(key, state):
            return state + jax.random.normal(key, (3,))

        def compiled():
            key = jax.random.key(0)
            return step.lower(key, reset(key)).compile()
    """,
    "sizes of a kernel that have defaults": """
        import jax
        import jax.numpy as jnp
        from jax.experimental import pallas as pl

        def kernel(x_ref, o_ref, block=128):
            start = pl.program_id(0) * block
            o_ref[pl.ds(start, block)] = x_ref[pl.ds(start, block)]

        @jax.jit
        def copy(x):
            return pl.pallas_call(kernel, grid=(2,), out_shape=x, interpret=True)(x)
    """,
    "whether there is a variable": """
        from flax import nnx
        import jax.numpy as jnp

        class Norm(nnx.Module):
            def __init__(self, size: int, rngs: nnx.Rngs):
                self.scale = nnx.Param(jnp.ones(size))

            def __call__(self, x):
                return x * (self.scale.value if self.scale else 1.0)

        @nnx.jit
        def run(norm, x):
            return norm(x)

        run(Norm(3, nnx.Rngs(0)), jnp.ones(3))
    """,
    "a setting that a function switches": """
        from contextlib import contextmanager
        import jax
        import jax.numpy as jnp

        SIZE = None

        @contextmanager
        def of_size(size):
            global SIZE
            old = SIZE
            SIZE = size
            yield
            SIZE = old

        @jax.jit
        def buffer(count):
            return jnp.zeros(SIZE or count)
    """,
    "sizes of an equinox module that a step gives back": """
        import equinox as eqx
        import jax
        import jax.numpy as jnp

        class Cell(eqx.Module):
            weight: jax.Array
            size: int

            def __call__(self, x):
                return jnp.reshape(self.weight * x, (self.size, -1))

        @eqx.filter_jit
        def step(model, x):
            grads = eqx.filter_grad(lambda model: jnp.sum(model(x)))(model)
            return eqx.apply_updates(model, grads)

        def train(x):
            first = step(Cell(jnp.ones(4), 2), x)
            return step(first, x)
    """,
    "an object that is made anew from its leaves": """
        import jax
        from jax.tree_util import register_pytree_node_class

        @register_pytree_node_class
        class Model:
            def __init__(self, rate, scale):
                self.rate, self.scale = rate, scale

            def tree_flatten(self):
                return (self.rate, self.scale), None

        @register_pytree_node_class
        class Wide(Model):
            def __init__(self, rate):
                super().__init__(rate, 2.0)

            @classmethod
            def tree_unflatten(cls, structure, leaves):
                made = object.__new__(cls)
                super(cls, made).__init__(*leaves)
                return made

        print(jax.jit(lambda model: model)(Wide(1.0)))
    """,
    "checks where nothing is compiled": """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def root(x):
            y = jnp.sqrt(x)
            if jax.config.jax_disable_jit:
                assert not jnp.any(jnp.isnan(y)), "nans"
            return y
    """,
    "frozen objects whose class unlocks them": """
        import contextlib
        import jax
        import jax_dataclasses as jdc

        @jdc.pytree_dataclass
        class Editable:
            @contextlib.contextmanager
            def unlocked(self, mutability):
                object.__setattr__(self, "__mutability__", mutability)
                yield self

        @jdc.pytree_dataclass
        class Link(Editable):
            mass: jax.Array

        @jdc.pytree_dataclass
        class Joint:
            angle: jax.Array

        def heavier(link: Link, mutability):
            with link.unlocked(mutability):
                link.mass = 2.0 * link.mass

        @jax.jit
        def turned(joint: Joint, by):
            with jdc.copy_and_mutate(joint) as new:
                new.angle = joint.angle + by
            return new
    """,
    "an object that a staged function fills and hands on": """
        import jax
        import jax.numpy as jnp

        class Context:
            def __init__(self, inputs):
                self.inputs = inputs

        def phase(context):
            context.inputs = jnp.sin(context.inputs)

        def run(context, index, inputs):
            def branch(state):
                context.inputs = state
                phase(context)
                return context.inputs

            context.inputs = jax.lax.switch(index, [branch, branch], context.inputs)
            return context.inputs

        def main(index, inputs):
            return run(Context(jnp.ones(3)), index, inputs)
    """,
    "a tree that a function of leaves gives": """
        import jax
        import numpy as np

        def apply(params, extra):
            return params, extra or {}

        def prefill(params, extra, position):
            extra = (extra or {}) | {"position": position}
            return apply(params, extra)

        def main(params, batch, size):
            extra = jax.tree_util.tree_map(lambda x: np.pad(x, [(0, size)]), batch.extra)
            return jax.jit(prefill)(params, extra, 3)
    """,
    "a cached property that the host may have asked for": """
        from functools import cached_property

        import jax
        import jax.numpy as jnp

        class Grid:
            @cached_property
            def spacing(self):
                size = jnp.ones(3)
                if jnp.any(size > 2):
                    raise ValueError
                return size.shape[0]

        def read(grid):
            return grid.spacing

        def check(grid):
            return jax.jit(read, static_argnums=0)(grid)

        grid = Grid()
        print([getattr(grid, name) for name in dir(grid)], check(grid))
    """,
    "text by its type, and a keyword that a function does not take": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        NAMES = {"bf16", "bfloat16"}

        def dtype_of(dtype):
            if isinstance(dtype, str):
                if dtype.lower() in NAMES:
                    return jnp.bfloat16
            return dtype

        def planes(actions, rows, classes):
            return jnp.tile(jax.nn.one_hot(actions, classes), (rows, 1))

        @jax.jit
        def run(x):
            return x.astype(dtype_of(jnp.bfloat16))

        def encode(spec, actions):
            return jax.vmap(partial(planes, rows=spec.rows, actions_of=spec.actions))(actions)
    """,
    "arrays of another library, by its name": """
        import jax
        import jax.numpy as jnp
        import numpy as np
        from scipy.optimize import OptimizeResult
        from elsewhere import library_of

        def norms(x):
            library = library_of(x)
            if library == "jax":
                return jnp.linalg.norm(x, axis=1)
            rows = np.zeros(2)
            for i, row in enumerate(x):
                rows[i] = np.linalg.norm(row)
            return rows

        def sines(x):
            if library_of(x) != "numpy":
                return jnp.sin(x)
            return np.sin(x)

        @jax.jit
        def run(x):
            return OptimizeResult(x=jnp.sin(x), fun=norms(x) + sines(x))["fun"]
    """,
    "what the setter of a property makes of a value": """
        from functools import partial

        import jax
        import jax.numpy as jnp
        import numpy as np

        class Model:
            def __init__(self, scales):
                self.scales = jnp.array(scales)

            @property
            def scales(self):
                return self._scales

            @scales.setter
            def scales(self, value):
                self._scales = np.array(value)

            @partial(jax.jit, static_argnums=0)
            def run(self, x):
                return [x * scale for scale in self.scales.diagonal().tolist()]

        print(Model(np.eye(3)).run(jnp.ones(3)))
    """,
    "a number of a module that a mapped function of equinox gives": """
        import equinox as eqx
        import jax

        class Rollout(eqx.Module):
            layer: eqx.nn.Linear
            steps: int

            def __call__(self, x, key):
                return jax.lax.scan(lambda x, key: (self.layer(x), x), x, jax.random.split(key, self.steps))

        @eqx.filter_jit
        def evaluate(model, x, keys):
            return eqx.filter_vmap(model)(x, keys)

        def main(x, keys, others):
            models = eqx.filter_vmap(lambda key: Rollout(eqx.nn.Linear(3, 3, key=key), 10))(keys)
            return evaluate(models, x, others)
    """,
    "a tracer makes the body of a try raise": """
        import jax
        import jax.numpy as jnp
        from elsewhere import errors

        ERRORS = tuple(errors)
        kept = {}

        def key_of(x):
            try:
                if x.shape[0] <= 4:
                    inside = tuple(float(x[i]) for i in range(x.shape[0]))
                else:
                    inside = (float(x[2]),)
                return (float(x[0]), inside)
            except ERRORS:
                return None

        def grid(x):
            key = key_of(x)
            if key is None:
                return jnp.meshgrid(x, x)
            kept[key] = jnp.meshgrid(x, x)
            return kept[key]

        def trimmed(states, count):
            try:
                n = int(count)
            except jax.errors.ConcretizationTypeError:
                return states
            return [float(state) for state in states[:n]]

        @jax.jit
        def run(x, count):
            return grid(x)[0], trimmed(jnp.sin(x), count)

        def refused(x):
            try:
                x.at[0].set("a")
            except TypeError:
                return True
            return False

        print(refused(jnp.ones(3)))
    """,
    "fields that a frozen class makes anew as it is made": """
        from dataclasses import dataclass
        from typing import Sequence

        import jax.numpy as jnp

        @dataclass(frozen=True)
        class Categorical:
            probs: Sequence

            def __post_init__(self):
                probs = jnp.asarray(self.probs)
                object.__setattr__(self, "probs", probs / jnp.sum(probs))

            def entropy(self):
                return -jnp.sum(self.probs * jnp.log(self.probs))

        print(Categorical([0.25, 0.75]).entropy())
    """,
    "a check that a helper keeps from tracers": """
        import jax
        import jax.numpy as jnp

        def is_traced(x):
            return isinstance(x, jax.core.Tracer)

        def checked(x):
            concrete = not is_traced(x)
            if concrete and not bool(jnp.all(jnp.isfinite(x))):
                raise ValueError
            return jnp.sin(x)

        @jax.jit
        def run(x, settings):
            start = x if settings.warm else 1.0
            return checked(start)
    """,
    "what a table of the object holds since it was made": """
        from functools import partial

        import jax
        import jax.numpy as jnp

        class Renderer:
            def __init__(self, colours):
                self.numbers = {}
                for colour in colours:
                    self.number(colour)

            def number(self, colour):
                if colour in self.numbers:
                    return self.numbers[colour]
                row = jnp.asarray(colour)
                grey = int(row[0] + row[1])
                self.numbers[colour] = grey
                return grey

            @partial(jax.jit, static_argnums=0)
            def render(self, x):
                return x + self.number((0, 1))

        def main(colours, x):
            return Renderer(colours).render(x)
    """,
    "two states of training whose modules give different things": """
        import flax.linen as nn
        import jax.numpy as jnp
        import optax
        from flax.training.train_state import TrainState

        class Policy(nn.Module):
            @nn.compact
            def __call__(self, x, rng):
                return nn.Dense(3)(x), x.sum()

        class Value(nn.Module):
            @nn.compact
            def __call__(self, x):
                return nn.Dense(1)(x)

        def run(rng, x):
            policy, value = Policy(), Value()
            actor = TrainState.create(
                apply_fn=policy.apply, params=policy.init(rng, x, rng), tx=optax.sgd(0.1)
            )
            critic = TrainState.create(apply_fn=value.apply, params=value.init(rng, x), tx=optax.sgd(0.1))
            _, total = actor.apply_fn(actor.params, x, rng)
            return total + jnp.exp(critic.apply_fn(critic.params, x)).sum()
    """,
    "an object whose call is a static method": """
        import jax
        import jax.numpy as jnp

        class Norm:
            def __init__(self, scale):
                self.scale = scale

            @staticmethod
            @jax.jit
            def __call__(x):
                return jnp.sum(jnp.abs(x))

        def run(x):
            return Norm(2.0)(x), jax.grad(Norm(3.0))(x)
    """,
    "functions of a class that are called on the class": """
        import jax

        class Linear:
            def __init__(self, size):
                self.size = size

            @jax.jit
            def value(weight, state):
                return weight @ state

            def gradient(weight, state):
                return Linear.value(weight, state) * state
    """,
    "what a donation of everything takes and no result is made of": """
        import equinox as eqx

        @eqx.filter_jit(donate="all")
        def train_step(model, x, policy=None, sharding=None):
            model = eqx.filter_shard(model, sharding)
            loss, grads = eqx.filter_value_and_grad(policy.loss)(model, x)
            return loss, eqx.apply_updates(model, policy.scaled(grads))

        def train(model, batches, policy, sharding):
            for x in batches:
                loss, model = train_step(model, x, policy=policy, sharding=sharding)
                policy.report(loss, sharding)
            return model
    """,
    "a branch for lists, of which nothing is known": """
        import jax
        import jax.numpy as jnp
        import numpy as np
        from jax import lax
        from somewhere import load

        def loader():
            arrays = load()

            def batch(i):
                chosen = lax.dynamic_slice_in_dim(jnp.arange(100), i * 8, 8)
                return [np.take(a, chosen) if isinstance(a, list) else a[chosen] for a in arrays]

            return batch

        def run():
            batch = loader()
            return lax.fori_loop(0, 10, lambda i, total: total + batch(i)[0].sum(), 0.0)
    """,
    "the sizes of one of several modules that are rematerialised": """
        import flax.linen as nn
        import jax

        class Attention(nn.Module):
            size: int

            def __call__(self, x):
                @jax.vmap
                def over_heads(row):
                    return row.reshape(-1, self.size)

                return over_heads(x)

        class Mixer(nn.Module):
            size: int

            def __call__(self, x):
                return x.T.reshape(self.size, -1)

        class Block(nn.Module):
            kind: str

            def setup(self):
                match self.kind:
                    case "attention":
                        chosen = Attention
                    case "mixer":
                        chosen = Mixer
                self.layer = nn.remat(chosen)(size=8)

            def __call__(self, x):
                return self.layer(x)
    """,
    "parts of a tuple that has fewer": """
        import functools
        import jax

        def make(scale):
            @functools.partial(jax.jit, static_argnames="n")
            def sample(x, n):
                return [x * scale for _ in range(n)]

            @functools.partial(jax.jit, static_argnames="n")
            def lengths(x, n):
                return [scale] * n

            return sample, lengths

        def run(xs):
            _, _, density = make(2.0)
            return jax.vmap(lambda x: density(x, x))(xs)
    """,
    "settings that are given, and others by default": """
        from dataclasses import dataclass

        import jax

        @dataclass
        class Config:
            method: str = "replay"

        class Trainer:
            def __init__(self, config=None):
                self.config = config or Config()
                self.kept = []

            def step(self, x):
                if self.config.method == "replay":
                    self.kept.append(x)
                return x * 2

        def run(x):
            return jax.jit(Trainer(Config(method="plain")).step)(x) + Trainer().step(x)
    """,
    "rows of arrays that are mapped where they have two axes": """
        import jax
        import jax.numpy as jnp

        def advantages(rewards, values):
            return rewards - values.mean()

        def both(rewards, values):
            if rewards.ndim == 1:
                return advantages(rewards, values)
            return jax.vmap(advantages)(rewards, values)

        print(both(jnp.ones(4), jnp.ones(5)))
    """,
    "two modules of one class, which their configs tell apart": """
        import dataclasses
        import jax.numpy as jnp
        from flax import nnx

        @dataclasses.dataclass(frozen=True)
        class Config:
            features: bool = False

        class Head(nnx.Module):
            def __init__(self, config, *, rngs):
                self.config = config
                self.layer = nnx.Linear(4, 4, rngs=rngs)

            def __call__(self, x):
                x = jnp.tanh(self.layer(x))
                if self.config.features:
                    return x
                return x, jnp.abs(x)

        class Model(nnx.Module):
            def __init__(self, *, rngs):
                self.points = Head(Config(), rngs=rngs)
                self.tracks = Head(Config(features=True), rngs=rngs)

            def __call__(self, x):
                points, confidence = self.points(x)
                return points, confidence, jnp.transpose(self.tracks(x))

        print(Model(rngs=nnx.Rngs(0))(jnp.ones((3, 4))))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_said_of_what_may_be_another_value(name: str, tmp_path: Path) -> None:
    assert [finding.message for finding in findings_in(tmp_path, {"program.py": PROGRAMS[name]})] == []


def test_an_annotated_field_is_certain_once_it_crosses_into_a_jitted_function(tmp_path: Path) -> None:
    program = """
        import jax
        from flax import struct

        @struct.dataclass
        class State:
            done: jax.Array

        @jax.jit
        def step(state: State):
            if state.done:
                return state
            return state.replace(done=~state.done)
    """
    assert [finding.code for finding in findings_in(tmp_path, {"program.py": program})] == ["JAX101"]


def test_a_property_that_is_not_kept_runs_under_the_trace_that_reads_it(tmp_path: Path) -> None:
    program = PROGRAMS["a cached property of an object that a trace finds"].replace(
        "cached_property", "property"
    )
    program = program.replace("from functools import property", "")
    assert [finding.code for finding in findings_in(tmp_path, {"program.py": program})] == ["JAX101"]


def test_a_key_of_a_call_that_runs_is_used(tmp_path: Path) -> None:
    program = PROGRAMS["keys of a call that is lowered alone"].replace(".lower", "").replace(".compile()", "")
    assert [finding.code for finding in findings_in(tmp_path, {"program.py": program})] == ["JAX301"]


@pytest.mark.parametrize(
    ("name", "change", "line"),
    [
        ("a setting that a function switches", ("            global SIZE\n", ""), 16),
        ("sizes of an equinox module that a step gives back", ("eqx.filter_jit", "jax.jit"), 10),
    ],
)
def test_sizes_that_are_traced_for_sure(
    name: str, change: tuple[str, str], line: int, tmp_path: Path
) -> None:
    found = findings_in(tmp_path, {"program.py": PROGRAMS[name].replace(*change)})
    assert [(finding.code, finding.span.line) for finding in found if finding.code == "JAX104"] == [
        ("JAX104", line)
    ]


def test_only_what_follows_a_return_for_another_version_is_for_that_one(tmp_path: Path) -> None:
    program = """
        import jax

        if jax.__version_info__ < (0, 4, 20):
            raise ImportError("too old")

        def raising(function, tree):
            if not hasattr(jax, "tree"):
                raise ImportError("too old")
            return jax.tree_map(function, tree)

        def returning(function, tree, twice):
            if twice:
                if not hasattr(jax, "tree"):
                    return tree
                tree = jax.tree_map(function, tree)
            return jax.tree_map(function, tree)

        jax.tree_map(abs, [1.0])
    """
    found = findings_in(tmp_path, {"program.py": program})
    assert sorted(finding.span.line for finding in found) == [9, 15, 16, 18]


def test_what_jax_traces_where_nothing_is_jitted(tmp_path: Path) -> None:
    program = """
        import jax
        import jax.numpy as jnp

        def relu(x):
            if x > 0:
                return x
            return 0.0

        def soft(x):
            if x > 0:
                return x
            return 0.1 * x

        def hard(x):
            if x > 0:
                return x
            return -1.0

        with jax.disable_jit():
            jax.vmap(jax.jit(relu))(jnp.ones(3))
            jax.lax.scan(lambda carry, x: (soft(carry), x), 1.0, jnp.ones(3))
        with jax.disable_jit(False):
            jax.jit(hard)(1.0)
    """
    found = findings_in(tmp_path, {"program.py": program})
    assert [finding.span.line for finding in found if finding.code == "JAX101"] == [5, 15]


def test_a_static_array_is_told_where_the_field_is_declared(tmp_path: Path) -> None:
    base = """
        import equinox as eqx

        class Base(eqx.Module):
            mask: object = eqx.field(static=True)
    """
    program = """
        import jax
        import jax.numpy as jnp
        from base import Base

        class Model(Base):
            weight: jax.Array

        @jax.jit
        def run(model):
            return model.weight

        run(Model(jnp.ones(3), jnp.ones(3)))
    """
    found = findings_in(tmp_path, {"base.py": base, "program.py": program})
    assert [(Path(finding.path).name, finding.span.line, finding.code) for finding in found] == [
        ("base.py", 4, "JAX107")
    ]


@pytest.mark.parametrize(("stage", "quiet"), [(HOST, True), (Stage("jit", abstract=True), False)])
def test_a_tracer_that_left_its_trace_is_told_where_it_leaves_alone(stage: Stage, quiet: bool) -> None:
    """Libraries write their states under a trace, and restore them after it."""
    node = ast.parse("float(x)", mode="eval").body
    module = Module(source_from_bytes(b"float(x)", Path("m.py"), "m.py"), "m", "", False)
    frame = Frame(None, module, Scope(None, is_module=True), stage)
    assert guarded(ConvertEvent(node, frame, Array(True), "float")) is quiet


def test_what_follows_a_return_for_tracers_is_not_seen_by_them(tmp_path: Path) -> None:
    program = """
import jax
import jax.numpy as jnp

def check(x):
    if isinstance(x, jax.core.Tracer):
        return
    if not bool(jnp.all(jnp.diff(x) > 0)):
        raise ValueError

@jax.jit
def interpolate(x):
    check(x)
    return x
"""
    assert findings_in(tmp_path, {"program.py": program}) == []


def test_what_is_certain_in_a_dict_and_a_list_is_told(tmp_path: Path) -> None:
    program = """
        import jax

        def scaled(x, factor):
            if factor > 0:
                return x * factor
            return x

        def moved(x, shift):
            if shift > 0:
                return x + shift
            return x

        @jax.jit
        def run(x, factor):
            kwargs = {"factor": 1.0}
            kwargs.update(factor=factor)
            args = [x, None]
            args[1] = factor
            return scaled(x, **kwargs) + moved(*args)
    """
    found = findings_in(tmp_path, {"program.py": program})
    assert [(finding.code, finding.span.line) for finding in found] == [("JAX101", 4), ("JAX101", 9)]


def notebook(*cells: str) -> str:
    """A notebook of these cells of code."""
    made = [
        {"cell_type": "code", "metadata": {}, "source": cell, "outputs": [], "execution_count": None}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_a_cell_shows_its_last_value_and_calls_what_is_defined_so_far(tmp_path: Path) -> None:
    first = """import jax
import jax.numpy as jnp

class World:
    def step(self, i, x):
        return x + i

def run(x):
    return jax.lax.fori_loop(0, 10, World().step, x)

print(jax.jit(run)(1.0))
"""
    second = "class World:\n    def step(self, x):\n        return x\n\nx = jnp.zeros(3)\nx.at[0].set(1.0)\n# x is as it was\n"
    third = "x.at[1].set(1.0)\nx + 1"
    found = findings_in(tmp_path, {"program.ipynb": notebook(first, second, third)})
    assert [(finding.code, finding.message.split()[0]) for finding in found] == [("JAX109", "`.at[...].set`")]


def test_what_no_handler_catches_is_told(tmp_path: Path) -> None:
    program = PROGRAMS["a tracer makes the body of a try raise"].replace("except ERRORS", "except KeyError")
    assert {finding.code for finding in findings_in(tmp_path, {"program.py": program})} == {
        "JAX102",
        "JAX201",
    }


def test_what_a_call_on_the_spot_gives_is_traced(tmp_path: Path) -> None:
    program = PROGRAMS["a call on the spot that gives a jitted function less than it takes"]
    given = program.replace("(key)\n    ", "(key, 0, {}, 1)\n    ")
    assert {finding.code for finding in findings_in(tmp_path, {"program.py": given})} == {"JAX101", "JAX105"}


def test_arrays_are_donated_with_all_the_others(tmp_path: Path) -> None:
    program = PROGRAMS["what holds no array is not donated with all the others"]
    donated = program.replace("model, opt, state = make()", "model, opt, state = make(); first = model")
    donated = donated.replace("return model", "return first")
    assert [finding.code for finding in findings_in(tmp_path, {"program.py": donated})] == ["JAX602"]


def test_a_method_is_called_with_its_object(tmp_path: Path) -> None:
    program = PROGRAMS["an object whose call is a static method"]
    bound = program.replace("@staticmethod", "").replace("__call__(x)", "__call__(self, x)")
    assert "JAX111" in {finding.code for finding in findings_in(tmp_path, {"program.py": bound})}


def test_a_tracer_is_told_where_numpy_takes_whatever_there_is(tmp_path: Path) -> None:
    program = PROGRAMS["a branch for lists, of which nothing is known"]
    taken = program.replace(" if isinstance(a, list) else a[chosen]", "")
    assert [finding.code for finding in findings_in(tmp_path, {"program.py": taken})] == ["JAX103"]


def test_what_the_state_of_a_module_gives_is_told_of_that_module(tmp_path: Path) -> None:
    program = PROGRAMS["two states of training whose modules give different things"]
    other = program.replace("critic.apply_fn(critic.params, x)", "actor.apply_fn(actor.params, x, rng)")
    assert [finding.code for finding in findings_in(tmp_path, {"program.py": other})] == ["JAX802"]


def test_what_one_of_several_rematerialised_modules_is_called_with_is_traced(tmp_path: Path) -> None:
    program = PROGRAMS["the sizes of one of several modules that are rematerialised"]
    sized = program.replace("(self, x)", "(self, x, size)").replace("self.size", "size")
    sized = sized.replace("self.layer(x)", "self.layer(x, 8)")
    assert {finding.code for finding in findings_in(tmp_path, {"program.py": sized})} == {"JAX104"}


def test_a_keyword_that_a_function_does_not_have_is_not_called_a_parameter_of_it(tmp_path: Path) -> None:
    program = """
        from functools import partial

        import jax

        @partial(jax.jit, static_argnames="mode")
        def scaled(x, mode="max", how=None):
            return x

        def main(x):
            return scaled(x, mod="sum"), scaled(x, how="sum")
    """
    wrong, plain = findings_in(tmp_path, {"program.py": program})
    assert wrong.message == (
        "a string ('sum') cannot be traced, and `scaled` has no parameter `mod`; did you mean `mode`?"
    )
    assert plain.message == "`how` of `scaled` is traced, and a string ('sum') cannot be; declare it static"


def test_a_setting_is_followed_where_it_is_the_one_that_is_given(tmp_path: Path) -> None:
    program = PROGRAMS["settings that are given, and others by default"]
    replayed = program.replace('"plain"', '"replay"')
    assert [finding.code for finding in findings_in(tmp_path, {"program.py": replayed})] == ["JAX201"]


def test_rows_that_are_mapped_whatever_axes_they_have_are_told(tmp_path: Path) -> None:
    program = PROGRAMS["rows of arrays that are mapped where they have two axes"]
    mapped = program.replace("if rewards.ndim == 1:\n", "if not program:\n").replace(
        "def both(", "def both(program, "
    )
    mapped = mapped.replace("both(jnp.ones(4)", "both(object(), jnp.ones(4)")
    assert [finding.code for finding in findings_in(tmp_path, {"program.py": mapped})] == ["JAX116"]


def test_what_a_switch_says_at_first_is_sure(tmp_path: Path) -> None:
    program = PROGRAMS["a switch of the module that nobody turns while tracing"]
    turned = program.replace("EAGER = False", "EAGER = True").replace("bool = True", "bool = False")
    found = findings_in(tmp_path, {"program.py": turned})
    assert [(finding.code, finding.message.split()[0]) for finding in found] == [("JAX101", "`if`")]


def test_what_a_program_needs_of_the_environment_is_taken_to_be_there(tmp_path: Path) -> None:
    program = """
        import os

        import jax

        if os.environ.get("MODE") is None:
            raise RuntimeError("set MODE")

        @jax.jit
        def first(x):
            if os.environ["MODE"] == "fast" or os.environ.get("SIZE"):
                return int(x)
            return float(x) if os.getenv("EXACT", "1") else x
    """
    lines = [finding.span.line for finding in findings_in(tmp_path, {"program.py": program})]
    assert lines == [11, 12]


SURE = {
    "lists that stand beside what is not known in one list": [
        ("given.append(params[name][0])", "given.append([params[name][0]])")
    ],
    "a constant that a function is given beside ever more numbers": [("6, jnp.inf", "6, 2")],
    "two runners and two carries that one setting chooses": [("if not on_policy", "if on_policy")],
    "many fields that a helper makes static by the type of their default": [
        ("* self.settings.rate", "* np.ceil(self.settings.rate)")
    ],
    "static arguments where chex puts vmap in the place of pmap": [
        ("chex.fake_pmap_and_jit()", "jax.disable_jit()")
    ],
    "branches that only a variable of the environment opens": [
        ('os.getenv("USE_SCAN", "0")', 'os.getenv("USE_SCAN", "1")')
    ],
    "loops over arrays that are given without rows": [
        ("jnp.ones((3, 3)), np.zeros((0, 2)", "jnp.ones((3, 3)), np.zeros((1, 2)"),
        ("np.zeros((0, 2))", "np.zeros((1, 2))"),
    ],
    "the differences of one number": [("(2,), 6", "(2, 4), 6")],
    "a jitted function that a call in a stage makes and does not run": [
        ("lambda x: make_loss(x, targets)", "lambda x: make_loss(x, targets)(x, x)")
    ],
    "a call on the spot that leaves a switch at its default": [
        ("(jnp.ones(3))", "(jnp.ones(3), True)"),
        (", with_fields: bool = False", ", flag"),
        ("with_fields=with_fields", "with_fields=True"),
    ],
    "a helper that asks for NumPy arrays and scalars": [
        ("isinstance(given, np.ndarray)", "isinstance(given, jax.Array)")
    ],
    "types of arrays that a table holds": [("            return x\n", "            return np.asarray(x)\n")],
    "a donated array that a helper asks whether it is gone": [
        ("isinstance(value, jax.Array) and not value.is_deleted()", "isinstance(value, jax.Array)"),
        ("value.delete()", "print(value)"),
    ],
    "a call that lacks an argument, which raises before anything runs": [
        ("(Model(), history,", "(Model(), history, history,")
    ],
    "a switch that a map on the spot leaves as it is given": [("(rows, n, True)", "(rows, n, False)")],
    "a function that one of two objects would jit": [("return Plain()", "return Jitted()")],
    "functions of a table, told apart by their names": [
        ('if "parallel" in name', "if True"),
        ('if "parallel" not in name', "if True"),
    ],
}


@pytest.mark.parametrize("name", SURE)
def test_what_is_certain_beside_a_doubt_is_told(tmp_path: Path, name: str) -> None:
    program = PROGRAMS[name]
    for old, new in SURE[name]:
        assert old in program
        program = program.replace(old, new)
    assert findings_in(tmp_path, {"program.py": program})


def test_what_is_jitted_under_the_setting_that_it_tests_is_told(tmp_path: Path) -> None:
    program = """
        import argparse

        import jax
        import jax.numpy as jnp

        def make_train(config):
            def train(key):
                x = jax.random.normal(key, (3,))
                if config["SAVE"]:
                    print(f"{len(jnp.unique(x))} kept")  # finding: dynamic-shape
                return x.sum()

            return train

        def main(arguments):
            config = {key.upper(): value for key, value in vars(arguments).items()}
            train = make_train(config)
            if config["SAVE"]:
                train = jax.jit(make_train(config))
            return train(jax.random.key(0))

        parser = argparse.ArgumentParser()
        parser.add_argument("--save", action="store_true")
        main(parser.parse_args([]))
    """
    files = {"program.py": program}
    assert reported(findings_in(tmp_path, files)) == expected(files)
