# docker build -t ort-workbench . && docker run --rm -p 127.0.0.1:8888:8888 ort-workbench
FROM python:3.13.1-slim-bookworm

RUN useradd --create-home --uid 1000 reader
WORKDIR /home/reader
COPY --chown=reader:reader . ort-workbench

USER reader
RUN python3 -m venv .venv && .venv/bin/pip install --no-cache-dir ./ort-workbench

ENV PATH=/home/reader/.venv/bin:$PATH
EXPOSE 8888
# All addresses of the container, of which `-p 127.0.0.1:…` shows this machine one; the printed address has the token.
CMD ["workbench", "lab", "--no-browser", "--ip", "0.0.0.0", "--port", "8888"]
