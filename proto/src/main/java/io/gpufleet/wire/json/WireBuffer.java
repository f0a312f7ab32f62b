package io.gpufleet.wire.json;

import java.util.Arrays;

/** Growing bytes: of the binary encoding, or of a text. */
final class WireBuffer {
    private byte[] bytes;
    private int size;

    WireBuffer(int expected) {
        bytes = new byte[Math.max(64, expected)];
    }

    /** Written bytes, and room behind them. */
    byte[] bytes() {
        return bytes;
    }

    int size() {
        return size;
    }

    byte[] toArray() {
        return Arrays.copyOf(bytes, size);
    }

    void put(int value) {
        room(1);
        bytes[size++] = (byte) value;
    }

    void put(byte[] source) {
        put(source, 0, source.length);
    }

    void put(byte[] source, int from, int to) {
        room(to - from);
        System.arraycopy(source, from, bytes, size, to - from);
        size += to - from;
    }

    /** ASCII text. */
    @SuppressWarnings("deprecation")
    void ascii(String text) {
        int length = text.length();
        room(length);
        text.getBytes(0, length, bytes, size);
        size += length;
    }

    void varint(long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            put((int) (rest & 0x7f | 0x80));
            rest >>>= 7;
        }
        put((int) rest);
    }

    /** Field number and wire type. */
    void tag(int number, int wireType) {
        varint((long) number << 3 | wireType);
    }

    /** Begins bytes that are preceded by their length; returns where. */
    int begin() {
        put(0);
        return size;
    }

    /** Ends bytes that began there, and writes their length before them. */
    void end(int begin) {
        int length = size - begin;
        int extra = 0;
        for (int rest = length >>> 7; rest != 0; rest >>>= 7) {
            extra++;
        }
        room(extra);
        System.arraycopy(bytes, begin, bytes, begin + extra, length);
        size = begin - 1;
        varint(length);
        size += length;
    }

    private void room(int needed) {
        if (bytes.length - size < needed) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + needed));
        }
    }
}
