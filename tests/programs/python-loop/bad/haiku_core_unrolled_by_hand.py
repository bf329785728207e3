# source: jax-ml/jax#2777
# blind: fourth

import haiku as hk
import jax
import jax.numpy as jnp
import optax

SEQ_LEN = 160


class Recurrent(hk.Module):
    def __init__(self, hidden, name=None):
        super().__init__(name=name)
        self.core = hk.GRU(hidden)

    def __call__(self, xs):
        state = self.core.initial_state(xs.shape[1])
        outs = []
        for t in range(xs.shape[0]):  # finding
            out, state = self.core(xs[t], state)
            outs.append(out)
        return jnp.stack(outs)


def forward(xs):
    return hk.Linear(1)(Recurrent(32)(xs))


net = hk.without_apply_rng(hk.transform(forward))
tx = optax.adam(1e-3)


@jax.jit
def update(params, opt_state, xs, ys):
    grads = jax.grad(lambda p: jnp.mean((net.apply(p, xs) - ys) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


def main():
    xs = jnp.ones((SEQ_LEN, 4, 3))
    params = net.init(jax.random.key(0), xs)
    params, _ = update(params, tx.init(params), xs, jnp.zeros((SEQ_LEN, 4, 1)))
    print(jax.tree.map(jnp.shape, params))


if __name__ == "__main__":
    main()
