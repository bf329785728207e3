"""Which environments are those of one process of several."""

from __future__ import annotations

import pytest

from jaxlint_runtime.job_step import JobStep, job_step

SLURM = {
    "SLURM_JOB_ID": "17",
    "SLURM_STEP_ID": "3",
    "SLURM_STEP_NODELIST": "node[1-2]",
    "SLURM_STEP_NUM_TASKS": "8",
    "SLURM_PROCID": "5",
}
OPEN_MPI_5 = {
    "PMIX_NAMESPACE": "prterun-host-1@1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_COMM_WORLD_RANK": "0",
}
OPEN_MPI_4 = {
    "OMPI_MCA_orte_hnp_uri": "153157632.0;tcp://10.0.0.1:3",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_COMM_WORLD_RANK": "1",
}


@pytest.mark.parametrize(
    ("environment", "step"),
    [
        (SLURM, JobStep("slurm-17-3", 8, False)),
        ({**SLURM, "SLURM_RESTART_COUNT": "1", "SLURM_PROCID": "0"}, JobStep("slurm-17-1-3", 8, True)),
        (OPEN_MPI_5, JobStep("mpi-prterun-host-1_1", 2, True)),
        (OPEN_MPI_4, JobStep("mpi-153157632.0", 2, False)),
    ],
)
def test_a_step_of_several_processes(environment: dict[str, str], step: JobStep) -> None:
    assert job_step(environment) == step


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {**SLURM, "SLURM_STEP_NUM_TASKS": "1"},
        {"SLURM_JOB_ID": "17", "SLURM_NTASKS": "8", "SLURM_PROCID": "0"},  # the script of sbatch
        {**OPEN_MPI_5, "OMPI_COMM_WORLD_SIZE": "1"},
        {**OPEN_MPI_5, "OMPI_COMM_WORLD_SIZE": "many"},
    ],
)
def test_one_process(environment: dict[str, str]) -> None:
    assert job_step(environment) is None
