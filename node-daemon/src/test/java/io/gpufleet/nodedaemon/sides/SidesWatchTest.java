package io.gpufleet.nodedaemon.sides;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.MpsOrder;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.SideStates;
import io.gpufleet.nodedaemon.sides.SidesWatch.Orders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SidesWatchTest {
    private static final String GPU = "nvidia.com/gpu";
    private static final Instant NOW = Instant.parse("2026-11-20T10:00:00Z");

    @TempDir
    Path directory;

    private final List<SideStates> said = new ArrayList<>();
    private List<MpsOrder> orders = List.of();
    private SidesWatch watch;

    @BeforeEach
    void start() throws IOException {
        Files.createDirectories(directory.resolve("proc/4711"));
        Files.createDirectory(directory.resolve("run"));
        watch = new SidesWatch(
                directory.resolve("run"),
                directory.resolve("proc"),
                () -> new Orders(directory.resolve("mps"), orders),
                said::add,
                Clock.fixed(NOW, ZoneOffset.UTC));
    }

    @AfterEach
    void stop() {
        watch.close();
    }

    private Path folder() {
        return directory.resolve("mps").resolve(GPU);
    }

    private MpsOrder order(int shares) {
        return new MpsOrder(
                GPU,
                folder().toString(),
                List.of(
                        new MpsOrder.Shared("GPU-a", shares, new Reading.Known<>(80L << 30)),
                        new MpsOrder.Shared("GPU-b", shares, new Reading.Unavailable<>("NOT_SUPPORTED"))));
    }

    private void ready(String order, String process, long secondsAgo) throws IOException {
        Files.createDirectories(folder().resolve("pipe"));
        Files.writeString(folder().resolve("pipe/control"), "");
        Path ready = Files.writeString(folder().resolve("ready"), order + "\n" + process + "\n");
        Files.setLastModifiedTime(ready, FileTime.from(NOW.minusSeconds(secondsAgo)));
    }

    private String wantedNumber() throws IOException {
        return Files.readAllLines(folder().resolve("wanted")).getFirst().substring("order=".length());
    }

    private String mps() {
        watch.lookOnce();
        return said.getLast().mps().getOrDefault(GPU, "");
    }

    @Test
    void orderIsWrittenInWordsThatAShellReads() throws IOException {
        orders = List.of(order(4));

        watch.lookOnce();

        assertThat(Files.readAllLines(folder().resolve("wanted")).subList(1, 4))
                .containsExactly("devices=GPU-a,GPU-b", "threads=25", "limits=0:20480M");
    }

    @Test
    void controlDaemonThatAnsweredIsReady() throws IOException {
        orders = List.of(order(4));
        assertThat(mps()).contains("has not answered");
        ready(wantedNumber(), "4711", 3);

        assertThat(mps()).isEqualTo(SideStates.READY);
        assertThat(watch.lookOnce()).isFalse();
        assertThat(said).hasSize(2);
    }

    @Test
    void controlDaemonThatFellSilentOrDiedIsNotReady() throws IOException {
        orders = List.of(order(4));
        watch.lookOnce();
        String number = wantedNumber();

        ready(number, "4711", 16);
        assertThat(mps()).contains("does not answer any more");
        ready(number, "4712", 1);
        assertThat(mps()).contains("is gone");
        ready(number, "4711", 1);
        Files.delete(folder().resolve("pipe/control"));
        watch.lookOnce();
        assertThat(said).hasSize(3);
    }

    @Test
    void answerToAnEarlierOrderIsNone() throws IOException {
        orders = List.of(order(4));
        watch.lookOnce();
        ready(wantedNumber(), "4711", 1);
        orders = List.of(order(8));

        assertThat(mps()).contains("newest order");
    }

    @Test
    void orderIsTakenBackAlsoThatOfAnEarlierStart() throws IOException {
        orders = List.of(order(4));
        watch.lookOnce();
        Path left = Files.createDirectories(directory.resolve("mps/nvidia.com/gpu.shared"))
                .resolve("wanted");
        Files.writeString(left, "order=1\n");

        watch.lookOnce();
        assertThat(left).doesNotExist();
        assertThat(folder().resolve("wanted")).exists();
        orders = List.of();
        watch.lookOnce();

        assertThat(folder().resolve("wanted")).doesNotExist();
        assertThat(said.getLast().mps()).isEmpty();
    }

    @Test
    void folderThatCanNotBeWrittenIsSaid() throws IOException {
        orders = List.of(order(4));
        Files.writeString(directory.resolve("mps"), "no directory");

        assertThat(mps()).contains("wanted can not be written", "mount the directory of MPS writable");
    }

    @Test
    void installerIsHeardByItsFirstLine() throws IOException {
        Files.writeString(directory.resolve("run/installer"), "installing 580.95\nsecond line\n");
        watch.lookOnce();
        Files.delete(directory.resolve("run/installer"));
        watch.lookOnce();

        assertThat(said).extracting(SideStates::installer).containsExactly("installing 580.95", "");
    }
}
