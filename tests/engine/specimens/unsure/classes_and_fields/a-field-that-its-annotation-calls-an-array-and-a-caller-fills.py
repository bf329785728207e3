# a field that its annotation calls an array and a caller fills with numbers
import equinox as eqx
import jax

class Integrator(eqx.Module):
    times: jax.Array

    def steps(self):
        return round(self.times[-1] - self.times[0])

    def run(self, key):
        count = self.steps()

        def step(carry, key):
            return carry, jax.random.normal(key, (count // 10,))

        return jax.lax.scan(step, 0.0, jax.random.split(key, 3))
