"""Ask a running server for the outputs of the example inputs: `python client.py --url localhost:8000`.

Needs `pip install "tritonclient[http]"`, or any other client of the Open Inference Protocol.
"""

from __future__ import annotations

import argparse

import tritonclient.http as triton

from workbench.deployment.serving.hosted import Deployment, Hosted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="localhost:8000")
    options = parser.parse_args()
    deployment = Deployment.read()
    feeds = Hosted(deployment, None).examples()
    inputs = []
    for tensor in deployment.inputs:
        value = triton.InferInput(tensor.name, list(feeds[tensor.name].shape), tensor.datatype)
        value.set_data_from_numpy(feeds[tensor.name])
        inputs.append(value)
    with triton.InferenceServerClient(options.url) as client:
        answer = client.infer(deployment.name, inputs)
    for tensor in deployment.outputs:
        array = answer.as_numpy(tensor.name)
        print(tensor.name, array.dtype, array.shape, array.reshape(-1)[:5])


if __name__ == "__main__":
    main()
