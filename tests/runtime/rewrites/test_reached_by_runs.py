"""What no run of the program reached is not compiled; a run with other arguments may reach it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from jaxlint.source.file import SourceFile
from jaxlint_runtime.request import CannotRun, Request, validate
from jaxlint_runtime.rewrites.candidate_edits import propose
from jaxlint_runtime.rewrites.edit_search import EditSearch
from jaxlint_runtime.rewrites.original_program import Original, original_of
from jaxlint_runtime.rewrites.proposals import Rewrite
from jaxlint_runtime.rewrites.trial_runs import Trial, both_missed
from jaxlint_runtime.rewrites.tried_edit import edited
from jaxlint_runtime.verify import Verification

PROGRAM = """
import argparse

import jax
import jax.numpy as jnp


def scores(weights, points, keep=None):
    found = jnp.tanh(points @ weights) / (1.0 + jnp.sum(weights**2))
    if keep is not None:
        found = jax.lax.top_k(found, keep)[0]
    if found.ndim != 1:
        raise ValueError(f"{found.ndim} axes")
    return jnp.mean(found**2) + jnp.max(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", type=int)
    keep = parser.parse_args().keep
    points = jax.random.normal(jax.random.key(0), (50, 6))
    weights = jnp.linspace(-1.0, 1.0, 6)
    total = 0.0
    for step in range(10):
        total += float(scores(weights + 0.1 * step, points, keep))
    print(f"{total:.4f}")


if __name__ == "__main__":
    main()
"""


def lines_missed(sources: dict[str, SourceFile]) -> list[int]:
    return sorted({place[0] for source in sources.values() for place in source.missed or ()})


def jitted(rewrites: list[Rewrite], sources: Mapping[str, SourceFile]) -> dict[str, SourceFile] | str:
    """The files with `scores` jitted, or why it is not."""
    (rewrite,) = (one for one in rewrites if one.name.startswith("jit:") and one.function == "scores")
    return edited(rewrite.fixes, sources)


@pytest.mark.slow
def test_an_edit_waits_for_a_run_that_reaches_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    (tmp_path / "main.py").write_text(PROGRAM)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    request = Request("script", "main.py", transforms=("source",), run_for=20.0)
    verification = Verification(request)
    verification._run()
    before = propose(verification)
    assert verification.check is not None
    assert not isinstance(jitted(before, verification.check.sources), str)

    regions: list[list[str]] = []

    def found(also: tuple[tuple[str, ...], ...]) -> tuple[list[int], dict[str, SourceFile] | str, Original]:
        verification.request = Request("script", "main.py", transforms=("source",), run_for=20.0, also=also)
        with original_of(verification, []) as original:
            assert original.measure(), original.why()
            rewrites = EditSearch(original)._reached(before)
            regions.append([one.function for one in rewrites if one.name.startswith("region-to-jit")])
            return lines_missed(original.sources), jitted(rewrites, original.sources), original

    missed, reason, _ = found(())
    assert missed == [11, 13]
    assert str(reason).startswith("`found = jax.lax.top_k(found, keep)[0]` at main.py:11 would be compiled")
    missed, files, original = found((("--keep", "3"),))
    assert missed == [13]
    assert not isinstance(files, str)
    assert ["scores" in names for names in regions] == [True, False]  # what is around it is compiled
    assert [one.base.printed for one in original.others] != [original.base.printed]


def test_what_one_of_two_runs_reaches_is_reached() -> None:
    a, b, c = (1, 0, 1, 5), (2, 0, 2, 5), (3, 0, 3, 5)
    one = Trial(missed={"x": frozenset({a, b}), "y": frozenset({c})})
    other = Trial(missed={"x": frozenset({b, c})})
    assert both_missed(one, other) == {"x": frozenset({b}), "y": frozenset({c})}


def test_other_arguments_need_a_program_that_runs() -> None:
    request = Request("script", __file__, also=(("--a",),), dims={"batch": 3})
    with pytest.raises(CannotRun, match="--also is for edits of the source"):
        validate(request)
