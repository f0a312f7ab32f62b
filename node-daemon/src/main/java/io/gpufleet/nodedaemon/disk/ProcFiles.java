package io.gpufleet.nodedaemon.disk;

import io.gpufleet.nodedaemon.app.ProcessTable;
import io.gpufleet.nodedaemon.model.ProcessOwner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Whose a process is, as the kernel's files tell it: its name and its cgroup. */
public final class ProcFiles implements ProcessTable {
    /** The kernel keeps 15 characters of a name: this is what is left of control daemon and server. */
    private static final String MPS = "nvidia-cuda-mps";

    private final Path proc;

    /** Reads below that directory, which is the node's {@code /proc}: PIDs of another namespace name other processes. */
    public ProcFiles(Path proc) {
        this.proc = proc;
    }

    @Override
    public Optional<ProcessOwner> owner(int pid) {
        Path its = proc.resolve(Integer.toUnsignedString(pid));
        try {
            if (Files.readString(its.resolve("comm")).startsWith(MPS)) {
                return Optional.of(new ProcessOwner.Mps());
            }
            return Optional.of(CgroupText.owner(Files.readString(its.resolve("cgroup"))));
        } catch (IOException unreadable) {
            return Files.exists(its)
                    ? Optional.of(new ProcessOwner.Unknown(
                            unreadable.getClass().getSimpleName() + ": " + unreadable.getMessage()))
                    : Optional.empty();
        }
    }
}
