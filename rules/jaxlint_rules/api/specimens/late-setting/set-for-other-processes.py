# set for other processes

import os
import subprocess
import jax

os.environ["JAX_PLATFORMS"] = "cpu"
subprocess.run(["python", "worker.py"])
