# what one path has donated and another still holds
import jax

def main(state, batches, settings):
    step = jax.jit(lambda state, batch: (0.0, state), donate_argnums=(0,))
    kept = state["params"] if settings.keep else None
    while settings.more():
        with settings.mesh():
            settings.use(state["params"])
        if settings.ready():
            for batch in batches:
                loss, state = step(state, batch)
                if settings.stop:
                    break
