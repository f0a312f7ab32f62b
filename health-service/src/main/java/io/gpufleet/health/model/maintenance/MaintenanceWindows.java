package io.gpufleet.health.model.maintenance;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The maintenance windows of a policy; without any, there is always time. */
public record MaintenanceWindows(List<MaintenanceWindow> windows) {
    /** No window, so any time. */
    public static final MaintenanceWindows ANY_TIME = new MaintenanceWindows(List.of());

    /** Copies the list. */
    public MaintenanceWindows {
        windows = List.copyOf(windows);
    }

    /** Window that a begin waits for, one line; empty inside a window. */
    public Optional<String> refuse(Instant now) {
        return windows.isEmpty() || windows.stream().anyMatch(window -> window.contains(now))
                ? Optional.empty()
                : Optional.of("waits for a maintenance window: "
                        + windows.stream().map(MaintenanceWindow::toString).collect(Collectors.joining("; ")));
    }
}
