package io.gpufleet.nodedaemon.podresources;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@NullMarked
class KubeletUptimeTest {
    private static final Instant BOOT = Instant.parse("2026-11-27T08:00:00Z");
    private static final Duration STARTUP = Duration.ofSeconds(15);
    private static final Duration HOUR = Duration.ofHours(1);

    @TempDir
    private Path directory = Path.of("");

    private Path socket = Path.of("");
    private Duration elapsed = Duration.ZERO;
    private Duration set = Duration.ZERO;

    @BeforeEach
    void nameSocket() {
        socket = directory.resolve("kubelet.sock");
    }

    private KubeletUptime daemonStarts() {
        InstantSource clock = this::now;
        // The monotonic clock begins at any value.
        return new KubeletUptime(
                socket, clock.withZone(ZoneOffset.UTC), () -> Long.MAX_VALUE - HOUR.toNanos() + elapsed.toNanos());
    }

    private Instant now() {
        return BOOT.plus(elapsed).plus(set);
    }

    private void pass(Duration time) {
        elapsed = elapsed.plus(time);
    }

    private void kubeletStarts() throws IOException {
        // The file of a former start is there until then, so that they differ in more than their times.
        Path created = Files.createFile(directory.resolve("created"));
        Files.setLastModifiedTime(created, FileTime.from(now()));
        Files.move(created, socket, StandardCopyOption.REPLACE_EXISTING);
    }

    @Test
    void kubeletThatRanBeforeTheDaemonIsReadyAtOnce() throws Exception {
        kubeletStarts();
        pass(STARTUP);

        assertThat(daemonStarts().isReady()).isTrue();
    }

    @Test
    void kubeletThatStartedBeforeTheDaemonIsReadyAfterTheRestOfItsStart() throws Exception {
        kubeletStarts();
        pass(Duration.ofSeconds(10));
        KubeletUptime uptime = daemonStarts();

        assertThat(uptime.isReady()).isFalse();
        pass(Duration.ofSeconds(5));
        assertThat(uptime.isReady()).isTrue();
    }

    @Test
    void kubeletThatRestartsIsReadyAfterItsStart() throws Exception {
        kubeletStarts();
        pass(STARTUP);
        KubeletUptime uptime = daemonStarts();
        assertThat(uptime.isReady()).isTrue();

        kubeletStarts();

        assertThat(uptime.isReady()).isFalse();
        pass(STARTUP);
        assertThat(uptime.isReady()).isTrue();
    }

    @Test
    void kubeletWithoutASocketIsNotReady() {
        assertThat(daemonStarts().isReady()).isFalse();
    }

    @Test
    void clockThatIsSetBackDoesNotDelayIt() throws Exception {
        kubeletStarts();
        KubeletUptime uptime = daemonStarts();
        assertThat(uptime.isReady()).isFalse();

        set = HOUR.negated();
        pass(STARTUP);

        assertThat(uptime.isReady()).isTrue();
    }

    @Test
    void clockThatWasSetBackBeforeTheDaemonStartedDelaysItByOneStart() throws Exception {
        kubeletStarts();
        set = HOUR.negated();
        KubeletUptime uptime = daemonStarts();
        assertThat(uptime.isReady()).isFalse();

        pass(STARTUP);

        assertThat(uptime.isReady()).isTrue();
    }

    @Test
    void clockThatIsSetBackDoesNotUndoIt() throws Exception {
        kubeletStarts();
        pass(STARTUP);
        KubeletUptime uptime = daemonStarts();
        assertThat(uptime.isReady()).isTrue();

        set = HOUR.negated();

        assertThat(uptime.isReady()).isTrue();
    }

    @Test
    void clockThatIsSetForwardDoesNotHastenIt() throws Exception {
        kubeletStarts();
        KubeletUptime uptime = daemonStarts();
        assertThat(uptime.isReady()).isFalse();

        set = HOUR;

        assertThat(uptime.isReady()).isFalse();
    }

    @Test
    void clockThatIsSetForwardBetweenTheRestartOfAKubeletAndTheNextListDoesNotHastenIt() throws Exception {
        kubeletStarts();
        pass(STARTUP);
        KubeletUptime uptime = daemonStarts();
        assertThat(uptime.isReady()).isTrue();

        kubeletStarts();
        set = HOUR;

        assertThat(uptime.isReady()).isFalse();
    }
}
