"""Where the memory goes: weights, activations, temporaries, and what the arena holds."""
