package io.gpufleet.nodedaemon.pluginconfig;

/** Invalid settings; the message is one line: file and position, value, valid values. */
public final class InvalidSettingsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    InvalidSettingsException(String line) {
        super(line);
    }
}
