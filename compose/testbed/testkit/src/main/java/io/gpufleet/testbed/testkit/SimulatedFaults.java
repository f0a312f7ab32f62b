package io.gpufleet.testbed.testkit;

import io.gpufleet.kit.files.AtomicFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

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
            byte[] line = (xid + "\n").getBytes(StandardCharsets.US_ASCII);
            AtomicFile.write(file(gpu), line, AtomicFile.Durability.PROCESS);
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
