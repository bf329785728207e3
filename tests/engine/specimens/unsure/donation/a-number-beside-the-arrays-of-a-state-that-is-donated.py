# a number beside the arrays of a state that is donated
import jax
from flax.training.train_state import TrainState

def step(state, batch):
    return state.apply_gradients(grads=batch), 0.0

class Run(TrainState):
    epoch: int = 0

def main(state: Run, loader, epochs):
    run = jax.jit(step, donate_argnums=(0,))
    state = Run.create(apply_fn=None, params=loader.params, tx=loader.tx)
    for epoch in epochs:
        state = state.replace(epoch=epoch)
        for batch in loader:
            state, loss = run(state, batch)
        print(epoch + 1, state.step)
