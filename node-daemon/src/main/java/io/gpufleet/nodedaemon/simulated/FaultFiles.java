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

/** A directory in which a file {@code <gpu index>.xid} with a decimal XID is an open fault; watched by inotify. */
final class FaultFiles implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FaultFiles.class);
    private static final Pattern NAME = Pattern.compile("(\\d{1,4})\\.xid");
    private static final Pattern CONTENT = Pattern.compile("\\d{1,5}");

    private final Path directory;
    private final WatchService watcher;
    private final Map<Integer, ActiveFault> active = new TreeMap<>();
    private boolean scanned;

    /** A fault of a GPU began or ended. */
    record FaultChange(int gpuIndex, int xid, boolean begun) {}

    /** An open fault; {@code version} distinguishes two writes of a file, so that the same XID twice is two faults. */
    private record ActiveFault(int xid, String version) {}

    private FaultFiles(Path directory, WatchService watcher) {
        this.directory = directory;
        this.watcher = watcher;
    }

    /** Watches a directory, which is created where it does not exist. */
    static FaultFiles watch(Path directory) {
        try {
            WatchService watcher = directory.getFileSystem().newWatchService();
            register(directory, watcher);
            return new FaultFiles(directory, watcher);
        } catch (IOException e) {
            throw new ConfigurationException("GPUFLEET_SIMULATION_DIR=" + directory + " cannot be watched ("
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

    /** Waits for changes; the first call returns the faults that are there already. */
    List<FaultChange> await(Duration atMost) throws InterruptedException {
        if (!scanned) {
            scanned = true;
            List<FaultChange> found = scan();
            if (!found.isEmpty()) {
                return found;
            }
        }
        try {
            long end = System.nanoTime() + atMost.toNanos();
            List<FaultChange> changes = new ArrayList<>();
            WatchKey key = watcher.poll(atMost.toNanos(), TimeUnit.NANOSECONDS);
            while (key != null) {
                changes.addAll(changes(key));
                // Other files change too, for example one that is about to be renamed to a fault file.
                long left = changes.isEmpty() ? end - System.nanoTime() : 0;
                key = watcher.poll(Math.max(0, left), TimeUnit.NANOSECONDS);
            }
            return changes;
        } catch (ClosedWatchServiceException closedMeanwhile) {
            return List.of();
        }
    }

    private List<FaultChange> changes(WatchKey key) {
        List<FaultChange> changes = new ArrayList<>();
        for (WatchEvent<?> event : key.pollEvents()) {
            if (event.context() instanceof Path name) {
                changes.addAll(refresh(name.toString()));
            } else {
                changes.addAll(scan());
            }
        }
        if (!key.reset()) {
            // The directory was removed with all faults in it; a new directory must be registered.
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
                    .log("fault files are no longer watched: create the directory and restart");
        }
    }

    /** Reads all files: at the start, and after inotify lost events. */
    private List<FaultChange> scan() {
        Set<String> names = new TreeSet<>();
        active.keySet().forEach(index -> names.add(index + ".xid"));
        try (Stream<Path> files = Files.list(directory)) {
            files.forEach(file -> names.add(file.getFileName().toString()));
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("directory", directory).setCause(e).log("fault files cannot be listed");
        }
        return names.stream().flatMap(name -> refresh(name).stream()).toList();
    }

    /** Compares one file with the known fault. */
    private List<FaultChange> refresh(String name) {
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
                // An empty file is the first step of a write; the second step is another event.
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
            LOG.atWarn().addKeyValue("file", file).setCause(e).log("fault file cannot be read");
            return List.of();
        }
    }

    private List<FaultChange> begun(int index, int xid, String version) {
        ActiveFault now = new ActiveFault(xid, version);
        ActiveFault before = active.put(index, now);
        List<FaultChange> changes = new ArrayList<>();
        if (before != null && before.xid() != xid) {
            changes.add(new FaultChange(index, before.xid(), false));
        }
        if (!now.equals(before)) {
            changes.add(new FaultChange(index, xid, true));
        }
        return changes;
    }

    private List<FaultChange> gone(int index) {
        ActiveFault before = active.remove(index);
        return before == null ? List.of() : List.of(new FaultChange(index, before.xid(), false));
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
