package io.gpufleet.health.config;

import io.gpufleet.health.model.drain.DrainSettings;
import io.gpufleet.health.model.drain.DrainSettings.OnDeadline;
import io.gpufleet.kit.config.ConfigurationException;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Section {@code drain} of a policy pack. */
final class DrainSection {
    private static final Set<String> KEYS =
            Set.of("notice", "deadline", "jobInterval", "then", "nodes", "namespaces", "exclude", "windows");

    private final String source;
    private final Map<?, ?> fields;

    DrainSection(String source, @Nullable Object section) {
        this.source = source;
        if (section == null) {
            fields = Map.of();
        } else if (section instanceof Map<?, ?> map) {
            fields = map;
        } else {
            throw new ConfigurationException("policy " + source + ": drain takes a mapping");
        }
    }

    /** A missing key has its value of {@link DrainSettings#DEFAULT}. */
    DrainSettings settings() {
        fields.keySet().forEach(key -> {
            if (!KEYS.contains(String.valueOf(key))) {
                throw invalid(String.valueOf(key), "one of " + String.join(", ", new TreeSet<>(KEYS)));
            }
        });
        DrainSettings standard = DrainSettings.DEFAULT;
        return new DrainSettings(
                new DrainSettings.Times(
                        time("notice", standard.times().notice()),
                        time("deadline", standard.times().deadline()),
                        time("jobInterval", standard.times().jobInterval())),
                onDeadline(),
                nodes(standard.nodes()),
                patterns("namespaces", standard.namespaces()),
                patterns("exclude", standard.exclude()),
                new WindowList("policy " + source + ": drain.windows", fields.get("windows")).windows());
    }

    private Duration time(String key, Duration otherwise) {
        Object value = fields.get(key);
        try {
            return value == null ? otherwise : Duration.parse(String.valueOf(value));
        } catch (DateTimeParseException malformed) {
            throw invalid(key + "=" + value, "an ISO 8601 duration such as PT5M");
        }
    }

    private OnDeadline onDeadline() {
        Object value = fields.get("then");
        if (value == null || value.equals("wait")) {
            return OnDeadline.WAIT;
        }
        if (value.equals("delete")) {
            return OnDeadline.DELETE;
        }
        throw invalid("then=" + value, "wait or delete");
    }

    private int nodes(int otherwise) {
        Object value = fields.get("nodes");
        if (value == null) {
            return otherwise;
        }
        if (value instanceof Integer number) {
            return number;
        }
        throw invalid("nodes=" + value, "a whole number from 1");
    }

    private List<String> patterns(String key, List<String> otherwise) {
        Object value = fields.get(key);
        if (value == null) {
            return otherwise;
        }
        if (value instanceof List<?> list && list.stream().allMatch(String.class::isInstance)) {
            return list.stream().map(String.class::cast).toList();
        }
        throw invalid(key + "=" + value, "a list of namespaces, in which * stands for any text");
    }

    private ConfigurationException invalid(String key, String allowed) {
        return new ConfigurationException("policy " + source + ": drain." + key + " takes " + allowed);
    }
}
