package io.gpufleet.health.model.maintenance;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An operator's declaration that people work on a node: faults are recorded, and nothing new is done about them.
 *
 * @param since append time of the command
 * @param note user and reason, one line for people
 */
public record Maintenance(Instant since, String note) {
    /** Label or annotation of a Node that declares it too; its value is the reason. */
    public static final String KEY = "gpufleet.io/maintenance";

    private static final String NOT_DECLARED = "false";

    /** Reason to hold back while it is declared, by a command or on the Node; empty while it is not. */
    public static Optional<String> holdsBack(@Nullable Maintenance declared, Map<String, String> labels) {
        return Optional.ofNullable(declared)
                .map(Maintenance::note)
                .or(() -> Optional.ofNullable(labels.get(KEY)).filter(value -> !value.equals(NOT_DECLARED)))
                .map(note -> "maintenance: " + note);
    }
}
