"""The door of the operator's view: one process of the line, a server in a thread of its own.

Nobody of the line sends to it and nobody waits for it: it reads the record's file, the board, and
frame memory. What it lacks (port taken, certificate or users missing) is trouble and tried again;
the line goes on.
"""

import asyncio
import importlib
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, cast

from inspectd.config.schema import Line
from inspectd.errors import InspectdError
from inspectd.frame import Kind, Ticket
from inspectd.ports import Context, Out, Step
from inspectd.web.follower import Follower
from inspectd.web.hub import Hub
from inspectd.web.thumbnails import Frames, Thumbnails

__all__ = ["WebStep", "build"]

LOOK_NS = 200_000_000
"""Between two looks at the server."""
NEWS_S = 0.5
"""Between two news for the pages."""
AGAIN_S = 5.0
"""Between two tries to begin."""
_JOIN_S = 2.0


def build(line: Line, station: int, context: Context) -> Step:  # noqa: ARG001 - one for the line
    """Start the view of a line."""
    return WebStep(line, context)


class WebStep:
    """The server, and how it is."""

    def __init__(self, line: Line, context: Context) -> None:
        """Start the thread."""
        if line.web is None:
            raise ValueError("this line has no view")
        self._line, self._web, self._context = line, line.web, context
        self._news: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._log = partial(self._later, context.log)
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._trouble = ""
        self._wake_at_ns = 0
        self._failure: BaseException | None = None
        arenas = {index: cast("Frames", arena) for index, arena in context.arenas.items()}
        self._follower = Follower(
            line,
            context.run_id,
            clock=context.clock,
            processes=context.extra.get("processes", tuple),
            thumbnails=Thumbnails(arenas),
            model_digests=context.extra.get("model_digests", {}),
        )
        self._hub = Hub()
        self._thread = threading.Thread(target=self._work, name="view", daemon=True)
        self._thread.start()

    def feed(self, kind: Kind, ticket: Ticket, now_ns: int) -> Sequence[Out]:  # noqa: ARG002
        """Nobody sends anything."""
        return ()

    def wake_at_ns(self) -> int | None:
        """Some times a second."""
        return self._wake_at_ns

    def wake(self, now_ns: int) -> Sequence[Out]:
        """Log what the server has to say; a fault of it ends this process."""
        self._wake_at_ns = now_ns + LOOK_NS
        self._pass_on()
        if self._failure is not None:
            raise self._failure
        return ()

    def stop(self, now_ns: int) -> Sequence[Out]:  # noqa: ARG002 - of the protocol
        """Close the server; open pages see it."""
        self._end()
        return ()

    def is_drained(self) -> bool:
        """The server has ended."""
        return not self._thread.is_alive()

    def trouble(self) -> str:
        """What the view lacks."""
        return self._trouble

    def close(self) -> None:
        """Give the server a moment."""
        self._end()
        self._thread.join(_JOIN_S)
        self._pass_on()

    # ---------------------------------------------------------------- the thread

    def _end(self) -> None:
        with suppress(RuntimeError):  # its loop is closed
            self._loop.call_soon_threadsafe(self._stopping.set)

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._run())
        except BaseException as error:  # noqa: BLE001  raised again in `wake`
            self._failure = error
        finally:
            self._loop.close()

    async def _run(self) -> None:
        """Serve until told to stop; begin again after what can be mended."""
        with ThreadPoolExecutor(1, thread_name_prefix="eyes") as eyes:
            telling = asyncio.create_task(self._tell(eyes))
            try:
                while not self._stopping.is_set():
                    try:
                        await self._serve()
                    except InspectdError as fault:
                        self._trouble = str(fault)
                    except ModuleNotFoundError as missing:
                        self._trouble = (
                            f"the view needs the package {missing.name}; "
                            "pip install 'inspectd[web]'"
                        )
                    with suppress(asyncio.TimeoutError):
                        await asyncio.wait_for(self._stopping.wait(), AGAIN_S)
            finally:
                telling.cancel()
                eyes.submit(self._follower.close).result()  # SQLite: by the thread that opened it

    async def _serve(self) -> None:
        """One life of the server.

        Raises:
            InspectdError: it cannot begin.
            ModuleNotFoundError: the extra is not installed.
        """
        wiring = importlib.import_module("inspectd.web.wiring")
        await wiring.serve(
            self._line,
            self._follower,
            self._hub,
            clock=self._context.clock,
            log=self._log,
            stopping=self._stopping,
            on_begun=self._begun,
        )

    def _begun(self, url: str) -> None:
        self._trouble = ""
        self._log("info", "web_listening", url=url)

    async def _tell(self, eyes: ThreadPoolExecutor) -> None:
        """Publish what is new, at most twice a second."""
        while True:
            self._hub.publish(await self._loop.run_in_executor(eyes, self._follower.look))
            await asyncio.sleep(NEWS_S)

    def _later(self, call: Callable[..., None], *args: Any, **fields: Any) -> None:
        """Have something called by the thread that owns the log."""
        self._news.put(partial(call, *args, **fields))

    def _pass_on(self) -> None:
        with suppress(queue.Empty):
            while True:
                self._news.get_nowait()()
