"""Which of the findings a run shows: those that are not known yet, those on changed lines."""
