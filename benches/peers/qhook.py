"""`qhook` from crates.io on SQLite and on PostgreSQL: a GitHub source, and a handler over HTTP that counts.

All settings are its own defaults, but for `max_inbound` and `allow_private_urls`, without which the handler cannot be on this machine.
"""

import glob
import json
import os
import pwd
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from receiver import ROUTE, SECRET, Place, Running, Unavailable, free_port, run, until_open

VERSION = "0.6"


class Qhook:
    system = "qhook (SQLite)"
    stored = "event and job, committed in one transaction a request before the answer; SQLite's own defaults (rollback journal, fsync)"
    accepted_means = (
        "event and job are in its database; a worker that polls posts them to the handler, at most 10 at a time; "
        "a job that was being posted at a kill stays `running` and is only looked for at a start or hourly, when older than 5 minutes"
    )

    def __init__(self, folder: Path):
        self.root = folder / "qhook"
        self.binary = self.root / "bin" / "qhook"

    def install(self) -> str:
        if not self.binary.exists():
            build = ["--target-dir", str(self.root / "build"), "--root", str(self.root)]
            run(["cargo", "install", "qhook", "--version", f"^{VERSION}", "--locked", "--quiet", *build])
        # It has no `--version`; Cargo remembers: "qhook v0.6.1:".
        listed = run(["cargo", "install", "--list", "--root", str(self.root)])
        return next(line.split()[1].strip("v:") for line in listed.splitlines() if line.startswith("qhook "))

    def start(self, place: Place) -> Running:
        return self.serve(place, {"driver": "sqlite"})

    def serve(self, place: Place, database: dict) -> Running:
        counter = subprocess.Popen(
            [sys.executable, __file__, str(place.handler_port), str(place.runs), str(place.run_seconds)], stderr=place.log()
        )
        until_open(place.handler_port, counter, place.folder / "log")
        config = {
            "database": database,
            "server": {"port": place.port, "allow_private_urls": True, "max_inbound": 1000},
            "sources": {ROUTE: {"type": "webhook", "verify": "github", "secret": SECRET}},
            "handlers": {"count": {"source": ROUTE, "events": ["*"], "url": f"http://127.0.0.1:{place.handler_port}/"}},
        }
        (place.folder / "qhook.yaml").write_text(json.dumps(config))
        process = subprocess.Popen(
            [self.binary, "start", "--config", "qhook.yaml"], cwd=place.folder, stdout=place.log(), stderr=subprocess.STDOUT
        )
        running = Running([process], [counter])
        try:
            until_open(place.port, process, place.folder / "log")
        except Unavailable:
            running.kill()
            raise
        return running

    def waiting(self, place: Place):
        """Its own count of jobs that are to be posted."""
        with urllib.request.urlopen(f"http://127.0.0.1:{place.port}/health", timeout=10) as answer:
            return json.load(answer).get("queue_depth")


class QhookPostgres(Qhook):
    system = "qhook (PostgreSQL)"
    stored = "event and job, committed in one transaction a request before the answer; PostgreSQL's own defaults (fsync, synchronous_commit)"
    accepted_means = (
        Qhook.accepted_means + "; 0.6.1 also takes a job out of its queue when all 10 posts are under way, and then leaves it `running` unposted"
    )

    def install(self) -> str:
        self.server = postgres_binaries()
        return f"{super().install()}, {run([str(self.server / 'postgres'), '--version']).strip()}"

    def start(self, place: Place) -> Running:
        data = place.folder / "postgres"
        user = unprivileged()
        options = {"user": user} if user else {}
        if not data.exists():
            data.mkdir()
            if user:
                shutil.chown(data, user)
            run([str(self.server / "initdb"), "--auth=trust", "--username=qhook", "-D", str(data)], cwd=data, **options)
        port = free_port()
        server = subprocess.Popen(
            [self.server / "postgres", "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", data],
            cwd=data, stdout=place.log(), stderr=subprocess.STDOUT, **options,
        )
        database = Running([server])
        try:
            until_open(port, server, place.folder / "log")
            self.until_recovered(port)
            url = f"postgres://qhook@127.0.0.1:{port}/postgres"
            running = self.serve(place, {"driver": "postgres", "url": url})
        except Unavailable:
            database.kill()
            raise
        return Running([*running.processes, server], running.beside)

    def until_recovered(self, port: int):
        """It takes connections and refuses them while it reads its log again after a kill."""
        for _ in range(300):
            if subprocess.run([self.server / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]).returncode == 0:
                return
            time.sleep(0.1)
        raise Unavailable("PostgreSQL was not ready after 30 seconds")


def postgres_binaries() -> Path:
    """The folder with PostgreSQL's programs: where Debian puts them (the newest), or that of `initdb` on the PATH."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True)
    if on_path := shutil.which("initdb"):
        found.append(str(Path(on_path).resolve()))
    if not found:
        raise Unavailable("no PostgreSQL server is installed")
    return Path(found[0]).parent


def unprivileged() -> str | None:
    """PostgreSQL refuses root; then it runs as its own user, or as nobody."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def count(port: int, runs: str, run_seconds: float):
    """The handler: answers every POST with 200 after `run_seconds` and appends the event's id to `runs`."""
    import asyncio

    counter = os.open(runs, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def talk(reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
                await reader.readexactly(int(fields.get(b"content-length", b"0")))
                if run_seconds:
                    await asyncio.sleep(run_seconds)
                os.write(counter, fields[b"x-qhook-event-id"] + b"\n")
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def main():
        server = await asyncio.start_server(talk, "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(main())


if __name__ == "__main__":
    count(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
