"""The conversions of a model file that the jobs make, by ORT's tools and onnx alone.

Scripts embed the source of those that they call, with all that it names of the workbench. Each imports its
tool itself: another version of ONNX Runtime may lack one. `float16.py` has one more.
"""

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import onnx
import onnxruntime as ort

from workbench.core.rewrites.scopes import opset_of

MOST_IN_ONE_FILE = 1 << 30  # bytes of weights; protobuf ends at 2 GiB, and some tools fail earlier
DATA = "model.onnx.data"
METHODS = {
    "minmax": "MinMax",
    "entropy": "Entropy",
    "percentile": "Percentile",
    "distribution": "Distribution",
}
INTEGERS = {"int8": "QInt8", "uint8": "QUInt8", "int16": "QInt16", "uint16": "QUInt16"}
FORMATS = {"qdq": "QDQ", "qoperator": "QOperator"}
PER_CHANNEL_OPSET = 13  # the first one whose DequantizeLinear takes a scale for each channel
WITH_BIAS = ("Conv", "ConvTranspose", "Gemm")  # the bias is the third input


def has_external(path: str) -> bool:
    """Return whether weights lie beside the file, where a graph saved by ORT would refer to them."""
    model = onnx.load(path, load_external_data=False)
    return any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in model.graph.initializer)


def whole(source: str, folder: str) -> str:
    """Return the file, or a copy with internal weights, which ORT's own format requires."""
    if not has_external(source):
        return source
    path = str(Path(folder) / "whole.onnx")
    onnx.save(onnx.load(source), path)
    return path


def is_large(path: str) -> bool:
    """Return whether products of this file should keep their weights in a file of their own."""
    return has_external(path) or Path(path).stat().st_size > MOST_IN_ONE_FILE


def weight_bytes(graph: onnx.GraphProto) -> int:
    """Return the size of the weights in memory; `ByteSize()` of a message fails above 2 GiB."""
    bodies = [attribute.g for node in graph.node for attribute in node.attribute if attribute.HasField("g")]
    return sum(map(weight_bytes, bodies)) + sum(
        len(tensor.raw_data) + 4 * len(tensor.float_data) + 8 * len(tensor.int64_data)
        for tensor in graph.initializer
    )


def save(model: onnx.ModelProto, path: str) -> None:
    """Save a model in one file, or a large model with the weights in a second one."""
    large = weight_bytes(model.graph) > MOST_IN_ONE_FILE
    onnx.save(model, path, save_as_external_data=large, location=DATA if large else None, size_threshold=1024)


def save_outside(options: ort.SessionOptions) -> None:
    """Have ORT save the weights of its graph in a file of their own; small constants stay in the graph."""
    entry = "session.optimized_model_external_initializers"
    options.add_session_config_entry(f"{entry}_file_name", DATA)
    options.add_session_config_entry(f"{entry}_min_size_in_bytes", "1024")


def fix_dimensions(source: str, target: str, sizes: dict[str, int]) -> None:
    """Fix symbolic dimensions of the file to sizes."""
    from onnxruntime.tools.onnx_model_utils import fix_output_shapes, make_dim_param_fixed

    model = onnx.load(source)
    del model.graph.value_info[:]  # value infos name the dimensions too, in expressions that cannot be fixed
    for name, size in sizes.items():
        make_dim_param_fixed(model.graph, name, size)
    fix_output_shapes(model)
    save(model, target)


def fuse(
    source: str, target: str, model_type: str, num_heads: int, hidden_size: int, options: dict[str, bool]
) -> dict[str, int]:
    """Run ORT's transformer optimizer, and return what it fused."""
    from onnxruntime.transformers.fusion_options import FusionOptions
    from onnxruntime.transformers.optimizer import optimize_model

    settings = FusionOptions(model_type)
    for name, on in options.items():
        setattr(settings, name, on)
    fused = optimize_model(
        source,
        model_type=model_type,
        num_heads=num_heads,
        hidden_size=hidden_size,
        optimization_options=settings,
        opt_level=0,  # ORT's own passes of this tool need torch
    )
    save(fused.model, target)
    return {name: int(count) for name, count in fused.get_fused_operator_statistics().items()}


