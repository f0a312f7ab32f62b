package io.gpufleet.nodedaemon.host;

import io.gpufleet.nodedaemon.app.DoctorFinding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Checks directories to which the daemon writes. */
public final class DirectoryCheck {
    private static final long MIB = 1 << 20;

    private DirectoryCheck() {}

    /**
     * Checks a directory that may not exist yet, but can be created.
     *
     * @param setting environment variable that names it
     * @param wantedBytes free space that it should have
     * @param loss consequence of its absence
     */
    public static DoctorFinding writable(
            String subject, String setting, Path directory, long wantedBytes, String loss) {
        Path existing = directory.toAbsolutePath();
        while (!Files.exists(existing) && existing.getParent() != null) {
            existing = existing.getParent();
        }
        if (!Files.isDirectory(existing) || !Files.isWritable(existing)) {
            return DoctorFinding.warn(
                    subject,
                    directory + " cannot be written"
                            + (existing.equals(directory) ? "" : " (" + existing + " is in the way)"),
                    "mount a directory of the host there that this user may write, or set " + setting + "; " + loss);
        }
        try {
            long free = Files.getFileStore(existing).getUsableSpace();
            String found = directory + ", " + free / MIB + " MiB free";
            return free >= wantedBytes
                    ? DoctorFinding.ok(subject, found)
                    : DoctorFinding.warn(
                            subject,
                            found,
                            "free " + wantedBytes / MIB + " MiB on its disk, or set " + setting + "; " + loss);
        } catch (IOException unknown) {
            return DoctorFinding.warn(subject, directory + ": " + unknown, "check its disk");
        }
    }
}
