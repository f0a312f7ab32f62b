package io.gpufleet.cli.install;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;

/**
 * Replaces the version that a jar says, in place: the jar keeps its size and its time, without which the AOT cache of the
 * daemon's package would not be used, as it is in a release.
 */
final class VersionInJar {
    private static final byte[] NAME = "io/gpufleet/kit/build.properties".getBytes(UTF_8);
    private static final int END_RECORD = 22;
    private static final int HEADER = 46;
    private static final int LOCAL_HEADER = 30;

    private final ByteBuffer jar;

    private VersionInJar(byte[] jar) {
        this.jar = ByteBuffer.wrap(jar).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Replaces it; false where the jar does not say one. */
    static boolean replace(Path file, String version) throws IOException {
        FileTime time = Files.getLastModifiedTime(file);
        var jar = new VersionInJar(Files.readAllBytes(file));
        int header = jar.header();
        if (header < 0) {
            return false;
        }
        jar.replace(header, version);
        Files.write(file, jar.jar.array());
        Files.setLastModifiedTime(file, time);
        return true;
    }

    /** Where the central directory has the file; -1 if it has none. */
    private int header() {
        int end = jar.limit() - END_RECORD;
        int header = jar.getInt(end + 16);
        for (int entry = jar.getShort(end + 10); entry > 0; entry--) {
            byte[] name = new byte[jar.getShort(header + 28)];
            jar.get(header + HEADER, name);
            if (Arrays.equals(name, NAME)) {
                return header;
            }
            header += HEADER + name.length + jar.getShort(header + 30) + jar.getShort(header + 32);
        }
        return -1;
    }

    private void replace(int header, String version) throws IOException {
        int local = jar.getInt(header + 42);
        int start = local + LOCAL_HEADER + jar.getShort(local + 26) + jar.getShort(local + 28);
        byte[] before = new byte[jar.getInt(header + 20)];
        jar.get(start, before);
        byte[] text =
                inflated(before).replaceAll("version=.*", "version=" + version).getBytes(UTF_8);
        byte[] after = deflated(text);
        if (after.length > before.length) {
            throw new AssertionError(version + " has no room in the jar");
        }
        jar.put(start, after);
        var sum = new CRC32();
        sum.update(text);
        // What is left of the former text belongs to no entry, which readers of the central directory do not mind.
        for (int sizes : new int[] {header + 16, local + 14}) {
            jar.putInt(sizes, (int) sum.getValue());
            jar.putInt(sizes + 4, after.length);
            jar.putInt(sizes + 8, text.length);
        }
    }

    private static String inflated(byte[] bytes) throws IOException {
        try (var text = new InflaterInputStream(new ByteArrayInputStream(bytes), new Inflater(true))) {
            return new String(text.readAllBytes(), UTF_8);
        }
    }

    private static byte[] deflated(byte[] text) {
        var deflater = new Deflater(Deflater.BEST_COMPRESSION, true);
        deflater.setInput(text);
        deflater.finish();
        byte[] room = new byte[text.length + 64];
        int length = deflater.deflate(room);
        deflater.end();
        return Arrays.copyOf(room, length);
    }
}
