package io.gpufleet.wire;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.WireFormat;
import java.io.IOException;
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
    /** By number; fields of ours have small ones. */
    private final @Nullable KnownField[] fields;

    private enum Content {
        ENUM,
        MESSAGE,
        OTHER
    }

    /**
     * A field, with what its descriptor tells only after some look-ups.
     *
     * @param numbers those of its enum, or empty
     */
    private record KnownField(
            FieldDescriptor descriptor, Content content, int wireType, boolean packable, Set<Integer> numbers) {
        static KnownField of(FieldDescriptor field) {
            Content content = switch (field.getJavaType()) {
                case ENUM -> Content.ENUM;
                case MESSAGE -> Content.MESSAGE;
                case INT, LONG, FLOAT, DOUBLE, BOOLEAN, STRING, BYTE_STRING -> Content.OTHER;
            };
            return new KnownField(
                    field,
                    content,
                    field.getLiteType().getWireType(),
                    field.isPackable(),
                    content == Content.ENUM
                            ? field.getEnumType().getValues().stream()
                                    .map(EnumValueDescriptor::getNumber)
                                    .collect(Collectors.toUnmodifiableSet())
                            : Set.of());
        }

        /** Protobuf keeps a value of another form as an unknown field, too. */
        boolean hasForm(int form) {
            return form == wireType || form == WireFormat.WIRETYPE_LENGTH_DELIMITED && packable;
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
        int most = type.getFields().stream()
                .mapToInt(FieldDescriptor::getNumber)
                .max()
                .orElse(0);
        this.fields = new KnownField[most + 1];
        type.getFields().forEach(field -> fields[field.getNumber()] = KnownField.of(field));
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
            int number = WireFormat.getTagFieldNumber(tag);
            @Nullable KnownField field = number < fields.length ? fields[number] : null;
            if (field == null || !field.hasForm(WireFormat.getTagWireType(tag))) {
                throw new IllegalArgumentException(
                        "message " + type.getFullName() + " has the unknown field " + number);
            }
            switch (field.content()) {
                case ENUM -> refuse(field, tag, in);
                case MESSAGE -> {
                    int outer = in.pushLimit(in.readRawVarint32());
                    of(field.descriptor().getMessageType()).refuse(in);
                    in.popLimit(outer);
                }
                case OTHER -> in.skipField(tag);
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
