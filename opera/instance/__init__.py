"""The operator instance: an API with one setting of its parameters and inputs.

Standard library only: workers import it in environments where nothing else of OPERA's is installed.
"""

from opera.instance.codec import decode_instance, decode_value, encode_instance, encode_value
from opera.instance.identity import digest, identity_form, shape_digest
from opera.instance.instance import Argument, Instance, Kind, Occurrence, Outcome
from opera.instance.values import Call, Constraint, Device, Distribution, DType, Enum, Graph, Named, Opaque, Tensor, Value

__all__ = [
    "Argument",
    "Call",
    "Constraint",
    "DType",
    "Device",
    "Distribution",
    "Enum",
    "Graph",
    "Instance",
    "Kind",
    "Named",
    "Occurrence",
    "Opaque",
    "Outcome",
    "Tensor",
    "Value",
    "decode_instance",
    "decode_value",
    "digest",
    "encode_instance",
    "encode_value",
    "identity_form",
    "shape_digest",
]
