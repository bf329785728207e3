"""Engines that run errands as jobs: processes of this machine, Slurm through submitit, Ray."""
