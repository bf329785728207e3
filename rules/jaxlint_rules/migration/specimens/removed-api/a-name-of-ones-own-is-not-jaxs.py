# a name of one's own is not JAX's
import jax


class Model:
    def tree_map(self, f):
        return f(self)


def double(model):
    return model.tree_map(lambda m: m)
