package io.gpufleet.nodedaemon.settings;

import io.gpufleet.nodedaemon.model.settings.Strategy;
import java.nio.file.Path;
import java.util.Set;

/**
 * Where settings stand, and what is said by the daemon's own environment, which wins over all of them.
 *
 * @param node name of the Node
 * @param file NVIDIA's configuration file; empty: there is none
 * @param directory of several of them with {@code select.yaml}; empty: there is none
 * @param stateDirectory where the word of the Node's label is kept for the next start
 * @param driverRoot directory of the driver on the host where nobody says otherwise
 * @param strategies how Allocate answers; empty: as the files say
 */
public record SettingsPlaces(
        String node, String file, String directory, Path stateDirectory, String driverRoot, Set<Strategy> strategies) {
    /** Copies the set. */
    public SettingsPlaces {
        strategies = Set.copyOf(strategies);
    }
}
