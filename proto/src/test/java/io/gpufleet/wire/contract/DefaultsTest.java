package io.gpufleet.wire.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** proto3 JSON omits a false or a zero without presence: a reader could not tell it from a field that is unknown. */
@NullMarked
class DefaultsTest {
    @Test
    void falseAndZeroThatMeanSomethingArePrinted() {
        assertThat(json(DeviceVerdict.newBuilder().setTrusted(false).build())).isEqualTo("{\"trusted\":false}");
        assertThat(json(Gpu.newBuilder().setIndex(0).setMinor(0).build())).isEqualTo("{\"index\":0,\"minor\":0}");
    }

    @Test
    void everyBooleanOfAnEventHasPresence() {
        Set<String> without = new TreeSet<>();
        Set<Descriptor> seen = new HashSet<>();
        Arrays.stream(EventType.values())
                .forEach(type -> collect(type.prototype().getDescriptorForType(), seen, without));
        assertThat(without).isEmpty();
    }

    private static void collect(Descriptor message, Set<Descriptor> seen, Set<String> without) {
        if (!seen.add(message)) {
            return;
        }
        for (FieldDescriptor field : message.getFields()) {
            if (field.getJavaType() == FieldDescriptor.JavaType.BOOLEAN
                    && !field.isRepeated()
                    && !field.hasPresence()) {
                without.add(field.getFullName());
            }
            if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                collect(field.getMessageType(), seen, without);
            }
        }
    }

    private static String json(com.google.protobuf.Message message) {
        return new String(Codec.toJson(message), StandardCharsets.UTF_8);
    }
}
