package io.gpufleet.kit.config;

/** The configuration is wrong; the message is one line that names the setting, its value and the remedy. */
public final class ConfigurationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Creates the error with the line that the operator reads. */
    public ConfigurationException(String message) {
        super(message);
    }
}
