"""Doorbell itself: SQLite, durability `full`, and an agent that counts itself and answers at once."""

import json
import subprocess
from pathlib import Path

from receiver import ROUTE, SECRET, Place, Running, Unavailable, free_port, run, until_open


class Doorbell:
    system = "doorbell (SQLite)"
    stored = "the whole request, committed and fsynced before the answer (commits are shared by the requests that wait)"
    accepted_means = (
        "the event is on disk: it is run, one process a run, however often the gateway or the machine dies; "
        "what the agents have not reached yet waits in the ledger"
    )

    def __init__(self, binary: Path):
        self.binary = binary

    def install(self) -> str:
        if not self.binary.exists():
            raise Unavailable(f"{self.binary} is not there; run: cargo build --release")
        return run([str(self.binary), "--version"]).split()[-1]

    def start(self, place: Place) -> Running:
        agent = place.folder / "agent"
        wait = f"sleep {place.run_seconds}\n" if place.run_seconds else ""
        agent.write_text(f'#!/bin/sh\n{wait}echo "$DOORBELL_DELIVERY_ID" >>"{place.runs}"\necho done\n')
        agent.chmod(0o700)
        config = {
            "server": {"host": "127.0.0.1", "port": place.port},
            "admin": {"port": free_port()},
            "store": {"durability": "full"},
            "agents": {"stub": {"preset": "command", "command": [str(agent)], "max_concurrent": place.agents}},
            "routes": {
                ROUTE: {"source": "github", "secret": SECRET, "agent": "stub", "prompt": "Look at {id}"}
            },
        }
        (place.folder / "config.yaml").write_text(json.dumps(config))
        process = subprocess.Popen(
            [self.binary, "serve", "--home", place.folder], stdout=place.log(), stderr=subprocess.STDOUT
        )
        until_open(place.port, process, place.folder / "log")
        return Running([process])

    def waiting(self, place: Place):
        """Events that are accepted and not finished, as its admin API says."""
        status = json.loads(run([str(self.binary), "status", "--json", "--home", str(place.folder)]))
        return sum(status["events"].get(state, 0) for state in ("held", "queued", "running", "failed"))
