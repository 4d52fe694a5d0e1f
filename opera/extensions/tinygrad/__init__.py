"""tinygrad's ONNX frontend on the CPU: the adapter."""
