#!/usr/bin/env python3
"""Prints one line for each GPU node: subscriber.py BOOTSTRAP [PREFIX]. Needs confluent-kafka."""
import json, sys
from confluent_kafka import Consumer, KafkaError, OFFSET_BEGINNING, TopicPartition

if len(sys.argv) < 2:
    sys.exit(__doc__)
bootstrap, prefix = sys.argv[1], (sys.argv[2:] or ["gpu."])[0]
topics = [prefix + "inventory", prefix + "verdicts"]
consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "not-used", "enable.auto.commit": False,
                     "isolation.level": "read_committed", "enable.partition.eof": True})
metadata = consumer.list_topics(timeout=30)
for topic in topics:
    if topic not in metadata.topics:
        sys.exit(bootstrap + " has no topic " + topic)
waiting = {(topic, partition) for topic in topics for partition in metadata.topics[topic].partitions}
consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for topic, partition in waiting])

gpus, trusted, last, boots = {}, {}, {}, {}


def is_new(topic, key, source, event_id, boot):
    """False for a duplicate; a lower incarnation of a boot never seen is another machine with the same name."""
    writer = (source, topic, key)
    position = tuple(int(part) for part in event_id.split("/")[1::2])
    known = boots.setdefault(writer, set())
    replaced = position[0] < last.get(writer, (0, 0))[0] and boot is not None and boot not in known
    known.add(boot)
    if position <= last.get(writer, (0, 0)) and not replaced:
        return False
    last[writer] = position
    return True


while waiting:  # then go on with the same poll() for what comes next: nothing is missed in between
    message = consumer.poll(30)
    if message is None:
        sys.exit("no answer of " + bootstrap)
    if message.error():
        if message.error().code() != KafkaError._PARTITION_EOF:
            sys.exit(str(message.error()))
        waiting.discard((message.topic(), message.partition()))
        continue
    key = message.key().decode()
    if key.startswith("@"):  # of the service that writes the topic
        continue
    if message.value() is None:  # tombstone
        trusted.pop(key, None)
        continue
    header = {name: value.decode() for name, value in message.headers()}
    event = json.loads(message.value())
    if not is_new(message.topic(), key, header["ce_source"], header["ce_id"], event.get("bootId")):
        continue
    if header["ce_type"] == "io.gpufleet.node.announced.v1":
        gpus[key] = len(event.get("gpus", []))
    elif header["ce_type"] == "io.gpufleet.verdict.reached.v1":
        trusted[key] = event.get("trusted", True)

for node in sorted(gpus):
    print(f"{node} gpus={gpus[node]} trusted={str(trusted.get(node, True)).lower()}")
consumer.close()
