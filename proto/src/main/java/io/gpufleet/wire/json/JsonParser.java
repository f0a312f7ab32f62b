package io.gpufleet.wire.json;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Parses JSON in the form in which protobuf libraries print it, with any white space, to the binary encoding. Used once. */
final class JsonParser {
    private static final int VARINT = 0;
    private static final int LENGTH_DELIMITED = 2;
    /** Deeper than any message of the catalogue. */
    private static final int MAX_DEPTH = 50;

    private final JsonScanner in;
    private final WireBuffer out;
    private int depth;

    JsonParser(byte[] json) {
        this.in = new JsonScanner(json);
        this.out = new WireBuffer(json.length);
    }

    WireBuffer parse(MessageSchema schema) {
        object(schema);
        in.expectEnd();
        return out;
    }

    private void object(MessageSchema schema) {
        if (++depth > MAX_DEPTH) {
            throw new UnsupportedJsonException();
        }
        in.expect('{');
        long fields = 0;
        long oneofs = 0;
        int next = 0;
        if (!in.skipIf('}')) {
            do {
                int index = in.name(schema, next);
                FieldSchema field = schema.at(index);
                if ((fields & 1L << index) != 0 || (oneofs & field.oneofBit) != 0) {
                    throw new UnsupportedJsonException();
                }
                fields |= 1L << index;
                oneofs |= field.oneofBit;
                next = index + 1;
                in.expect(':');
                field(field);
            } while (in.skipIf(','));
            in.expect('}');
        }
        depth--;
    }

    private void field(FieldSchema field) {
        switch (field.cardinality) {
            case ONE -> value(field);
            case MANY -> list(field);
            case MAP -> map(field);
        }
    }

    private void list(FieldSchema field) {
        in.expect('[');
        if (in.skipIf(']')) {
            return;
        }
        if (field.packed()) {
            out.tag(field.number, LENGTH_DELIMITED);
            int begin = out.begin();
            do {
                out.varint(number(field));
            } while (in.skipIf(','));
            out.end(begin);
        } else {
            do {
                value(field);
            } while (in.skipIf(','));
        }
        in.expect(']');
    }

    private void map(FieldSchema field) {
        FieldSchema key = field.nested().field(1);
        FieldSchema value = field.nested().field(2);
        if (key.kind != FieldSchema.Kind.STRING) {
            throw new UnsupportedJsonException();
        }
        in.expect('{');
        if (in.skipIf('}')) {
            return;
        }
        do {
            out.tag(field.number, LENGTH_DELIMITED);
            int begin = out.begin();
            value(key);
            in.expect(':');
            value(value);
            out.end(begin);
        } while (in.skipIf(','));
        in.expect('}');
    }

    private void value(FieldSchema field) {
        switch (field.kind) {
            case INT32, UINT32, INT64, UINT64, BOOL, ENUM -> {
                out.tag(field.number, VARINT);
                out.varint(number(field));
            }
            case STRING -> {
                int begin = begin(field);
                in.text(out);
                out.end(begin);
            }
            case TIMESTAMP -> {
                int begin = begin(field);
                timestamp();
                out.end(begin);
            }
            case MESSAGE -> {
                int begin = begin(field);
                object(field.nested());
                out.end(begin);
            }
            case UNSUPPORTED -> throw new UnsupportedJsonException();
        }
    }

    private int begin(FieldSchema field) {
        out.tag(field.number, LENGTH_DELIMITED);
        return out.begin();
    }

    private void timestamp() {
        long seconds = in.timestamp();
        out.tag(1, VARINT);
        out.varint(seconds);
        out.tag(2, VARINT);
        out.varint(in.nanos());
    }

    private long number(FieldSchema field) {
        return switch (field.kind) {
            case INT32 -> within(in.integer(), Integer.MIN_VALUE, Integer.MAX_VALUE);
            case UINT32 -> within(in.integer(), 0, 0xffff_ffffL);
            case INT64 -> in.longInteger(true);
            case UINT64 -> in.longInteger(false);
            case BOOL -> in.bool() ? 1 : 0;
            case ENUM -> field.constantNumber(new String(in.plainText(), UTF_8));
            case STRING, TIMESTAMP, MESSAGE, UNSUPPORTED -> throw new UnsupportedJsonException();
        };
    }

    private static long within(long value, long min, long max) {
        if (value < min || value > max) {
            throw new UnsupportedJsonException();
        }
        return value;
    }
}
