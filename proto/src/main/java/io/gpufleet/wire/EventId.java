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
        int first = text.indexOf('/');
        int second = text.indexOf('/', first + 1);
        int third = text.indexOf('/', second + 1);
        if (first < 0 || second < 0 || third < 0 || text.indexOf('/', third + 1) >= 0) {
            throw new IllegalArgumentException(notAnId(text));
        }
        try {
            return new EventId(
                    text.substring(0, first),
                    Long.parseLong(text, first + 1, second, 10),
                    Topics.bySuffix(text.substring(second + 1, third))
                            .orElseThrow(() -> new IllegalArgumentException("no such topic")),
                    Long.parseLong(text, third + 1, text.length(), 10));
        } catch (IllegalArgumentException malformed) {
            throw new IllegalArgumentException(notAnId(text), malformed);
        }
    }

    private static String notAnId(String text) {
        return "ce_id '" + text + "' is not <writer>/<epoch>/<topic>/<sequence>";
    }
}
