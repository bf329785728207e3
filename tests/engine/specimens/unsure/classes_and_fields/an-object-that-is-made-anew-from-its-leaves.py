# an object that is made anew from its leaves
import jax
from jax.tree_util import register_pytree_node_class

@register_pytree_node_class
class Model:
    def __init__(self, rate, scale):
        self.rate, self.scale = rate, scale

    def tree_flatten(self):
        return (self.rate, self.scale), None

@register_pytree_node_class
class Wide(Model):
    def __init__(self, rate):
        super().__init__(rate, 2.0)

    @classmethod
    def tree_unflatten(cls, structure, leaves):
        made = object.__new__(cls)
        super(cls, made).__init__(*leaves)
        return made

print(jax.jit(lambda model: model)(Wide(1.0)))
