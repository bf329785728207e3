"""`--workers ENGINE[:PLACE][,NAME=VALUE...]`: parses the option, and opens the engine."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable

from jaxlint_runtime.engines.engine import Engine
from jaxlint_runtime.request import CannotRun, Workers

_FORMS = "local:N, submitit[:PARTITION] or ray[:ADDRESS]"
_JOBS = 4  # of a search for placements, where the engine finds the machines
_EXTRAS = ("submitit", "ray")  # engines by the names of their packages, which are those of jaxlint's extras


def parse_workers(text: str, wait: float) -> Workers:
    """The engine in a text such as `local:2` or `submitit:gpu,slurm_gres=gpu:1`. Raises CannotRun."""
    engine, _, rest = text.strip().partition(":")
    words = [word.strip() for word in rest.split(",")] if rest else []
    place = words.pop(0) if words and not re.match(r"\w+=", words[0]) else None
    options = dict(word.partition("=")[::2] for word in words)
    if engine == "local" and place is not None and place.isdigit() and int(place) > 0 and not options:
        return Workers(engine, side_by_side=int(place), wait=wait)
    if engine not in _EXTRAS or place == "" or not all(name and value for name, value in options.items()):
        raise CannotRun(f"--workers {text}: names no engine; use {_FORMS}")
    jobs = options.pop("jobs", str(_JOBS))
    if not jobs.isdigit() or int(jobs) < 1:
        raise CannotRun(f"--workers {text}: jobs={jobs} is no number of jobs")
    if importlib.util.find_spec(engine) is None:
        raise CannotRun(f'--workers {engine}: is not installed: pip install "jaxlint-suite[{engine}]"')
    return Workers(engine, place, int(jobs), options, wait)


def open_engine(workers: Workers, output: Callable[[str, bytes], None]) -> Engine:
    """The engine, ready for errands; `output` receives their output. Raises CannotRun."""
    if workers.engine == "submitit":
        from jaxlint_runtime.engines.by_submitit import SubmititEngine

        return SubmititEngine(workers)
    if workers.engine == "ray":
        from jaxlint_runtime.engines.on_ray import RayEngine

        return RayEngine(workers)
    from jaxlint_runtime.engines.on_this_machine import LocalEngine

    return LocalEngine(workers.side_by_side, output)
