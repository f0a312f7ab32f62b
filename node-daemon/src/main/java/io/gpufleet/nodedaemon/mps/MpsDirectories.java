package io.gpufleet.nodedaemon.mps;

import io.gpufleet.nodedaemon.app.MpsControl;
import io.gpufleet.nodedaemon.model.allocation.MpsDaemonSpec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The directories of all MPS control daemons, one for each shared resource. */
public final class MpsDirectories implements MpsControl {
    private static final Logger LOG = LoggerFactory.getLogger(MpsDirectories.class);
    /** Depth of {@code <root>/nvidia.com/gpu/desired}. */
    private static final int DEPTH = 3;

    private final Path processes;
    private final Clock clock;

    /** Creates it with the procfs in which process ids of control daemons are looked up. */
    public MpsDirectories(Path processes, Clock clock) {
        this.processes = processes;
        this.clock = clock;
    }

    @Override
    public String reconcile(MpsDaemonSpec spec) {
        return directory(Path.of(spec.directory())).reconcile(spec);
    }

    @Override
    public void removeStale(Path root, Set<String> directories) {
        if (!Files.isDirectory(root)) {
            return;
        }
        try (Stream<Path> files = Files.find(root, DEPTH, (file, _) -> file.endsWith(MpsDirectory.DESIRED))) {
            List<Path> stale = files.map(file -> file.resolveSibling(""))
                    .filter(directory -> !directories.contains(directory.toString()))
                    .toList();
            for (Path directory : stale) {
                if (directory(directory).remove()) {
                    LOG.atInfo().addKeyValue("directory", directory).log("MPS spec removed");
                }
            }
        } catch (IOException | UncheckedIOException failed) {
            LOG.atDebug()
                    .addKeyValue("root", root)
                    .addKeyValue("error", failed.toString())
                    .log("old MPS specs cannot be removed");
        }
    }

    private MpsDirectory directory(Path path) {
        return new MpsDirectory(path, processes, clock);
    }
}
