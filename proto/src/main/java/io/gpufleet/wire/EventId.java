package io.gpufleet.wire;

/**
 * The identity of an event, {@code <writer>/<epoch>/<topic>/<sequence>}: never repeated for one source.
 *
 * @param writer node name or instance name, as in the source
 * @param epoch Unix milliseconds of the writer's start, or one more than its last epoch, whichever is later
 * @param topic topic on which the event stands
 * @param sequence counts from 1 within (writer, epoch, topic)
 */
public record EventId(String writer, long epoch, Topic topic, long sequence) implements Comparable<EventId> {
    /** Refuses a sequence below 1 and a writer that would make the text ambiguous. */
    public EventId {
        if (sequence < 1 || epoch < 0 || writer.isEmpty() || writer.contains("/")) {
            throw new IllegalArgumentException(
                    "event id of writer '" + writer + "', epoch " + epoch + ", sequence " + sequence + " is not valid");
        }
    }

    /** Order of writing, within one writer and topic. */
    @Override
    public int compareTo(EventId other) {
        int byEpoch = Long.compare(epoch, other.epoch);
        return byEpoch != 0 ? byEpoch : Long.compare(sequence, other.sequence);
    }

    @Override
    public String toString() {
        return writer + "/" + epoch + "/" + topic.suffix() + "/" + sequence;
    }

    /** Reads a {@code ce_id}; refuses other forms with {@link IllegalArgumentException}. */
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
