# tests of which both may hold

import jax

class Noise:
    def __init__(self, key):
        self.values = jax.random.normal(key, (3,))

def of_kind(kind, size, key):
    noise = mask = None
    if kind == "one":
        noise = Noise(key)
    if size == "large":
        mask = Noise(key)  # finding
    return noise, mask

def renamed(kind, key):
    noise = mask = None
    if kind == "one":
        noise = Noise(key)
        kind = "other"
    if kind == "other":
        mask = Noise(key)  # finding
    return noise, mask
