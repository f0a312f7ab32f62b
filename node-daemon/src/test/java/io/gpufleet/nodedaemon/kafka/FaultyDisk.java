package io.gpufleet.nodedaemon.kafka;

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

/** A disk that refuses on demand, and that forgets at a power cut what was never forced to it. */
final class FaultyDisk implements Disk {
    private final Map<Path, Long> forced = new HashMap<>();
    private final Map<Path, List<byte[]>> overwritten = new HashMap<>();
    private final List<FaultyChannel> open = new ArrayList<>();
    private volatile CountDownLatch hanging = new CountDownLatch(0);
    private volatile boolean refuses;
    private long room = Long.MAX_VALUE;

    /** Every call fails from now on. */
    void fail() {
        refuses = true;
    }

    /** Takes so many bytes more, the last write in part only. */
    void fillUpAfter(long bytes) {
        room = bytes;
    }

    /** No call comes back from now on, until the disk is repaired. */
    void hang() {
        hanging = new CountDownLatch(1);
    }

    void repair() {
        hanging.countDown();
        refuses = false;
        room = Long.MAX_VALUE;
    }

    void check() throws IOException {
        awaitRepair();
        if (refuses) {
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

    int grant(int wanted) throws IOException {
        if (room == 0) {
            throw new IOException("No space left on device");
        }
        int granted = (int) Math.min(wanted, room);
        room -= room == Long.MAX_VALUE ? 0 : granted;
        return granted;
    }

    @Override
    public FileChannel open(Path file, Set<? extends OpenOption> options) throws IOException {
        check();
        if (room == 0 && options.contains(StandardOpenOption.CREATE_NEW)) {
            throw new IOException("No space left on device");
        }
        // What lies there at an opening has survived.
        forced.putIfAbsent(file, Files.exists(file) ? Files.size(file) : 0L);
        var channel = new FaultyChannel(this, file, Disk.REAL.open(file, options));
        open.add(channel);
        return channel;
    }

    void forced(Path file, long size) {
        forced.put(file, size);
    }

    void written(Path file, ByteBuffer content) {
        byte[] version = new byte[content.remaining()];
        content.duplicate().get(version);
        overwritten.computeIfAbsent(file, _ -> new ArrayList<>()).add(version);
    }

    /** The process is gone; what it wrote is there. */
    void kill() throws IOException {
        for (FaultyChannel channel : open) {
            channel.close();
        }
        open.clear();
    }

    /** The machine is gone: of what was not forced, anything may be there. */
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
