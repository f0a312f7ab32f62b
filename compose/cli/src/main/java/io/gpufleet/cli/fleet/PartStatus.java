package io.gpufleet.cli.fleet;

/** State of a part of the fleet, read anew each time, so that a part that came back is seen. */
public sealed interface PartStatus {
    /** It answers that it is ready; a broker has no such answer, and is ready while it runs. */
    record Ready() implements PartStatus {}

    /** It runs and is not ready. */
    record NotReady(String reason) implements PartStatus {}

    /**
     * Its process is gone.
     *
     * @param lastLine of its log, which says why unless it was killed; empty without a log
     */
    record Ended(String lastLine) implements PartStatus {}

    /** Asks a part. */
    static PartStatus of(FleetState.FleetProcess part) {
        if (part.identity().find().isEmpty()) {
            return new Ended(String.join("", LogTail.of(part.log(), 1)).strip());
        }
        if (!part.ports().containsKey("http")) {
            return new Ready();
        }
        String failure = ReadinessProbe.probe(part.ports().getOrDefault("http", 0));
        return failure.isEmpty() ? new Ready() : new NotReady(failure);
    }

    /** One word or two. */
    default String text() {
        return switch (this) {
            case Ready() -> "ready";
            case NotReady(String _) -> "not ready";
            case Ended(String _) -> "ended";
        };
    }
}
