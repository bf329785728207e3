"""Whether the processes of one program launch the same programs in the same order, and which process left
that order.

JAX leaves this to its users: processes must apply the same operations in the same order on each device
(https://docs.jax.dev/en/latest/concurrency.html), and a process that waits in a collective for another one
prints nothing (https://github.com/jax-ml/jax/issues/38503). Other tools:

- `jax_distributed_debug` has each process log its calls with a fingerprint, for people to compare.
- PyTorch's flight recorder keeps for each rank an ordered list of its NCCL collectives with the stack of the caller; a script
  aligns the lists by process group once the job is stuck (https://docs.pytorch.org/tutorials/prototype/flight_recorder_tutorial.html).
- Ray's detector of NCCL hangs compares counts of collectives while the ranks are alive
  (https://docs.ray.io/en/master/train/user-guides/nccl-hang-detection.html).

Here each process appends its launches to a file in a shared folder (`recording.py`, through the hooks of
`compat.py`), so the file survives a hang or a kill. One reader simulates the launches (`order.py`): a program
starts when it is the next one in all processes that it spans. If that is impossible, `verdict.py` says which
process left, and `condition.py` finds the `if` or loop that separated the processes, from their call stacks.
"""
