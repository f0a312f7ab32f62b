package io.gpufleet.nodedaemon.doctor;

import io.gpufleet.nodedaemon.model.Finding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Directories that the daemon writes to. */
public final class PlaceCheck {
    private static final long MIB = 1 << 20;

    private PlaceCheck() {}

    /**
     * A directory that need not be there yet, but must be possible.
     *
     * @param setting its name in the environment
     * @param wantedBytes free space that it should have
     * @param loss what does not work without it
     */
    public static Finding writable(String subject, String setting, Path directory, long wantedBytes, String loss) {
        Path there = directory.toAbsolutePath();
        while (!Files.exists(there) && there.getParent() != null) {
            there = there.getParent();
        }
        if (!Files.isDirectory(there) || !Files.isWritable(there)) {
            return Finding.warn(
                    subject,
                    directory + " can not be written"
                            + (there.equals(directory) ? "" : " (" + there + " is in the way)"),
                    "mount a directory of the host there that this user may write, or set " + setting + "; " + loss);
        }
        try {
            long free = Files.getFileStore(there).getUsableSpace();
            String found = directory + ", " + free / MIB + " MiB free";
            return free >= wantedBytes
                    ? Finding.ok(subject, found)
                    : Finding.warn(
                            subject,
                            found,
                            "free " + wantedBytes / MIB + " MiB on its disk, or set " + setting + "; " + loss);
        } catch (IOException unknown) {
            return Finding.warn(subject, directory + ": " + unknown, "look at its disk");
        }
    }
}
