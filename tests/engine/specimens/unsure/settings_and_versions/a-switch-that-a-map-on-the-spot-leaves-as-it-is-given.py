# a switch that a map on the spot leaves as it is given
import jax

def single(row, n, safe=False):
    total = row * n
    if not safe:
        assert total.sum() > 0
    return total

def run(rows, n):
    return jax.vmap(single, (0, None, None))(rows, n, True)
