"""A server that speaks chat completions and messages: it obeys the schema, the tool or the last line asked for.

It takes the first option and gives it ``SURE``. What it is asked is recorded; ``replies`` go before its own.
"""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

SURE = 0.7
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"


@dataclass(frozen=True)
class Asked:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class StandIn:
    url: str
    asked: list[Asked] = field(default_factory=list)
    replies: deque[tuple[int, Any]] = field(default_factory=deque)

    def reply(self, content: Any, status: int = 200) -> None:
        """Answer the next request that has no reply yet with ``content``."""
        self.replies.append((status, content))

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [asked.body for asked in self.asked]


@contextmanager
def running() -> Iterator[StandIn]:
    class Handler(_Handler):
        standin = StandIn("")

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Handler.standin.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Handler.standin
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    standin: ClassVar[StandIn]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.standin.asked.append(Asked(self.path, headers, body))
        if self.standin.replies:
            status, content = self.standin.replies.popleft()
        else:
            status, content = 200, (chat_reply if self.path == CHAT else messages_reply)(_obey(body))
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


def chat_reply(said: Any = None, **message: Any) -> dict[str, Any]:
    """A complete chat completion with the text ``said``, or with that object as the arguments of a tool call."""
    if isinstance(said, dict):
        function = {"name": "answer", "arguments": json.dumps(said)}
        message = {"tool_calls": [{"id": "call-1", "type": "function", "function": function}], **message}
        said = None
    full = {"role": "assistant", "content": said, "refusal": None, **message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1790000000,
        "model": "stand-in-1",
        "choices": [{"index": 0, "message": full, "finish_reason": "stop", "logprobs": None}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64},
        },
    }


def messages_reply(said: Any, **changed: Any) -> dict[str, Any]:
    """A complete message with the text ``said`` behind a thinking block, or with that object as a tool's input."""
    block: dict[str, Any] = {"type": "text", "text": said}
    if isinstance(said, dict):
        block = {"type": "tool_use", "id": "toolu-1", "name": "answer", "input": said}
    return {
        "id": "msg-1",
        "type": "message",
        "role": "assistant",
        "model": "stand-in-1",
        "content": [{"type": "thinking", "thinking": "FINAL: none of these", "signature": "s"}, block],
        "stop_reason": "tool_use" if isinstance(said, dict) else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 30,
            "cache_read_input_tokens": 64,
            "cache_creation_input_tokens": 6,
            "output_tokens": 20,
        },
        **changed,
    }


def _obey(body: dict[str, Any]) -> Any:
    """What a model that does as it is told says: text, or the object of a forced tool call."""
    tools = body.get("tools")
    if tools:
        [tool] = tools
        chosen = body["tool_choice"].get("name") or body["tool_choice"]["function"]["name"]
        assert chosen == tool.get("name", tool.get("function", {}).get("name"))
        filled: Any = _fill(tool["input_schema"] if "input_schema" in tool else tool["function"]["parameters"])
        return filled
    text = body["messages"][-1]["content"]
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    schema = schema or body.get("output_config", {}).get("format", {}).get("schema")
    if schema is None and "JSON schema" in text:
        schema = json.loads(text.splitlines()[-1])
    if schema is not None:
        return json.dumps(_fill(schema))
    option = re.search(r"^- ([^:\n]+)", text, re.MULTILINE)
    assert option is not None
    return f"I weighed the options.\n\nFINAL: {option[1]}"


def _fill(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    assert schema["additionalProperties"] is False
    properties = schema["properties"]
    assert schema["required"] == list(properties)
    if all(part == {"type": "number"} for part in properties.values()):
        others = (1 - SURE) / (len(properties) - 1)
        return {name: SURE if number == 0 else others for number, name in enumerate(properties)}
    return {name: _fill(part) for name, part in properties.items()}
