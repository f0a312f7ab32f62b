package io.gpufleet.wire;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Boot of the machine that wrote a payload: every payload of a daemon has it in the field of that name. */
public final class BootId {
    /** By type: a look-up by name makes a text of each. */
    private static final Map<Descriptor, Optional<FieldDescriptor>> FIELDS = new ConcurrentHashMap<>();

    private BootId() {}

    /** Returns the boot id of a payload, empty where its type has none. */
    public static String of(Message payload) {
        Descriptor type = payload.getDescriptorForType();
        Optional<FieldDescriptor> known = FIELDS.get(type);
        Optional<FieldDescriptor> field = known != null ? known : FIELDS.computeIfAbsent(type, BootId::find);
        return field.isPresent() ? payload.getField(field.get()).toString() : "";
    }

    private static Optional<FieldDescriptor> find(Descriptor type) {
        return Optional.ofNullable(type.findFieldByName("boot_id"));
    }
}
