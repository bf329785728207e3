# source: jax-ml/jax#553

import jax
import jax.numpy as jnp
import numpy as np

DIRECTIONS = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])


class Maze:
    def __init__(self, walls):
        self.walls = jnp.asarray(walls)

    def step(self, position, action):
        target = position + DIRECTIONS[action]  # finding
        target = jnp.clip(target, 0, jnp.array(self.walls.shape) - 1)
        blocked = self.walls[target[0], target[1]]
        return jnp.where(blocked, position, target), -1.0


def run_episode(maze, policy, start, length=20):
    def body(position, _):
        action = policy[position[0], position[1]]
        return maze.step(position, action)

    return jax.lax.scan(body, start, None, length=length)


maze = Maze(np.zeros((4, 4), bool))
policy = jnp.ones((4, 4), jnp.int32)
print(run_episode(maze, policy, jnp.array([0, 0])))
