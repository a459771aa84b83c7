"""The preparation of the model file that ORT loads: quantized, fused, pre-optimized."""
