"""Providers: what a text becomes, and what happens when a server misbehaves."""

from __future__ import annotations

import numpy as np
import pytest
from ollama import DIM, OllamaServer

from vecsearch import embed
from vecsearch.config import default_settings
from vecsearch.embed import remote
from vecsearch.embed.hashing import Hashing, vector_from_json, vector_to_json
from vecsearch.errors import EmbedError


@pytest.fixture
def server():
    with OllamaServer() as running:
        yield running


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(remote, "BACKOFF_SECONDS", (0.0, 0.0, 0.0))


def ollama(server, **settings):
    return embed.get(default_settings() | {"provider": "ollama", "provider-url": server.url} | settings)


def test_hash_is_seed_2_by_hand():
    # "aab": a = 97 twice, b = 98 once; norm sqrt(5). Code points wrap at 128: chr(97 + 128) is "á".
    made = Hashing().embed_query("aabá")
    assert made[97] == pytest.approx(3 / 10**0.5) and made[98] == pytest.approx(1 / 10**0.5)
    assert np.count_nonzero(made) == 2


def test_hash_reads_2048_characters_and_survives_the_empty_text():
    provider = Hashing()
    assert np.array_equal(provider.embed_query("x" * 2048), provider.embed_query("x" * 2048 + "y" * 99))
    assert np.linalg.norm(provider.embed_query("")) == 1.0


def test_hash_codec_round_trip_and_its_refusals():
    made = Hashing().embed_query("round trip")
    assert np.array_equal(vector_from_json(vector_to_json(made)), made)
    for bad in ("[1.0, 2.0]", "{}", "not json", "[" + "null," * 127 + "0]", "[" + "NaN," * 127 + "0]"):
        with pytest.raises(EmbedError):
            vector_from_json(bad)


def test_ollama_batches_prefixes_and_unit_vectors(server):
    provider = ollama(server)
    made = provider.embed_documents([f"text {i}" for i in range(70)])
    assert made.shape == (70, DIM) and made.dtype == np.float32
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-6)
    assert [len(r["body"]["input"]) for r in server.requests] == [32, 32, 6]
    body = server.requests[0]["body"]
    assert body["model"] == "nomic-embed-text" and body["truncate"] is True
    assert body["input"][0] == "search_document: text 0"
    provider.embed_query("text")
    assert server.requests[-1]["body"]["input"] == ["search_query: text"]
    assert provider.model == "ollama:nomic-embed-text"


def test_another_model_gets_no_prefix(server):
    ollama(server, **{"provider-model": "all-minilm"}).embed_query("text")
    assert server.requests[0]["body"]["input"] == ["text"]


@pytest.mark.parametrize("passing", [500, 503, "cut"])
def test_a_passing_fault_is_retried(server, passing):
    server.faults = [passing, passing]
    assert ollama(server).embed_documents(["a"]).shape == (1, DIM)
    assert len(server.requests) == 3


@pytest.mark.parametrize(("fault", "says"), [
    (404, "pull it"), ("short", "shape"), ("empty", "shape"), ("nan", "not finite"), ("text", "no vectors"), (400, "400"),
])
def test_a_wrong_answer_is_an_error_and_not_retried(server, fault, says):
    server.faults = [fault]
    with pytest.raises(EmbedError, match=says):
        ollama(server).embed_documents(["a"])
    assert len(server.requests) == 1


def test_a_dimension_that_changes_names_both(server):
    provider = ollama(server)
    provider.embed_query("a")
    server.faults = ["wide"]
    with pytest.raises(EmbedError, match=r"33 numbers.*before it was 32"):
        provider.embed_query("a")


def test_one_poisonous_text_is_isolated_and_named(server):
    server.poison = "poison"
    with pytest.raises(EmbedError, match="500"):
        ollama(server).embed_documents(["good"] * 7 + ["poison"])
    assert ["search_document: poison"] in [r["body"]["input"] for r in server.requests]


def test_a_query_waits_two_seconds_and_is_not_retried(server, monkeypatch):
    monkeypatch.setattr(remote, "QUERY_SECONDS", 0.2)
    server.faults = [("slow", 1.0)]
    with pytest.raises(EmbedError, match="is it running"):
        ollama(server).embed_query("a")
    assert len(server.requests) == 1


def test_refused_connection_says_what_to_do():
    provider = embed.get(default_settings() | {"provider": "ollama", "provider-url": "http://127.0.0.1:9"})
    with pytest.raises(EmbedError, match=r"cannot reach http://127.0.0.1:9/api/embed .*is it running"):
        provider.embed_query("a")


def test_openai_order_key_and_model(server, tmp_path):
    key = tmp_path / "key"
    key.write_text("sk-secret\n")
    provider = embed.get(default_settings() | {"provider": "openai", "provider-url": f"{server.url}/v1",
                                               "provider-model": "m", "provider-key-file": str(key)})
    made = provider.embed_documents(["alpha", "beta"])
    assert made[0] @ provider.embed_query("alpha") == pytest.approx(1, abs=1e-5)
    assert server.requests[0]["authorization"] == "Bearer sk-secret"
    assert provider.model == "openai:m"


def test_openai_without_settings_or_key_file_says_so(tmp_path):
    with pytest.raises(EmbedError, match="provider-url and provider-model"):
        embed.get(default_settings() | {"provider": "openai"})
    with pytest.raises(EmbedError, match="cannot read provider-key-file"):
        embed.get(default_settings() | {"provider": "openai", "provider-url": "http://x", "provider-model": "m",
                                        "provider-key-file": str(tmp_path / "missing")})
