"""numpyro: what its kernels trace."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.projects import facts_of


def test_a_kernel_of_numpyro_traces_the_samples_of_a_model_and_not_its_arguments(tmp_path: Path) -> None:
    program = """
        import jax
        import numpyro
        import numpyro.distributions as dist
        from numpyro.infer import MCMC, NUTS

        def rate(early, late, day, tau):
            return early if day < tau else late

        def model(counts, days, y=None):
            tau = numpyro.sample("tau", dist.Uniform(0.0, 10.0))
            for day in range(days):
                rate(1.0, 2.0, day, tau)
            numpyro.sample("y", dist.Poisson(tau), obs=y)

        mcmc = MCMC(NUTS(model), num_warmup=5, num_samples=5)
        mcmc.run(jax.random.key(0), [3, 4], 2, y=None)
    """
    facts = facts_of(tmp_path, program)
    assert facts["model"].params == {"counts": "static", "days": "static", "y": "static"}
    assert facts["rate"].params == {"early": "static", "late": "static", "day": "static", "tau": "traced"}
