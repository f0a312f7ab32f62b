package io.gpufleet.nodedaemon.disk;

import io.gpufleet.kit.files.DirectoryWatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The file by whose mere presence an operator says on one node: obey no verdict, whatever the centre believes. */
public final class BreakGlass implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BreakGlass.class);

    private final Path file;
    private final Consumer<Boolean> changed;
    private volatile boolean broken;
    private @Nullable DirectoryWatch watch;

    /** Looks once, so that a start obeys it from the first list on; {@link #start} watches. */
    public BreakGlass(Path file, Consumer<Boolean> changed) {
        this.file = file;
        this.changed = changed;
        look();
    }

    /** Tells from now on when the file comes and goes; within a second at the latest. */
    public void start() {
        watch = new DirectoryWatch(file.toAbsolutePath().resolveSibling(""), _ -> look());
    }

    /** Whether verdicts are to be ignored. */
    public boolean broken() {
        return broken;
    }

    private void look() {
        boolean now = Files.exists(file);
        if (now == broken) {
            return;
        }
        broken = now;
        if (now) {
            LOG.atWarn().addKeyValue("file", file).log("verdicts are ignored on this node while the file is there");
        } else {
            LOG.atInfo().addKeyValue("file", file).log("the file is gone, verdicts are obeyed again");
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
