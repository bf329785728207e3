# attributes that a hook keeps in another form
import jax

class Parameter:
    def __init__(self, data):
        self.data = data

class Base:
    def __setattr__(self, name, value):
        if isinstance(value, Parameter):
            self.register(name)
            value = value.data
        super().__setattr__(name, value)

    def register(self, name):
        print(name)

@jax.jit
def gain(x, factor):
    return x * factor

class Amplifier(Base):
    def __init__(self):
        self.factor = Parameter(2.0)

    def __call__(self, x):
        return gain(x, self.factor)

Amplifier()(1.0)
