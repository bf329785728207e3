# source: google-deepmind/pgx#1108
# blind: first

import jax
import jax.numpy as jnp

PASS_MOVES = (0, 7)


def is_pass(action):
    return action in PASS_MOVES  # finding


def legal(board, action):
    return board[action] == 0


def play(board, player, action):
    if is_pass(action):  # finding-also
        return board
    return jnp.where(legal(board, action), board.at[action].set(player), board)


batched_play = jax.jit(jax.vmap(play, in_axes=(0, None, 0)))


if __name__ == "__main__":
    boards = jnp.zeros((2, 9), jnp.int32)
    print(batched_play(boards, 1, jnp.array([3, 7])))
