"""A headless Chromium over its debugging pipe: no driver, no library, no port."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

__all__ = ["Browser", "chromium"]

_ENOUGH_S = 30.0


def chromium() -> str | None:
    """Where a Chromium is; None: nowhere."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


class Browser:
    """One page of one browser. What it asked for and what it complained of is kept."""

    def __init__(self, folder: Path) -> None:
        """Start it; its profile lies in `folder`."""
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        command = [
            chromium() or "chromium",
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"),
            *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
            *("--disable-sync", "--ignore-certificate-errors", f"--user-data-dir={folder}"),
            *("--disable-dev-shm-usage", "--hide-scrollbars", "about:blank"),
        ]
        shell = f'exec 3<&{to_read} 4>&{to_write}; exec "$@"'
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", shell, "browser", *command],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._numbers = itertools.count(1)
        self._rest = b""
        self.asked: list[str] = []
        self.complaints: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session: str | None = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def __enter__(self) -> "Browser":  # noqa: PYI034 - nobody derives from it
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._to)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)

    def size(self, width: int, height: int) -> None:
        """Be so large, in CSS pixels."""
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def go(self, url: str) -> None:
        """Open a page and wait until its script says that it is drawn."""
        self._ask("Page.navigate", url=url)
        self.until("document.body && document.body.dataset.ready === 'yes'")

    def until(self, condition: str) -> None:
        """Wait until an expression is true."""
        by = time.monotonic() + _ENOUGH_S
        while not self.value(condition):
            if time.monotonic() > by:
                raise AssertionError(f"never: {condition}; {self.complaints}")
            time.sleep(0.1)

    def value(self, expression: str) -> Any:
        """What an expression is in the page; promises are waited for."""
        answer = self._ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        text = {"text": key} if len(key) == 1 else {}
        self._ask("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self._ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def shoot(self, path: Path) -> None:
        """Take a picture of the whole page."""
        size = self._ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self._ask("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        by = time.monotonic() + _ENOUGH_S
        while time.monotonic() < by:
            for answer in self._read():
                if answer.get("id") == number:
                    if "error" in answer:
                        raise AssertionError(f"{method}: {answer['error']}")
                    result: dict[str, Any] = answer["result"]
                    return result
                self._note(answer)
        raise AssertionError(f"the browser does not answer {method}")

    def _read(self) -> list[dict[str, Any]]:
        if not select.select([self._from], [], [], 0.5)[0]:
            return []
        self._rest += os.read(self._from, 1 << 20)
        *whole, self._rest = self._rest.split(b"\0")
        return [json.loads(one) for one in whole]

    def _note(self, event: dict[str, Any]) -> None:
        """Keep requests, and what a person would find red in the console."""
        params = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"])
        elif event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"])[:500])
        elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.complaints.append(str(params["args"])[:500])
        elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.complaints.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
