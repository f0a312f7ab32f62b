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
    private Path place;

    @Test
    void changesAreToldByName() throws Exception {
        Set<String> told = ConcurrentHashMap.newKeySet();
        try (var _ = new DirectoryWatch(place, told::addAll)) {
            // An event before the kernel watches is not told; the second write is, at the latest.
            await().until(() -> {
                Files.writeString(place.resolve("hold"), "x");
                return told.contains("hold");
            });
        }
    }

    @Test
    void aDirectoryThatComesLaterIsWatchedToo() throws Exception {
        Set<String> told = ConcurrentHashMap.newKeySet();
        Path later = place.resolve("later");
        try (var _ = new DirectoryWatch(later, told::addAll)) {
            Files.createDirectory(later);
            await().until(() -> {
                Files.writeString(later.resolve("hold"), "x");
                return told.contains("hold");
            });
        }
    }

    @Test
    void withoutInotifyTheDirectoryIsLookedAtAgainAndAgain() throws Exception {
        var looks = new CountDownLatch(2);
        try (var _ = new DirectoryWatch(place, _ -> looks.countDown(), () -> {
            // The words of the JDK where inotify_init answers EMFILE.
            throw new IOException("User limit of inotify instances reached or too many open files");
        })) {
            assertThat(looks.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void aListenerThatFailsIsToldAgain() {
        var calls = new AtomicInteger();
        try (var _ = new DirectoryWatch(place, _ -> {
            calls.incrementAndGet();
            throw new IllegalStateException("the listener failed");
        })) {
            await().until(() -> calls.get() >= 2);
        }
    }
}
