# what a donation of everything takes and no result is made of
import equinox as eqx

@eqx.filter_jit(donate="all")
def train_step(model, x, policy=None, sharding=None):
    model = eqx.filter_shard(model, sharding)
    loss, grads = eqx.filter_value_and_grad(policy.loss)(model, x)
    return loss, eqx.apply_updates(model, policy.scaled(grads))

def train(model, batches, policy, sharding):
    for x in batches:
        loss, model = train_step(model, x, policy=policy, sharding=sharding)
        policy.report(loss, sharding)
    return model
