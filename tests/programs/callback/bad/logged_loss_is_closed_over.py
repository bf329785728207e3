# source: chaobrain/brainstate#165
# blind: fourth

import jax
import jax.numpy as jnp


class Log:
    def __init__(self):
        self.rows = []

    def write(self, step, **values):
        self.rows.append((int(step), {k: float(v) for k, v in values.items()}))


log = Log()


def make_train_step(lr, every):
    def train_step(carry, batch):
        params, step = carry
        loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p - 1.0) ** 2))(params)

        def report(s):
            log.write(s, loss=loss)  # finding

        jax.lax.cond(
            step % every == 0,
            lambda s: jax.debug.callback(report, s),  # finding-also
            lambda s: None,
            step,
        )
        return (params - lr * grads, step + 1), None

    return train_step


@jax.jit
def train(params, batches):
    (params, _), _ = jax.lax.scan(make_train_step(0.1, 5), (params, 0), batches)
    return params


if __name__ == "__main__":
    train(jnp.zeros(4), jnp.ones((20, 8, 4)))
    jax.effects_barrier()
    print(log.rows)
