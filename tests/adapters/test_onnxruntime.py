"""What ONNX Runtime's adapter has to know of dtypes that ONNX Runtime lacks."""

from __future__ import annotations

import numpy as np
import pytest
from instances import counting, tensor, torch_call
from real_campaigns import Campaign, run

from opera.instance import DType, Occurrence
from opera.store import Corpus
from opera.store.database import open_workspace

pytestmark = pytest.mark.slow

INSTANCES = (
    torch_call("torch.mul", tensor([1, 2], "int16"), tensor(3, "complex64")),
    torch_call("torch.zeros_like", counting(2), dtype=DType("complex64")),
    torch_call("torch.sum", tensor(np.ones(2), "float16")),
    torch_call(
        "torch.fake_quantize_per_channel_affine", counting(2, 2), counting(2), tensor([0, 0], "int32"), axis=1, quant_min=0, quant_max=2
    ),
    torch_call("torch.amin", counting(2)),
)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    workspace = tmp_path_factory.mktemp("onnxruntime")
    with open_workspace(workspace, write=True) as space:
        Corpus(space).add((each, Occurrence("hand", "test")) for each in INSTANCES)
    return run(workspace, "onnxruntime", "pytorch", ["torch"])


def test_a_model_of_complex_numbers_is_no_crash(campaign: Campaign) -> None:
    (fed,), (made,) = campaign.of("torch.mul"), campaign.of("torch.zeros_like")
    assert (fed.verdict.value, fed.reason) == ("unsupported", "no-array-interface")
    assert (made.verdict.value, made.reason) == ("unsupported", "dtype")


def test_another_dtype_of_the_exported_model_is_a_finding(campaign: Campaign) -> None:
    """A twin of the above: float16 is a dtype that both have, and the exporter gives float32."""
    (result,) = campaign.of("torch.sum")
    assert result.verdict.value == "inconsistent"


def test_a_converter_that_says_that_it_is_not_implemented_declines(campaign: Campaign) -> None:
    """ONNX has fewer ranges of quantised numbers. A twin of this: the converter of `amin` lacks the default of a parameter."""
    (declined,), (failed,) = campaign.of("torch.fake_quantize_per_channel_affine"), campaign.of("torch.amin")
    assert (declined.verdict.value, declined.reason) == ("unsupported", "declined")
    assert (failed.verdict.value, failed.stage and failed.stage.value) == ("crash", "export")
