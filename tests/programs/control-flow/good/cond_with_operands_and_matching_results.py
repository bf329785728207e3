# source: jax-ml/jax#7537
# blind: sixth

"""A learner that skips with the same structure."""
import jax
import jax.numpy as jnp


def learn(params, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    return params - 0.1 * grads, loss


def skip(params, batch):
    return params, jnp.zeros(())


@jax.jit
def agent_step(step, params, batch):
    return jax.lax.cond(step % 4 == 0, learn, skip, params, batch)


@jax.jit
def train(params, batches):
    def body(carry, batch):
        step, params = carry
        params, loss = agent_step(step, params, batch)
        return (step + 1, params), loss

    return jax.lax.scan(body, (0, params), batches)


if __name__ == "__main__":
    print(train(jnp.ones(3), jnp.ones((8, 4, 3)))[1])
