# source: jax-ml/jax#12319
# blind: eighteenth

from typing import NamedTuple, Optional

import jax
import jax.numpy as jnp


@jax.tree_util.register_pytree_node_class
class Boxes:
    def __init__(self, corners, frame="xyxy"):
        corners = jnp.asarray(corners)
        if corners.shape[-1] != 4:
            raise ValueError("expected [..., 4]")
        self.corners = corners
        self.frame = frame

    def area(self):
        x0, y0, x1, y1 = jnp.moveaxis(self.corners, -1, 0)
        return jnp.maximum(x1 - x0, 0.0) * jnp.maximum(y1 - y0, 0.0)

    def tree_flatten(self):
        return (self.corners,), (self.frame,)

    @classmethod
    def tree_unflatten(cls, aux, children):
        obj = object.__new__(cls)
        (obj.corners,) = children
        (obj.frame,) = aux
        return obj


class Detection(NamedTuple):
    boxes: Boxes
    scores: jax.Array
    masks: Optional[jax.Array] = None


@jax.jit
def weighted_area(det):
    weights = det.scores if det.masks is None else det.scores * det.masks
    return jnp.sum(jax.vmap(lambda b: b.area())(det.boxes) * weights)


if __name__ == "__main__":
    det = Detection(Boxes([[0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 3.0, 1.0]]), jnp.array([0.5, 1.0]))
    print(weighted_area(det), jax.tree.map(jnp.shape, det).scores)
    print(weighted_area(det._replace(masks=jnp.array([1.0, 0.0]))))
