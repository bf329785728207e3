"""Whether the processes of one program launch the same programs in the same order, and which of them left it.

JAX leaves that to its users: processes have to apply the same operations in the same order on each device
(https://docs.jax.dev/en/latest/concurrency.html), and one that waits in a collective for another that never comes says
nothing (https://github.com/jax-ml/jax/issues/38503). How others find it:

- `jax_distributed_debug` has each process log its calls with a fingerprint, for people to compare.
- PyTorch's flight recorder keeps for each rank an ordered list of its NCCL collectives with the stack of the caller; a script
  aligns the lists by process group once the job is stuck (https://docs.pytorch.org/tutorials/prototype/flight_recorder_tutorial.html).
- Ray's detector of NCCL hangs compares counts of collectives while the ranks are alive
  (https://docs.ray.io/en/master/train/user-guides/nccl-hang-detection.html).

Here each process writes its list to a file of a shared folder as it goes (`recording.py`, through the hooks of `compat.py`), so
a hang or a kill leaves it. One reader plays the rendezvous (`order.py`): a program starts when all processes that it spans have
it next. Where that cannot be, `verdict.py` says who left, and `condition.py` which `if` or loop of the source set the processes
apart, by their call stacks.
"""
