"""NumPy functions on tracers."""

from __future__ import annotations

import ast

from jaxlint.finding import Severity
from jaxlint.jaxapi.functions import IN_PLACE_FUNCTIONS
from jaxlint.rule import Example, Rule
from jaxlint.staging import Reporter
from jaxlint.staging.events import NumpyEvent
from jaxlint.staging.values import Array
from jaxlint_rules._fixes import only_staged, propose
from jaxlint_rules._reasons import guarded, traced


class TracerToNumpy(Rule):
    """A traced value is handed to NumPy.

    ## What it does
    Finds NumPy functions that are called on a value that JAX traces, and NumPy arrays that traced values are stored
    into. Functions that NumPy forwards to the argument's own method (`np.sum`, `np.mean`, `np.reshape` ...) work on
    tracers and are not reported.

    ## Why is this bad?
    NumPy needs the numbers, which do not exist while JAX traces: `TracerArrayConversionError`.

    ## Example
    ```python
    @jax.jit
    def f(x):
        return np.sin(x)
    ```

    ## Use instead
    ```python
    @jax.jit
    def f(x):
        return jnp.sin(x)
    ```

    ## Fix safety
    Functions that `jax.numpy` has with the same arguments are called there instead; a buffer that is filled with traced
    values is made by `jnp` and filled by `.at[...].set(...)`. Safe where the function is only ever staged, since it
    raised there. Elsewhere unsafe: on the host the result becomes an array of JAX, with 32 bits by default.

    ## When not to fix
    NumPy on shapes and other static values is fine, and often better than jnp.

    ## References
    - [JAX errors: TracerArrayConversionError](https://docs.jax.dev/en/latest/errors.html#jax.errors.TracerArrayConversionError)
    """

    code = "JAX103"
    name = "tracer-to-numpy"
    category = "tracing"
    severity = Severity.ERROR
    follows_calls = True
    fixable = "partly safe"
    examples = (
        Example(
            "a gradient outside of jit",
            """
import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

class Cell:
    def __init__(self, lattice):
        self.lattice = lattice

    def volume(self, strain):
        return np.linalg.det(self.lattice @ (np.eye(3) + strain))  # finding

    def energy(self, strain):
        size = np.ceil(jax.lax.stop_gradient(strain).sum())
        bound = scipy.special.gammaln(strain)  # finding
        rows = strain[np.asarray(strain > 0).nonzero()[0]]
        return (self.volume(strain) - np.prod(strain.shape)) ** 2 + size + np.sum(rows) + bound

def main():
    cell = Cell(2.0 * np.eye(3))
    stress = jax.grad(cell.energy)(jnp.zeros((3, 3)))
    return np.linalg.norm(stress), np.asarray(cell.lattice)
""",
            """
import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

class Cell:
    def __init__(self, lattice):
        self.lattice = lattice

    def volume(self, strain):
        return jnp.linalg.det(self.lattice @ (np.eye(3) + strain))  # finding

    def energy(self, strain):
        size = np.ceil(jax.lax.stop_gradient(strain).sum())
        bound = scipy.special.gammaln(strain)  # finding
        rows = strain[np.asarray(strain > 0).nonzero()[0]]
        return (self.volume(strain) - np.prod(strain.shape)) ** 2 + size + np.sum(rows) + bound

def main():
    cell = Cell(2.0 * np.eye(3))
    stress = jax.grad(cell.energy)(jnp.zeros((3, 3)))
    return np.linalg.norm(stress), np.asarray(cell.lattice)
""",
        ),
        Example(
            "NumPy on tracers",
            """
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def f(x):
    buffer = np.zeros(3)
    buffer[0] = x.sum()  # finding
    return np.sin(x) + buffer  # finding
""",
            """
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    buffer = jnp.zeros(3)
    buffer = buffer.at[0].set(x.sum())
    return jnp.sin(x) + buffer
""",
        ),
        Example(
            "functions that write into a NumPy array, and into an array of JAX, of which array-item-assignment speaks",
            """
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def counts(i):
    host = np.zeros(3)
    np.add.at(host, i, 1.0)  # finding
    np.copyto(host, i)  # finding
    mine = jnp.zeros(3)
    np.add.at(mine, i, 1.0)
    np.multiply(mine, 2.0, out=mine)
    return host + np.multiply(mine, 2.0, out=host)  # finding
""",
        ),
        Example(
            "objects of SciPy, and its solvers",
            """
import jax
import jax.numpy as jnp
import numpy as np
from scipy import interpolate, optimize

table = interpolate.interp1d(np.arange(4), np.arange(4) ** 2)
spline = interpolate.CubicSpline(np.arange(4), np.arange(4) ** 2)

@jax.jit
def f(x):
    x = jnp.square(x)
    best = optimize.minimize(lambda y: (y - 1.0) ** 2, x)  # finding
    return best.x, table(x), spline.integrate(0.0, x), spline(x.shape[0])  # finding

@jax.jit
def scaled(x):
    return x * table(2.5) * float(spline(0.5)) * optimize.brentq(np.cos, 0.0, 3.0)

def host(x):
    return table(np.asarray(x)), optimize.minimize(lambda y: (y - 1.0) ** 2, np.zeros(2))
""",
        ),
        Example(
            "what a model of numpyro fills in when it is asked first, on the host",
            """
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO

class Model:
    def __init__(self, tasks=None):
        self.tasks = tasks

    def model(self, x):
        if self.tasks is None:
            self.tasks = len(np.unique(x[:, -1]))
        scale = numpyro.sample("scale", dist.HalfNormal())
        numpyro.sample("y", dist.Normal(0.0, np.exp(scale)), obs=x[:, 0])  # finding

    def guide(self, x):
        numpyro.sample("scale", dist.HalfNormal())

def fit(model, x, keys):
    svi = SVI(model.model, model.guide, numpyro.optim.Adam(1e-3), Trace_ELBO())
    return jax.vmap(lambda key: svi.run(key, 100, x))(keys)

fit(Model(), jnp.ones((3, 2)), jax.random.split(jax.random.key(0)))
""",
        ),
        Example(
            "NumPy on static values, NumPy that forwards, and jnp called np",
            """
import jax
import jax.numpy as np
import numpy as onp

TABLE = onp.arange(4)

@jax.jit
def f(x):
    n = onp.prod(x.shape)
    idx = onp.linspace(0, x.shape[0] - 1, 4).astype(int)
    return np.sin(x[idx]) * n + onp.sum(x) + np.asarray(TABLE)
""",
        ),
        Example(
            "forward mode, and rows of a matrix",
            """
import jax
import jax.numpy as jnp
import numpy as np

def rotation(theta):
    c, s = jnp.cos(theta), jnp.sin(theta)
    return np.array([[c, -s], [s, c]])  # finding

def end(angles):
    return rotation(angles[0]) @ jnp.ones(2)

def weights(angles, rows):
    fixed = np.array([[1.0, rows], [rows, 1.0]])
    return jnp.stack([jnp.stack([jnp.cos(angles[0]), 0.0]), jnp.sin(angles)]) @ fixed

def main(angles):
    a = jax.jacfwd(end)(angles)
    b = jax.jacfwd(weights)(angles, 2.0)
    return a, b, jax.jvp(lambda angles: weights(angles, 2.0), (angles,), (angles,)), rotation(angles[0])
""",
        ),
    )

    def __init__(self) -> None:
        self.buffers: dict[ast.AST | None, ast.AST] = {}  # function -> its first such store

    def on_numpy(self, event: NumpyEvent, report: Reporter) -> None:
        value = event.value
        if not isinstance(value, Array) or not value.staged or not value.certain or guarded(event):
            return
        if event.changes:
            return  # array-item-assignment speaks of it
        if event.function == "setitem":
            # One finding for a buffer that is filled in several statements.
            owner = event.frame.function.node if event.frame.function is not None else None
            if self.buffers.setdefault(owner, event.node) is not event.node:
                return
            message = "a traced value is stored into a NumPy array; build the array with jnp instead"
            codemod = "numpy-buffer-to-jnp"
        elif event.function == "getitem":
            message = (
                "a traced value is the index of a NumPy array; make that a JAX array: `jnp.asarray(...)`"
            )
            codemod = ""
        else:
            name = event.function.replace("numpy.", "np.")
            message = f"`{name}` needs the numbers behind a traced value"
            codemod = "numpy-to-jnp" if _has_twin(event.function) else ""
            if event.function.startswith("scipy."):
                message += f"; use `jax.{name}` where there is one"
            elif codemod:
                message += f"; use `{name.replace('np.', 'jnp.')}`"
        safe = only_staged(event.frame)
        fix = propose(report, event.node, codemod, "Use jax.numpy", safe=safe) if codemod else None
        report(event.node, message, reason=traced(event, value), fix=fix)


def _has_twin(name: str) -> bool:
    """Whether `jax.numpy` is where to look for the function."""
    others = ("numpy.testing.", "numpy.save", "numpy.vectorize", "numpy.random.")
    changes = name in IN_PLACE_FUNCTIONS and not name.endswith(
        ".at"
    )  # of which `jnp` has those of ufuncs alone
    return name.startswith("numpy.") and not name.startswith(others) and not changes