def preprocess(source: str, target: str) -> str:
    """Infer shapes, fold constants and remove Identity nodes; return why a rank stays unknown."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    source, target = str(Path(source).absolute()), str(Path(target).absolute())
    large, problem = is_large(source), ""
    where: dict[str, Any] = {
        "save_as_external_data": large,
        "all_tensors_to_one_file": large,
        "external_data_location": DATA if large else None,
    }
    quant_pre_process(source, target, skip_symbolic_shape=True, **where)
    if not has_shapes(target):  # ORT's own inference simplifies a formula for each open size: 20 s for a BERT
        beside = tempfile.TemporaryDirectory(dir=Path(target).parent)
        with beside as folder, contextlib.chdir(folder):  # a failure leaves a file
            made = Path(folder) / "made" / Path(target).name
            made.parent.mkdir()
            try:
                quant_pre_process(source, str(made), auto_merge=True, **where)
            except Exception as error:  # noqa: BLE001 - "Incomplete symbolic shape inference" is a bare one
                problem = str(error)[:200] or type(error).__name__
            else:
                for path in made.parent.iterdir():
                    path.replace(Path(target).with_name(path.name))
    flatten_biases(target)
    return problem


def has_shapes(path: str) -> bool:
    """Return whether the rank of every tensor is known."""
    graph = onnx.load(path, load_external_data=False).graph
    values = [*graph.value_info, *graph.output]
    known = {"", *(value.name for value in values if value.type.tensor_type.HasField("shape"))}
    return all(known.issuperset(node.output) for node in graph.node)


def flatten_biases(path: str) -> None:
    """Give each constant bias of a Gemm one axis: the quantizers fail on (1, n), which Gemm takes, too."""
    model = onnx.load(path, load_external_data=False)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    for place, node in enumerate(model.graph.node):
        bias = constants.get(node.input[2]) if node.op_type == "Gemm" and len(node.input) > 2 else None
        if bias is not None and len(bias.dims) == 2 and bias.dims[0] == 1:
            flat = model.graph.initializer.add()
            flat.CopyFrom(bias)
            del flat.dims[0]
            flat.name = node.input[2] = f"{bias.name}_flat_{place}"
    onnx.save(model, path)


def quantize_at_run_time(
    source: str,
    target: str,
    weight: str,
    per_channel: bool,
    reduce_range: bool,
    op_types: list[str],
    exclude: list[str],
) -> None:
    """Quantize weights to 8-bit integers, and activations at run time."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = onnx.load(source)
    for value in model.graph.value_info:  # the exporter's shapes contradict the rewritten graph;
        value.type.tensor_type.ClearField("shape")  # the exporter's types are needed for ORT's own operators
    newer = [node.name for node in model.graph.node if (node.domain, node.op_type) == ("", "Attention")]
    quantize_dynamic(
        model,
        target,
        op_types_to_quantize=op_types or None,
        per_channel=per_channel,
        reduce_range=reduce_range,
        weight_type=QuantType[INTEGERS[weight]],
        nodes_to_exclude=[*exclude, *newer],  # ORT takes them for its own Attention
        use_external_data_format=is_large(source),
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )


def raise_opset(source: str, target: str) -> None:
    """Convert an older file to the first opset with a scale for each channel."""
    from onnx.version_converter import convert_version

    model = onnx.load(source)
    if 0 < opset_of(model) < PER_CHANNEL_OPSET:
        model = convert_version(model, PER_CHANNEL_OPSET)
    save(model, target)


def separate_biases(source: str, target: str) -> None:
    """Give each product a bias of its own.

    ORT's quantizer to integer operators writes a shared constant once: with the scales of its first reader,
    or as an activation, which no kernel takes as a bias.
    """
    model = onnx.load(source)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    for place, node in enumerate(model.graph.node):
        if node.op_type in WITH_BIAS and len(node.input) > 2 and node.input[2] in constants:
            bias = model.graph.initializer.add()
            bias.CopyFrom(constants[node.input[2]])
            bias.name = node.input[2] = f"{bias.name}_{place}"
    save(model, target)


def quantize_calibrated(
    source: str,
    target: str,
    activation: str,
    weight: str,
    per_channel: bool,
    reduce_range: bool,
    format: str,
    op_types: list[str],
    exclude: list[str],
    calibrator: str,
    percentile: float | None = None,
    ranges: str | None = None,
    examples: Any = None,
) -> None:
    """Quantize weights and activations, whose ranges stand in a file or are measured on examples."""
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.registry import QLinearOpsRegistry

    options: dict[str, Any] = {"CalibTensorRangeSymmetric": False}  # else a Relu wastes half of the range
    if percentile is not None:
        options["CalibPercentile"] = percentile
    QLinearOpsRegistry.pop("Where", None)  # the integer form of Where leaves its inputs undefined
    measured = {"calibration_cache_path": ranges} if ranges else {}  # older versions have no such option
    large = is_large(source)
    with tempfile.TemporaryDirectory() as folder:
        if format == "qoperator":
            own = str(Path(folder) / "model.onnx")
            separate_biases(source, own)
            source = own
        quantize_static(
            source,
            target,
            examples,
            quant_format=QuantFormat[FORMATS[format]],
            op_types_to_quantize=op_types or None,
            per_channel=per_channel,
            reduce_range=reduce_range,
            activation_type=QuantType[INTEGERS[activation]],
            weight_type=QuantType[INTEGERS[weight]],
            nodes_to_exclude=exclude,
            use_external_data_format=large,
            calibrate_method=CalibrationMethod[METHODS[calibrator]],
            extra_options=options,
            **measured,
        )


def fold(source: str, target: str) -> None:
    """Fold constants and remove no-ops by ORT's basic level; products stay MatMul for the quantizer."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = target
    if is_large(source):
        save_outside(options)
    kept = ["MatMulAddFusion", "MatMul_BatchNormalization_Fusion"]  # these passes make Gemm of MatMul
    ort.InferenceSession(source, options, providers=["CPUExecutionProvider"], disabled_optimizers=kept)


def quantize_weights(
    source: str, target: str, block: int, algorithm: str, exclude: list[str], **settings: Any
) -> None:
    """Quantize in blocks; RTN, ORT's other rounding, fails on rows that are no multiple of a block."""
    from onnxruntime.quantization import matmul_nbits_quantizer as tool

    if algorithm == "k_quant":
        how = tool.KQuantWeightOnlyQuantConfig()
    elif algorithm == "hqq":
        how = tool.HQQWeightOnlyQuantConfig(block_size=block)
    else:
        how = tool.DefaultWeightOnlyQuantConfig(block_size=block, **settings)
    left_out = [*exclude, *(f"{name}_MatMul" for name in exclude)]  # as a Gemm is called after
    settings = {"block_size": block, "nodes_to_exclude": left_out, "algo_config": how, **settings}
    quantizer = tool.MatMulNBitsQuantizer(onnx.load(source), **settings)
    quantizer.model.replace_gemm_with_matmul()  # an equivalent product that the quantizer does not accept
    quantizer.process()
    save(quantizer.model.model, target)
