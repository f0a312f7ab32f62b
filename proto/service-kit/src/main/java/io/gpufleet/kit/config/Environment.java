package io.gpufleet.kit.config;

import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The {@code GPUFLEET_*} variables of a process, checked against the settings that the program declares. */
public final class Environment {
    private static final String PREFIX = "GPUFLEET_";

    private final Map<String, Setting> declared;
    private final Map<String, String> values;

    private Environment(Map<String, Setting> declared, Map<String, String> values) {
        this.declared = declared;
        this.values = values;
    }

    /** Checks names and presence; an unknown {@code GPUFLEET_*} name is refused with the closest known one. */
    public static Environment read(Map<String, String> environment, List<Setting> settings) {
        Map<String, Setting> declared = settings.stream()
                .collect(Collectors.toMap(Setting::name, setting -> setting, (a, b) -> a, TreeMap::new));
        Map<String, String> values = new TreeMap<>();
        environment.forEach((name, value) -> {
            if (name.startsWith(PREFIX)) {
                if (!declared.containsKey(name)) {
                    throw new ConfigurationException(
                            name + "=" + value + " is not a setting of this program; did you mean "
                                    + ClosestMatch.of(name, declared.keySet()) + "? --help lists all");
                }
                values.put(name, value.strip());
            }
        });
        for (Setting setting : settings) {
            if (setting.required() && values.getOrDefault(setting.name(), "").isEmpty()) {
                throw new ConfigurationException(setting.name() + " is not set: " + setting.description());
            }
        }
        return new Environment(declared, values);
    }

    /** Formats all settings as a table for {@code --help}. */
    public static String help(String program, List<Setting> settings) {
        int width = settings.stream().mapToInt(s -> s.name().length()).max().orElse(0);
        String rows = settings.stream()
                .sorted(Comparator.comparing(Setting::name))
                .map(s -> "  " + s.name() + " ".repeat(width - s.name().length() + 2) + s.description()
                        + (s.required()
                                ? " (required)"
                                : s.defaultValue().isEmpty() ? "" : " [" + s.defaultValue() + "]"))
                .collect(Collectors.joining("\n"));
        return program + " is configured by its environment:\n\n" + rows + "\n";
    }

    /** Returns the text of a setting, or its default. */
    public String text(String name) {
        Setting setting = Optional.ofNullable(declared.get(name))
                .orElseThrow(() -> new IllegalArgumentException(name + " was not declared"));
        String value = values.getOrDefault(name, "");
        return value.isEmpty() ? setting.defaultValue() : value;
    }

    /** Returns a whole number within bounds, both inclusive. */
    public int integer(String name, int min, int max) {
        String text = text(name);
        try {
            int value = Integer.parseInt(text);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException notANumber) {
            // Refused below, with the bounds.
        }
        throw invalid(name, "a whole number from " + min + " to " + max);
    }

    /** Returns a duration: {@code 500ms}, {@code 30s}, {@code 5m}, {@code 6h}, {@code 7d} or ISO 8601. */
    public Duration duration(String name) {
        String text = text(name);
        var unit = java.util.regex.Pattern.compile("(\\d{1,9})(ms|s|m|h|d)").matcher(text);
        if (unit.matches()) {
            long amount = Long.parseLong(unit.group(1));
            return switch (unit.group(2)) {
                case "ms" -> Duration.ofMillis(amount);
                case "s" -> Duration.ofSeconds(amount);
                case "m" -> Duration.ofMinutes(amount);
                case "h" -> Duration.ofHours(amount);
                default -> Duration.ofDays(amount);
            };
        }
        try {
            Duration value = Duration.parse(text);
            if (!value.isNegative()) {
                return value;
            }
        } catch (DateTimeParseException malformed) {
            // Refused below, with examples.
        }
        throw invalid(name, "a duration such as 500ms, 30s, 5m or 6h");
    }

    /** Returns one of a closed set of values. */
    public String choice(String name, String... values) {
        String text = text(name);
        if (Arrays.asList(values).contains(text)) {
            return text;
        }
        throw invalid(name, "one of " + String.join(", ", values));
    }

    /** Returns {@code true} or {@code false}. */
    public boolean flag(String name) {
        return choice(name, "true", "false").equals("true");
    }

    /** Returns an absolute path, or one relative to the working directory. */
    public Path path(String name) {
        return Path.of(text(name));
    }

    /** Creates the error that names the values allowed for a setting. */
    public ConfigurationException invalid(String name, String allowed) {
        return new ConfigurationException(name + "='" + text(name) + "' is not usable: it takes " + allowed);
    }
}
