# guarded
try:
    from jax._src.core import Literal
except ImportError:
    from jax.extend.core import Literal

print(Literal)
