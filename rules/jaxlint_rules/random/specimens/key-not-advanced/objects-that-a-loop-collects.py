# objects that a loop collects

import jax

class Worker:
    def __init__(self, seed=0):
        self.key = jax.random.key(seed)

    def rollout(self, n):
        self.key, sub = jax.random.split(self.key)
        return jax.random.normal(sub, (n,))

class Table:
    def __init__(self, key):
        self.values = jax.random.normal(key, (3,))

def collect(count, seed):
    alike = [Worker() for _ in range(count)]  # finding
    apart = [Worker(seed + i) for i in range(count)]
    more = []
    for i in range(count):
        more.append(Worker(4))  # finding
        more.append(Worker(i))
    once = [Table(jax.random.key(i)) for i in range(count)]
    return [worker.rollout(3) for worker in alike + apart + more], once, Worker(seed)

collect(4, 3)
