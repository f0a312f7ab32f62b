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
 * Notifies of changes in a directory by inotify, and once a second in any case, because inotify instances may be
 * exhausted and the directory may be missing or replaced.
 */
public final class DirectoryWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryWatch.class);

    private final Path directory;
    private final Consumer<Set<String>> listener;
    private final WatchServiceFactory watchServices;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;

    /** Source of a {@link WatchService}, by default the JDK's, which uses inotify. */
    @FunctionalInterface
    public interface WatchServiceFactory {
        /** Opens a watch service; throws IOException when the user has no inotify instance left. */
        WatchService open() throws IOException;
    }

    /** Calls the listener on its own thread with the changed names, and with no names once a second. */
    public DirectoryWatch(Path directory, Consumer<Set<String>> listener) {
        this(directory, listener, () -> directory.getFileSystem().newWatchService());
    }

    /** Creates a watch with another source of watch services. */
    public DirectoryWatch(Path directory, Consumer<Set<String>> listener, WatchServiceFactory watchServices) {
        this.directory = directory;
        this.listener = listener;
        this.watchServices = watchServices;
        this.thread = Thread.ofPlatform()
                .name("watch-" + directory.getFileName())
                .daemon(true)
                .start(this::run);
    }

    private void run() {
        try (WatchService watcher = watchServices.open()) {
            watch(watcher);
        } catch (IOException exhausted) {
            LOG.atWarn()
                    .addKeyValue("directory", directory)
                    .addKeyValue("error", exhausted.getMessage())
                    .log("inotify unavailable, polling every second; raise fs.inotify.max_user_instances");
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
            notifyListener(names);
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
        } catch (NoSuchFileException | NotDirectoryException removed) {
            return false;
        }
    }

    private void poll() {
        try {
            while (!closed.await(1, TimeUnit.SECONDS)) {
                notifyListener(Set.of());
            }
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }

    /** Calls the listener; one that fails is called for the next change nevertheless. */
    private void notifyListener(Set<String> names) {
        try {
            listener.accept(names);
        } catch (RuntimeException failed) {
            LOG.atError().addKeyValue("directory", directory).setCause(failed).log("listener failed");
        }
    }

    @Override
    public void close() {
        closed.countDown();
        thread.interrupt();
    }
}
