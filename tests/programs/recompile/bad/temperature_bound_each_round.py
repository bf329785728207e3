# source: jax-ml/jax#11303
# blind: second
# missed: the compiled lambda takes what each round rebinds, so that it is another function

import functools

import jax
import jax.numpy as jnp


def soft_targets(logits, teacher, temperature=1.0):
    log_student = jax.nn.log_softmax(logits / temperature)
    return -jnp.mean(jnp.sum(jax.nn.softmax(teacher / temperature) * log_student, axis=-1))


def distil(w, x, teacher, rounds):
    temperature = 8.0
    for _ in range(rounds):
        objective = functools.partial(soft_targets, temperature=temperature)
        step = jax.jit(lambda w, f=objective: w - 0.1 * jax.grad(lambda w: f(x @ w, teacher))(w))  # finding
        for _ in range(3):
            w = step(w)
        temperature *= 0.9
    return w


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(0), (16, 4))
    print(distil(jnp.zeros((4, 3)), x, x[:, :3], 4).shape)
