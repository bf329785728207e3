"""Runs the user's program and records how it uses the functions it jits.

Nothing here may change the program's behaviour: what cannot be recorded is left out and reported, never raised.
"""
