# a variable that changes between calls
import jax

def train(w):
    lr, decay = 0.1, 0.5
    @jax.jit
    def scaled(x):
        return x * lr + decay  # finding: stale-capture
    total = 0.0
    for _ in range(3):
        total += scaled(w)
        lr = lr * decay
    return total

train(1.0)
