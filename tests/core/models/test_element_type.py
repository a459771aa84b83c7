"""Our numbers of element types are ONNX's."""

from onnx import TensorProto

from workbench.core.models.element_type import ElementType


def test_each_type_has_the_number_of_onnx() -> None:
    ours = {element.name: element.value for element in ElementType}
    known = dict(TensorProto.DataType.items())
    assert known.items() <= ours.items()
