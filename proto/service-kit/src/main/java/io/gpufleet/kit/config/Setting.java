package io.gpufleet.kit.config;

/**
 * One environment variable that a program understands.
 *
 * @param name full name, {@code GPUFLEET_…}
 * @param fallback value when it is not set; empty text when {@code required} or when there is nothing to say
 * @param required whether the start fails without it
 * @param about one line for {@code --help}
 */
public record Setting(String name, String fallback, boolean required, String about) {
    /** A setting without which the program can not start. */
    public static Setting required(String name, String about) {
        return new Setting(name, "", true, about);
    }

    /** A setting with a default. */
    public static Setting optional(String name, String fallback, String about) {
        return new Setting(name, fallback, false, about);
    }
}
