"""What the official package makes of messages of Kafka, {key, value, headers}: an event for each line of standard input.

PYTHONPATH=PACKAGES python3 events.py
"""

import json
import sys

from cloudevents.core.bindings.kafka import KafkaMessage, from_kafka
from cloudevents.core.formats.json import JSONFormat

for line in sys.stdin:
    said = json.loads(line)
    headers = {name: value.encode() for name, value in said["headers"].items()}
    event = from_kafka(KafkaMessage(headers, said["key"], said["value"].encode()), JSONFormat())
    attributes = {name: value if isinstance(value, str) else value.isoformat()
                  for name, value in event.get_attributes().items()}
    print(json.dumps({**attributes, "data": event.get_data()}))
