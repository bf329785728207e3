# source: Joshuaalbert/jaxns#85
# blind: eighteenth

import jax
import jax.numpy as jnp


def conjugate_gradient(matvec, b, tol=1e-5, max_iter=50):
    def cond(c):
        return (c["rs"] > tol**2) & (c["it"] < max_iter)

    def body(c):
        ap = matvec(c["p"])
        alpha = c["rs"] / jnp.vdot(c["p"], ap)
        x = c["x"] + alpha * c["p"]
        r = c["r"] - alpha * ap
        rs = jnp.vdot(r, r)
        p = r + (rs / c["rs"]) * c["p"]
        return {"x": x, "r": r, "p": p, "rs": rs, "it": c["it"] + 1}

    init = {
        "x": jnp.zeros_like(b),
        "r": b,
        "p": b,
        "rs": jnp.vdot(b, b),
        "it": jnp.zeros((), jnp.int32),
    }
    out = jax.lax.while_loop(cond, body, init)
    return out["x"], out["it"]


@jax.jit
def solve_poisson(rhs, shift):
    def matvec(u):
        lap = jnp.roll(u, 1) + jnp.roll(u, -1) - 2 * u
        return shift * u - lap

    return conjugate_gradient(matvec, rhs)


if __name__ == "__main__":
    rhs = jnp.sin(jnp.linspace(0.0, 6.28, 32, endpoint=False))
    sol, iters = solve_poisson(rhs, 0.1)
    print(sol[:3], iters)
