"""Debian's `webhook` (adnanh/webhook): one command a request, checked by the HMAC of the body."""

import json
import shutil
import subprocess
from pathlib import Path

from receiver import ROUTE, SECRET, Place, Running, Unavailable, run, until_open


class Webhook:
    system = "webhook (Debian)"
    stored = "nothing: the command is started after the answer"
    accepted_means = (
        "the signature was right and the command is going to be started, after the answer and all at once; "
        "a start that fails (no descriptors or processes left) is lost, and is logged with -verbose only, which Debian's service does not set"
    )

    def __init__(self, folder: Path):
        self.folder = folder / "webhook"
        self.binary = self.folder / "root" / "usr" / "bin" / "webhook"

    def install(self) -> str:
        if not self.binary.exists():
            installed = shutil.which("webhook")
            if installed:
                self.binary = Path(installed)
            else:
                self.unpack()
        return run([str(self.binary), "-version"]).split()[-1]

    def unpack(self):
        """The package's files without root: its only dependency is the C library."""
        self.folder.mkdir(parents=True, exist_ok=True)
        run(["apt-get", "download", "webhook"], cwd=self.folder)
        package = next(self.folder.glob("webhook_*.deb"), None)
        if package is None:
            raise Unavailable("apt-get download left no package")
        run(["dpkg", "-x", str(package), str(self.folder / "root")])

    def start(self, place: Place) -> Running:
        command = place.folder / "agent"
        wait = f"sleep {place.run_seconds}\n" if place.run_seconds else ""
        command.write_text(f'#!/bin/sh\n{wait}echo "$1" >>"{place.runs}"\n')
        command.chmod(0o700)
        secret_rule = {
            "type": "payload-hmac-sha256",
            "secret": SECRET,
            "parameter": {"source": "header", "name": "X-Hub-Signature-256"},
        }
        hook = {
            "id": ROUTE,
            "execute-command": str(command),
            "command-working-directory": str(place.folder),
            "pass-arguments-to-command": [{"source": "header", "name": "X-GitHub-Delivery"}],
            "trigger-rule": {"match": secret_rule},
        }
        hooks = place.folder / "hooks.json"
        hooks.write_text(json.dumps([hook]))
        process = subprocess.Popen(
            # `-nopanic` and no `-verbose`, as Debian's service file has it.
            [self.binary, "-nopanic", "-hooks", hooks, "-ip", "127.0.0.1", "-port", str(place.port), "-urlprefix", "webhooks"],
            stdout=place.log(),
            stderr=subprocess.STDOUT,
        )
        until_open(place.port, process, place.folder / "log")
        return Running([process])

    def waiting(self, _place: Place):
        return None
