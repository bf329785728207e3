# source: jax-ml/jax#14183
# blind: eighteenth

import jax
import jax.numpy as jnp
import optax


def make_fitter(predict, tx):
    def loss(params, x, y, lam):
        penal = sum(jnp.sum(p**2) for p in jax.tree.leaves(params))
        return jnp.mean((predict(params, x) - y) ** 2) + lam * penal

    @jax.jit
    def fit(params, x, y, lam):
        def body(carry, _):
            params, opt_state = carry
            grads = jax.grad(loss)(params, x, y, lam)
            updates, opt_state = tx.update(grads, opt_state, params)
            return (optax.apply_updates(params, updates), opt_state), None

        (params, _), _ = jax.lax.scan(body, (params, tx.init(params)), None, length=50)
        return params, loss(params, x, y, 0.0)

    return fit


def linear(params, x):
    return x @ params["w"] + params["b"]


def main():
    fit = make_fitter(linear, optax.sgd(0.1))
    x = jax.random.normal(jax.random.key(0), (40, 3))
    y = x @ jnp.array([1.0, 0.0, -1.0]) + 0.3
    init = {"w": jnp.zeros(3), "b": jnp.zeros(())}
    path = [fit(init, x, y, lam) for lam in (0.0, 0.01, 0.1)]
    print(jnp.stack([params["w"] for params, _ in path]), [err for _, err in path])


if __name__ == "__main__":
    main()
