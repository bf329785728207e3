"""Settings of the experiment."""

noise = 0.1
steps = 50
