package io.gpufleet.kit.config;

/** The start can not go on; the message is one line that names the thing, its value and the remedy. */
public final class ConfigurationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** With the line that the operator will read. */
    public ConfigurationException(String line) {
        super(line);
    }
}
