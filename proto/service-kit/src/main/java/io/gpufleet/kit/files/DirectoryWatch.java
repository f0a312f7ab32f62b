package io.gpufleet.kit.files;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells what changed in a directory by inotify, and once a second in any case: inotify may be exhausted, and a directory
 * may not be there yet or be made anew.
 */
public final class DirectoryWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryWatch.class);

    private final Path directory;
    private final Consumer<Set<String>> changed;
    private final Notifier notifier;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;

    /** What tells of changes: the kernel's inotify, by the JDK. */
    @FunctionalInterface
    public interface Notifier {
        /** Fails with IOException where the user has no inotify instance left. */
        WatchService open() throws IOException;
    }

    /** Calls on a thread of its own, with the names that changed; with none once a second. */
    public DirectoryWatch(Path directory, Consumer<Set<String>> changed) {
        this(directory, changed, () -> directory.getFileSystem().newWatchService());
    }

    /** The same by another notifier. */
    public DirectoryWatch(Path directory, Consumer<Set<String>> changed, Notifier notifier) {
        this.directory = directory;
        this.changed = changed;
        this.notifier = notifier;
        this.thread = Thread.ofPlatform()
                .name("watch-" + directory.getFileName())
                .daemon(true)
                .start(this::run);
    }

    private void run() {
        try (WatchService watcher = notifier.open()) {
            watch(watcher);
        } catch (IOException exhausted) {
            LOG.atWarn()
                    .addKeyValue("directory", directory)
                    .addKeyValue("error", exhausted.getMessage())
                    .log(
                            "no inotify here, the directory is looked at every second; raise fs.inotify.max_user_instances");
            poll();
        } catch (InterruptedException | ClosedWatchServiceException end) {
            // Closed.
        }
    }

    private void watch(WatchService watcher) throws IOException, InterruptedException {
        boolean registered = false;
        while (closed.getCount() > 0) {
            if (!registered && Files.isDirectory(directory)) {
                registered = register(watcher);
            }
            WatchKey key = watcher.poll(1, TimeUnit.SECONDS);
            Set<String> names = new HashSet<>();
            if (key != null) {
                key.pollEvents().forEach(event -> names.add(String.valueOf(event.context())));
                registered = key.reset();
            }
            tell(names);
        }
    }

    private boolean register(WatchService watcher) throws IOException {
        try {
            directory.register(
                    watcher,
                    StandardWatchEventKinds.ENTRY_CREATE,
                    StandardWatchEventKinds.ENTRY_MODIFY,
                    StandardWatchEventKinds.ENTRY_DELETE);
            return true;
        } catch (NoSuchFileException | NotDirectoryException wentMeanwhile) {
            return false;
        }
    }

    private void poll() {
        try {
            while (!closed.await(1, TimeUnit.SECONDS)) {
                tell(Set.of());
            }
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }

    /** A listener that fails is told of the next change all the same. */
    private void tell(Set<String> names) {
        try {
            changed.accept(names);
        } catch (RuntimeException failed) {
            LOG.atError().addKeyValue("directory", directory).setCause(failed).log("a change was not dealt with");
        }
    }

    @Override
    public void close() {
        closed.countDown();
        thread.interrupt();
    }
}
