"""How a script of a finding, and a suite, drive TensorRT: they parse and build, and compare what the network states of its outputs."""

from __future__ import annotations

from typing import Final

ONNX: Final = """\
{% set builds = general or stage == "codegen" -%}
{% set glue = '" "' if general else '"\\\\n"' -%}
import {{ "tensorrt" if "tensorrt" in versions else "tensorrt_rtx_bindings" }} as trt

class Rejected(RuntimeError):
    pass
{% if builds %}
class Logger(trt.ILogger):
    def __init__(self):
        trt.ILogger.__init__(self)
        self.lines = []

    def log(self, severity, msg):
        if severity in (self.INTERNAL_ERROR, self.ERROR) and "cudaError 35" not in msg:  # no driver
            self.lines.append(msg)
{% endif %}
logger = {{ "Logger()" if builds else "trt.Logger(trt.Logger.ERROR)" }}
builder = trt.Builder(logger)
network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
parser = trt.OnnxParser(network, logger)
if not parser.parse(model.SerializeToString()):
    error = parser.get_error(0)
    lines = [line for line in error.desc().splitlines() if "Invalid Node - " not in line and "cudaError 35" not in line]
    raise Rejected(f"{error.node_operator() or 'model'}: " + {{ glue }}.join(lines))
{% if builds -%}
{{ to_compile }}config = builder.create_builder_config()
profile = builder.create_optimization_profile()
for entry in map(network.get_input, range(network.num_inputs)):
    if entry.name not in inputs:
        raise Rejected(f"the network asks for an input that the model does not have: {entry.name!r}")
    if entry.is_shape_tensor:
        profile.set_shape_input(entry.name, *[inputs[entry.name].reshape(-1).tolist()] * 3)
        config.add_optimization_profile(profile)
if builder.build_serialized_network(network, config) is None:
    raise Rejected({{ glue }}.join(logger.lines) or "the builder gave no engine")
{% endif -%}
{% if general -%}
# Nothing runs: the network states what its outputs are, and their values count as equal.
actual = expected
names = {"FLOAT": "float32", "HALF": "float16", "BF16": "bfloat16"}
names |= {"FP8": "float8_e4m3fn", "FP4": "float4_e2m1fn", "E8M0": "float8_e8m0fnu"}
stated = [network.get_output(place) for place in range(network.num_outputs)]
wanted = [*expected] if isinstance(expected, (list, tuple)) else [value for value in [expected] if value is not None]
if wanted and len(stated) != len(wanted):
    raise AssertionError(f"expected {len(wanted)} outputs, the network states {len(stated)}")
for output, value in zip(stated, wanted):
    kind, sizes = names.get(output.dtype.name, output.dtype.name.lower()), tuple(output.shape)
    known = [given if size < 0 else size for size, given in zip(sizes, value.shape)]
    narrowed = {"float64": "float32"}.get(value.dtype.name, value.dtype.name)
    if kind not in (value.dtype.name, narrowed) or len(sizes) != value.ndim or known != [*value.shape]:
        raise AssertionError(f"expected {value.dtype.name}{[*value.shape]}, the network states {kind}{[*sizes]}")
{%- elif kind in ("shape", "dtype", "count") -%}
outputs = map(network.get_output, range(network.num_outputs))
actual = [np.empty([max(size, 0) for size in output.shape], trt.nptype(output.dtype)) for output in outputs]
{%- elif compares -%}
{{ results_of_a_network_that_runs }}
{%- endif %}
"""
"""For ONNX models. It shows no results of a network that runs."""

PYTORCH: Final = """\
exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
{% if stage == "codegen" -%}
inputs = {entry.name: {{ array }} for entry, value in zip(exported.model_proto.graph.input, inputs)}
{% endif -%}
""" + ONNX.replace("model.SerializeToString()", "exported.model_proto.SerializeToString()")
"""For PyTorch modules, which the script exports to ONNX."""
