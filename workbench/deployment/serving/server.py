"""Serve the model of this folder: `python server.py --host 127.0.0.1 --port 8000`."""

from __future__ import annotations

import argparse
import logging

import session  # the session of this deployment, beside this file
import uvicorn

from workbench.deployment.serving.app import make_app
from workbench.deployment.serving.hosted import Deployment, Hosted

GRACE_S = 30  # what a shutdown leaves to the requests that run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--log-level", default="info")
    options = parser.parse_args()
    logging.basicConfig(level=options.log_level.upper(), format="%(asctime)s %(levelname)s %(message)s")
    hosted = Hosted(Deployment.read(), session)

    def stop() -> None:
        server.should_exit = True

    app = make_app(hosted, stop)
    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        log_level=options.log_level,
        access_log=False,
        timeout_graceful_shutdown=GRACE_S,
    )
    server = uvicorn.Server(config)
    server.run()
    if hosted.error is not None:
        raise SystemExit(f"not served: {hosted.error}")


if __name__ == "__main__":
    main()
