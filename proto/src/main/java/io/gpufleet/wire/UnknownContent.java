package io.gpufleet.wire;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Fields and enum values of a binary message that this program does not know; protobuf itself keeps them in silence. Reads
 * the bytes by a table of each message type: a walk through the message by reflection took a quarter of a restore.
 */
final class UnknownContent {
    private static final Map<Descriptor, UnknownContent> TYPES = new ConcurrentHashMap<>();

    private final Descriptor type;
    private final Map<Integer, KnownField> fields = new HashMap<>();

    /** A field; its numbers are those of its enum, or empty. */
    private record KnownField(FieldDescriptor descriptor, Set<Integer> numbers) {
        static KnownField of(FieldDescriptor field) {
            return new KnownField(
                    field,
                    field.getJavaType() == JavaType.ENUM
                            ? field.getEnumType().getValues().stream()
                                    .map(EnumValueDescriptor::getNumber)
                                    .collect(Collectors.toUnmodifiableSet())
                            : Set.of());
        }

        /** Protobuf keeps a value of another form as an unknown field, too. */
        boolean hasForm(int wireType) {
            return wireType == descriptor.getLiteType().getWireType()
                    || wireType == WireFormat.WIRETYPE_LENGTH_DELIMITED && descriptor.isPackable();
        }

        void require(int number) {
            if (!numbers.contains(number)) {
                throw new IllegalArgumentException(
                        "field " + descriptor.getFullName() + " has the unknown enum value " + number);
            }
        }
    }

    private UnknownContent(Descriptor type) {
        this.type = type;
        type.getFields().forEach(field -> fields.put(field.getNumber(), KnownField.of(field)));
    }

    /** Throws {@link IllegalArgumentException} that names the first one, at any depth, and for bytes that are no message. */
    static void refuse(byte[] message, Descriptor type) {
        try {
            of(type).refuse(CodedInputStream.newInstance(message));
        } catch (IOException malformed) {
            throw new IllegalArgumentException(malformed.getMessage(), malformed);
        }
    }

    private static UnknownContent of(Descriptor type) {
        UnknownContent known = TYPES.get(type);
        return known != null ? known : TYPES.computeIfAbsent(type, UnknownContent::new);
    }

    private void refuse(CodedInputStream in) throws IOException {
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            @Nullable KnownField field = fields.get(WireFormat.getTagFieldNumber(tag));
            if (field == null || !field.hasForm(WireFormat.getTagWireType(tag))) {
                throw new IllegalArgumentException("message " + type.getFullName() + " has the unknown field "
                        + WireFormat.getTagFieldNumber(tag));
            }
            switch (field.descriptor().getJavaType()) {
                case ENUM -> refuse(field, tag, in);
                case MESSAGE -> {
                    int outer = in.pushLimit(in.readRawVarint32());
                    of(field.descriptor().getMessageType()).refuse(in);
                    in.popLimit(outer);
                }
                case INT, LONG, FLOAT, DOUBLE, BOOLEAN, STRING, BYTE_STRING -> in.skipField(tag);
            }
        }
    }

    private static void refuse(KnownField field, int tag, CodedInputStream in) throws IOException {
        if (WireFormat.getTagWireType(tag) != WireFormat.WIRETYPE_LENGTH_DELIMITED) {
            field.require(in.readEnum());
            return;
        }
        int outer = in.pushLimit(in.readRawVarint32());
        while (in.getBytesUntilLimit() > 0) {
            field.require(in.readEnum());
        }
        in.popLimit(outer);
    }
}
