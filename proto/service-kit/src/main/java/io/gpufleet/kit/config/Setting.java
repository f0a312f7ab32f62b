package io.gpufleet.kit.config;

/**
 * One environment variable that a program understands.
 *
 * @param name full name, {@code GPUFLEET_…}
 * @param defaultValue value when it is not set; empty when {@code required} or when there is no default
 * @param required whether the start fails without it
 * @param description one line for {@code --help}
 */
public record Setting(String name, String defaultValue, boolean required, String description) {
    /** Creates a setting without which the program does not start. */
    public static Setting required(String name, String description) {
        return new Setting(name, "", true, description);
    }

    /** Creates a setting with a default. */
    public static Setting optional(String name, String defaultValue, String description) {
        return new Setting(name, defaultValue, false, description);
    }
}
