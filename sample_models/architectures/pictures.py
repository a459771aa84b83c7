"""Image and sound models of transformers: ResNet, EfficientNet, MobileNetV2, ViT and Whisper's encoder."""

from __future__ import annotations

import torch
import transformers
from torch import nn

from sample_models.architectures import Blueprint


def resnet50() -> Blueprint:
    """Return ResNet-50 v1.5 for 1,000 classes."""
    return _classifier(
        lambda: transformers.ResNetForImageClassification(_classes(transformers.ResNetConfig()))
    )


def efficientnet_b0() -> Blueprint:
    """Return EfficientNet-B0 at 224 x 224."""
    return _efficientnet(width=1.0, depth=1.0, image=224, hidden=1280)


def efficientnet_b4() -> Blueprint:
    """Return EfficientNet-B4 at 380 x 380."""
    return _efficientnet(width=1.4, depth=1.8, image=380, hidden=1792)


def mobilenetv2() -> Blueprint:
    """Return MobileNetV2 1.0 at 224 x 224."""
    config = transformers.MobileNetV2Config(tf_padding=False)
    return _classifier(lambda: _he(transformers.MobileNetV2ForImageClassification(_classes(config))))


def vit_base() -> Blueprint:
    """Return ViT-B/16 at 224 x 224."""
    config = _classes(transformers.ViTConfig())
    config._attn_implementation = "eager"
    return _classifier(lambda: transformers.ViTForImageClassification(config))


def whisper_small_encoder() -> Blueprint:
    """Return the encoder of Whisper-small over 30 s of sound: 12 layers, 12 heads, width 768."""
    config = transformers.WhisperConfig(
        d_model=768, encoder_layers=12, encoder_attention_heads=12, encoder_ffn_dim=3072, num_mel_bins=80
    )
    config._attn_implementation = "eager"
    return Blueprint(
        build=lambda: First(transformers.models.whisper.modeling_whisper.WhisperEncoder(config)),
        inputs={"input_features": torch.randn(2, 80, 3000)},
        outputs=("last_hidden_state",),
        dynamic={"input_features": {0: "batch"}, "last_hidden_state": {0: "batch"}},
    )


class First(nn.Module):
    """A transformers model with one input and only the first output."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.model(features, return_dict=True)[0]  # type: ignore[no-any-return]


def _efficientnet(*, width: float, depth: float, image: int, hidden: int) -> Blueprint:
    config = transformers.EfficientNetConfig(
        width_coefficient=width, depth_coefficient=depth, image_size=image, hidden_dim=hidden
    )
    return _classifier(lambda: _he(transformers.EfficientNetForImageClassification(_classes(config))), image)


def _he(model: nn.Module) -> nn.Module:
    """Draw convolutions with He's initial scale and set norms to 1, as published.

    The package transformers draws all with a deviation of 0.02, so hardly a signal reaches the output.
    """
    for part in model.modules():
        if isinstance(part, nn.Conv2d):
            nn.init.kaiming_normal_(part.weight, mode="fan_in")
        elif isinstance(part, nn.BatchNorm2d):
            nn.init.ones_(part.weight)
    return model


def _classifier(build: object, image: int = 224) -> Blueprint:
    return Blueprint(
        build=lambda: First(build()),  # type: ignore[operator]
        inputs={"pixel_values": torch.rand(2, 3, image, image)},
        outputs=("logits",),
        dynamic={"pixel_values": {0: "batch"}, "logits": {0: "batch"}},
    )


def _classes(config: transformers.PretrainedConfig) -> transformers.PretrainedConfig:
    """Return ImageNet's thousand classes, without their names."""
    config.num_labels = 1000
    return config
