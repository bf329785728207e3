"""Whether this command is one process of a job that runs it several times, from the environment variables of
Slurm and Open MPI.

JAX finds the number and count of its processes by the same variables (`jax._src.clusters`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobStep:
    """Several processes that a launcher started with one command."""

    name: str  # the same in each process, and different in every other step; valid in a file name
    processes: int
    first: bool  # whether this is process 0 for JAX


def job_step(environment: Mapping[str, str]) -> JobStep | None:
    """The step that this process belongs to; None outside a step, and if it is the only process."""
    get = environment.get
    if "SLURM_STEP_NODELIST" in environment:
        parts = ("SLURM_JOB_ID", "SLURM_RESTART_COUNT", "SLURM_STEP_ID")
        name = "-".join(["slurm", *(environment[part] for part in parts if part in environment)])
        count, number = get("SLURM_STEP_NUM_TASKS"), get("SLURM_PROCID")
    else:
        # Version 5 names a job by PMIx, version 4 by the address of its daemon.
        name = f"mpi-{get('PMIX_NAMESPACE') or get('OMPI_MCA_orte_hnp_uri', '').partition(';')[0]}"
        count, number = get("OMPI_COMM_WORLD_SIZE"), get("OMPI_COMM_WORLD_RANK")
    if count is None or not count.isascii() or not count.isdigit() or int(count) < 2:
        return None
    return JobStep(re.sub(r"[^\w.-]", "_", name), int(count), number == "0")
