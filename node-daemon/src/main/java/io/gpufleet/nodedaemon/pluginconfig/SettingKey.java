package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.nodedaemon.pluginconfig.SettingType.SettingText;
import java.util.function.BiConsumer;

/**
 * A key of a file, or an environment variable of NVIDIA's plugin, or both.
 *
 * @param path sections and name, for example {@code flags.plugin.passDeviceSpecs}; empty for a variable alone
 * @param variable name of the variable; empty for a key alone
 * @param fallback the default, as the README shows it
 * @param meaning what it does, or why it is ignored, in one phrase
 * @param use what happens with its value
 */
record SettingKey<T>(String path, String variable, String fallback, String meaning, Use<T> use) {
    /** Treatment of a value. */
    sealed interface Use<T> {
        /** It is written to the settings. */
        record Written<T, V>(SettingType<V> type, BiConsumer<T, V> setter) implements Use<T> {
            void write(T target, SettingText text) {
                setter.accept(target, type.read(text));
            }
        }

        /** It is reported and ignored. */
        record Ignored<T>() implements Use<T> {}
    }

    static <T, V> SettingKey<T> of(
            String path,
            String variable,
            SettingType<V> type,
            String fallback,
            String meaning,
            BiConsumer<T, V> setter) {
        return new SettingKey<>(path, variable, fallback, meaning, new Use.Written<>(type, setter));
    }

    static <T> SettingKey<T> ignored(String path, String variable, String why) {
        return new SettingKey<>(path, variable, "", why, new Use.Ignored<>());
    }

    /** The sections of the path, without its name. */
    String section() {
        return path.contains(".") ? path.substring(0, path.lastIndexOf('.')) : "";
    }

    /** The name of the path, without its sections. */
    String name() {
        return path.substring(path.lastIndexOf('.') + 1);
    }
}
