package io.gpufleet.nodedaemon.deviceplugin;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
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
 * may be made anew.
 */
final class DirectoryWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryWatch.class);

    private final Path directory;
    private final Consumer<Set<String>> changed;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;

    /** Calls with the names that changed; with none once a second. */
    DirectoryWatch(Path directory, Consumer<Set<String>> changed) {
        this.directory = directory;
        this.changed = changed;
        this.thread = Thread.ofPlatform().name("plugin-directory").daemon(true).start(this::run);
    }

    private void run() {
        try (WatchService watcher = directory.getFileSystem().newWatchService()) {
            watch(watcher);
        } catch (IOException exhausted) {
            LOG.atWarn()
                    .addKeyValue("directory", directory)
                    .addKeyValue("error", exhausted.getMessage())
                    .log(
                            "no inotify here, the directory is looked at every second; raise fs.inotify.max_user_instances");
            poll();
        } catch (InterruptedException | ClosedWatchServiceException end) {
            // The daemon stops.
        }
    }

    private void watch(WatchService watcher) throws IOException, InterruptedException {
        boolean registered = false;
        while (closed.getCount() > 0) {
            if (!registered && Files.isDirectory(directory)) {
                directory.register(
                        watcher,
                        StandardWatchEventKinds.ENTRY_CREATE,
                        StandardWatchEventKinds.ENTRY_MODIFY,
                        StandardWatchEventKinds.ENTRY_DELETE);
                registered = true;
            }
            WatchKey key = watcher.poll(1, TimeUnit.SECONDS);
            Set<String> names = new HashSet<>();
            if (key != null) {
                key.pollEvents().forEach(event -> names.add(String.valueOf(event.context())));
                registered = key.reset();
            }
            changed.accept(names);
        }
    }

    private void poll() {
        try {
            while (!closed.await(1, TimeUnit.SECONDS)) {
                changed.accept(Set.of());
            }
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closed.countDown();
        thread.interrupt();
    }
}
