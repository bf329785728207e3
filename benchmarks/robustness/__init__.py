"""Looks for inputs that crash, hang or swell `check` and `fix`, and for moments at which an end of the process loses a byte.

`python -m benchmarks.robustness` (`make fuzz`). One number, the seed, decides every case.
"""
