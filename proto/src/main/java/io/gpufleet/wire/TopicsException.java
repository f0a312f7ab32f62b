package io.gpufleet.wire;

/** The topics cannot be used; the message is one line that names the remedy. */
public final class TopicsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean brokerUnavailable;

    private TopicsException(String line, boolean brokerUnavailable) {
        super(line);
        this.brokerUnavailable = brokerUnavailable;
    }

    /** Creates the error for topics that exist in an unusable form or not at all; retrying does not help. */
    public static TopicsException unusable(String line) {
        return new TopicsException(line, false);
    }

    /** Creates the error for a broker that does not respond; retrying may help. */
    public static TopicsException brokerUnavailable(String line) {
        return new TopicsException(line, true);
    }

    /** Returns whether retrying may help. */
    public boolean isBrokerUnavailable() {
        return brokerUnavailable;
    }
}
