package io.gpufleet.kit.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryWatchTest {
    @TempDir
    private Path directory;

    @Test
    void changedFilesAreReportedByName() throws Exception {
        Set<String> reported = ConcurrentHashMap.newKeySet();
        try (var _ = new DirectoryWatch(directory, reported::addAll)) {
            // A write before the watch is registered is not reported; a later one is.
            await().until(() -> {
                Files.writeString(directory.resolve("hold"), "x");
                return reported.contains("hold");
            });
        }
    }

    @Test
    void directoryCreatedLaterIsWatched() throws Exception {
        Set<String> reported = ConcurrentHashMap.newKeySet();
        Path later = directory.resolve("later");
        try (var _ = new DirectoryWatch(later, reported::addAll)) {
            Files.createDirectory(later);
            await().until(() -> {
                Files.writeString(later.resolve("hold"), "x");
                return reported.contains("hold");
            });
        }
    }

    @Test
    void directoryIsPolledWithoutInotify() throws Exception {
        var calls = new CountDownLatch(2);
        try (var _ = new DirectoryWatch(directory, _ -> calls.countDown(), () -> {
            // Message of the JDK when inotify_init returns EMFILE.
            throw new IOException("User limit of inotify instances reached or too many open files");
        })) {
            assertThat(calls.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void failingListenerIsCalledAgain() {
        var calls = new AtomicInteger();
        try (var _ = new DirectoryWatch(directory, _ -> {
            calls.incrementAndGet();
            throw new IllegalStateException("the listener failed");
        })) {
            await().until(() -> calls.get() >= 2);
        }
    }
}
