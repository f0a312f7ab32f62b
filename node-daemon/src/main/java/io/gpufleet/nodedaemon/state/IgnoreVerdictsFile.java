package io.gpufleet.nodedaemon.state;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A file whose presence makes the daemon of one node ignore all verdicts. */
public final class IgnoreVerdictsFile {
    private static final Logger LOG = LoggerFactory.getLogger(IgnoreVerdictsFile.class);

    private final Path file;
    private final Consumer<Boolean> changed;
    private volatile boolean active;

    /** Checks the file once, so that it applies from the first list on. */
    public IgnoreVerdictsFile(Path file, Consumer<Boolean> changed) {
        this.file = file;
        this.changed = changed;
        check();
    }

    /** Whether verdicts are ignored. */
    public boolean active() {
        return active;
    }

    /** Reports if the file was created or removed. Called by one thread. */
    public void check() {
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
}
