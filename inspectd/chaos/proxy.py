"""EDGE (asyncio): a wire between sink and PLC that can be cut, delayed, held and made to garble.

Bytes of the way back are garbled, never those of a request: Modbus TCP has no check of its own, so
a changed register in a request is a changed register in the PLC, and no vision system can know.
TCP's checksum guards both ways on a real wire.
"""

import asyncio
import contextlib
import random
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

__all__ = ["WORDS", "Proxy"]

_CHUNK = 4096
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
"""SO_LINGER on, zero seconds: closing sends RST."""
_DELAYS_S = (0.02, 0.3)
_SPLIT_PAUSE_S = 0.002
_START_S = 10


class Proxy:
    """Listens at a port of its own and passes bytes to and from the PLC, in a thread of its own."""

    def __init__(self, plc_port: int, host: str = "127.0.0.1") -> None:
        """Serve the PLC at `plc_port`; `start` opens the way."""
        self._host, self._plc_port = host, plc_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._word = "pass"
        self._dice = random.Random(0)  # noqa: S311 - trouble, no secret
        self._is_calm = asyncio.Event()
        self._ways: set[asyncio.StreamWriter] = set()
        self._spoilt: set[asyncio.StreamWriter] = set()
        """Connections on which bytes were lost: they end with the fault."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    def start(self) -> int:
        """Listen; answer the port."""
        self._thread.start()
        self.port = self._call(self._listen())
        return self.port

    def trouble(self, word: str, salt: int) -> None:
        """Begin a trouble of `WORDS`; `reset` is over at once."""
        self._call(self._begin(word, salt))

    def calm(self) -> None:
        """End it."""
        self._call(self._end())

    def close(self) -> None:
        """Cut everything and end the thread; the port is free again."""
        if not self._thread.is_alive():
            return
        self._call(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # ------------------------------------------------------------ in the thread

    def _call(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_START_S)

    async def _listen(self) -> int:
        self._is_calm.set()
        self._server = await asyncio.start_server(self._connected, self._host, 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _begin(self, word: str, salt: int) -> None:
        self._dice.seed(salt)
        if word in ("reset", "refuse"):
            self._cut(self._ways)
        if word != "reset":
            self._word = word
            self._is_calm.clear()

    async def _end(self) -> None:
        self._word = "pass"
        self._is_calm.set()
        self._cut(self._spoilt)

    async def _shut(self) -> None:
        await self._end()
        if self._server is not None:
            self._server.close()
        self._cut(self._ways)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _cut(self, ways: set[asyncio.StreamWriter]) -> None:
        for way in list(ways):
            way.transport.abort()
        ways.clear()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a connection of the sink, and make one to the PLC for it."""
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._serve(reader, writer)
        writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _reset_on_close(writer)
        if self._word == "refuse":
            return
        plc_reader, plc_writer = await asyncio.open_connection(self._host, self._plc_port)
        _reset_on_close(plc_writer)
        ours = {writer, plc_writer}
        self._ways |= ours
        there = asyncio.create_task(self._pump(reader, plc_writer, is_answer=False))
        back = asyncio.create_task(self._pump(plc_reader, writer, is_answer=True))
        try:
            await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            there.cancel()
            back.cancel()
            await asyncio.gather(there, back, return_exceptions=True)
            self._ways -= ours
            self._spoilt -= ours
            plc_writer.transport.abort()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool
    ) -> None:
        """Pass bytes one way until one end is gone."""
        while chunk := await reader.read(_CHUNK):
            await _WAYS[self._word](self, chunk, writer, is_answer)

    # ------------------------------------------------------------ the troubles

    async def _pass(self, chunk: bytes, writer: asyncio.StreamWriter, _is_answer: bool) -> None:
        writer.write(chunk)
        await writer.drain()

    async def _delay(self, chunk: bytes, writer: asyncio.StreamWriter, is_answer: bool) -> None:
        await asyncio.sleep(self._dice.uniform(*_DELAYS_S))
        await self._pass(chunk, writer, is_answer)

    async def _hold(self, chunk: bytes, writer: asyncio.StreamWriter, is_answer: bool) -> None:
        """Deliver everything when the trouble is over: a request is carried out late."""
        await self._is_calm.wait()
        await self._pass(chunk, writer, is_answer)

    async def _lose(self, _chunk: bytes, writer: asyncio.StreamWriter, _is_answer: bool) -> None:
        self._spoilt.add(writer)

    async def _lose_answers(
        self, chunk: bytes, writer: asyncio.StreamWriter, is_answer: bool
    ) -> None:
        """The request is carried out, and nobody hears of it."""
        await (self._lose if is_answer else self._pass)(chunk, writer, is_answer)

    async def _split(self, chunk: bytes, writer: asyncio.StreamWriter, is_answer: bool) -> None:
        at = 0
        while at < len(chunk):
            size = self._dice.randint(1, 3)
            await self._pass(chunk[at : at + size], writer, is_answer)
            await asyncio.sleep(_SPLIT_PAUSE_S)
            at += size

    async def _garble(self, chunk: bytes, writer: asyncio.StreamWriter, is_answer: bool) -> None:
        if is_answer:
            chunk = _garbled(chunk, self._dice)
            self._spoilt.add(writer)
        await self._pass(chunk, writer, is_answer)


_WAYS: Mapping[str, Callable[[Proxy, bytes, asyncio.StreamWriter, bool], Awaitable[None]]] = {
    "pass": Proxy._pass,  # noqa: SLF001 - its own table
    "refuse": Proxy._pass,  # noqa: SLF001
    "delay": Proxy._delay,  # noqa: SLF001
    "hold": Proxy._hold,  # noqa: SLF001
    "blackhole": Proxy._lose,  # noqa: SLF001
    "half-open": Proxy._lose_answers,  # noqa: SLF001
    "split": Proxy._split,  # noqa: SLF001
    "garble": Proxy._garble,  # noqa: SLF001
}

WORDS = frozenset(_WAYS) - {"pass"} | {"reset"}
"""The troubles."""

_FRAMING_BYTES = 8
"""MBAP header and function code: what a receiver can know to be wrong."""


def _garbled(answer: bytes, dice: random.Random) -> bytes:
    """Make an answer of Modbus TCP recognisably wrong: framing, length, or not Modbus at all."""
    how = dice.randrange(4)
    if how == 0:
        return answer[: dice.randrange(len(answer))]
    if how == 1:
        return dice.randbytes(dice.randint(1, 64))
    if how == 2:  # noqa: PLR2004 - the third way
        return answer + dice.randbytes(dice.randint(1, 8))
    at = dice.randrange(min(_FRAMING_BYTES, len(answer)))
    return answer[:at] + bytes([answer[at] ^ dice.randint(1, 255)]) + answer[at + 1 :]


def _reset_on_close(writer: asyncio.StreamWriter) -> None:
    peer: socket.socket = writer.get_extra_info("socket")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
