"""From the model file that was given to the one that ORT loads: quantized, fused, saved ahead."""
