"""Runs the user's program and records how it uses the functions it jits.

Nothing here may change what the program does: whatever the recording cannot do is left out and said, never raised.
"""
