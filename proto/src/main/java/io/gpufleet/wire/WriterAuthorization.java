package io.gpufleet.wire;

import io.gpufleet.wire.EventType.Writer;
import java.util.EnumMap;
import java.util.Map;

/** Refuses an event that its writer may not write by the catalogue, when it is written and when it is read. */
final class WriterAuthorization {
    /** The one service that owns a topic. What any service may write stands on a changelog for its owner only. */
    private static final Map<Topic, Writer> OWNERS = new EnumMap<>(Topic.class);

    static {
        for (EventType type : EventType.values()) {
            if (!type.writer().service().isEmpty()) {
                type.topics().forEach(topic -> OWNERS.put(topic, type.writer()));
            }
        }
    }

    private WriterAuthorization() {}

    /** Checks a type of the catalogue. */
    static void check(EventSource source, EventType type, Topic topic) {
        check(source, type.ceType(), type.writer() == Writer.ANY_SERVICE ? writer(topic) : type.writer());
    }

    /** Checks a type that this release does not know: its topic has a writer all the same. */
    static void check(EventSource source, String ceType, Topic topic) {
        check(source, ceType, writer(topic));
    }

    private static Writer writer(Topic topic) {
        Writer owner = OWNERS.get(topic);
        if (owner != null) {
            return owner;
        }
        return EventType.EVENTS_LOST.topics().contains(topic) ? Writer.DAEMON : Writer.ANY_SERVICE;
    }

    private static void check(EventSource source, String ceType, Writer writer) {
        boolean allowed = switch (source) {
            case EventSource.Node _ -> writer == Writer.DAEMON;
            case EventSource.Service service ->
                writer == Writer.ANY_SERVICE || !writer.service().isEmpty() && service.isReplicaOf(writer.service());
        };
        if (!allowed) {
            String expected = switch (writer) {
                case DAEMON -> "the node-daemon";
                case ANY_SERVICE -> "a service";
                case HEALTH_SERVICE, INVENTORY_SERVICE, ALLOCATION_SERVICE -> "the " + writer.service();
            };
            throw new IllegalArgumentException(ceType + " may not be written by " + source + ", only by " + expected);
        }
    }
}
