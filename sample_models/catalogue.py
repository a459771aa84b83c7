"""Facts of the skeletons that no program can derive: descriptions, lessons, meanings of inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

REAL = (
    "Real: graph, node names, shapes, what ORT fuses, where nodes run, memory, latency. "
    "Not real: the weights are random, so outputs and accuracy mean nothing."
)
LICENCE = "MIT, as this project: no trained weights are included. {0}"
BY_TRANSFORMERS = "The module's code is transformers' (Apache-2.0)."
BY_US = "The module's code is ours."

_TEXT = {
    "input_ids": "token ids, below the vocabulary's size",
    "attention_mask": "1 for a token, 0 for padding",
    "token_type_ids": "0 for the first sentence, 1 for the second",
    "last_hidden_state": "one vector a token",
    "pooler_output": "one vector a text",
}
PICTURE = {
    "pixel_values": "the picture: red, green, blue, from 0 to 1 and then normalised",
    "logits": "one score a class, before softmax",
}


@dataclass(frozen=True)
class Skeleton:
    """One skeleton; `architecture` names a function of `sample_models.architectures`."""

    architecture: str
    exporter: Literal["torchscript", "dynamo"]
    family: str
    what: str
    teaches: str
    origin: str
    meanings: dict[str, str]
    dims: dict[str, int]
    attention: str | None = None

    @property
    def licence(self) -> str:
        ours = self.architecture.partition(".")[0] in ("yolov5", "unet")
        return LICENCE.format(BY_US if ours else BY_TRANSFORMERS)


def _bert(exporter: Literal["torchscript", "dynamo"], attention: str, teaches: str) -> Skeleton:
    return Skeleton(
        architecture="language.bert_base",
        exporter=exporter,
        family="BERT-like",
        what=f"BERT-base, uncased size: 12 layers, width 768; {attention} attention, {exporter} export.",
        teaches=teaches,
        origin="transformers.BertModel(BertConfig()); Devlin et al. 2018",
        meanings=_TEXT,
        dims={"batch": 1, "sequence": 128},
        attention=attention,
    )


def _gpt2(exporter: Literal["torchscript", "dynamo"], teaches: str) -> Skeleton:
    return Skeleton(
        architecture="language.gpt2",
        exporter=exporter,
        family="GPT-like",
        what=f"GPT-2 small over a whole prompt, without cache: 12 layers, width 768; {exporter} export.",
        teaches=teaches,
        origin="transformers.GPT2LMHeadModel(GPT2Config()); Radford et al. 2019",
        meanings=_TEXT | {"logits": "for each position, one score a token of the vocabulary"},
        dims={"batch": 1, "sequence": 256},
        attention="eager",
    )


def _picture(
    architecture: str, exporter: Literal["torchscript", "dynamo"], what: str, teaches: str, origin: str
) -> Skeleton:
    return Skeleton(
        f"pictures.{architecture}", exporter, "vision", what, teaches, origin, PICTURE, {"batch": 1}
    )


SKELETONS: dict[str, Skeleton] = {
    "bert-base": _bert(
        "torchscript",
        "eager",
        "What extended fusions do to a transformer: LayerNorm, Gelu and bias, and what the offline "
        "transformer optimizer adds: Attention. Dynamic int8 pays here.",
    ),
    "bert-base-sdpa": _bert(
        "torchscript",
        "sdpa",
        "The same network, exported with fused attention in torch: no attention pattern matches any more.",
    ),
    "bert-base-dynamo": _bert(
        "dynamo",
        "eager",
        "What ORT can fuse depends on the exporter: compare its fusions with those of bert-base.",
    ),
    "gpt2": _gpt2(
        "torchscript",
        "A prompt of 256 tokens: hundreds of shape nodes that constant folding removes, the FastGelu "
        "pattern, and a vocabulary product that dominates.",
    ),
    "gpt2-dynamo": _gpt2(
        "dynamo", "Few shape nodes are left to fold: compare the worth of each level with gpt2's."
    ),
    "distilbert": Skeleton(
        architecture="language.distilbert",
        exporter="torchscript",
        family="BERT-like",
        what="DistilBERT with a two-class head: 6 layers, width 768.",
        teaches="Half of BERT: how latency follows depth, and a first int8 comparison that is soon over.",
        origin="transformers.DistilBertForSequenceClassification; Sanh et al. 2019",
        meanings=_TEXT | {"logits": "one score a class"},
        dims={"batch": 1, "sequence": 128},
        attention="eager",
    ),
    "llama-small": Skeleton(
        architecture="language.llama_small",
        exporter="torchscript",
        family="GPT-like",
        what="One decoding step of a small LLaMA: 8 layers, width 768, 12 heads sharing 4 keys, with cache.",
        teaches="Decoding reads every weight for one token, so bytes count: 4-bit weights pay. The cache "
        "goes in as past_* and out as present.*; binding it spares copies.",
        origin="transformers.LlamaForCausalLM with a small config; Touvron et al. 2023",
        meanings=_TEXT
        | {
            "attention_mask": "1 for each token, those of the cache and the new ones",
            "position_ids": "the position of each new token, counting the cache's",
            "logits": "for each new position, one score a token of the vocabulary",
            "past_key_values.": "the cache of the tokens before: batch, heads, tokens, width",
            "present.": "the cache with the new tokens at its end",
        },
        dims={"batch": 1, "sequence": 1, "past": 127, "total": 128},
        attention="eager",
    ),
    "resnet50": _picture(
        "resnet50",
        "torchscript",
        "ResNet-50 at 224 x 224, 1,000 classes.",
        "Convolution fusions and the blocked layout (level layout), which is nearly all the gain on a CPU.",
        "transformers.ResNetForImageClassification; He et al. 2015",
    ),
    "resnet50-dynamo": _picture(
        "resnet50",
        "dynamo",
        "ResNet-50 at 224 x 224, 1,000 classes, dynamo export.",
        "Where the exporter hardly matters: a plain convolutional net comes out the same twice.",
        "transformers.ResNetForImageClassification; He et al. 2015",
    ),
    "efficientnet-b0": _picture(
        "efficientnet_b0",
        "torchscript",
        "EfficientNet-B0 at 224 x 224, 1,000 classes.",
        "Depthwise convolutions and Sigmoid x Mul activations: many small nodes, where overhead shows.",
        "transformers.EfficientNetForImageClassification; Tan and Le 2019",
    ),
    "efficientnet-b0-dynamo": _picture(
        "efficientnet_b0",
        "dynamo",
        "EfficientNet-B0 at 224 x 224, 1,000 classes, dynamo export.",
        "The padding nodes that tracing left are gone: compare the node counts before and after ORT.",
        "transformers.EfficientNetForImageClassification; Tan and Le 2019",
    ),
    "efficientnet-b4": _picture(
        "efficientnet_b4",
        "torchscript",
        "EfficientNet-B4 at 380 x 380, 1,000 classes.",
        "The same family, eight times the work: which knobs keep their worth when a model grows?",
        "transformers.EfficientNetForImageClassification; Tan and Le 2019",
    ),
    "mobilenetv2": _picture(
        "mobilenetv2",
        "torchscript",
        "MobileNetV2 1.0 at 224 x 224, 1,000 classes.",
        "A few milliseconds: threads, spinning and pacing weigh as much as arithmetic.",
        "transformers.MobileNetV2ForImageClassification; Sandler et al. 2018",
    ),
    "vit-base": _picture(
        "vit_base",
        "torchscript",
        "ViT-B/16 at 224 x 224, 1,000 classes, eager attention.",
        "A transformer on pictures: the fusions of BERT without a mask, at a fixed length of 197.",
        "transformers.ViTForImageClassification; Dosovitskiy et al. 2020",
    ),
    "yolov5s": Skeleton(
        architecture="yolov5.yolov5s",
        exporter="torchscript",
        family="vision",
        what="YOLOv5s (version 6 layout) at 640 x 640, 80 classes, boxes decoded in the graph.",
        teaches="Large pictures and SiLU everywhere: activation memory, QuickGelu fusion among "
        "blocked-layout nodes, and a decoding tail that quantization should leave alone.",
        origin="written here in torch from the published description of YOLOv5 6.0",
        meanings={
            "images": "the picture, red, green, blue from 0 to 1",
            "boxes": "for each of 25,200 anchors: centre, width, height in pixels, objectness, 80 scores",
        },
        dims={"batch": 1},
    ),
    "whisper-small-encoder": Skeleton(
        architecture="pictures.whisper_small_encoder",
        exporter="torchscript",
        family="audio",
        what="The encoder of Whisper-small over 30 seconds of sound: 12 layers, width 768.",
        teaches="A sequence of 1,500: attention's square shows, in time and in memory.",
        origin="transformers' WhisperEncoder with the small config; Radford et al. 2022",
        meanings={
            "input_features": "log-mel spectrogram, 80 bands by 3,000 frames of 10 ms",
            "last_hidden_state": "one vector every 20 ms",
        },
        dims={"batch": 1},
    ),
    "sd-unet": Skeleton(
        architecture="unet.sd_unet",
        exporter="torchscript",
        family="diffusion",
        what="A denoising U-Net like Stable Diffusion's at two fifths of its width, latents of 32 x 32.",
        teaches="Convolutions and transformers in one graph, skips that span it: memory planning, mixed "
        "partitions, and a graph that is hard to draw.",
        origin="written here in torch from the published description; Rombach et al. 2022",
        meanings={
            "sample": "the noisy latents",
            "timestep": "the denoising step, 0 to 999",
            "encoder_hidden_states": "the text: 77 vectors",
            "noise": "the noise that the net believes to see",
        },
        dims={"batch": 1},
    ),
}


def meaning(entry: Skeleton, port: str) -> str:
    """Return the meaning of an input or output; a prefix describes a family of ports."""
    if port in entry.meanings:
        return entry.meanings[port]
    return next(text for prefix, text in entry.meanings.items() if port.startswith(prefix))
