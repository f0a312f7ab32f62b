package io.gpufleet.nodedaemon.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left of a lane after kill -9, after a power cut, and after any byte of it was lost. */
class LaneCrashTest {
    private static final int SEEDS = 2000;
    private static final int ACTS = 40;

    @TempDir
    Path directory;

    private static byte[] record(int number) {
        return (number + "=" + "x".repeat(number * 7 % 23)).getBytes(UTF_8);
    }

    private static int number(byte[] record) {
        String text = new String(record, UTF_8);
        int number = Integer.parseInt(text.substring(0, text.indexOf('=')));
        assertThat(record).as("bytes are those that were written").isEqualTo(record(number));
        return number;
    }

    private static List<Integer> readAll(Lane lane) {
        var read = new ArrayList<Integer>();
        for (Optional<Lane.Item> item = lane.next(); item.isPresent(); item = lane.next()) {
            read.add(number(item.get().record()));
        }
        return read;
    }

    /** A lane in use, and what it must remember. */
    private static final class Use {
        private final FaultyDisk disk = new FaultyDisk();
        private final Path directory;
        private final Random random;
        private final Deque<Lane.Item> underWay = new ArrayDeque<>();
        private List<Integer> history = new ArrayList<>();
        private final Set<Integer> firstOfAStart = new HashSet<>();
        private int acked;
        private int durable;
        private int appended;
        private Lane lane;

        Use(Path directory, long seed) {
            this.directory = directory;
            this.random = new Random(seed);
            this.lane = open();
        }

        private Lane open() {
            firstOfAStart.add(appended);
            return new Lane(disk, directory, 90);
        }

        void act() throws IOException {
            switch (random.nextInt(10)) {
                case 0, 1, 2, 3 -> {
                    lane.append(record(appended));
                    history.add(appended++);
                }
                case 4, 5 -> lane.next().ifPresent(underWay::add);
                case 6 -> {
                    if (!underWay.isEmpty()) {
                        Lane.Item item = underWay.remove();
                        assertThat(number(item.record())).isEqualTo(history.get(acked));
                        lane.acknowledge(item.after());
                        acked++;
                    }
                }
                case 7 -> {
                    lane.force();
                    durable = history.size();
                }
                case 8 -> kill();
                default -> cutPower();
            }
        }

        private void kill() throws IOException {
            disk.kill();
            underWay.clear();
            lane = open();
            assertThat(readAll(lane)).isEqualTo(history.subList(acked, history.size()));
            lane.rewind();
        }

        private void cutPower() throws IOException {
            disk.cutPower(random);
            underWay.clear();
            lane = open();
            List<Integer> left = readAll(lane);
            boolean told = lane.takeUnreadable() > 0;
            // Then what was forced and not acknowledged is there, in order, once
            List<Integer> must = history.subList(acked, Math.max(acked, durable));
            assertThat(left).containsAll(must).isSorted().doesNotHaveDuplicates();
            // and nothing is missing before a record but the end of an earlier start, or the lane has said so
            if (!told) {
                int expected = left.isEmpty() ? 0 : Math.min(acked, history.indexOf(left.getFirst()));
                for (int number : left) {
                    int place = history.indexOf(number);
                    assertThat(place == expected || firstOfAStart.contains(number))
                            .as(number + " behind a gap")
                            .isTrue();
                    expected = place + 1;
                }
            }
            lane.rewind();
            history = left;
            acked = 0;
            durable = left.size();
        }
    }

    @Test
    void nothingThatWasForcedIsLostAndNothingIsOutOfOrder() throws IOException {
        for (int seed = 0; seed < SEEDS; seed++) {
            Path own = Files.createDirectory(directory.resolve("seed-" + seed));
            var use = new Use(own, seed);
            try {
                for (int i = 0; i < ACTS; i++) {
                    use.act();
                }
                use.kill();
                use.disk.kill();
            } catch (AssertionError failed) {
                throw new AssertionError("seed " + seed, failed);
            }
        }
    }

    private List<Path> filled() throws IOException {
        Path original = Files.createDirectory(directory.resolve("original"));
        try (var lane = new Lane(Disk.REAL, original, 60)) {
            for (int i = 0; i < 12; i++) {
                lane.append(record(i));
            }
        }
        try (var files = Files.list(original)) {
            return files.sorted().toList();
        }
    }

    private Lane copyWith(List<Path> files, Path changed, byte[] content) throws IOException {
        Path copy = Files.createTempDirectory(directory, "copy");
        for (Path file : files) {
            Files.write(copy.resolve(file.getFileName()), file.equals(changed) ? content : Files.readAllBytes(file));
        }
        return new Lane(Disk.REAL, copy, 60);
    }

    @Test
    void segmentCutOffAtAnyByteLosesOnlyWhatWasBehindIt() throws IOException {
        List<Path> files = filled();
        for (Path file : files) {
            byte[] content = Files.readAllBytes(file);
            int kept = -1;
            for (int length = 0; length <= content.length; length++) {
                try (Lane lane = copyWith(files, file, java.util.Arrays.copyOf(content, length))) {
                    // Then whole records are there, in order, and a longer file never has fewer of them
                    List<Integer> left = readAll(lane);
                    assertThat(left).isSorted().hasSizeGreaterThanOrEqualTo(kept);
                    kept = left.size();
                    // and the lane goes on behind them
                    lane.append(record(12));
                    assertThat(readAll(lane)).containsExactly(12);
                }
            }
            assertThat(kept).isEqualTo(12);
        }
    }

    @Test
    void brokenByteAnywhereIsNeverTakenForARecord() throws IOException {
        List<Path> files = filled();
        assertThat(files).hasSizeGreaterThan(2);
        for (Path file : files) {
            byte[] content = Files.readAllBytes(file);
            for (int place = 0; place < content.length; place++) {
                byte[] broken = content.clone();
                broken[place] ^= (byte) (1 << place % 8);
                try (Lane lane = copyWith(files, file, broken)) {
                    List<Integer> left = readAll(lane);
                    var missing = new ArrayList<Integer>();
                    for (int i = 0; i < 12; i++) {
                        if (!left.contains(i)) {
                            missing.add(i);
                        }
                    }
                    assertThat(left).isSorted().doesNotHaveDuplicates();
                    assertThat(missing).isNotEmpty();
                    boolean newestSegment = file.equals(files.getLast());
                    assertThat(lane.takeUnreadable() > 0 || newestSegment).isTrue();
                }
            }
        }
    }
}
