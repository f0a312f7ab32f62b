package io.gpufleet.wire;

/** The topics can not be used as they are; the message is one line that says what to do. */
public final class TopicsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean brokerAway;

    private TopicsException(String line, boolean brokerAway) {
        super(line);
        this.brokerAway = brokerAway;
    }

    /** The broker answered, and what it has is not usable: waiting does not help. */
    public static TopicsException unusable(String line) {
        return new TopicsException(line, false);
    }

    /** The broker did not answer: it may later. */
    public static TopicsException brokerAway(String line) {
        return new TopicsException(line, true);
    }

    /** True when waiting may help. */
    public boolean brokerIsAway() {
        return brokerAway;
    }
}
