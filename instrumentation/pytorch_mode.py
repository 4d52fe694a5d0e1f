"""How the PyTorch recorder gets to see calls: a mode on PyTorch's own stack, in every thread, and when it had better look away."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from typing import Any, Callable, Dict, Tuple

from .sites import Site, Sites

torch: Any = importlib.import_module("torch")
overrides: Any = torch.overrides

Handler = Callable[[Any, Tuple[Any, ...], Dict[str, Any], Site], Any]
"""Called with a function, its arguments, and the place from which it was called."""

depth: Callable[[], int] = torch._C._len_torch_function_stack
"""How many modes the next call has to pass."""
is_followed: Callable[[], bool] = torch.compiler.is_dynamo_compiling
"""Whether a compiler of bytecode reads this function in order to inline it: then it must find nothing but the call."""

_is_compiling = torch.compiler.is_compiling
_is_profiled = torch._C._autograd._profiler_enabled
_tracing_state = torch._C._get_tracing_state
_dispatch_depth = torch._C._len_torch_dispatch_stack
_transform = torch._C._functorch.peek_interpreter_stack
_HAND_OVER = overrides.handle_torch_function.__code__


@functools.cache
def mode_class() -> Any:
    """A `TorchFunctionMode` that hands each call to a function."""
    base: Any = overrides.TorchFunctionMode
    place = sys._getframe

    def initialise(mode: Any, handler: Handler) -> None:
        base.__init__(mode)
        mode.handler = handler
        mode.site = Sites().of

    def handle(mode: Any, function: Any, _types: Any, args: Tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if is_followed():
            return function(*args, **(kwargs or {}))
        frame: Any = place(1)
        if frame.f_code is _HAND_OVER:  # a function in Python asks for itself: the frames are test, function, hand-over
            frame = frame.f_back.f_back or frame
        return mode.handler(function, args, kwargs or {}, mode.site(frame))

    return type("RecordingMode", (base,), {"__init__": initialise, "__torch_function__": handle})


def enter_thread(mode: Any, profile: Any, *_: object) -> None:
    """Enters *mode* in a thread that has just begun; Python calls it as the thread's profile function, which it then puts right."""
    sys.setprofile(profile)
    if threading.current_thread() is not threading.main_thread():
        torch._C._push_on_torch_function_stack(mode)


def unwatched() -> Any:
    """Inside, calls of torch functions reach no mode and no subclass."""
    return torch._C.DisableTorchFunction()


def observed_elsewhere() -> bool:
    """Whether a tracer, compiler, transform, profiler or dispatch mode is at work, which our own look at the values would disturb."""
    return bool(_dispatch_depth() or _tracing_state() is not None or _transform() is not None or _is_profiled() or _is_compiling())


def instead_of(original: Any, watch: Callable[[Any, Tuple[Any, ...], Dict[str, Any]], Any]) -> Any:
    """A method that *watch* answers in place of *original*, but for a compiler of bytecode, which must not find the recorder in it."""

    @functools.wraps(original)
    def method(module: Any, *args: Any, **kwargs: Any) -> Any:
        return original(module, *args, **kwargs) if is_followed() else watch(module, args, kwargs)

    return method


def hidden_from(original: Any, mode: Any) -> Any:
    """*original*, during which *mode* sees nothing."""

    @functools.wraps(original)
    def hidden(*args: Any, **kwargs: Any) -> Any:
        top = depth() - 1
        if top < 0 or torch._C._get_function_stack_at(top) is not mode:
            return original(*args, **kwargs)
        torch._C._pop_torch_function_stack()
        try:
            return original(*args, **kwargs)
        finally:
            torch._C._push_on_torch_function_stack(mode)

    return hidden
