package io.gpufleet.runtime.consistency;

import com.google.protobuf.Message;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.Topic;

/** An event of a workload, before it has a writer and a sequence. */
public record TestEvent(Topic topic, EventType type, Message payload) {}
