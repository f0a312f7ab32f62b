package io.gpufleet.health.config;

import io.gpufleet.health.model.maintenance.MaintenanceWindow;
import io.gpufleet.health.model.maintenance.MaintenanceWindows;
import io.gpufleet.kit.config.ConfigurationException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Key {@code windows} of two sections of a policy pack: a list of maintenance windows. */
final class WindowList {
    private final String place;
    private final @Nullable Object value;

    WindowList(String place, @Nullable Object value) {
        this.place = place;
        this.value = value;
    }

    /** Any time where nothing is said. */
    MaintenanceWindows windows() {
        if (value == null) {
            return MaintenanceWindows.ANY_TIME;
        }
        if (value instanceof List<?> list && !list.isEmpty()) {
            return new MaintenanceWindows(list.stream().map(this::window).toList());
        }
        throw new ConfigurationException(place + "=" + value + " takes a list of " + MaintenanceWindow.FORM);
    }

    private MaintenanceWindow window(@Nullable Object text) {
        try {
            return MaintenanceWindow.parse(String.valueOf(text));
        } catch (IllegalArgumentException mistake) {
            throw new ConfigurationException(place + "=" + text + ": " + mistake.getMessage());
        }
    }
}
