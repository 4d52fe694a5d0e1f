"""What GitHub demands of a SARIF file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit


def objections(document: dict[str, Any]) -> Iterator[str]:
    """What GitHub refuses of a SARIF file, by its page "SARIF support for code scanning": required properties, and limits."""
    if document.get("version") != "2.1.0" or "$schema" not in document or not document.get("runs"):
        yield "$schema, version 2.1.0 and runs are required"
    for run in document.get("runs", []):
        driver = run["tool"]["driver"]
        if not driver.get("name") or len(run["results"]) > 25_000:
            yield "a name of the driver, and at most 25,000 results"
        for rule in driver.get("rules", []):
            texts = (rule.get("id"), *(rule.get(key, {}).get("text") for key in ("shortDescription", "fullDescription", "help")))
            if not all(texts) or len(texts[1]) > 1024 or len(texts[2]) > 1024:
                yield f"rule {rule.get('id')}: id, shortDescription, fullDescription and help are required"
        hashes = [result.get("partialFingerprints", {}).get("primaryLocationLineHash") for result in run["results"]]
        if None in hashes or len(set(hashes)) != len(hashes):
            yield "each result needs its own primaryLocationLineHash"
        for result in run["results"]:
            if not result.get("message", {}).get("text") or not 1 <= len(result.get("locations", [])) <= 1000:
                yield "a message and locations are required"
            if result.get("level") not in ("none", "note", "warning", "error"):
                yield f"level {result.get('level')}"
            for each in result.get("locations", []):
                physical = each.get("physicalLocation")
                if physical is None:
                    yield "expected a physical location"
                    continue
                place, region = urlsplit(physical["artifactLocation"]["uri"]), physical["region"]
                if not place.path or place.scheme or place.path.startswith("/") or ".." in place.path.split("/"):
                    yield f"{place.path} is no path in the repository"
                if not all(region[key] >= 1 for key in ("startLine", "startColumn", "endLine", "endColumn")):
                    yield "a region has lines and columns, from 1 on"
