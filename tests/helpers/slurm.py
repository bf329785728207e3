"""A Slurm of one node on the loopback, for the time of a test: munge, the controller and the node, as this user's processes."""

from __future__ import annotations

import getpass
import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

_DAEMONS = ("munged", "slurmctld", "slurmd")
_START = 60.0  # seconds until the node takes jobs
_NODE = "localhost"  # the name by which JAX reaches the first process


class NoSlurm(Exception):
    """Why no Slurm can run here."""


@contextmanager
def one_node(folder: Path) -> Iterator[Mapping[str, str]]:
    """The environment in which `srun` and `sbatch` reach the node. Raises NoSlurm.

    `folder` has to be short: the names of sockets are at most 107 bytes long.
    """
    commands = {name: _found(name) for name in (*_DAEMONS, "srun", "sinfo")}
    if missing := [name for name, path in commands.items() if path is None]:
        raise NoSlurm(f"not installed: {', '.join(missing)}")
    conf = _settings(folder)
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    with ExitStack() as running:
        for command in (
            ["munged", "--foreground", "--force", *_munge(folder)],
            ["slurmctld", "-D", "-i", "-f", conf],
            ["slurmd", "-D", "-N", _NODE, "-f", conf],
        ):
            running.enter_context(_daemon([commands[command[0]], *command[1:]], folder, environment))
            if command[0] == "munged":
                _wait(lambda: (folder / "munge.socket").exists(), folder / "munged.log")
        _wait(lambda: "idle" in _states(environment), folder / "slurmd.log")
        yield environment


def _found(name: str) -> str | None:
    """A command; daemons lie in folders that are not on the path of every user."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")


def _munge(folder: Path) -> list[str]:
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    return [
        f"--socket={folder}/munge.socket",
        f"--key-file={key}",
        *(f"--{what}-file={folder}/munge.{what}" for what in ("log", "pid", "seed")),
        "--num-threads=1",
    ]


def _settings(folder: Path) -> Path:
    user, control, node = getpass.getuser(), _free_port(), _free_port()
    (folder / "state").mkdir()
    (folder / "spool").mkdir()
    lines = {
        "ClusterName": "one",
        "SlurmctldHost": f"{socket.gethostname()}(127.0.0.1)",
        "SlurmUser": user,
        "SlurmdUser": user,
        "SlurmctldPort": control,
        "SlurmdPort": node,
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={folder}/munge.socket",
        "CryptoType": "crypto/munge",
        "StateSaveLocation": folder / "state",
        "SlurmdSpoolDir": folder / "spool",
        "SlurmctldPidFile": folder / "slurmctld.pid",
        "SlurmdPidFile": folder / "slurmd.pid",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "JobAcctGatherType": "jobacct_gather/none",
        "AccountingStorageType": "accounting_storage/none",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core",
        "MpiDefault": "none",
        "ReturnToService": 2,
        # JAX derives a port from the number of a job: those of two such Slurms have to differ.
        "FirstJobId": random.randrange(1, 60_000),
        "SlurmdParameters": "config_overrides",
        "KillWait": 5,
    }
    text = [f"{name}={value}" for name, value in lines.items()]
    text.append(
        f"NodeName={_NODE} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 CPUs=4 RealMemory=4000"
    )
    text.append(f"PartitionName=all Nodes={_NODE} Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES")
    conf = folder / "slurm.conf"
    conf.write_text("\n".join(text) + "\n", encoding="utf-8")
    return conf


@contextmanager
def _daemon(command: list[object], folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    log = folder / f"{Path(str(command[0])).name}.log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env=environment,
        )
    try:
        yield
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()


def _states(environment: Mapping[str, str]) -> str:
    command = ["sinfo", "--noheader", "--format=%T"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60).stdout


def _wait(ready: Callable[[], bool], log: Path) -> None:
    end = time.monotonic() + _START
    while not ready():
        if time.monotonic() > end:
            raise NoSlurm(f"{log.stem} is not ready: {log.read_text(errors='replace')[-400:]}")
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
