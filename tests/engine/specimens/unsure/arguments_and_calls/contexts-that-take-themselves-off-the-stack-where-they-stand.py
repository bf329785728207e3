# contexts that take themselves off the stack where they stand
import jax

class Context:
    def __init__(self, key, stack):
        self.key, self.stack = key, stack

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self.stack.remove(self)

class Contexts:
    def __init__(self):
        self.stack = []

    def new(self, key):
        context = Context(key, self.stack)
        self.stack.append(context)
        return context

contexts = Contexts()

@jax.jit
def sample(key):
    with contexts.new(key) as context:
        return jax.random.normal(context.key)
