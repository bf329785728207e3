import jax
import jax.numpy as jnp
import numpy as np
import optax


class Reacher:
    """Sixteen points that are to be moved to the origin."""

    def __init__(self, count, seed):
        self.rng = np.random.default_rng(seed)
        self.count = count
        self.moves = np.array([[0.2, 0.0], [-0.2, 0.0], [0.0, 0.2], [0.0, -0.2]])

    def reset(self):
        self.position = self.rng.uniform(-1, 1, size=(self.count, 2))
        self.time = np.zeros(self.count)
        return self.position.copy()

    def step(self, actions):
        self.position = np.clip(self.position + self.moves[actions], -1.5, 1.5)
        self.time += 1
        reward = -np.linalg.norm(self.position, axis=1)
        done = self.time >= 12
        if done.any():
            self.position[done] = self.rng.uniform(-1, 1, size=(done.sum(), 2))
            self.time[done] = 0
        return self.position.copy(), reward, done


def init_network(key, sizes):
    layers = []
    for fan_in, fan_out in zip(sizes[:-1], sizes[1:]):
        key, subkey = jax.random.split(key)
        layers.append(
            {"w": jax.random.normal(subkey, (fan_in, fan_out)) * np.sqrt(2 / fan_in), "b": jnp.zeros(fan_out)}
        )
    return layers


def network(layers, x):
    for layer in layers[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


class PPO:
    def __init__(self, observation_size, action_count, seed=0, clip=0.2, entropy=0.01):
        self.key = jax.random.PRNGKey(seed)
        self.key, actor_key, critic_key = jax.random.split(self.key, 3)
        self.params = {
            "actor": init_network(actor_key, (observation_size, 32, action_count)),
            "critic": init_network(critic_key, (observation_size, 32, 1)),
        }
        self.optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(3e-3))
        self.opt_state = self.optimizer.init(self.params)
        self.clip = clip
        self.entropy = entropy

    def act(self, observation):
        self.key, subkey = jax.random.split(self.key)
        logits = network(self.params["actor"], observation)
        action = jax.random.categorical(subkey, logits)
        log_prob = jax.nn.log_softmax(logits)[jnp.arange(len(action)), action]
        value = network(self.params["critic"], observation)[:, 0]
        return np.asarray(action), np.asarray(log_prob), np.asarray(value)

    def loss(self, params, observation, action, old_log_prob, advantage, target):
        logits = network(params["actor"], observation)
        log_probs = jax.nn.log_softmax(logits)
        log_prob = jnp.take_along_axis(log_probs, action[:, None], axis=1)[:, 0]
        ratio = jnp.exp(log_prob - old_log_prob)
        clipped = jnp.clip(ratio, 1 - self.clip, 1 + self.clip)
        policy_loss = -jnp.mean(jnp.minimum(ratio * advantage, clipped * advantage))
        value = network(params["critic"], observation)[:, 0]
        value_loss = jnp.mean((value - target) ** 2)
        entropy = -jnp.mean(jnp.sum(jnp.exp(log_probs) * log_probs, axis=1))
        return policy_loss + 0.5 * value_loss - self.entropy * entropy, (policy_loss, value_loss, entropy)

    def update(self, observation, action, log_prob, advantage, target):
        grads, metrics = jax.grad(self.loss, has_aux=True)(
            self.params, observation, action, log_prob, advantage, target
        )
        updates, self.opt_state = self.optimizer.update(grads, self.opt_state)
        self.params = optax.apply_updates(self.params, updates)
        return [float(m) for m in metrics]


def gae(rewards, values, dones, last_value, gamma=0.97, lam=0.95):
    advantages = np.zeros_like(rewards)
    running = 0.0
    for t in reversed(range(len(rewards))):
        following = last_value if t == len(rewards) - 1 else values[t + 1]
        delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]
        running = delta + gamma * lam * (1 - dones[t]) * running
        advantages[t] = running
    return advantages, advantages + values


def main():
    env = Reacher(16, 1)
    agent = PPO(2, 4)
    rng = np.random.default_rng(2)
    horizon = 24
    observation = env.reset()
    for iteration in range(4):
        observations, actions, log_probs, values, rewards, dones = [], [], [], [], [], []
        for _ in range(horizon):
            action, log_prob, value = agent.act(observation)
            observations.append(observation)
            actions.append(action)
            log_probs.append(log_prob)
            values.append(value)
            observation, reward, done = env.step(action)
            rewards.append(reward)
            dones.append(done)
        _, _, last_value = agent.act(observation)
        advantages, targets = gae(np.array(rewards), np.array(values), np.array(dones), last_value)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        flat = [
            np.concatenate(part) for part in (observations, actions, log_probs, list(advantages), list(targets))
        ]
        losses = []
        for _ in range(3):
            order = rng.permutation(len(flat[0]))
            for start in range(0, len(order), 96):
                rows = order[start : start + 96]
                losses.append(agent.update(*[part[rows] for part in flat]))
        policy_loss, value_loss, entropy = np.mean(losses, axis=0)
        print(
            f"iteration {iteration}: reward {np.mean(rewards):.3f} value loss {value_loss:.4f} entropy {entropy:.4f}"
        )


if __name__ == "__main__":
    main()
