# blind: twenty-first

import jax
import jax.numpy as jnp


def rhs(t, y):
    return jnp.stack([y[1], 5.0 * (1.0 - y[0] ** 2) * y[1] - y[0]])


def heun(t, y, h):
    k1 = rhs(t, y)
    k2 = rhs(t + h, y + h * k1)
    high = y + 0.5 * h * (k1 + k2)
    return high, jnp.max(jnp.abs(0.5 * h * (k2 - k1)))


def integrate(y0, t_end, tol=1e-4):
    def cond(carry):
        t, y, h, accepted, tried = carry
        return (t < t_end) & (tried < 20_000)

    def body(carry):
        t, y, h, accepted, tried = carry
        h = jnp.minimum(h, t_end - t)
        proposal, err = heun(t, y, h)

        def accept(args):
            t, y, n = args
            return t + h, proposal, n + 1

        def reject(args):
            return args

        t, y, accepted = jax.lax.cond(err <= tol, accept, reject, (t, y, accepted))
        factor = jnp.clip(0.9 * jnp.sqrt(tol / (err + 1e-12)), 0.2, 3.0)
        return t, y, h * factor, accepted, tried + 1

    zero = jnp.zeros((), jnp.int32)
    init = (jnp.zeros(()), y0, jnp.asarray(0.01), zero, zero)
    return jax.lax.while_loop(cond, body, init)


def main():
    y0 = jnp.array([2.0, 0.0])
    t, y, h, accepted, tried = jax.jit(integrate)(y0, 5.0)
    fine = jax.jit(lambda y: jax.lax.fori_loop(
        0, 50_000, lambda i, y: heun(0.0, y, 1e-4)[0], y))(y0)
    print("t", float(t), "accepted", int(accepted), "tried", int(tried))
    print("y", y, "reference", fine)
    assert jnp.allclose(y, fine, atol=5e-2)


if __name__ == "__main__":
    main()
