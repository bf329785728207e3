# other containers, defaults, classes and functions

from collections import defaultdict, deque
import queue
import jax

RECENT = deque(maxlen=3)
BY_NAME = defaultdict(list)
PENDING = queue.Queue()

class Meter:
    values = []

    @classmethod
    def add(cls, value):
        cls.values.append(value)  # finding
        cls.last = value  # finding

def collect(x, into):
    into.append(x)  # finding
    return x

@jax.jit
def f(x, seen=[]):
    RECENT.append(x)  # finding
    BY_NAME["x"].append(x)  # finding
    BY_NAME.update(y=x)  # finding
    PENDING.put(x)  # finding
    seen.append(x)  # finding
    Meter.add(x)
    return x

f(1.0)

def h(x):
    h.last = x  # finding
    return x

jax.jit(h)
results = []
g = jax.jit(lambda x: collect(x * 2, results))
