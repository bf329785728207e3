"""Where the analysis cannot be sure which value it has, nothing is reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import findings_in

PROGRAMS = {
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
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_said_of_what_may_be_another_value(name: str, tmp_path: Path) -> None:
    assert [finding.message for finding in findings_in(tmp_path, {"program.py": PROGRAMS[name]})] == []
