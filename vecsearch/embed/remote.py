"""Embedding servers: Ollama's `/api/embed` and any OpenAI-compatible `/v1/embeddings`.

Both are one POST with a model name and a list of texts; they differ in the shape of body and reply.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import requests

from ..config import Settings
from ..errors import EmbedError

#: A visitor waits for a query, nobody waits for one batch of an index run.
QUERY_SECONDS = 2.0
BATCH_SECONDS = 60.0
BATCH = 32
#: Waits before a batch is sent again after a 5xx or a broken connection.
BACKOFF_SECONDS = (0.5, 2.0, 5.0)

#: What a model expects before a document and before a query (its model card says so).
PREFIXES = {"nomic-embed-text": ("search_document: ", "search_query: ")}


class Remote:
    """One model at one server. `dim` is learned from the first reply (one short request)."""

    def __init__(self, provider: str, name: str, url: str, headers: dict[str, str],
                 body: Callable[[list[str]], dict], vectors: Callable[[Any], list]):
        self.model = f"{provider}:{name}"
        self._provider, self._url, self._headers = provider, url, headers
        self._body, self._vectors = body, vectors
        self._prefix = PREFIXES.get(name.split(":")[0], ("", ""))
        self._dim = 0

    @property
    def dim(self) -> int:
        """Numbers per vector. Raises EmbedError if the server cannot be asked."""
        if not self._dim:
            self._dim = len(self.embed_query("dimension"))
        return self._dim

    def embed_query(self, text: str) -> np.ndarray:
        """float32 [dim] of unit length, within QUERY_SECONDS or EmbedError; never tried twice."""
        return self._post([self._prefix[1] + text], QUERY_SECONDS)[0]

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        """float32 [n, dim] of unit rows. Raises EmbedError when a text fails even on its own."""
        prefixed = [self._prefix[0] + text for text in texts]
        rows = [self._batch(prefixed[i : i + BATCH]) for i in range(0, len(prefixed), BATCH)]
        return np.concatenate(rows) if rows else np.zeros((0, self.dim), np.float32)

    def _batch(self, texts: list[str]) -> np.ndarray:
        """A batch that fails is halved: one text that a server chokes on must not cost the others' work."""
        try:
            return self._retry(texts)
        except EmbedError:
            if len(texts) == 1:
                raise
            half = len(texts) // 2
            return np.concatenate([self._batch(texts[:half]), self._batch(texts[half:])])

    def _retry(self, texts: list[str]) -> np.ndarray:
        for wait in BACKOFF_SECONDS:
            try:
                return self._post(texts, BATCH_SECONDS)
            except _Passing:
                time.sleep(wait)
        return self._post(texts, BATCH_SECONDS)

    def _post(self, texts: list[str], seconds: float) -> np.ndarray:
        try:
            reply = requests.post(self._url, json=self._body(texts), headers=self._headers, timeout=(min(seconds, 5), seconds))
        except requests.RequestException as error:
            raise _Passing(self._provider, f"cannot reach {self._url} ({_short(error)}); is it running?") from error
        if reply.status_code >= 500:
            raise _Passing(self._provider, f"{self._url} answered {reply.status_code}: {_detail(reply)}")
        if reply.status_code == 404:
            raise EmbedError(self._provider, f"{self._url} does not know model {self.model} ({_detail(reply)}); pull it or set provider-model")
        if reply.status_code != 200:
            raise EmbedError(self._provider, f"{self._url} answered {reply.status_code}: {_detail(reply)}")
        return self._matrix(reply, len(texts))

    def _matrix(self, reply: requests.Response, count: int) -> np.ndarray:
        """The reply's vectors, checked: as many as texts, all of the known length, all finite, made unit."""
        try:
            matrix = np.array(self._vectors(reply.json()), dtype=np.float32)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise EmbedError(self._provider, f"{self._url} answered something that holds no vectors ({_short(error)})") from None
        if matrix.ndim != 2 or matrix.shape[0] != count:
            raise EmbedError(self._provider, f"{self._url} gave vectors of shape {matrix.shape} for {count} texts")
        if self._dim and matrix.shape[1] != self._dim:
            raise EmbedError(self._provider, f"{self.model} gave {matrix.shape[1]} numbers per vector, before it was {self._dim}; run: vecsearch rebuild")
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(matrix).all() or not (norms > 0).all():
            raise EmbedError(self._provider, f"{self.model} gave a vector that is zero or not finite")
        self._dim = matrix.shape[1]
        return matrix / norms


class _Passing(EmbedError):
    """A fault that may be gone at the next try."""


def remote(settings: Settings) -> Remote:
    """The remote provider that the settings name. Raises EmbedError if something it needs is not set."""
    provider = settings["provider"]
    if provider == "ollama":
        name = settings["provider-model"] or "nomic-embed-text"
        base = (settings["provider-url"] or "http://localhost:11434").rstrip("/")
        return Remote(provider, name, f"{base}/api/embed", {},
                      lambda texts: {"model": name, "input": texts, "truncate": True}, lambda data: data["embeddings"])
    name, base = settings["provider-model"], settings["provider-url"].rstrip("/")
    if not name or not base:
        raise EmbedError(provider, "set provider-url and provider-model first (vecsearch config)")
    url = f"{base}/embeddings" if base.endswith("/v1") else f"{base}/v1/embeddings"
    return Remote(provider, name, url, _authorization(settings["provider-key-file"]),
                  lambda texts: {"model": name, "input": texts}, _openai_vectors)


def _openai_vectors(data: Any) -> list:
    return [item["embedding"] for item in sorted(data["data"], key=lambda item: item["index"])]


def _authorization(key_file: str) -> dict[str, str]:
    """The key never stands in the repository: it would be cloned."""
    if not key_file:
        return {}
    try:
        key = Path(key_file).read_text("utf-8").strip()
    except OSError as error:
        raise EmbedError("openai", f"cannot read provider-key-file {key_file}: {error.strerror}") from None
    return {"Authorization": f"Bearer {key}"}


def _short(error: Exception) -> str:
    return type(error).__name__ if isinstance(error, requests.RequestException) else str(error)[:100]


def _detail(reply: requests.Response) -> str:
    return " ".join(reply.text[:200].split()) or "no text"
