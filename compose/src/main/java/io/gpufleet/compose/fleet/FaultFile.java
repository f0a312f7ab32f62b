package io.gpufleet.compose.fleet;

import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A fault of a simulated GPU: a file that appears and goes. */
public final class FaultFile {
    private static final int MAX_XID = 9999;

    private FaultFile() {}

    /** The fault happens now. */
    public static void write(FleetState.NodePlace node, int gpu, int xid) {
        if (xid < 1 || xid > MAX_XID) {
            throw new ConfigurationException("XID " + xid + " is none; for example 79, 48, 94 or 31");
        }
        try {
            Path file = path(node, gpu);
            Path temporary = file.resolveSibling("." + gpu + ".new");
            Files.writeString(temporary, xid + "\n");
            Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failed) {
            throw new UncheckedIOException("the fault can not be written", failed);
        }
    }

    /** Its cause is gone; false when there was no fault. */
    public static boolean remove(FleetState.NodePlace node, int gpu) {
        try {
            return Files.deleteIfExists(path(node, gpu));
        } catch (IOException failed) {
            throw new UncheckedIOException("the fault can not be cleared", failed);
        }
    }

    private static Path path(FleetState.NodePlace node, int gpu) {
        if (gpu < 0 || gpu >= node.gpus()) {
            throw new ConfigurationException(
                    "GPU " + gpu + " is not there: " + node.name() + " has 0 to " + (node.gpus() - 1));
        }
        return Path.of(node.faultDirectory()).resolve(gpu + ".xid");
    }
}
