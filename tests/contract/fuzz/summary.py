"""Says which answers each operation gave, and fails when one never succeeded: then nothing was tested.

Usage: python summary.py TALLY DOCUMENT
"""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path


def main(tally, document):
    document = json.loads(Path(document).read_text())
    methods = {}
    for item in document["paths"].values():
        for method, operation in item.items():
            methods[operation["operationId"].removesuffix("_unprefixed")] = method.upper()

    answers = defaultdict(Counter)
    for line in Path(tally).read_text().splitlines():
        operation, method, status = line.split()
        # Other methods are tried as well; they belong to no operation.
        if method == methods[operation]:
            answers[operation][int(status)] += 1

    never = []
    for operation in methods:
        counts = "  ".join(f"{status} x{count}" for status, count in sorted(answers[operation].items()))
        print(f"{operation:26} {counts}")
        # A redirect is what an installer is asked for.
        if not any(200 <= status < 400 for status in answers[operation]):
            never.append(operation)
    print(f"{len(methods)} operations, {sum(sum(counts.values()) for counts in answers.values())} requests")
    if never:
        sys.exit(f"never succeeded: {', '.join(never)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
