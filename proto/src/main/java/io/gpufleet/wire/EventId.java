package io.gpufleet.wire;

/**
 * Identity of an event, {@code <writer>/<epoch>/<topic>/<sequence>}, unique for one source.
 *
 * @param writer node name or instance name, as in the source
 * @param epoch Unix milliseconds of the writer's start, or one more than its last epoch, whichever is later
 * @param topic topic of the event
 * @param sequence counts from 1 within (writer, epoch, topic)
 */
public record EventId(String writer, long epoch, Topic topic, long sequence) implements Comparable<EventId> {
    /** Refuses a sequence below 1, a negative epoch, and a writer that is empty or contains a slash. */
    public EventId {
        if (sequence < 1 || epoch < 0 || writer.isEmpty() || writer.contains("/")) {
            throw new IllegalArgumentException(
                    "event id of writer '" + writer + "', epoch " + epoch + ", sequence " + sequence + " is not valid");
        }
    }

    /** Compares by order of writing within one writer and topic. */
    @Override
    public int compareTo(EventId other) {
        int byEpoch = Long.compare(epoch, other.epoch);
        return byEpoch != 0 ? byEpoch : Long.compare(sequence, other.sequence);
    }

    @Override
    public String toString() {
        return writer + "/" + epoch + "/" + topic.suffix() + "/" + sequence;
    }

    /** Parses a {@code ce_id}; throws {@link IllegalArgumentException} for any other form. */
    public static EventId parse(String text) {
        String[] parts = text.split("/", -1);
        if (parts.length == 4) {
            try {
                return new EventId(
                        parts[0],
                        Long.parseLong(parts[1]),
                        Topics.bySuffix(parts[2]).orElseThrow(() -> new IllegalArgumentException("no such topic")),
                        Long.parseLong(parts[3]));
            } catch (IllegalArgumentException malformed) {
                throw new IllegalArgumentException(notAnId(text), malformed);
            }
        }
        throw new IllegalArgumentException(notAnId(text));
    }

    private static String notAnId(String text) {
        return "ce_id '" + text + "' is not <writer>/<epoch>/<topic>/<sequence>";
    }
}
