"""One captured function under optimisation: its original, staged, and what is known of its arguments."""
