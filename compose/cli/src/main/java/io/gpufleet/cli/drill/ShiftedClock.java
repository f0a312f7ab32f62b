package io.gpufleet.cli.drill;

import io.gpufleet.cli.fleet.CCompiler;
import io.gpufleet.cli.fleet.FleetPartControl;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * The time of day of one process, which can be set while it runs, as somebody sets the clock of a machine. A library that
 * is preloaded into the process reads the shift from a file.
 */
final class ShiftedClock {
    private static final String SOURCE = "/shifted_clock.c";
    private static final int LENGTH = 2 * Long.BYTES;

    private final Path library;
    private final Path shift;

    private ShiftedClock(Path library, Path shift) {
        this.library = library;
        this.shift = shift;
    }

    /** Compiles the library into a directory, with a file for the clock of this name. */
    static ShiftedClock create(Path directory, String name) {
        Path source = directory.resolve("shifted_clock.c");
        var clock = new ShiftedClock(directory.resolve("shifted_clock.so"), directory.resolve("clock-of-" + name));
        try (InputStream code = ShiftedClock.class.getResourceAsStream(SOURCE)) {
            Files.copy(Optional.ofNullable(code).orElseThrow(), source, StandardCopyOption.REPLACE_EXISTING);
            CCompiler.compileLibrary(clock.library, source, "the clock of a drill");
            Files.write(clock.shift, new byte[LENGTH]);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
        return clock;
    }

    /** Environment variables of a process that is to have this clock. */
    Map<String, String> variables() {
        return Map.of("LD_PRELOAD", library.toString(), "SHIFTED_CLOCK", shift.toString());
    }

    /** Sets the clock ahead of the system's, or behind it by a negative duration. */
    void set(Duration ahead) {
        try (var file = FileChannel.open(shift, StandardOpenOption.WRITE)) {
            file.write(number().putLong(0, ahead.toSeconds()), 0);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** How often the process read a time that was not the system's. */
    long readings() {
        ByteBuffer number = number();
        try (var file = FileChannel.open(shift, StandardOpenOption.READ)) {
            file.read(number, Long.BYTES);
            return number.getLong(0);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static ByteBuffer number() {
        return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    }

    /** Starts a part with such a clock, which then jumps, and at the end jumps back. */
    static Ongoing jump(FleetPartControl parts, String part, Duration ahead) {
        ShiftedClock clock = create(parts.directory(), part);
        parts.relaunch(part, clock.variables());
        clock.set(ahead);
        return new Ongoing() {
            @Override
            public void end() {
                clock.set(Duration.ZERO);
                parts.start(part);
            }

            @Override
            public Optional<Outcome> outcome() {
                return Optional.of(new Outcome(
                        "its clock was " + ahead.toMinutes() + " min ahead",
                        clock.readings() == 0 ? "no time that it read was shifted" : ""));
            }
        };
    }
}
