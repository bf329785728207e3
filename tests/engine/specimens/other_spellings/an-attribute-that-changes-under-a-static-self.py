# an attribute that changes under a static self
from functools import partial
import jax

class Agent:
    def __init__(self):
        self.training = True
        self.width = 2

    def eval(self):
        self.training = False

    @partial(jax.jit, static_argnames=("self",))
    def act(self, q):
        if self.training:  # finding: stale-static-self
            return q + self.width
        return q

agent = Agent()
agent.act(1.0)
agent.eval()
assert agent.act(1.0) == 3.0
