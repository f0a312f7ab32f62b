package io.gpufleet.nodedaemon.simulated;

import io.gpufleet.kit.config.ConfigurationException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A directory in which a file {@code <gpu index>.xid} is a fault that stands, told by inotify rather than by polling. */
final class FaultFiles implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FaultFiles.class);
    private static final Pattern NAME = Pattern.compile("(\\d{1,4})\\.xid");
    private static final Pattern CONTENT = Pattern.compile("\\d{1,5}");

    private final Path directory;
    private final WatchService watcher;
    private final Map<Integer, Standing> standing = new TreeMap<>();
    private boolean scanned;

    /** What changed: a fault of a GPU began or went. */
    record Change(int gpuIndex, int xid, boolean begun) {}

    /** The stamp tells one write of a file from the next, so that the same XID twice is two faults. */
    private record Standing(int xid, String stamp) {}

    private FaultFiles(Path directory, WatchService watcher) {
        this.directory = directory;
        this.watcher = watcher;
    }

    /** Watches a directory, which is made where it is not there. */
    static FaultFiles watch(Path directory) {
        try {
            WatchService watcher = directory.getFileSystem().newWatchService();
            register(directory, watcher);
            return new FaultFiles(directory, watcher);
        } catch (IOException e) {
            throw new ConfigurationException("GPUFLEET_SIMULATION_DIR=" + directory + " can not be watched ("
                    + e.getClass().getSimpleName() + "): name a directory that this user may write");
        }
    }

    private static void register(Path directory, WatchService watcher) throws IOException {
        Files.createDirectories(directory);
        directory.register(
                watcher,
                StandardWatchEventKinds.ENTRY_CREATE,
                StandardWatchEventKinds.ENTRY_MODIFY,
                StandardWatchEventKinds.ENTRY_DELETE);
    }

    /** Waits for changes; the first call finds what stood before. */
    List<Change> await(Duration atMost) throws InterruptedException {
        if (!scanned) {
            scanned = true;
            List<Change> found = scan();
            if (!found.isEmpty()) {
                return found;
            }
        }
        try {
            long end = System.nanoTime() + atMost.toNanos();
            List<Change> changes = new ArrayList<>();
            WatchKey key = watcher.poll(atMost.toNanos(), TimeUnit.NANOSECONDS);
            while (key != null) {
                changes.addAll(changes(key));
                // Other files move too, for example the one that a rename is about to make a fault: that is no sign.
                long left = changes.isEmpty() ? end - System.nanoTime() : 0;
                key = watcher.poll(Math.max(0, left), TimeUnit.NANOSECONDS);
            }
            return changes;
        } catch (ClosedWatchServiceException closedMeanwhile) {
            return List.of();
        }
    }

    private List<Change> changes(WatchKey key) {
        List<Change> changes = new ArrayList<>();
        for (WatchEvent<?> event : key.pollEvents()) {
            if (event.context() instanceof Path name) {
                changes.addAll(settle(name.toString()));
            } else {
                changes.addAll(scan());
            }
        }
        if (!key.reset()) {
            // The directory itself went: every fault in it did, and a new directory has to be watched anew.
            watchAgain();
            changes.addAll(scan());
        }
        return changes;
    }

    private void watchAgain() {
        try {
            register(directory, watcher);
        } catch (IOException e) {
            LOG.atError()
                    .addKeyValue("directory", directory)
                    .setCause(e)
                    .log("fault files are no longer watched: make the directory again and restart");
        }
    }

    /** Looks at everything: at the start, and after inotify lost count. */
    private List<Change> scan() {
        Set<String> names = new TreeSet<>();
        standing.keySet().forEach(index -> names.add(index + ".xid"));
        try (Stream<Path> files = Files.list(directory)) {
            files.forEach(file -> names.add(file.getFileName().toString()));
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("directory", directory).setCause(e).log("fault files can not be listed");
        }
        return names.stream().flatMap(name -> settle(name).stream()).toList();
    }

    /** Compares one file with what was known of it. */
    private List<Change> settle(String name) {
        Matcher matcher = NAME.matcher(name);
        if (!matcher.matches()) {
            return List.of();
        }
        int index = Integer.parseInt(matcher.group(1));
        Path file = directory.resolve(name);
        try {
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            String text = Files.readString(file).strip();
            if (!CONTENT.matcher(text).matches()) {
                // Empty is a write in two steps; its second step is an event of its own.
                if (!text.isEmpty()) {
                    LOG.atWarn()
                            .addKeyValue("file", file)
                            .log("fault file ignored: it must hold one decimal XID, for example 79");
                }
                return List.of();
            }
            return begun(index, Integer.parseInt(text), attributes.fileKey() + "@" + attributes.lastModifiedTime());
        } catch (NoSuchFileException gone) {
            return gone(index);
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("file", file).setCause(e).log("fault file can not be read");
            return List.of();
        }
    }

    private List<Change> begun(int index, int xid, String stamp) {
        Standing now = new Standing(xid, stamp);
        Standing before = standing.put(index, now);
        List<Change> changes = new ArrayList<>();
        if (before != null && before.xid() != xid) {
            changes.add(new Change(index, before.xid(), false));
        }
        if (!now.equals(before)) {
            changes.add(new Change(index, xid, true));
        }
        return changes;
    }

    private List<Change> gone(int index) {
        Standing before = standing.remove(index);
        return before == null ? List.of() : List.of(new Change(index, before.xid(), false));
    }

    @Override
    public void close() {
        try {
            watcher.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
