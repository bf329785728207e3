"""Proofs and measurements of earlier `verify` runs, for programs that have not changed since."""
