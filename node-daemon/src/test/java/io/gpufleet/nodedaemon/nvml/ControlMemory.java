package io.gpufleet.nodedaemon.nvml;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The control file of a fake library, mapped into memory; the library reads and writes it from another process as well. */
final class ControlMemory implements AutoCloseable {
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final Arena arena;
    private final MemorySegment memory;

    private ControlMemory(Arena arena, MemorySegment memory) {
        this.arena = arena;
        this.memory = memory;
    }

    /** Maps so many bytes of a file, which is created where there is none. */
    static ControlMemory map(Path file, long bytes) throws IOException {
        Arena arena = Arena.ofShared();
        try (FileChannel control =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new ControlMemory(arena, control.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena));
        }
    }

    int integer(long offset) {
        return (int) INT.getVolatile(memory, offset);
    }

    long number(long offset) {
        return (long) LONG.getVolatile(memory, offset);
    }

    String text(long offset) {
        return memory.getString(offset);
    }

    void set(long offset, int value) {
        INT.setVolatile(memory, offset, value);
    }

    void set(long offset, long value) {
        LONG.setVolatile(memory, offset, value);
    }

    void set(long offset, double value) {
        memory.set(ValueLayout.JAVA_DOUBLE, offset, value);
    }

    void set(long offset, byte value) {
        memory.set(ValueLayout.JAVA_BYTE, offset, value);
    }

    void text(long offset, String value) {
        memory.setString(offset, value);
    }

    @Override
    public void close() {
        arena.close();
    }
}
