"""Whether a version is equivalent, and better: values, gradients, training, time and memory; and the order in which
candidates are tried."""
