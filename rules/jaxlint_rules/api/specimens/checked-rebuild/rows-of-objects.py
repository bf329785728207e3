# objects of which vmap and scan take rows, whose constructors require a rank
import jax
import jax.numpy as jnp


@jax.tree_util.register_pytree_node_class
class Cloud:
    def __init__(self, points, weights):
        if points.ndim != 2:
            raise ValueError("points must have two axes")
        self.points = points
        self.weights = weights

    def tree_flatten(self):
        return (self.points, self.weights), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        points, weights = children
        return cls(points, weights)  # finding


class Path:
    def __init__(self, nodes, closed):
        self.nodes = nodes
        self.closed = closed
        count, dim = self.nodes.shape
        self.count, self.dim = count, dim


jax.tree_util.register_pytree_node(
    Path,
    lambda path: ((path.nodes,), path.closed),
    lambda closed, children: Path(children[0], closed),  # finding
)


def centre(cloud):
    return (cloud.points * cloud.weights).sum()


def lengths(paths):
    return jax.lax.scan(lambda total, path: (total + path.nodes.sum(), None), 0.0, paths)[0]


print(jax.vmap(centre)(Cloud(jnp.ones((3, 2)), jnp.ones((3, 2)))))
print(lengths(Path(jnp.ones((4, 2)), True)))
