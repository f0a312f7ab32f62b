package io.gpufleet.wire.json;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The fields of a message type, by number. */
final class MessageSchema {
    /** Fields and oneofs that a bit set of 64 bits can hold. */
    private static final int MAX = Long.SIZE;

    private static final Map<Descriptor, MessageSchema> KNOWN = new ConcurrentHashMap<>();

    private final FieldSchema[] fields;
    private final Map<Integer, FieldSchema> byNumber = new HashMap<>();

    private MessageSchema(Descriptor type) {
        fields = type.getFields().stream()
                .sorted(Comparator.comparingInt(FieldDescriptor::getNumber))
                .map(FieldSchema::new)
                .toArray(FieldSchema[]::new);
        for (FieldSchema field : fields) {
            byNumber.put(field.number, field);
        }
    }

    /** The schema of a message; refuses types that are written in a form of their own. */
    static MessageSchema of(Message message) {
        Descriptor type = message.getDescriptorForType();
        if (type.getFile().getPackage().equals("google.protobuf")) {
            throw new UnsupportedJsonException();
        }
        return of(type);
    }

    static MessageSchema of(Descriptor type) {
        MessageSchema known = KNOWN.get(type);
        return known != null ? known : KNOWN.computeIfAbsent(type, MessageSchema::new);
    }

    FieldSchema field(int number) {
        FieldSchema found = byNumber.get(number);
        if (found == null) {
            throw new UnsupportedJsonException();
        }
        return found;
    }

    /** The field at an index that {@link #indexOf} found. */
    FieldSchema at(int index) {
        return fields[index];
    }

    /** Index of the field with a JSON name; begins where the name is expected. */
    int indexOf(byte[] text, int from, int to, int expected) {
        for (int i = 0; i < fields.length; i++) {
            int index = (expected + i) % fields.length;
            byte[] name = fields[index].name;
            if (name.length == to - from && Arrays.equals(name, 0, name.length, text, from, to) && index < MAX) {
                return index;
            }
        }
        throw new UnsupportedJsonException();
    }
}
