"""Shared parts of the training scripts: the digits, a loop, the export, the card. Needs the extra `torch`."""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional as F

from sample_models import CARDS, TRAINED
from sample_models.cards import SampleCard, write_card
from sample_models.describe import facts
from sample_models.evaluation import MOST_CALIBRATION, enlarge, read_evaluation_set
from sample_models.packed_weights import STEPS, pack, packed_path, write_trained

SEED = 0
HELD_OUT = 360  # of 1,797 digits
EXPORTED_WITH = (
    f"torch.onnx.export(dynamo=False), weights rounded to about 1/{STEPS} of their standard deviation"
)
SHIFT = 4  # pixels by which a training picture may shift, each way
_BATCH = 64
_REAL = "Real: everything, accuracy included. {0}"
DIGITS_LICENCE = (
    "Weights: MIT, as this project. Data: Optical Recognition of Handwritten Digits, "
    "E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, CC BY 4.0; the copy in scikit-learn."
)
DIGITS_MEANINGS = {
    "pixels": "a handwritten digit, 64 x 64, ink 1 on paper 0",
    "logits": "one score a digit, before softmax",
}


def digits() -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
    """Return training pictures and labels, held-out pictures and labels, always in the same split."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = np.random.Generator(np.random.PCG64(SEED)).permutation(len(data.target))
    pictures, labels = data.images[order].astype(np.uint8), data.target[order].astype(np.uint8)
    return pictures[HELD_OUT:], labels[HELD_OUT:], pictures[:HELD_OUT], labels[:HELD_OUT]


def write_calibration() -> None:
    """Write the first digits of the training part, for the ranges of static quantization."""
    np.savez_compressed(TRAINED / "digits-calibration.npz", pictures=digits()[0][:MOST_CALIBRATION])


def fit(module: nn.Module, *, epochs: int, rate: float) -> None:
    """Train on shifted digits: AdamW, with a learning rate that rises and falls once."""
    torch.manual_seed(SEED)
    pictures, labels, _, _ = digits()
    images, targets = torch.from_numpy(enlarge(pictures)), torch.from_numpy(labels.astype(np.int64))
    steps = len(images) // _BATCH
    optimizer = torch.optim.AdamW(module.parameters(), rate, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=epochs * steps)
    module.train()
    for _ in range(epochs):
        order = torch.randperm(len(images))
        for step in range(steps):
            part = order[step * _BATCH : (step + 1) * _BATCH]
            loss = F.cross_entropy(module(_shifted(images[part])), targets[part], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    module.eval()


def export_trained(
    module: nn.Module, example: dict[str, torch.Tensor], path: Path, axes: dict[int, str]
) -> None:
    """Export one float32 file in opset 17, with a free batch (and sequence) dimension."""
    ((name, tensor),) = example.items()
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        module.eval(),
        (tensor,),
        str(path),
        dynamo=False,
        input_names=[name],
        output_names=["logits"],
        dynamic_axes={name: axes, "logits": axes},
        opset_version=17,
    )


def publish(name: str, path: Path, **words: object) -> SampleCard:
    """Pack the file, score what is unpacked and write its card; `words` are fields that the file lacks."""
    packed = pack(name, onnx.load(str(path)))
    packed_path(name).write_bytes(packed)
    write_trained(packed, path)
    model = onnx.load(str(path))
    meanings = words.pop("meanings")
    assert isinstance(meanings, dict)
    evaluation = read_evaluation_set(name)
    card = SampleCard(
        name=name,
        kind="trained",
        real=_REAL.format(f"The score is over {evaluation.labels.size:,} held-out labels."),
        bytes=path.stat().st_size,
        shipped_bytes=len(packed),
        metric=evaluation.metric,
        score=round(score_of(name, path), 5),
        made_with=tuple((package, version(package)) for package in ("torch", "scikit-learn", "onnx")),
        **facts(model, meanings.__getitem__),
        **words,  # type: ignore[arg-type]
    )
    write_card(card, CARDS / f"{name}.json")
    return card


def score_of(name: str, path: Path) -> float:
    """Return the score of a model file on the named sample's evaluation set."""
    import onnxruntime as ort

    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return read_evaluation_set(name).score(lambda feeds: session.run(None, feeds)[0])


def target(name: str, folder: Path | None) -> Path:
    """Return the output path of a script, in a temporary folder or the caller's."""
    return (folder or Path(tempfile.gettempdir())) / f"{name}.onnx"


def _shifted(images: torch.Tensor) -> torch.Tensor:
    padded = F.pad(images, (SHIFT,) * 4)
    right, down = (int(offset) for offset in torch.randint(0, 2 * SHIFT + 1, (2,)))
    return padded[:, :, down : down + images.shape[2], right : right + images.shape[3]]
