package io.gpufleet.nodedaemon.host;

import io.gpufleet.nodedaemon.app.device.ProcessOwnerLookup;
import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Finds the owner of a process by its name and its cgroup in /proc. */
public final class ProcfsProcessOwnerLookup implements ProcessOwnerLookup {
    /** First 15 characters, which is what the kernel keeps, of the names of MPS control daemon and server. */
    private static final String MPS = "nvidia-cuda-mps";

    private final Path proc;

    /** Reads the node's {@code /proc}: PIDs of another namespace would name other processes. */
    public ProcfsProcessOwnerLookup(Path proc) {
        this.proc = proc;
    }

    @Override
    public Optional<ProcessOwner> owner(int pid) {
        Path process = proc.resolve(Integer.toUnsignedString(pid));
        try {
            if (Files.readString(process.resolve("comm")).startsWith(MPS)) {
                return Optional.of(new ProcessOwner.Mps());
            }
            return Optional.of(CgroupParser.owner(Files.readString(process.resolve("cgroup"))));
        } catch (IOException unreadable) {
            return Files.exists(process)
                    ? Optional.of(new ProcessOwner.Unknown(
                            unreadable.getClass().getSimpleName() + ": " + unreadable.getMessage()))
                    : Optional.empty();
        }
    }
}
