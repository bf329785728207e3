# frozen objects whose class unlocks them
import contextlib
import jax
import jax_dataclasses as jdc

@jdc.pytree_dataclass
class Editable:
    @contextlib.contextmanager
    def unlocked(self, mutability):
        object.__setattr__(self, "__mutability__", mutability)
        yield self

@jdc.pytree_dataclass
class Link(Editable):
    mass: jax.Array

@jdc.pytree_dataclass
class Joint:
    angle: jax.Array

def heavier(link: Link, mutability):
    with link.unlocked(mutability):
        link.mass = 2.0 * link.mass

@jax.jit
def turned(joint: Joint, by):
    with jdc.copy_and_mutate(joint) as new:
        new.angle = joint.angle + by
    return new
