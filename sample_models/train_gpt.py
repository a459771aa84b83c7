"""Train the character-level GPT: `python -m sample_models.train_gpt`. Needs the extra `torch`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from sample_models import FOLDER, TRAINED
from sample_models.train_vit import EncoderBlock
from sample_models.training import EXPORTED_WITH, SEED, export_trained, publish, target

_NAME = "char-gpt"
CONTEXT, WIDTH, HEADS, DEPTH = 64, 128, 4, 3
_VOCABULARY = 128  # a token is an ASCII code
HELD_OUT_SONNETS = 1
STEPS, BATCH, RATE = 300, 32, 3e-3


class CharGpt(nn.Module):
    """Three causal blocks over characters."""

    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(_VOCABULARY, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(EncoderBlock(WIDTH, HEADS, causal=True) for _ in range(DEPTH)))
        self.drop = nn.Dropout(0.2)
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, _VOCABULARY)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        places = self.places(torch.arange(input_ids.shape[1]))
        return self.head(self.norm(self.blocks(self.drop(self.letters(input_ids) + places))))


def make(folder: Path | None = None) -> Path:
    """Train and write the ONNX file."""
    torch.manual_seed(SEED)
    text = torch.from_numpy(_tokens()[0])
    net = CharGpt().train()
    optimizer = torch.optim.AdamW(net.parameters(), RATE, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=STEPS)
    for _ in range(STEPS):
        starts = torch.randint(0, len(text) - CONTEXT, (BATCH,))
        windows = torch.stack([text[start : start + CONTEXT + 1] for start in starts])
        scores = net(windows[:, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    path = target(_NAME, folder)
    example = torch.randint(32, 127, (2, CONTEXT))
    export_trained(net, {"input_ids": example}, path, {0: "batch", 1: "sequence"})
    return path


def write_held_out() -> None:
    """Write the last sonnet as windows of one context and one character."""
    _, text = _tokens()
    starts = range(0, len(text) - CONTEXT, CONTEXT // 4)
    windows = np.stack([text[start : start + CONTEXT + 1] for start in starts])
    np.savez_compressed(TRAINED / "sonnets.npz", tokens=windows.astype(np.uint8))


def _tokens() -> tuple[np.ndarray, np.ndarray]:
    """Return the training sonnets and the held-out sonnet."""
    sonnets = (FOLDER / "sonnets.txt").read_text(encoding="ascii").split("\n\n")
    parts = ("\n\n".join(sonnets[:-HELD_OUT_SONNETS]), "\n\n".join(sonnets[-HELD_OUT_SONNETS:]))
    first, second = (np.frombuffer(part.encode("ascii"), np.uint8).astype(np.int64) for part in parts)
    return first, second


if __name__ == "__main__":
    write_held_out()
    print(
        publish(
            _NAME,
            make(),
            family="GPT-like",
            what="A character-level GPT that writes in the manner of Shakespeare's sonnets.",
            teaches="Batch and sequence both free: free dimensions against fixed ones, and quantizing a "
            "language model with a number that shows what it costs.",
            origin="trained here on ten of Shakespeare's sonnets; an eleventh is held out",
            licence="MIT, as this project; the text is in the public domain.",
            remake="python -m sample_models.train_gpt",
            exporter=EXPORTED_WITH,
            meanings={
                "input_ids": "ASCII codes of the text so far, at most 64 (below 128)",
                "logits": "for each position, one score a character that may come next",
            },
            dims=(("batch", 1), ("sequence", 64)),
        ).score
    )
