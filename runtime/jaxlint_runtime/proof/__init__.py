"""Whether a version computes the same, and is better: values, gradients, training, time and memory; and in which order candidates are tried."""
