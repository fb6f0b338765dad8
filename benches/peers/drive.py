"""The driver: `load drive`, which signs every request before the clock starts and keeps its connections open."""

import json
from dataclasses import dataclass
from pathlib import Path

from receiver import Unavailable, run

BODY_BYTES = 8 << 10


@dataclass
class Driven:
    """What the sender saw. Latencies are those of accepted requests; `refused` counts other answers and broken connections."""

    accepted: int
    refused: int
    per_second: float
    p50_ms: float | None
    p99_ms: float | None
    first_refusal: str | None


@dataclass
class Driver:
    load: Path
    # Stops a measurement early when a receiver is slow; what was accepted by then counts.
    seconds: float

    def drive(self, port: int, path: str, secret: str, connections: int, requests: int) -> Driven:
        if not self.load.exists():
            raise Unavailable(f"the driver {self.load} is not there; run: cargo build --release --example load")
        said = run(
            [
                str(self.load), "drive", "--to", f"http://127.0.0.1:{port}{path}", "--sign", "github", "--secret", secret,
                "--connections", str(connections), "--requests", str(requests), "--body-bytes", str(BODY_BYTES),
                "--seconds", str(self.seconds), "--json",
            ]
        )  # fmt: skip
        seen = json.loads(said)
        return Driven(
            accepted=seen["accepted"],
            refused=seen["refused"] + seen["errors"],
            per_second=seen["per_second"],
            p50_ms=seen["p50_ms"],
            p99_ms=seen["p99_ms"],
            first_refusal=seen["first_refusal"] or seen["first_error"],
        )
