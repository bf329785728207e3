# leaks into what only looks local
from collections import defaultdict, deque
import jax

class Meter:
    values = []

def collect(x, into):
    into.append(x)  # finding: tracer-leak
    return x

BY_NAME = defaultdict(list)

@jax.jit
def f(x):
    mine = defaultdict(list)
    mine["x"].append(x)
    last = deque(maxlen=2)
    last.append(x)
    BY_NAME["x"].append(x)  # finding: tracer-leak
    Meter.values.append(x)  # finding: tracer-leak
    return collect(x, results), mine, list(last)

results = []
f(1.0)
