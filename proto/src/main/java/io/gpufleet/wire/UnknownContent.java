package io.gpufleet.wire;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Message;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Fields and enum values of a binary message that this program does not know; protobuf itself keeps them in silence. */
final class UnknownContent {
    /** Fields of a message that may hold some: messages and enums, also as the values of a map. */
    private static final Map<Descriptor, List<FieldDescriptor>> NESTED = new ConcurrentHashMap<>();

    private UnknownContent() {}

    /** Throws {@link IllegalArgumentException} that names the first one, at any depth. */
    static void refuse(Message message) {
        if (!message.getUnknownFields().isEmpty()) {
            throw new IllegalArgumentException("message "
                    + message.getDescriptorForType().getFullName() + " has the unknown field "
                    + message.getUnknownFields().asMap().keySet().iterator().next());
        }
        for (FieldDescriptor field : NESTED.computeIfAbsent(message.getDescriptorForType(), UnknownContent::nested)) {
            if (field.isRepeated()) {
                for (int i = 0; i < message.getRepeatedFieldCount(field); i++) {
                    refuse(field, message.getRepeatedField(field, i));
                }
            } else if (field.getJavaType() == JavaType.ENUM || message.hasField(field)) {
                refuse(field, message.getField(field));
            }
        }
    }

    private static List<FieldDescriptor> nested(Descriptor type) {
        return type.getFields().stream().filter(UnknownContent::isNested).toList();
    }

    private static boolean isNested(FieldDescriptor field) {
        return field.isMapField()
                ? isNested(field.getMessageType().findFieldByName("value"))
                : field.getJavaType() == JavaType.MESSAGE || field.getJavaType() == JavaType.ENUM;
    }

    private static void refuse(FieldDescriptor field, Object value) {
        switch (value) {
            case Message message -> refuse(message);
            // The descriptor of a value that is not in the .proto file is made up and has no place in it.
            case EnumValueDescriptor constant
            when constant.getIndex() < 0 ->
                throw new IllegalArgumentException(
                        "field " + field.getFullName() + " has the unknown enum value " + constant.getNumber());
            default -> {}
        }
    }
}
