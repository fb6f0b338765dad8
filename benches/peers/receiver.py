"""What every receiver has in common: where it is installed, how it is started, weighed and killed, and how its runs are counted."""

import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

SECRET = "a-secret-for-measuring"
ROUTE = "peers"
PATH = f"/webhooks/{ROUTE}"


class Unavailable(Exception):
    """A receiver that cannot be installed or started here; the text says why."""


@dataclass
class Place:
    """Where one measurement takes place. `run_seconds` is how long the stub agent works before it counts itself.

    The ports stay over a kill and a second start: qhook keeps the handler's address with each job.
    """

    folder: Path
    port: int
    handler_port: int
    run_seconds: float
    agents: int

    @property
    def runs(self) -> Path:
        """The independent counter: every finished run appends the id of its delivery as a line."""
        return self.folder / "counted"

    def log(self):
        return open(self.folder / "log", "ab")

    def counted(self) -> tuple[int, int]:
        """Finished runs, and how many different deliveries they were for."""
        lines = self.runs.read_text().split() if self.runs.exists() else []
        return len(lines), len(set(lines))


@dataclass
class Running:
    """A started receiver. `processes` are what it needs to work; `beside` belongs to the measurement and is not weighed."""

    processes: list[subprocess.Popen]
    beside: list[subprocess.Popen] = field(default_factory=list)

    def memory(self) -> tuple[float, float]:
        """Resident and proportional memory of all its processes in MB. Shared pages count once in the second figure only."""
        resident = proportional = 0
        for pid in tree([process.pid for process in self.processes]):
            try:
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            except OSError:
                continue
            for line in lines:
                if line.startswith("Rss:"):
                    resident += int(line.split()[1])
                elif line.startswith("Pss:"):
                    proportional += int(line.split()[1])
        return resident * 1024 / 1e6, proportional * 1024 / 1e6

    def kill(self):
        """`kill -9` for every process at once, as a service manager or the end of a container does."""
        processes = self.processes + self.beside
        roots = [process.pid for process in processes if process.poll() is None]
        # Stopped first, else a receiver goes on to start processes that the list of its descendants does not have.
        stopped: set[int] = set()
        while new := set(tree(roots)) - stopped:
            send(signal.SIGSTOP, new)
            stopped |= new
        send(signal.SIGKILL, stopped)
        for process in processes:
            process.wait()


def send(number: int, pids: set[int]):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def tree(roots: list[int]) -> list[int]:
    """The processes of `roots` and all that descend from them."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            # The name in brackets may hold spaces; the parent is the second word behind it.
            parent = int(stat.rsplit(")", 1)[1].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found, left = [], list(roots)
    while left:
        pid = left.pop()
        found.append(pid)
        left.extend(children.get(pid, []))
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until_open(port: int, process: subprocess.Popen, log: Path, seconds: float = 60):
    """Waits until `port` takes connections. A process that ends first, or takes too long, is `Unavailable`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            pass
        if process.poll() is not None:
            break
        time.sleep(0.05)
    last = log.read_text(errors="replace").strip().splitlines()[-1:] if log.exists() else []
    raise Unavailable(f"did not start to listen: {' '.join(last) or 'it says nothing'}")


def run(command: list, **options) -> str:
    """Runs a step of an installation and answers its output; a failure is `Unavailable` with the end of its errors."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, **options)
    except OSError as error:
        raise Unavailable(f"{command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise Unavailable(f"{Path(command[0]).name} {command[1]}: {' '.join(last)}")
    return done.stdout
