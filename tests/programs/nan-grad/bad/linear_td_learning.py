# source: jax-ml/jax#5935
# blind: nineteenth

import functools

import jax
import jax.numpy as jnp

STATES, GAMMA = 10, 0.95


def transition_matrix():
    p = jnp.zeros((STATES, STATES))
    idx = jnp.arange(STATES)
    p = p.at[idx, (idx + 1) % STATES].add(0.5)
    p = p.at[idx, (idx + 5) % STATES].add(0.3)
    return p.at[idx, 0].add(0.2)


def rewards():
    return jnp.where(jnp.arange(STATES) == STATES - 1, 5.0, -0.1)


def value(theta, s):
    return theta[s]


def td_loss(theta, s, r, s_next):
    target = r + GAMMA * value(theta, s_next)  # finding
    return 0.5 * jnp.mean((target - value(theta, s)) ** 2)  # finding-also


@functools.partial(jax.jit, static_argnames=("steps", "batch"))
def policy_evaluation(key, steps, batch):
    p, r = transition_matrix(), rewards()

    def step(theta, inputs):
        k, lr = inputs
        k_s, k_next = jax.random.split(k)
        s = jax.random.randint(k_s, (batch,), 0, STATES)
        s_next = jax.random.categorical(k_next, jnp.log(p[s] + 1e-30))
        loss, grad = jax.value_and_grad(td_loss)(theta, s, r[s], s_next)
        return theta - lr * grad, loss

    lrs = jnp.linspace(2.0, 0.05, steps)
    theta, losses = jax.lax.scan(step, jnp.zeros(STATES), (jax.random.split(key, steps), lrs))
    return theta, losses


def exact_values():
    return jnp.linalg.solve(jnp.eye(STATES) - GAMMA * transition_matrix(), rewards())


def main():
    theta, losses = policy_evaluation(jax.random.key(0), 8000, 128)
    truth = exact_values()
    print("td loss", float(losses[-500:].mean()))
    print("learned", [round(v, 2) for v in theta.tolist()])
    print("exact  ", [round(v, 2) for v in truth.tolist()])
    print("relative error", float(jnp.linalg.norm(theta - truth) / jnp.linalg.norm(truth)))


if __name__ == "__main__":
    main()
