"""What `import onnxruntime` starts, writes and asks for on Linux. Needs onnxruntime; takes under a minute.

A child process imports onnxruntime with an empty home and waits. A socket of this process stands in for the
proxy, so that a request is seen and nothing leaves the machine.
"""

import os
import platform
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import onnxruntime as ort

WAIT_S = 15
CHILD = f"""
import os, time
import onnxruntime as ort
ort.disable_telemetry_events() if os.environ.get("CALL_DISABLE") else None
time.sleep({WAIT_S})
tasks = os.listdir("/proc/self/task")
print(*(open(f"/proc/self/task/{{task}}/comm").read().strip() for task in tasks))
"""


def outcome(**extra: str) -> str:
    with tempfile.TemporaryDirectory() as home, socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.setblocking(False)
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in ("CI", "ORT_DISABLE_TELEMETRY") and not name.lower().endswith("_proxy")
        }
        proxies = {
            variable: address
            for name in ("http_proxy", "https_proxy", "all_proxy")
            for variable in (name, name.upper())
        }
        environment = {**kept, **proxies, "HOME": home, "XDG_CACHE_HOME": f"{home}/cache", **extra}
        done = subprocess.run([sys.executable, "-c", CHILD], env=environment, capture_output=True, text=True)
        threads = done.stdout.split()
        files = sorted(str(path.relative_to(home)) for path in Path(home).rglob("*") if path.is_file())
        words = f"{len(threads)} threads ({' '.join(threads)})"
        return f"{words}; files in the home: {files}; asked for: {requests(proxy)}"


def requests(proxy: socket.socket) -> list[str]:
    seen = []
    while True:
        try:
            connection, _ = proxy.accept()
        except BlockingIOError:
            return sorted(set(seen))
        with connection:
            connection.settimeout(1)
            text = connection.recv(1000).decode("latin-1")
            seen += re.findall(r"^\w+ (\S+) HTTP", text)


def main() -> None:
    versions = f"onnxruntime {ort.__version__}, Python {platform.python_version()}"
    print(f"{versions}, {platform.system()}; {WAIT_S} s each")
    print(f"as it is: {outcome()}")
    print(f"after ort.disable_telemetry_events(): {outcome(CALL_DISABLE='1')}")
    print(f"with ORT_DISABLE_TELEMETRY=1: {outcome(ORT_DISABLE_TELEMETRY='1')}")


if __name__ == "__main__":
    main()
