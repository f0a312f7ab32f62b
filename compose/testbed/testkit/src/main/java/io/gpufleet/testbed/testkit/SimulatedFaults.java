package io.gpufleet.testbed.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Faults of the daemon's simulated source: a file {@code <gpu>.xid} with the code, present as long as the fault is.
 *
 * @param directory GPUFLEET_SIMULATION_DIR of the daemon
 */
public record SimulatedFaults(Path directory) {
    /** Creates the directory. */
    public SimulatedFaults {
        try {
            Files.createDirectories(directory);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Injects an XID. */
    public void inject(int gpu, int xid) {
        try {
            Path next = Files.writeString(directory.resolve("next"), xid + "\n");
            Files.move(next, file(gpu), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Clears the fault of a GPU. */
    public void clear(int gpu) {
        try {
            Files.delete(file(gpu));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private Path file(int gpu) {
        return directory.resolve(gpu + ".xid");
    }
}
