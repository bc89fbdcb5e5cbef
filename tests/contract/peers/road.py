"""A TCP road between vision and a PLC that can be slow, or end in the middle of an answer."""

import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Road", "road_to", "speaking"]

_PIECE = 65536
_LOOK_S = 0.02
"""How often the thread looks whether it shall end."""


@dataclass
class Road:
    """What happens to the PLC's answers from now on."""

    port: int = 0
    delay_s: float = 0.0
    """Each answer comes so much later."""
    byte_by_byte_s: float = 0.0
    """Each byte of an answer comes so much after the one before."""
    end_after: int | None = None
    """So many bytes of the next answer, then the connection is closed."""
    spoil: Callable[[bytes], bytes] = lambda answer: answer
    """What comes instead of an answer."""


@contextmanager
def road_to(port: int) -> Iterator[Road]:
    """A road to a PLC; `port` of it is where vision shall go."""
    road = Road()
    with _listening(lambda vision, stop: _carry(road, vision, port, stop)) as road.port:
        yield road


@contextmanager
def speaking(answer: bytes) -> Iterator[int]:
    """Somebody who says the same to everything; answers the port."""

    def say(vision: socket.socket, stop: threading.Event) -> None:
        while not stop.is_set():
            if select.select([vision], [], [], _LOOK_S)[0]:
                if not vision.recv(_PIECE):
                    return
                vision.sendall(answer)

    with _listening(say) as port:
        yield port


@contextmanager
def _listening(handle: Callable[[socket.socket, threading.Event], None]) -> Iterator[int]:
    """A thread that takes one connection after the other; answers the port."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def play() -> None:
            while not stop.is_set():
                if select.select([server], [], [], _LOOK_S)[0]:
                    vision, _ = server.accept()
                    with vision, contextlib.suppress(OSError):
                        handle(vision, stop)

        thread = threading.Thread(target=play)
        thread.start()
        try:
            yield int(server.getsockname()[1])
        finally:
            stop.set()
            thread.join(20)


def _carry(road: Road, vision: socket.socket, port: int, stop: threading.Event) -> None:
    """Carry bytes both ways until one side ends."""
    with socket.create_connection(("127.0.0.1", port)) as plc:
        for end in (vision, plc):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while not stop.is_set():
            for end in select.select([vision, plc], [], [], _LOOK_S)[0]:
                piece = end.recv(_PIECE)
                if not piece:
                    return
                if end is vision:
                    plc.sendall(piece)
                elif not _answer(road, vision, piece, stop):
                    return


def _answer(road: Road, vision: socket.socket, piece: bytes, stop: threading.Event) -> bool:
    """Pass a piece of an answer on; False: the road ends here."""
    time.sleep(road.delay_s)
    piece = road.spoil(piece)
    if road.end_after is not None:
        vision.sendall(piece[: road.end_after])
        road.end_after = None
        return False
    if not road.byte_by_byte_s:
        vision.sendall(piece)
        return True
    for byte in piece:
        if stop.wait(road.byte_by_byte_s):
            return False
        vision.sendall(bytes((byte,)))
    return True
