package io.gpufleet.nodedaemon.pluginconfig;

import io.gpufleet.nodedaemon.pluginconfig.SettingKey.Use;
import io.gpufleet.nodedaemon.pluginconfig.SettingType.SettingText;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The keys of a file, or of a mapping in it. Reading, error lines and the README's table follow from them.
 *
 * @param <T> what the values are written to
 */
record SettingTable<T>(List<SettingKey<T>> keys) {
    /** Copies the list. */
    SettingTable {
        keys = List.copyOf(keys);
    }

    /** Reads the keys of a mapping and of its sections; reports keys that are ignored, and keys of these sections that are unknown. */
    void read(YamlSection root, T target, Consumer<IgnoredSetting> ignored) {
        var sections = new TreeMap<>(Map.of("", root));
        for (SettingKey<T> key : keys) {
            if (!key.path().isEmpty()) {
                read(key, section(sections, key.section()), target, ignored);
            }
        }
        sections.values().forEach(section -> section.unknown().forEach(ignored));
    }

    private static YamlSection section(Map<String, YamlSection> sections, String path) {
        YamlSection known = sections.get(path);
        if (known != null) {
            return known;
        }
        int dot = path.lastIndexOf('.');
        YamlSection parent = section(sections, dot < 0 ? "" : path.substring(0, dot));
        YamlSection opened = parent.section(path.substring(dot + 1));
        sections.put(path, opened);
        return opened;
    }

    private void read(SettingKey<T> key, YamlSection section, T target, Consumer<IgnoredSetting> ignored) {
        switch (key.use()) {
            case Use.Ignored<T> _ -> section.ignored(key.name(), key.meaning()).forEach(ignored);
            case Use.Written<T, ?> written
            when written.type().isList() -> {
                boolean sequence = section.isList(key.name());
                section.texts(key.name(), values -> written.write(target, new SettingText(values, sequence)));
            }
            case Use.Written<T, ?> written ->
                section.text(key.name(), value -> written.write(target, new SettingText(List.of(value), false)));
        }
    }

    /** The key with an environment variable. */
    Optional<SettingKey<T>> ofVariable(String name) {
        return keys.stream()
                .filter(key -> !name.isEmpty() && key.variable().equals(name))
                .findFirst();
    }

    /** Writes the value of a variable; nothing for one that is ignored. Throws {@link IllegalArgumentException} with what it takes. */
    void write(SettingKey<T> key, String value, T target) {
        switch (key.use()) {
            case Use.Ignored<T> _ -> {}
            case Use.Written<T, ?> written
            when written.type().isList() -> written.write(target, new SettingText(YamlSection.list(value), false));
            case Use.Written<T, ?> written -> written.write(target, new SettingText(List.of(value), false));
        }
    }

    /** A row for each key; its path begins with the given one. */
    String rows(String prefix) {
        var rows = new StringBuilder();
        for (SettingKey<T> key : keys) {
            String takes = switch (key.use()) {
                case Use.Written<T, ?> written -> written.type().takes();
                case Use.Ignored<T> _ -> "ignored";
            };
            rows.append("| ")
                    .append(code(key.path().isEmpty() ? "" : prefix + key.path()))
                    .append(" | ")
                    .append(code(key.variable()))
                    .append(" | ")
                    .append(takes)
                    .append(" | ")
                    .append(key.fallback())
                    .append(" | ")
                    .append(key.meaning())
                    .append(" |\n");
        }
        return rows.toString();
    }

    private static String code(String name) {
        return name.isEmpty() ? "" : "`" + name + "`";
    }
}
