"""Puts the parts of the view together for one life of the server."""

import asyncio
from collections.abc import Callable
from contextlib import closing

from inspectd.config.schema import Line, Web
from inspectd.web.app import application
from inspectd.web.desk import Desk
from inspectd.web.doorman import Doorman
from inspectd.web.follower import Follower
from inspectd.web.hub import Hub
from inspectd.web.server import bound, server_of

__all__ = ["serve"]


async def serve(
    line: Line,
    follower: Follower,
    hub: Hub,
    *,
    clock: Callable[[], int],
    log: Callable[..., None],
    stopping: asyncio.Event,
    on_begun: Callable[[str], None],
) -> None:
    """Serve until told to stop.

    Raises:
        InspectdError: address, certificate or users cannot be used.
    """
    web = line.web or Web()
    with (
        closing(Doorman(web, clock, log)) as doorman,
        closing(Desk(line, follower.jpeg)) as desk,
        bound(web) as listening,
    ):
        app = application(desk, doorman, hub, language=web.language)
        server = server_of(app, web)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        host, port = listening.getsockname()[:2]
        name = f"[{host}]" if ":" in host else host
        on_begun(f"{'https' if web.tls else 'http'}://{name}:{port}/")
        ending = asyncio.create_task(stopping.wait())
        await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
        server.should_exit = True
        ending.cancel()
        await serving
