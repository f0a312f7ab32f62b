package io.gpufleet.health.http;

import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Readiness checks of several parts. */
public final class ReadinessChecks {
    private ReadinessChecks() {}

    /** The failures of all checks; each check answers one line per failure. */
    @SafeVarargs
    public static Supplier<List<String>> allOf(Supplier<List<String>>... checks) {
        return () -> Stream.of(checks).flatMap(check -> check.get().stream()).toList();
    }
}
