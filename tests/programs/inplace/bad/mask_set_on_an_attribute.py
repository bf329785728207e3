# source: jax-ml/jax#926
# blind: ninth

import jax
import jax.numpy as jnp


class Sudoku:
    def __init__(self, board):
        self.board = jnp.asarray(board)
        self.fixed = self.board > 0

    def place(self, row, col, digit):
        if not self.fixed[row, col]:
            self.board[row, col] = digit  # finding
        return self.board


def solve(puzzle, moves):
    game = Sudoku(puzzle)
    for row, col, digit in moves:
        game.place(row, col, digit)
    return jnp.sum(game.board)


if __name__ == "__main__":
    print(solve([[0] * 9 for _ in range(9)], [(0, 0, 5), (4, 4, 7)]))
