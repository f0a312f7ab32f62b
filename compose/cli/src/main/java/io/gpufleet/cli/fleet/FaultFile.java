package io.gpufleet.cli.fleet;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.kit.files.AtomicFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A fault of a simulated GPU: a file, present as long as the fault is. */
public final class FaultFile {
    private static final int MAX_XID = 9999;

    private FaultFile() {}

    /** Injects the fault. */
    public static void write(FleetState.FleetNode node, int gpu, int xid) {
        if (xid < 1 || xid > MAX_XID) {
            throw new ConfigurationException("XID " + xid + " is not valid; for example 79, 48, 94 or 31");
        }
        try {
            byte[] line = (xid + "\n").getBytes(StandardCharsets.US_ASCII);
            AtomicFile.write(path(node, gpu), line, AtomicFile.Durability.PROCESS);
        } catch (IOException failed) {
            throw new UncheckedIOException("the fault cannot be written", failed);
        }
    }

    /** Clears the fault; false when there was none. */
    public static boolean remove(FleetState.FleetNode node, int gpu) {
        try {
            return Files.deleteIfExists(path(node, gpu));
        } catch (IOException failed) {
            throw new UncheckedIOException("the fault cannot be cleared", failed);
        }
    }

    private static Path path(FleetState.FleetNode node, int gpu) {
        if (gpu < 0 || gpu >= node.gpus()) {
            throw new ConfigurationException(
                    "GPU " + gpu + " is not there: " + node.name() + " has 0 to " + (node.gpus() - 1));
        }
        return Path.of(node.faultDirectory()).resolve(gpu + ".xid");
    }
}
