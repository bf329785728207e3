"""Engines that run tasks as jobs: processes of this machine, Slurm through submitit, Ray."""
