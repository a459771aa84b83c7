"""The models shipped with the workbench: skeletons of real architectures, and small trained models.

Use needs numpy and onnx; only making a model again (`python -m sample_models.make`) needs torch.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
SKELETONS = FOLDER / "skeletons"
TRAINED = FOLDER / "trained"  # packed models, and their data
CARDS = FOLDER / "cards"
