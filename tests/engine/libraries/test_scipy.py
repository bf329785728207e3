"""scipy: it computes on the host, so that a tracer cannot go into it, held against scipy and JAX."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.interpolate
import scipy.special

from jaxlint.source.read import read_source
from jaxlint.staging.inspection.arrays import inspect_arrays
from tests.helpers.projects import expected, findings_in, reported

PROGRAMS = {
    "functions and what they make": """
        import jax
        import jax.numpy as jnp
        import numpy as np
        import scipy.special
        from scipy.interpolate import interp1d

        curve = interp1d(np.arange(3.0), np.arange(3.0))

        @jax.jit
        def f(x):
            y = scipy.special.erf(x)  # finding: tracer-to-numpy
            return y + curve(x)  # finding: tracer-to-numpy

        f(jnp.ones(2))
    """,
    "those of JAX, and constants of the host": """
        import jax
        import jax.numpy as jnp
        import jax.scipy.special
        import numpy as np
        import scipy.special

        TABLE = scipy.special.erf(np.arange(3.0))

        @jax.jit
        def f(x):
            if TABLE[0] > 0:
                x = x + 1
            return jax.scipy.special.erf(x) + scipy.special.erf(x.shape[0])

        f(jnp.ones(3))
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_reports_what_is_marked_and_nothing_else(name: str, tmp_path: Path) -> None:
    files = {"program.py": PROGRAMS[name]}
    assert reported(findings_in(tmp_path, files)) == expected(files)


def test_scipy_raises_for_a_tracer() -> None:
    curve = scipy.interpolate.interp1d(np.arange(3.0), np.arange(3.0))
    for function in (scipy.special.erf, curve):
        with pytest.raises(jax.errors.TracerArrayConversionError):
            jax.jit(lambda x, function=function: function(x))(jnp.ones(2))


SHAPES = """
scipy.integrate.simpson(x, axis=0)
scipy.integrate.trapezoid(x, dx=0.1)
scipy.integrate.cumulative_trapezoid(x)
scipy.integrate.cumulative_trapezoid(x, axis=0, initial=0)
scipy.ndimage.gaussian_filter(x, 1.0)
scipy.ndimage.map_coordinates(x, np.ones((2, 7)))
scipy.signal.savgol_filter(x, 3, 1)
scipy.signal.lfilter(w, [1.0], x)
scipy.signal.convolve(v, w)
scipy.signal.fftconvolve(x, q[:2, :2], mode="valid")
scipy.signal.correlate(x, q, "same")
scipy.fft.dct(x, n=8)
scipy.fft.rfft(x, axis=0)
scipy.fft.fft(v, 16)
scipy.spatial.distance.cdist(x, x[:2])
scipy.spatial.distance.pdist(x)
scipy.linalg.solve(q, x)
scipy.linalg.det(q)
scipy.special.logsumexp(x, axis=1)
scipy.special.jv(0, x)
scipy.special.softmax(x, axis=0)
"""
_START = """import jax
import numpy as np
import scipy.fft
import scipy.integrate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.spatial
import scipy.special
x, v, w, q = np.ones((4, 6)), np.arange(5.0), np.ones(3), np.eye(4)
"""


def test_the_shapes_of_results_are_those_of_scipy(tmp_path: Path) -> None:
    calls = SHAPES.strip().splitlines()
    text = _START + "".join(f"r{number} = {call}\n" for number, call in enumerate(calls))
    scope: dict[str, object] = {}
    exec(text, scope)
    program = tmp_path / "program.py"
    program.write_text(text)
    facts, analysis = inspect_arrays([read_source(program, "program.py")])
    assert not analysis.errors
    found = {fact.name: fact.shape for fact in facts}
    for number, call in enumerate(calls):
        size = np.shape(scope[f"r{number}"])  # type: ignore[arg-type]
        assert found[f"r{number}"] == [str(number) for number in size], call
