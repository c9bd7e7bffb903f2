"""One process that does things at random until its input ends; a JSON line for each."""

from __future__ import annotations

import json
import random
import sys
import threading

from dbt.adapters.spark_mv.planning import cost
from tests.functional.materialized_view.warehouse import Warehouse
from tests.soak.world import SCHEMA, act

STATEMENTS_OF_A_COMMAND = 12


def main() -> None:
    """Arguments: the target as JSON, and a seed."""
    lake = Warehouse(json.loads(sys.argv[1]), SCHEMA)
    chance = random.Random(int(sys.argv[2]))
    if chance.random() < 0.7:
        # As if the tables were large: `auto` takes the other methods, too.
        cost._FIXED = 0
    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    print(json.dumps({"did": "start"}), flush=True)
    while not over.is_set():
        command = lake.command()
        for _ in range(STATEMENTS_OF_A_COMMAND):
            if over.is_set():
                break
            said: dict[str, str] = {}
            try:
                said["did"] = act(command, lake, chance)
            except Exception as error:
                said["error"] = str(error)
            print(json.dumps(said), flush=True)
        command.flush()


if __name__ == "__main__":
    main()
