package io.gpufleet.wire;

/** The topics cannot be used; the message is one line that names the remedy. */
public final class TopicsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Reason of the failure. */
    private enum Cause {
        UNUSABLE,
        MISSING,
        BROKER_UNAVAILABLE
    }

    private final Cause why;

    private TopicsException(String line, Cause why) {
        super(line);
        this.why = why;
    }

    /** Creates the error for topics that do not exist; retrying helps where somebody is creating them. */
    public static TopicsException missing(String line) {
        return new TopicsException(line, Cause.MISSING);
    }

    /** Creates the error for topics that exist in an unusable form; retrying does not help. */
    public static TopicsException unusable(String line) {
        return new TopicsException(line, Cause.UNUSABLE);
    }

    /** Creates the error for a broker that does not respond; retrying may help. */
    public static TopicsException brokerUnavailable(String line) {
        return new TopicsException(line, Cause.BROKER_UNAVAILABLE);
    }

    /** Returns whether the broker does not respond, so that retrying may help. */
    public boolean isBrokerUnavailable() {
        return why == Cause.BROKER_UNAVAILABLE;
    }

    /** Returns whether the topics are only missing. */
    public boolean isMissing() {
        return why == Cause.MISSING;
    }
}
