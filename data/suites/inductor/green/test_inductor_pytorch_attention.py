"""inductor/pytorch, attention: tests that pass; README.md explains them."""

import pytest

torch = pytest.importorskip("torch")


class Model_df2d49f7(torch.nn.Module):
    def forward(self, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9):
        return tuple(
            torch.nn.functional.multi_head_attention_forward(
                x0,
                x1,
                x2,
                4,
                2,
                x3,
                x4,
                x5,
                x6,
                False,
                0.0,
                x7,
                x8,
                training=False,
                key_padding_mask=None,
                need_weights=True,
                attn_mask=x9,
                is_causal=False,
                use_separate_proj_weight=False,
                q_proj_weight=None,
                k_proj_weight=None,
                v_proj_weight=None,
                static_k=None,
                static_v=None,
                average_attn_weights=True,
            )
        )


def test_multi_head_attention_forward_df2d49f7(check_pytorch, data):
    inputs = tuple(torch.from_numpy(data[f"inputs_{place}"]) for place in range(10))
    expected = [data[f"expected_{place}"] for place in range(2)]
    check_pytorch(Model_df2d49f7(), inputs, expected, own_error=0.21)
