"""Prints the statuses of each operation. Fails if an operation never succeeded, because nothing was tested then.

Usage: python summary.py TALLY DOCUMENT
"""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path


def success(operation):
    """Returns the documented statuses of success: 2xx, or redirects if there is no 2xx."""
    statuses = {int(status) for status in operation["responses"]}
    return {status for status in statuses if 200 <= status < 300} or {status for status in statuses if 300 <= status < 400}


def main(tally, document):
    document = json.loads(Path(document).read_text())
    methods, successes = {}, {}
    for item in document["paths"].values():
        for method, operation in item.items():
            name = operation["operationId"].removesuffix("_unprefixed")
            methods[name] = method.upper()
            successes[name] = success(operation)

    answers = defaultdict(Counter)
    for line in Path(tally).read_text().splitlines():
        operation, method, status = line.split()
        # Schemathesis also tries other methods, which belong to no operation.
        if method == methods[operation]:
            answers[operation][int(status)] += 1

    never = []
    for operation in methods:
        counts = "  ".join(f"{status} x{count}" for status, count in sorted(answers[operation].items()))
        print(f"{operation:26} {counts}")
        if not successes[operation] & set(answers[operation]):
            never.append(operation)
    print(f"{len(methods)} operations, {sum(sum(counts.values()) for counts in answers.values())} requests")
    if never:
        sys.exit(f"never succeeded: {', '.join(never)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
