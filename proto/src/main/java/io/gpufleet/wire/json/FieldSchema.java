package io.gpufleet.wire.json;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.Timestamp;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Facts about one field that printer and parser need. */
final class FieldSchema {
    /** How a value is written; {@code UNSUPPORTED} values are left to JsonFormat. */
    enum Kind {
        INT32,
        UINT32,
        INT64,
        UINT64,
        BOOL,
        ENUM,
        STRING,
        TIMESTAMP,
        MESSAGE,
        UNSUPPORTED
    }

    /** How many values a field has. */
    enum Cardinality {
        ONE,
        MANY,
        MAP
    }

    private static final String WELL_KNOWN = "google.protobuf";

    final int number;
    final Kind kind;
    final Cardinality cardinality;
    /** The name in JSON. */
    final byte[] name;
    /** The name in quotes, and a colon. */
    final byte[] label;
    /** Bit of its oneof; 0 where it has none. */
    final long oneofBit;

    private final FieldDescriptor descriptor;
    private final Map<Integer, byte[]> constantNames = new HashMap<>();
    private final Map<String, Integer> constantNumbers = new HashMap<>();
    private @Nullable MessageSchema nested;

    FieldSchema(FieldDescriptor descriptor) {
        this.descriptor = descriptor;
        this.number = descriptor.getNumber();
        this.cardinality = descriptor.isMapField()
                ? Cardinality.MAP
                : descriptor.isRepeated() ? Cardinality.MANY : Cardinality.ONE;
        this.kind = kind(descriptor);
        this.name = descriptor.getJsonName().getBytes(UTF_8);
        this.label = ('"' + descriptor.getJsonName() + "\":").getBytes(UTF_8);
        OneofDescriptor oneof = descriptor.getRealContainingOneof();
        this.oneofBit = oneof == null ? 0 : 1L << oneof.getIndex();
        if (kind == Kind.ENUM) {
            for (EnumValueDescriptor constant : descriptor.getEnumType().getValues()) {
                constantNames.putIfAbsent(
                        constant.getNumber(), constant.getName().getBytes(UTF_8));
                constantNumbers.put(constant.getName(), constant.getNumber());
            }
        }
    }

    private static Kind kind(FieldDescriptor descriptor) {
        return switch (descriptor.getType()) {
            case INT32 -> Kind.INT32;
            case UINT32 -> Kind.UINT32;
            case INT64 -> Kind.INT64;
            case UINT64 -> Kind.UINT64;
            case BOOL -> Kind.BOOL;
            case STRING -> Kind.STRING;
            case ENUM ->
                descriptor.getEnumType().getFile().getPackage().equals(WELL_KNOWN) ? Kind.UNSUPPORTED : Kind.ENUM;
            case MESSAGE -> kind(descriptor.getMessageType());
            case DOUBLE, FLOAT, FIXED32, FIXED64, SFIXED32, SFIXED64, SINT32, SINT64, BYTES, GROUP -> Kind.UNSUPPORTED;
        };
    }

    private static Kind kind(Descriptor message) {
        if (message.getFullName().equals(Timestamp.getDescriptor().getFullName())) {
            return Kind.TIMESTAMP;
        }
        return message.getFile().getPackage().equals(WELL_KNOWN) ? Kind.UNSUPPORTED : Kind.MESSAGE;
    }

    /** True where repeated values are written in one run of bytes. */
    boolean packed() {
        return cardinality == Cardinality.MANY && descriptor.isPacked();
    }

    /** Fields of the message, or key (1) and value (2) of the map. */
    MessageSchema nested() {
        MessageSchema known = nested;
        if (known == null) {
            known = MessageSchema.of(descriptor.getMessageType());
            nested = known;
        }
        return known;
    }

    byte[] constantName(int constant) {
        byte[] found = constantNames.get(constant);
        if (found == null) {
            throw new UnsupportedJsonException();
        }
        return found;
    }

    int constantNumber(String constant) {
        Integer found = constantNumbers.get(constant);
        if (found == null) {
            throw new UnsupportedJsonException();
        }
        return found;
    }
}
