"""A small real HTTP server that speaks Ollama's /api/embed and OpenAI's /v1/embeddings, with faults to order.

Its "model" is a bag of hashed words, so that texts that share words are similar."""

from __future__ import annotations

import json
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DIM = 32


def vector(text: str) -> list[float]:
    """Not normalised on purpose: making it unit is the client's task."""
    out = [0.001] * DIM
    for word in text.lower().split():
        out[zlib.crc32(word.encode()) % DIM] += 1.0
    return out


class OllamaServer:
    """`with OllamaServer() as server:`; `faults` is a list of what to do with the next requests:
    a status code, "cut", "short", "empty", "nan", "wide", "text", ("slow", seconds) or "ok"."""

    def __init__(self) -> None:
        self.requests: list[dict] = []
        self.faults: list = []
        self.poison = ""

    def __enter__(self) -> OllamaServer:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.requests.append({"path": self.path, "body": body, "authorization": self.headers.get("Authorization")})
                owner.answer(self, body)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.http.shutdown()
        self.http.server_close()

    def answer(self, handler: BaseHTTPRequestHandler, body: dict) -> None:
        fault = self.faults.pop(0) if self.faults else "ok"
        texts = body["input"]
        if isinstance(fault, tuple):
            time.sleep(fault[1])
        if self.poison and any(self.poison in text for text in texts):
            fault = 500
        if isinstance(fault, int):
            return self._send(handler, fault, {"error": "ordered fault"})
        if fault == "cut":
            handler.close_connection = True
            handler.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Length: 999\r\n\r\n{")
            return None
        vectors = [vector(text) for text in texts]
        if fault == "short":
            vectors = vectors[:-1]
        if fault == "empty":
            vectors = []
        if fault == "nan":
            vectors[0][0] = float("nan")
        if fault == "wide":
            vectors = [v + [1.0] for v in vectors]
        if fault == "text":
            return self._send(handler, 200, "no vectors here")
        if handler.path.endswith("/v1/embeddings"):
            data = [{"index": i, "embedding": v} for i, v in enumerate(vectors)]
            return self._send(handler, 200, {"data": data[::-1]})
        return self._send(handler, 200, {"model": body["model"], "embeddings": vectors})

    @staticmethod
    def _send(handler: BaseHTTPRequestHandler, status: int, data: object) -> None:
        body = json.dumps(data).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
