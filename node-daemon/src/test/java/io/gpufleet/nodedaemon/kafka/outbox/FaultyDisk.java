package io.gpufleet.nodedaemon.kafka.outbox;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/** A disk that fails on demand, and loses unflushed data at a power cut. */
public final class FaultyDisk implements OutboxDisk {
    private final Map<Path, Long> forced = new HashMap<>();
    private final Map<Path, List<byte[]>> overwritten = new HashMap<>();
    private final List<FaultyFileChannel> open = new ArrayList<>();
    private volatile CountDownLatch hanging = new CountDownLatch(0);
    private volatile boolean failing;
    private long freeBytes = Long.MAX_VALUE;
    private int flushes;

    /** Every call fails from now on. */
    void fail() {
        failing = true;
    }

    /** Accepts so many bytes more; the last write is partial. */
    void fillUpAfter(long bytes) {
        freeBytes = bytes;
    }

    /** Every call blocks until {@link #repair}. */
    public void hang() {
        hanging = new CountDownLatch(1);
    }

    public void repair() {
        hanging.countDown();
        failing = false;
        freeBytes = Long.MAX_VALUE;
    }

    void check() throws IOException {
        awaitRepair();
        if (failing) {
            throw new IOException("Input/output error");
        }
    }

    private void awaitRepair() throws IOException {
        try {
            hanging.await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        }
    }

    int allowedBytes(int requested) throws IOException {
        if (freeBytes == 0) {
            throw new IOException("No space left on device");
        }
        int accepted = (int) Math.min(requested, freeBytes);
        freeBytes -= freeBytes == Long.MAX_VALUE ? 0 : accepted;
        return accepted;
    }

    @Override
    public FileChannel open(Path file, Set<? extends OpenOption> options) throws IOException {
        check();
        if (freeBytes == 0 && options.contains(StandardOpenOption.CREATE_NEW)) {
            throw new IOException("No space left on device");
        }
        // Content that exists when the file is opened has survived.
        forced.putIfAbsent(file, Files.exists(file) ? Files.size(file) : 0L);
        var channel = new FaultyFileChannel(this, file, OutboxDisk.REAL.open(file, options));
        open.add(channel);
        return channel;
    }

    /** Number of flushes of any file. */
    int flushes() {
        return flushes;
    }

    void forced(Path file, long size) {
        flushes++;
        forced.put(file, size);
    }

    void written(Path file, ByteBuffer content) {
        byte[] version = new byte[content.remaining()];
        content.duplicate().get(version);
        overwritten.computeIfAbsent(file, _ -> new ArrayList<>()).add(version);
    }

    /** Simulates kill -9: everything written remains. */
    void kill() throws IOException {
        for (FaultyFileChannel channel : open) {
            channel.close();
        }
        open.clear();
    }

    /** Simulates a power cut: any part of the unflushed data may remain. */
    void cutPower(Random random) throws IOException {
        kill();
        for (Map.Entry<Path, Long> file : forced.entrySet()) {
            if (!Files.exists(file.getKey())) {
                continue;
            }
            List<byte[]> versions = overwritten.getOrDefault(file.getKey(), List.of());
            if (versions.isEmpty()) {
                loseTail(file.getKey(), file.getValue(), random);
            } else {
                Files.write(file.getKey(), versions.get(random.nextInt(versions.size())));
            }
        }
        forced.clear();
        overwritten.clear();
    }

    private static void loseTail(Path file, long kept, Random random) throws IOException {
        byte[] content = Files.readAllBytes(file);
        int from = (int) kept + random.nextInt(content.length - (int) kept + 1);
        switch (random.nextInt(4)) {
            case 0 -> content = java.util.Arrays.copyOf(content, from);
            case 1 -> java.util.Arrays.fill(content, from, content.length, (byte) 0);
            case 2 -> {
                for (int i = from; i < content.length; i++) {
                    content[i] = (byte) random.nextInt();
                }
            }
            default -> java.util.Arrays.fill(content, from, Math.min(content.length, from + 32), (byte) 0);
        }
        Files.write(file, content);
    }
}
