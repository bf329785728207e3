# what holds no array is not donated with all the others
import equinox as eqx
import optax

@eqx.filter_jit(donate="all")
def train_step(model, state, batch, opt: optax.GradientTransformation):
    updates, state = opt.update(batch, state)
    return eqx.apply_updates(model, updates), state

def train(make, batches):
    model, opt, state = make()
    for batch in batches:
        model, state = train_step(model, state, batch, opt)
    return model
