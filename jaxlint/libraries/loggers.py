"""Loggers, trackers and file writers: they need the concrete values of an array at once."""

from __future__ import annotations

from jaxlint.jaxapi.functions import LOGGER_MAKERS
from jaxlint.staging.evaluator.conversions import Conversions
from jaxlint.staging.evaluator.external_models import LibraryCall, calls, methods
from jaxlint.staging.values import Static, Value

_SHOWN = ("info", "warning", "warn", "error", "critical", "exception")  # by default
_READERS = frozenset(
    """pickle.dump pickle.dumps joblib.dump wandb.log mlflow.log_metric mlflow.log_metrics
    flax.serialization.to_bytes flax.serialization.msgpack_serialize flax.training.checkpoints.save_checkpoint
    equinox.tree_serialise_leaves safetensors.flax.save_file safetensors.numpy.save_file""".split()  # noqa: SIM905
)
_TRACKING = ("log", "add_scalar", "add_scalars", "add_histogram", "scalar", "histogram")


@calls(*LOGGER_MAKERS, "wandb.init")
def make_logger(call: LibraryCall) -> Value:
    return call.made_object()


@calls(*(f"{module}.{name}" for module in ("logging", "absl.logging") for name in _SHOWN))
def log(call: LibraryCall) -> Value:
    call.machine.part(Conversions).read_on_host("logging", call.inputs, call.node, call.frame)
    return call.otherwise()


@calls(*_READERS)
def write(call: LibraryCall) -> Value:
    call.machine.part(Conversions).read_on_host(call.name, call.inputs, call.node, call.frame)
    return call.otherwise()


@methods(*(f"{logger}.*" for logger in LOGGER_MAKERS))
def method_of_logger(call: LibraryCall) -> Value:
    if call.name.rpartition(".")[2] in _SHOWN:
        call.machine.part(Conversions).read_on_host("logging", call.args, call.node, call.frame)
    return Static(None)


@methods(*(f"{tracker}.{name}" for tracker in ("wandb.init", "*SummaryWriter") for name in _TRACKING))
def track(call: LibraryCall) -> Value:
    call.machine.part(Conversions).read_on_host(call.name, call.inputs, call.node, call.frame)
    return Static(None)
