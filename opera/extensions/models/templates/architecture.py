"""What the files of public architectures import: packages of models as they load beside PyTorch's CPU build, and small configurations."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from typing import Any

torch: Any = importlib.import_module("torch")

SMALL = {
    **dict.fromkeys(("num_hidden_layers", "num_layers", "num_encoder_layers", "num_decoder_layers", "encoder_layers", "decoder_layers"), 2),
    **dict.fromkeys(("hidden_size", "d_model"), 256),
    **dict.fromkeys(("intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim", "max_position_embeddings"), 512),
    **dict.fromkeys(("num_attention_heads", "encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("num_key_value_heads", "num_experts_per_tok"), 2),
    "head_dim": 64,
    "vocab_size": 1000,
}
"""Most that a small configuration has of each: the operators of an architecture are the same in two layers as in forty."""
_TOKENS = ("pad_token_id", "eos_token_id", "bos_token_id")


def _load() -> None:
    """Imports torchvision. Its build for CUDA registers shapes of operators that PyTorch's CPU build cannot find: those are left out."""
    own: Callable[..., Any] = torch.library.register_fake

    def register(name: Any, *args: Any, **kwargs: Any) -> Any:
        return _as_it_is if str(name).startswith("torchvision::") else own(name, *args, **kwargs)

    try:
        torch.library.register_fake = register
        importlib.import_module("torchvision")
    finally:
        torch.library.register_fake = own


def _as_it_is(function: Any) -> Any:
    return function


_load()


def small(kind: str) -> Any:
    """A model of transformers of that *kind*, with few and narrow layers and random weights."""
    transformers: Any = importlib.import_module("transformers")
    transformers.logging.set_verbosity_error()
    config = transformers.CONFIG_MAPPING[kind]()
    _shrink(config)
    config.use_cache = False  # a cache is no tensor, so a model that returns one cannot be exported
    return transformers.AutoModel.from_config(config)


def _shrink(config: Any) -> None:
    for name, most in SMALL.items():
        value = getattr(config, name, None)
        if isinstance(value, int) and not isinstance(value, bool):
            with contextlib.suppress(AttributeError, NotImplementedError):  # some follow from others
                setattr(config, name, min(most, value))
    if isinstance(getattr(config, "layer_types", None), list):
        with contextlib.suppress(AttributeError):
            config.layer_types = config.layer_types[:2]
    for name in _TOKENS:
        value = getattr(config, name, None)
        if isinstance(value, int) and value >= SMALL["vocab_size"]:
            setattr(config, name, 1)
    for name in getattr(config, "sub_configs", None) or ():
        inner = getattr(config, name, None)
        if inner is not None:
            _shrink(inner)
