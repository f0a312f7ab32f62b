package io.gpufleet.nodedaemon.pluginconfig;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Type of a setting: one phrase for error lines and for the README, and a parser of its text.
 *
 * @param isList whether it takes several values, a list in YAML or text with commas
 * @param parser empty for text that is not usable
 */
record SettingType<V>(String takes, boolean isList, Function<SettingText, Optional<V>> parser) {
    /**
     * A value as written; one text where it is no list.
     *
     * @param isSequence whether YAML has it as a list, with one entry too
     */
    record SettingText(List<String> values, boolean isSequence) {
        /** Copies the list. */
        SettingText {
            values = List.copyOf(values);
        }
    }

    /** A type of one value. */
    static <V> SettingType<V> single(String takes, Function<String, Optional<V>> parser) {
        return new SettingType<>(
                takes, false, text -> parser.apply(text.values().getFirst()));
    }

    /** A type of several values. */
    static <V> SettingType<V> list(String takes, Function<List<String>, Optional<V>> parser) {
        return new SettingType<>(takes, true, text -> parser.apply(text.values()));
    }

    /** Reads the text; throws {@link IllegalArgumentException} with what the setting takes. */
    V read(SettingText text) {
        return parser.apply(text).orElseThrow(() -> new IllegalArgumentException("it takes " + takes));
    }
}
