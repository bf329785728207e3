"""The API for rules: the base class, the events, and the reporter.

Rules may import this package and `jaxlint.finding`, and nothing else of jaxlint. It defines nothing itself. The
values of a program are in `jaxlint.api.values`, facts about its text in `jaxlint.api.syntax`, facts about JAX in
`jaxlint.api.tables` and `jaxlint.api.releases`. docs/writing-rules.md shows how to use it.

A rule asks the event how certain it is: `is_certain()`, `is_guarded()`, `is_caught()`, `is_optional()`. It asks the
frame where the event is: `is_conditional()`, `is_in_test()`, `value_of(name)` ... The internal state behind these may
change with any version.
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
    DerivativeRulesEvent,
    DifferentiatedEvent,
    DonatedReadEvent,
    DonationEvent,
    ElapsedEvent,
    Event,
    FieldStoreEvent,
    ForwardResultEvent,
    HostCallEvent,
    IndexEvent,
    IterationEvent,
    KeptKeyEvent,
    KeyEvent,
    LeakEvent,
    LoopEvent,
    ModuleRunEvent,
    ModuleStoreEvent,
    NameEvent,
    NumpyEvent,
    OperationEvent,
    ReverseModeEvent,
    ShapeEvent,
    SharedPlacesEvent,
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
    UnpackEvent,
    WithEvent,
    ZeroGradientEvent,
)
from jaxlint.staging.evidence import PICTURES, imports_more
from jaxlint.staging.module import Module
from jaxlint.staging.values import Scope
from jaxlint.staging.values.frame import Frame, Loop
from jaxlint.staging.values.ledger import Dispatch
from jaxlint.staging.values.stage import Stage, Why

__all__ = [
    "PICTURES",
    "AttributeEvent",
    "BodyEvent",
    "BranchesEvent",
    "CallEvent",
    "CarryEvent",
    "ComparisonEvent",
    "ConvertEvent",
    "DerivativeRulesEvent",
    "DifferentiatedEvent",
    "Dispatch",
    "DonatedReadEvent",
    "DonationEvent",
    "ElapsedEvent",
    "Event",
    "Example",
    "FieldStoreEvent",
    "ForwardResultEvent",
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
    "ModuleRunEvent",
    "ModuleStoreEvent",
    "NameEvent",
    "NumpyEvent",
    "OperationEvent",
    "Reporter",
    "ReverseModeEvent",
    "Rule",
    "Scope",
    "ShapeEvent",
    "SharedPlacesEvent",
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
    "UnpackEvent",
    "Why",
    "WithEvent",
    "WrongStatic",
    "ZeroGradientEvent",
    "concerns",
    "imports_more",
]
