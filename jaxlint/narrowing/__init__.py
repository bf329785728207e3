"""Selects the findings that a run shows: those not in the baseline, those on changed lines."""
