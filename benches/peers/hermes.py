"""Hermes' own webhook adapter, started alone: its real class, its real message path, and a stub where its agent would be.

Its rate limit (30 requests a minute and route by default) is raised by its own setting, else it would answer 429 from the 31st on.
"""

import os
import subprocess
import sys
from pathlib import Path

from receiver import ROUTE, SECRET, Place, Running, run, until_open

PACKAGES = ["hermes-agent==0.19.0", "aiohttp"]


class Hermes:
    system = "hermes webhook adapter"
    stored = "nothing: the request is a task in memory"
    accepted_means = (
        "signature and payload were checked and a task in memory was made for the agent; "
        "a delivery that has not been run when the process dies is gone, and the sender has its 202"
    )

    def __init__(self, folder: Path):
        self.python = folder / "hermes" / "venv" / "bin" / "python"

    def install(self) -> str:
        if not self.python.exists():
            run([sys.executable, "-m", "venv", str(self.python.parent.parent)])
        shown = [str(self.python), "-c", "import importlib.metadata as m, aiohttp; print(m.version('hermes-agent'))"]
        if subprocess.run(shown, capture_output=True).returncode != 0:
            run([str(self.python), "-m", "pip", "install", "--quiet", *PACKAGES])
        return run(shown).strip()

    def start(self, place: Place) -> Running:
        home = place.folder / "home"
        home.mkdir(exist_ok=True)
        process = subprocess.Popen(
            [self.python, __file__, str(place.port), str(place.runs), str(place.run_seconds)],
            env={**os.environ, "HERMES_HOME": str(home)},
            stdout=subprocess.DEVNULL,
            stderr=place.log(),
        )
        until_open(place.port, process, place.folder / "log")
        return Running([process])

    def waiting(self, _place: Place):
        return None


def serve(port: int, runs: str, run_seconds: float):
    """Runs inside the virtual environment, as the gateway would: log set up as it does, adapter connected, handler set."""
    import asyncio

    from gateway.config import PlatformConfig
    from gateway.platforms.webhook import WebhookAdapter
    from hermes_logging import setup_logging

    setup_logging(hermes_home=Path(os.environ["HERMES_HOME"]), mode="gateway")
    counter = os.open(runs, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def agent(event):
        if run_seconds:
            await asyncio.sleep(run_seconds)
        os.write(counter, f"{event.message_id}\n".encode())
        return None

    async def main():
        route = {"secret": SECRET, "prompt": "Look at {id}", "deliver": "log"}
        extra = {"host": "127.0.0.1", "port": port, "rate_limit": 1_000_000_000, "routes": {ROUTE: route}}
        adapter = WebhookAdapter(PlatformConfig(enabled=True, extra=extra))
        adapter.set_message_handler(agent)
        if not await adapter.connect():
            sys.exit("the adapter could not listen")
        await asyncio.Event().wait()

    asyncio.run(main())


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
