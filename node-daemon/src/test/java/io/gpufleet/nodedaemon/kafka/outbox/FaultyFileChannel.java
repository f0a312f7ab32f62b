package io.gpufleet.nodedaemon.kafka.outbox;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;

/** A file of a {@link FaultyDisk}; implements only the methods that the outbox calls. */
final class FaultyFileChannel extends FileChannel {
    private final FaultyDisk disk;
    private final Path file;
    private final FileChannel real;

    FaultyFileChannel(FaultyDisk disk, Path file, FileChannel real) {
        this.disk = disk;
        this.file = file;
        this.real = real;
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
        disk.check();
        return real.read(target, position);
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
        disk.check();
        int granted = disk.allowedBytes(source.remaining());
        ByteBuffer part = source.slice(source.position(), granted);
        if (file.endsWith("acked")) {
            disk.written(file, part);
        }
        int written = real.write(part, position);
        source.position(source.position() + written);
        return written;
    }

    @Override
    public long size() throws IOException {
        disk.check();
        return real.size();
    }

    @Override
    public void force(boolean metaData) throws IOException {
        disk.check();
        disk.forced(file, real.size());
    }

    @Override
    protected void implCloseChannel() throws IOException {
        real.close();
    }

    @Override
    public int read(ByteBuffer target) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer source) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long position() {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel position(long newPosition) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
        disk.check();
        real.truncate(size);
        return this;
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long position, long count) {
        throw new UnsupportedOperationException();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) {
        throw new UnsupportedOperationException();
    }
}
