"""scipy: it computes on the host, so that a tracer cannot go into it, held against scipy and JAX."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.interpolate
import scipy.special

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
