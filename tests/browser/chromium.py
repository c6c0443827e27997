"""Chromium, driven through its DevTools protocol over a pair of pipes: real wheels, fingers and keys, and no library.

Source: chromedevtools.github.io/devtools-protocol; `--remote-debugging-pipe` reads requests from file descriptor 3 and
writes answers to 4, each ended by a zero byte.
"""

import base64
import fcntl
import itertools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

SCREEN, PHONE = (1280, 900), (360, 780)
"""Pixels across and down."""


class Browser:
    """One headless browser with one page; a context manager."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session: str | None = None
        self.errors: list[str] = []
        """What the page threw, and what it wrote to its console."""

    def __enter__(self) -> "Browser":
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]
        command += ["--disable-background-networking", "--disable-component-update", f"--user-data-dir={self._profile.name}", "about:blank"]
        # Copies far from 3 and 4, which one of the pipes may have got here.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 100) for end in (requests, answers)]

        def wire() -> None:
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self._process = subprocess.Popen(command, preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (requests, answers, *ends):
            os.close(end)
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._session = None
        self.ask("Browser.close")
        self._process.wait(timeout=60)
        os.close(self._requests)
        os.close(self._answers)
        self._profile.cleanup()

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one request and wait for its answer, noting errors of the page on the way."""
        number = next(self._numbers)
        request = {"id": number, "method": method, "params": parameters, **({"sessionId": self._session} if self._session else {})}
        os.write(self._requests, json.dumps(request).encode() + b"\0")
        while True:
            message = self._read()
            self._note(message)
            if message.get("id") == number:
                assert "error" not in message, f"{method}: {message['error']}"
                return message["result"]

    def open(self, path: Path, *, phone: bool = False, width: int | None = None, **media: str) -> None:
        """Load a file and wait until it is there. `media` are features such as `prefers_color_scheme="dark"`.

        `width` in pixels is that of another screen; without a finger on it.
        """
        size = PHONE if phone else SCREEN
        width, height = width or size[0], size[1]
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.ask("Emulation.setTouchEmulationEnabled", enabled=phone)
        self.media("", **media)
        self.errors.clear()
        self.ask("Page.navigate", url=path.as_uri())
        self.run("new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))")
        self.settle()

    def stretch(self) -> None:
        """Make the screen as high as the page."""
        width, height = self.run("[innerWidth, document.documentElement.scrollHeight]")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.settle()
        self.settle()

    def media(self, kind: str, **features: str) -> None:
        """Pretend to be another medium: `print`, or features such as `prefers_color_scheme="dark"`."""
        found = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.ask("Emulation.setEmulatedMedia", media=kind, features=found)

    def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are waited for."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer.get("exceptionDetails")
        return answer["result"].get("value")

    def settle(self) -> None:
        """Wait until two more frames are drawn: what the page does on a frame has been done then."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def place(self, selector: str, part: float = 0.5) -> tuple[float, float]:
        """A point on an element, brought into view first: so far from its left edge, half-way down."""
        self.run(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
        self.settle()
        box: Mapping[str, float] = self.run(f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()")
        return box["x"] + box["width"] * part, box["y"] + box["height"] / 2

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """One event of the mouse: `Moved`, `Pressed`, `Released` or `Wheel`."""
        self.ask("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **more)
        self.settle()

    def click(self, x: float, y: float, *, times: int = 1) -> None:
        """Click, or double-click."""
        for count in range(1, times + 1):
            self.mouse("Pressed", x, y, button="left", buttons=1, clickCount=count)
            self.mouse("Released", x, y, button="left", clickCount=count)

    def touch(self, kind: str, *points: tuple[float, float]) -> None:
        """Fingers on the screen: `Start`, `Move` or `End`."""
        fingers = [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(points)]
        self.ask("Input.dispatchTouchEvent", type=f"touch{kind}", touchPoints=fingers)
        self.settle()

    def press(self, key: str) -> None:
        """Press and release one key."""
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        code = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}.get(key, 0)
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
        self.settle()

    def picture(self, *, whole: bool = False) -> bytes:
        """What is seen, or the whole page, as PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])

    def pdf(self) -> bytes:
        """The page on A4."""
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)["data"])

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._answers, 1 << 20)
            assert more, "the browser has gone"
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message: Mapping[str, Any]) -> None:
        said = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(said["exceptionDetails"]))
        elif message.get("method") == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(said["args"]))
        elif message.get("method") == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.errors.append(said["entry"]["text"])
