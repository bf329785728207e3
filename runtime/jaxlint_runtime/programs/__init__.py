"""One captured function under optimisation: its original version, and facts about its arguments."""
