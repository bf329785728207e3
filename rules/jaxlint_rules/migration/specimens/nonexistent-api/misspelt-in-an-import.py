# misspelt in an import
from jax import vmapp  # finding

double = vmapp(lambda x: 2 * x)
