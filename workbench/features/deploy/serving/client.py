"""Ask a running server for the outputs of the example inputs: `python client.py --url localhost:8000`.

Needs `pip install "tritonclient[http]"`, or any other client of the Open Inference Protocol.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import tritonclient.http as triton

FOLDER = Path(__file__).resolve().parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="localhost:8000")
    options = parser.parse_args()
    settings = json.loads((FOLDER / "deployment.json").read_text("utf-8"))
    with np.load(FOLDER / "examples.npz", allow_pickle=False) as arrays:
        examples = list(arrays.values())
    inputs = []
    for tensor, array in zip(settings["inputs"], examples, strict=True):
        inputs.append(triton.InferInput(tensor["name"], list(array.shape), tensor["datatype"]))
        inputs[-1].set_data_from_numpy(array.astype(object) if tensor["datatype"] == "BYTES" else array)
    with triton.InferenceServerClient(options.url) as client:
        answer = client.infer(settings["name"], inputs)
    for tensor in settings["outputs"]:
        array = answer.as_numpy(tensor["name"])
        print(tensor["name"], array.dtype, array.shape, array.reshape(-1)[:5])


if __name__ == "__main__":
    main()
