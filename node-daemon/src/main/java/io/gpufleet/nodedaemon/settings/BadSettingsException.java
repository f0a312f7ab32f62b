package io.gpufleet.nodedaemon.settings;

/** Settings that can not be used; the message is one line: file and position, value, what to write instead. */
public final class BadSettingsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BadSettingsException(String line) {
        super(line);
    }
}
