# items that are taken out of an outer list

from collections import deque
import jax

rates = [0.1, 0.2]
pending = deque([1.0, 2.0])

@jax.jit
def update(w):
    rate = rates.pop()  # finding
    return w * rate - pending.popleft()  # finding

@jax.jit
def local(w):
    stack = [w, 2 * w]
    return stack.pop() + deque([w]).popleft()

def host():
    return rates.pop()
