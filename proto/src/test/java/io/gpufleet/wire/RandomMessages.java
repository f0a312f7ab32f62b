package io.gpufleet.wire;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.MapEntry;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.NullMarked;

/** Generates messages with random values for all fields. */
@NullMarked
final class RandomMessages {
    private static final String LETTERS = "aZ09-_/.: \"\\\n\täß…漢𝄞\u0001<>&='\u007f\u2028\u2029";

    private final Random random;

    RandomMessages(Random random) {
        this.random = random;
    }

    Message ofType(Message prototype) {
        return fill(prototype.newBuilderForType(), 0);
    }

    private Message fill(Message.Builder builder, int depth) {
        if (builder instanceof Timestamp.Builder time) {
            return time.setSeconds(random.nextLong(-62_135_596_800L, 253_402_300_800L))
                    .setNanos(random.nextInt(1_000_000_000))
                    .build();
        }
        for (FieldDescriptor field : builder.getDescriptorForType().getFields()) {
            if (random.nextInt(4) == 0 || depth > 5) {
                continue;
            }
            if (field.isMapField()) {
                fillMap(builder, field, depth);
            } else if (field.isRepeated()) {
                for (int i = random.nextInt(3); i > 0; i--) {
                    builder.addRepeatedField(field, value(builder, field, depth));
                }
            } else {
                builder.setField(field, value(builder, field, depth));
            }
        }
        return builder.build();
    }

    private void fillMap(Message.Builder builder, FieldDescriptor field, int depth) {
        FieldDescriptor keys = field.getMessageType().findFieldByNumber(1);
        FieldDescriptor values = field.getMessageType().findFieldByNumber(2);
        Set<Object> seen = new HashSet<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            var entry = (MapEntry.Builder<?, ?>) builder.newBuilderForField(field);
            Object key = value(entry, keys, depth);
            if (seen.add(key)) {
                builder.addRepeatedField(
                        field,
                        entry.setField(keys, key)
                                .setField(values, value(entry, values, depth))
                                .build());
            }
        }
    }

    private Object value(Message.Builder builder, FieldDescriptor field, int depth) {
        return switch (field.getJavaType()) {
            case INT -> random.nextInt();
            case LONG -> random.nextLong();
            case FLOAT -> random.nextFloat();
            case DOUBLE -> random.nextDouble();
            case BOOLEAN -> random.nextBoolean();
            case STRING -> text();
            case BYTE_STRING -> ByteString.copyFromUtf8(text());
            case ENUM -> {
                EnumDescriptor type = field.getEnumType();
                yield type.getValues().get(random.nextInt(type.getValues().size()));
            }
            case MESSAGE -> fill(builder.newBuilderForField(field), depth + 1);
        };
    }

    private String text() {
        var text = new StringBuilder();
        int[] points = LETTERS.codePoints().toArray();
        for (int i = random.nextInt(12); i > 0; i--) {
            text.appendCodePoint(points[random.nextInt(points.length)]);
        }
        return text.toString();
    }
}
