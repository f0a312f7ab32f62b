package io.gpufleet.wire.contract;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.MapEntry;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.NullMarked;

/** Messages in which every field is set, each to a value that follows from its name and number alone. */
@NullMarked
final class SampleMessages {
    /** Time of every timestamp. */
    static final Instant TIME = Instant.parse("2026-11-22T10:15:30.123Z");

    /** Node of every event. */
    static final String NODE = "gpu-node-7";

    static final String DEVICE = "GPU-4d3c2b1a-0f9e-4d8c-b7a6-958473625140";

    private static final Map<String, String> TEXTS = Map.ofEntries(
            Map.entry("boot_id", "5f0e7c3a-6b1d-4e2f-8a9b-0c1d2e3f4a5b"),
            Map.entry("boot_ids", "5f0e7c3a-6b1d-4e2f-8a9b-0c1d2e3f4a5b"),
            Map.entry("device_uuid", DEVICE),
            Map.entry("uuid", DEVICE),
            Map.entry("device_id", DEVICE),
            Map.entry("device_ids", DEVICE + "::0"),
            Map.entry("node", NODE),
            Map.entry("namespace", "team-a"),
            Map.entry("pod", "train-7"),
            Map.entry("container", "main"),
            Map.entry("resource", "nvidia.com/gpu"),
            Map.entry("model", "NVIDIA H100 80GB HBM3"),
            Map.entry("short_model", "H100"),
            Map.entry("pci_bus_id", "00000000:1B:00.0"),
            Map.entry("driver_version", "580.65.06"),
            Map.entry("reason", "Xid79"),
            Map.entry("evidence", NODE + "/1795305600000/health/12"),
            Map.entry("event_id", NODE + "/1795305600000/health/12"),
            Map.entry("day", "2026-11-22"),
            Map.entry("topic", "health"),
            Map.entry("instance", "health-service-0"));

    private SampleMessages() {}

    /** A message of the same type as the prototype. */
    static Message of(Message prototype) {
        Message.Builder builder = prototype.newBuilderForType();
        if (builder instanceof Timestamp.Builder time) {
            return time.setSeconds(TIME.getEpochSecond())
                    .setNanos(TIME.getNano())
                    .build();
        }
        for (FieldDescriptor field : builder.getDescriptorForType().getFields()) {
            if (field.isMapField()) {
                var entry = (MapEntry.Builder<?, ?>) builder.newBuilderForField(field);
                entry.getDescriptorForType().getFields().forEach(part -> entry.setField(part, value(entry, part)));
                builder.addRepeatedField(field, entry.build());
            } else if (field.isRepeated()) {
                builder.addRepeatedField(field, value(builder, field));
            } else {
                builder.setField(field, value(builder, field));
            }
        }
        return builder.build();
    }

    private static Object value(Message.Builder builder, FieldDescriptor field) {
        return switch (field.getJavaType()) {
            case INT -> field.getNumber();
            case LONG -> (long) field.getNumber();
            case FLOAT -> field.getNumber() + 0.5f;
            case DOUBLE -> field.getNumber() + 0.5;
            // A false that is printed is what a reader in another language trips over.
            case BOOLEAN -> false;
            case STRING ->
                TEXTS.getOrDefault(field.getName(), "a " + field.getName().replace('_', ' '));
            case BYTE_STRING -> ByteString.copyFromUtf8(field.getName());
            case ENUM -> firstSpecified(field);
            case MESSAGE -> of(builder.newBuilderForField(field).build());
        };
    }

    private static EnumValueDescriptor firstSpecified(FieldDescriptor field) {
        return field.getEnumType().getValues().get(1);
    }
}
