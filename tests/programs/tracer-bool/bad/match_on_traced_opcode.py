# source: jax-ml/jax#12106
# blind: first

import jax
import jax.numpy as jnp


def execute(stack_top, instruction):
    opcode, operand = instruction
    match opcode:  # finding
        case 0:  # finding-also
            return stack_top + operand, stack_top
        case 1:
            return stack_top * operand, stack_top
        case _:
            return stack_top, stack_top


def run(program, initial):
    opcodes, operands = program
    return jax.lax.scan(execute, initial, (opcodes, operands))


if __name__ == "__main__":
    code = (jnp.array([0, 1, 2]), jnp.array([1.0, 2.0, 3.0]))
    print(run(code, jnp.array(1.0)))
