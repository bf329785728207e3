# source: jax-ml/jax#12319
# blind: eighteenth

import jax
import jax.numpy as jnp


@jax.tree_util.register_pytree_node_class
class Boxes:
    """A set of axis aligned boxes [N, (x0, y0, x1, y1)]."""

    def __init__(self, corners):
        assert corners.ndim == 2 and corners.shape[-1] == 4  # finding-also
        self.corners = corners

    def area(self):
        x0, y0, x1, y1 = jnp.moveaxis(self.corners, -1, 0)
        return jnp.maximum(x1 - x0, 0.0) * jnp.maximum(y1 - y0, 0.0)

    def intersect(self, other):
        lo = jnp.maximum(self.corners[..., :2], other.corners[..., :2])
        hi = jnp.minimum(self.corners[..., 2:], other.corners[..., 2:])
        return Boxes(jnp.concatenate([lo, hi], -1))

    def tree_flatten(self):
        return (self.corners,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)  # finding


def iou(a, b):
    inter = a.intersect(b).area()
    return inter / (a.area() + b.area() - inter + 1e-9)


@jax.jit
def batched_iou(a, b):
    """a, b: Boxes with a leading image axis, [B, N, 4]."""
    return jax.vmap(iou)(a, b)  # finding-also


def stack_boxes(items):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *items)  # finding-also


if __name__ == "__main__":
    pred = Boxes(jnp.array([[0.0, 0.0, 1.0, 1.0], [0.5, 0.5, 2.0, 2.0]]))
    truth = Boxes(jnp.array([[0.0, 0.0, 1.0, 1.0], [0.4, 0.4, 1.0, 1.0]]))
    print(iou(pred, truth))
    print(batched_iou(stack_boxes([pred, pred]), stack_boxes([truth, truth])))
