package io.gpufleet.cli.drill;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The clock of a Java process, compiled by the C compiler of this machine. */
class ShiftedClockIT {
    /** Prints, for each line that it reads, the time of day and that of the monotonic clock, in milliseconds. */
    private static final String CLOCK = """
        void main() throws Exception {
            while (System.in.read() == '\\n') {
                System.out.println(System.currentTimeMillis() + " " + System.nanoTime() / 1_000_000);
            }
        }
        """;

    @TempDir
    Path directory;

    @Test
    void timeOfDayJumpsWhileTheProcessRunsAndTheMonotonicClockDoesNot() throws Exception {
        ShiftedClock clock = ShiftedClock.create(directory, "process");
        Path source = Files.writeString(directory.resolve("Clock.java"), CLOCK);
        var builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), source.toString());
        builder.environment().putAll(clock.variables());
        Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (Writer ask = process.outputWriter();
                BufferedReader said = process.inputReader()) {
            // Given
            long[] before = read(ask, said);
            assertThat(Duration.between(Instant.ofEpochMilli(before[0]), Instant.now()))
                    .isLessThan(Duration.ofMinutes(1));
            assertThat(clock.readings()).isZero();

            // When
            clock.set(Duration.ofHours(1));
            long[] ahead = read(ask, said);
            long readings = clock.readings();
            clock.set(Duration.ZERO);
            long[] after = read(ask, said);

            // Then the time of day differs from the monotonic clock by an hour, and by nothing afterwards
            assertThat(jump(before, ahead)).isBetween(Duration.ofMinutes(59), Duration.ofMinutes(61));
            assertThat(jump(before, after)).isBetween(Duration.ofMinutes(-1), Duration.ofMinutes(1));
            assertThat(readings).isPositive();
        } finally {
            process.destroyForcibly();
        }
    }

    private static long[] read(Writer ask, BufferedReader said) throws Exception {
        ask.write("\n");
        ask.flush();
        String[] numbers = said.readLine().split(" ", -1);
        return new long[] {Long.parseLong(numbers[0]), Long.parseLong(numbers[1])};
    }

    private static Duration jump(long[] from, long[] to) {
        return Duration.ofMillis((to[0] - from[0]) - (to[1] - from[1]));
    }
}
