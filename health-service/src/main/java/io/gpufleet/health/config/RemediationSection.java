package io.gpufleet.health.config;

import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.remediation.RemediationSettings;
import io.gpufleet.kit.config.ConfigurationException;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Section {@code remediation} of a policy pack. */
final class RemediationSection {
    private static final Set<String> KEYS = Set.of("actions", "deadline", "nodes", "windows");

    private final String source;
    private final @Nullable Object section;

    RemediationSection(String source, @Nullable Object section) {
        this.source = source;
        this.section = section;
    }

    /** A missing key has its value of {@link RemediationSettings#DEFAULT}. */
    RemediationSettings settings() {
        RemediationSettings standard = RemediationSettings.DEFAULT;
        if (section == null) {
            return standard;
        }
        if (!(section instanceof Map<?, ?> fields) || !KEYS.containsAll(fields.keySet())) {
            throw invalid("", section, "a mapping of actions, deadline, nodes, windows");
        }
        Object nodes = fields.containsKey("nodes") ? fields.get("nodes") : Integer.valueOf(standard.nodes());
        if (!(nodes instanceof Integer number)) {
            throw invalid(".nodes", nodes, "a whole number from 1");
        }
        return new RemediationSettings(
                fields.containsKey("actions") ? actions(fields.get("actions")) : standard.actions(),
                fields.containsKey("deadline") ? time(fields.get("deadline")) : standard.deadline(),
                number,
                new WindowList("policy " + source + ": remediation.windows", fields.get("windows")).windows());
    }

    private Set<RecommendedAction> actions(@Nullable Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(this::action).collect(Collectors.toUnmodifiableSet());
        }
        throw invalid(".actions", value, "a list of reset-gpu, reboot, power-cycle, replace, validate");
    }

    private RecommendedAction action(@Nullable Object slug) {
        return RemediationSettings.EXECUTABLE.stream()
                .filter(action -> action.slug().equals(slug))
                .findFirst()
                .orElseThrow(() -> invalid(".actions", slug, "reset-gpu, reboot, power-cycle, replace, validate"));
    }

    private Duration time(@Nullable Object value) {
        try {
            return Duration.parse(String.valueOf(value));
        } catch (DateTimeParseException malformed) {
            throw invalid(".deadline", value, "an ISO 8601 duration such as PT30M");
        }
    }

    private ConfigurationException invalid(String key, @Nullable Object value, String allowed) {
        return new ConfigurationException(
                "policy " + source + ": remediation" + key + "=" + value + " takes " + allowed);
    }
}
