package io.gpufleet.wire.json;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.time.Instant;

/** Prints the binary encoding of a message, as this program's protobuf library wrote it, as JSON. Used once. */
final class JsonPrinter {
    private static final long MIN_SECONDS = -62_135_596_800L;
    private static final long MAX_SECONDS = 253_402_300_799L;
    private static final int MAX_NANOS = 999_999_999;
    private static final int LENGTH_DELIMITED = 2;
    private static final byte[] TRUE = "true".getBytes(US_ASCII);
    private static final byte[] FALSE = "false".getBytes(US_ASCII);

    private final byte[] binary;
    private final WireBuffer out;
    private int at;

    JsonPrinter(byte[] binary) {
        this.binary = binary;
        this.out = new WireBuffer(binary.length * 2);
    }

    byte[] print(MessageSchema schema) {
        object(schema, binary.length);
        return out.toArray();
    }

    private void object(MessageSchema schema, int end) {
        out.put('{');
        boolean first = true;
        while (at < end) {
            if (!first) {
                out.put(',');
            }
            first = false;
            int tag = (int) varint();
            FieldSchema field = schema.field(tag >>> 3);
            out.put(field.label);
            switch (field.cardinality) {
                case ONE -> value(field);
                case MANY -> list(field, tag, end);
                case MAP -> map(field, tag, end);
            }
        }
        out.put('}');
    }

    private void list(FieldSchema field, int tag, int end) {
        out.put('[');
        if (field.packed()) {
            if ((tag & 7) != LENGTH_DELIMITED) {
                throw new UnsupportedJsonException();
            }
            int length = (int) varint();
            int listEnd = at + length;
            value(field);
            while (at < listEnd) {
                out.put(',');
                value(field);
            }
        } else {
            value(field);
            while (follows(tag, end)) {
                out.put(',');
                value(field);
            }
        }
        out.put(']');
    }

    private void map(FieldSchema field, int tag, int end) {
        FieldSchema key = field.nested().field(1);
        FieldSchema value = field.nested().field(2);
        if (key.kind != FieldSchema.Kind.STRING) {
            throw new UnsupportedJsonException();
        }
        out.put('{');
        entry(key, value);
        while (follows(tag, end)) {
            out.put(',');
            entry(key, value);
        }
        out.put('}');
    }

    /** The library writes both key and value, also where they are the default. */
    private void entry(FieldSchema key, FieldSchema value) {
        varint();
        expectField(1);
        value(key);
        out.put(':');
        expectField(2);
        value(value);
    }

    private void expectField(int number) {
        if (varint() >>> 3 != number) {
            throw new UnsupportedJsonException();
        }
    }

    /** True, and read, when the same tag follows. */
    private boolean follows(int tag, int end) {
        int before = at;
        if (at < end && varint() == tag) {
            return true;
        }
        at = before;
        return false;
    }

    private void value(FieldSchema field) {
        switch (field.kind) {
            case INT32 -> out.ascii(Integer.toString((int) varint()));
            case UINT32 -> out.ascii(Integer.toUnsignedString((int) varint()));
            case INT64 -> quoted(Long.toString(varint()));
            case UINT64 -> quoted(Long.toUnsignedString(varint()));
            case BOOL -> out.put(varint() == 0 ? FALSE : TRUE);
            case ENUM -> {
                out.put('"');
                out.put(field.constantName((int) varint()));
                out.put('"');
            }
            case STRING -> {
                int length = (int) varint();
                JsonText.escape(binary, at, at + length, out);
                at += length;
            }
            case TIMESTAMP -> timestamp();
            case MESSAGE -> {
                int length = (int) varint();
                object(field.nested(), at + length);
            }
            case UNSUPPORTED -> throw new UnsupportedJsonException();
        }
    }

    private void quoted(String digits) {
        out.put('"');
        out.ascii(digits);
        out.put('"');
    }

    private void timestamp() {
        int length = (int) varint();
        int end = at + length;
        long seconds = 0;
        long nanos = 0;
        while (at < end) {
            switch ((int) varint() >>> 3) {
                case 1 -> seconds = varint();
                case 2 -> nanos = varint();
                default -> throw new UnsupportedJsonException();
            }
        }
        if (seconds < MIN_SECONDS || seconds > MAX_SECONDS || nanos < 0 || nanos > MAX_NANOS) {
            throw new UnsupportedJsonException();
        }
        quoted(UtcTime.print(Instant.ofEpochSecond(seconds, nanos)));
    }

    private long varint() {
        byte next = binary[at++];
        if (next >= 0) {
            return next;
        }
        long value = next & 0x7f;
        for (int shift = 7; ; shift += 7) {
            next = binary[at++];
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }
}
