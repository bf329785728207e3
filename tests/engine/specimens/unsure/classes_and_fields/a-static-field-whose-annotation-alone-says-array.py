# a static field whose annotation alone says array
import equinox as eqx
import jax

class Operator(eqx.Module):
    value: jax.Array
    times: tuple = eqx.field(static=True)

@jax.jit
def apply(operator):
    return operator.value

class Result(eqx.Module):
    times: jax.Array

    def again(self, value):
        return apply(Operator(value, self.times))
