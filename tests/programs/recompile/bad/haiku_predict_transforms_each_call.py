# source: google-deepmind/tapnet#44

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def net_fn(x):
    return hk.nets.MLP([16, 16, 2])(x)


def load_params():
    model = hk.transform(net_fn)
    return model.init(jax.random.PRNGKey(0), jnp.zeros((1, 4)))


def predict(params, x):
    model = hk.without_apply_rng(hk.transform(lambda x: jax.nn.softmax(net_fn(x))))
    apply = jax.jit(model.apply)  # finding
    return apply(params, x)


def serve(requests):
    params = load_params()
    answers = []
    for x in requests:
        answers.append(predict(params, x))  # finding-also
    return answers


if __name__ == "__main__":
    print(len(serve([np.ones((8, 4), np.float32)] * 5)))
