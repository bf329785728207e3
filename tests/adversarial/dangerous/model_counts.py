# function: act
# arguments: model=Model, params=dict, observation=array
# refused: `self.asked`

"""A model handle of one's own whose apply counts what it is asked."""

import jax
import jax.numpy as jnp


class Model:
    def __init__(self):
        self.asked = 0

    def apply(self, params, x):
        self.asked += 1
        return jnp.tanh(x @ params["w"])


def act(model, params, observation):
    logits = model.apply(params, observation)
    return int(jnp.argmax(logits))


def main():
    model = Model()
    params = {"w": jax.random.normal(jax.random.key(0), (8, 4))}
    observation = jnp.ones(8)
    actions = []
    for number in range(60):
        actions.append(act(model, params, observation * number))
    print("asked", model.asked, "actions", sum(actions))


if __name__ == "__main__":
    main()
