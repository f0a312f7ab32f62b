package io.gpufleet.nodedaemon.state;

import io.gpufleet.kit.files.DirectoryWatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A file whose presence makes the daemon of one node ignore all verdicts. */
public final class IgnoreVerdictsFile implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(IgnoreVerdictsFile.class);

    private final Path file;
    private final Consumer<Boolean> changed;
    private volatile boolean active;
    private @Nullable DirectoryWatch watch;

    /** Checks the file once, so that it applies from the first list on; {@link #start} watches it. */
    public IgnoreVerdictsFile(Path file, Consumer<Boolean> changed) {
        this.file = file;
        this.changed = changed;
        check();
    }

    /** Starts reporting when the file is created and removed, within a second at the latest. */
    public void start() {
        watch = new DirectoryWatch(file.toAbsolutePath().resolveSibling(""), _ -> check());
    }

    /** Whether verdicts are ignored. */
    public boolean active() {
        return active;
    }

    private void check() {
        boolean now = Files.exists(file);
        if (now == active) {
            return;
        }
        active = now;
        if (now) {
            LOG.atWarn().addKeyValue("file", file).log("verdicts ignored while the file exists");
        } else {
            LOG.atInfo().addKeyValue("file", file).log("file removed, verdicts applied again");
        }
        changed.accept(now);
    }

    @Override
    public void close() {
        DirectoryWatch watching = watch;
        if (watching != null) {
            watching.close();
        }
    }
}
