# a stack that is left as it was, numbers under a lock

import contextlib
import threading
import jax

class Scopes:
    def __init__(self):
        self.stack = []

class Numbers:
    def __init__(self):
        self.lock = threading.Lock()
        self.last = 0

    def new(self):
        with self.lock:
            self.last += 1
            return self.last

scopes = Scopes()
numbers = Numbers()

@contextlib.contextmanager
def scope(name):
    scopes.stack.append((name, numbers.new()))
    try:
        yield scopes.stack[-1]
    finally:
        name, number = scopes.stack.pop()
        assert number <= numbers.last

@jax.jit
def step(x):
    with scope("step"):
        return x * 2
