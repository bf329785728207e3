import jax.numpy as jnp


def show(points):
    for number, point in enumerate(points):
        print(f"{number}: {point[0]:6.2f} {point[1]:6.2f}")


def main():
    points = jnp.cumsum(jnp.ones((40, 2)), axis=0)
    show(points)
    bounds = []
    for name, point in zip(["free"] * 40, points):
        bounds.append(point if name == "free" else point - 1.0)
    return jnp.stack(bounds)


main()
