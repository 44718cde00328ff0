"""A model that repeats a recorded attempt: it prints the next call, or the answer after the last one.

usage: replay.py RECORD < TRANSCRIPT
"""

import json
import pathlib
import sys

record = json.loads(pathlib.Path(sys.argv[1]).read_text())
number = len(json.load(sys.stdin)["turns"])
if number < len(record["turns"]):
    turn = record["turns"][number]
    print(json.dumps({"tool": turn["tool"], "arguments": turn["arguments"]}))
else:
    print(json.dumps({"answer": record["answer"]}))
