"""What a rule is made with: its base class, the events that it hears, and the reporter that it tells.

This package is all that rules may use of jaxlint, beside `jaxlint.finding`. It defines nothing. What a program is made of stands in
`jaxlint.api.values`, what can be asked of its text in `jaxlint.api.syntax`, what is known of JAX in `jaxlint.api.tables` and
`jaxlint.api.releases`. docs/writing-rules.md shows how to use it.

How sure an event is, a rule asks of the event: `is_certain()`, `is_guarded()`, `is_caught()`, `is_optional()`; where it is, of its
frame: `is_conditional()`, `is_in_test()`, `value_of(name)` ... What the analysis keeps to find that out may change with any version.
"""

from jaxlint.rule import Rule, concerns
from jaxlint.specimens import Example
from jaxlint.staging import Reporter
from jaxlint.staging.consequences import WrongStatic
from jaxlint.staging.events import (
    AttributeEvent,
    BodyEvent,
    BranchesEvent,
    CallEvent,
    CarryEvent,
    ComparisonEvent,
    ConvertEvent,
    DonatedReadEvent,
    DonationEvent,
    ElapsedEvent,
    Event,
    FieldStoreEvent,
    HostCallEvent,
    IndexEvent,
    IterationEvent,
    KeptKeyEvent,
    KeyEvent,
    LeakEvent,
    LoopEvent,
    NameEvent,
    NumpyEvent,
    OperationEvent,
    ReverseModeEvent,
    ShapeEvent,
    SideEffectEvent,
    StagedReturnEvent,
    StaticArgumentEvent,
    StaticFieldEvent,
    StoreEvent,
    TestEvent,
    TextComparisonEvent,
    TracedArgumentEvent,
    TracedMemoryEvent,
    TransformEvent,
    WithEvent,
    ZeroGradientEvent,
)
from jaxlint.staging.project import Module
from jaxlint.staging.values import Scope
from jaxlint.staging.values.frame import Frame, Loop
from jaxlint.staging.values.ledger import Dispatch
from jaxlint.staging.values.stage import Stage, Why

__all__ = [
    "AttributeEvent",
    "BodyEvent",
    "BranchesEvent",
    "CallEvent",
    "CarryEvent",
    "ComparisonEvent",
    "ConvertEvent",
    "Dispatch",
    "DonatedReadEvent",
    "DonationEvent",
    "ElapsedEvent",
    "Event",
    "Example",
    "FieldStoreEvent",
    "Frame",
    "HostCallEvent",
    "IndexEvent",
    "IterationEvent",
    "KeptKeyEvent",
    "KeyEvent",
    "LeakEvent",
    "Loop",
    "LoopEvent",
    "Module",
    "NameEvent",
    "NumpyEvent",
    "OperationEvent",
    "Reporter",
    "ReverseModeEvent",
    "Rule",
    "Scope",
    "ShapeEvent",
    "SideEffectEvent",
    "Stage",
    "StagedReturnEvent",
    "StaticArgumentEvent",
    "StaticFieldEvent",
    "StoreEvent",
    "TestEvent",
    "TextComparisonEvent",
    "TracedArgumentEvent",
    "TracedMemoryEvent",
    "TransformEvent",
    "Why",
    "WithEvent",
    "WrongStatic",
    "ZeroGradientEvent",
    "concerns",
]
