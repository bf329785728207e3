# cases that a range counts
from absl.testing import parameterized
import jax

class PowerTest(parameterized.TestCase):
    @parameterized.parameters(range(2, 9, 2))
    def test_power(self, p):
        assert jax.jit(lambda x, p: x**p)(1.0, p) == 1.0
