package io.gpufleet.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.WireFormat;
import io.gpufleet.proto.health.v1.NodeHealthState;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bytes are refused wherever protobuf would keep something that this program does not know. */
@NullMarked
class UnknownContentTest {
    private static final long SEED = 20261125;
    private static final int MESSAGES = 40;
    private static final int CHANGES = 40;

    @ParameterizedTest
    @EnumSource
    void knownContentOfEveryTypeIsAccepted(EventType type) {
        var messages = new RandomMessages(new Random(SEED));
        for (int i = 0; i < MESSAGES; i++) {
            byte[] bytes = messages.ofType(type.prototype()).toByteArray();

            assertThatCode(() -> UnknownContent.refuse(bytes, type.prototype().getDescriptorForType()))
                    .doesNotThrowAnyException();
        }
    }

    @ParameterizedTest
    @EnumSource
    void changedBytesAreRefusedWhereProtobufKeepsSomethingUnknown(EventType type) {
        var random = new Random(SEED);
        var messages = new RandomMessages(random);
        for (int i = 0; i < MESSAGES; i++) {
            byte[] bytes = messages.ofType(type.prototype()).toByteArray();
            for (int change = 0; bytes.length > 0 && change < CHANGES; change++) {
                // Given
                byte[] changed = bytes.clone();
                changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);

                // Then
                if (isUnreadableOrUnknown(changed, type.prototype())) {
                    assertThat(isRefused(changed, type.prototype()))
                            .as("%s %s", type, HexFormat.of().formatHex(changed))
                            .isTrue();
                }
            }
        }
    }

    @Test
    void knownFieldInTheFormOfAnotherTypeIsRefused() throws IOException {
        var bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        FieldDescriptor text = NodeHealthState.getDescriptor().findFieldByName("reason");
        out.writeTag(text.getNumber(), WireFormat.WIRETYPE_VARINT);
        out.writeUInt32NoTag(7);
        out.flush();

        assertThatThrownBy(() -> UnknownContent.refuse(bytes.toByteArray(), NodeHealthState.getDescriptor()))
                .hasMessageContaining("has the unknown field " + text.getNumber());
    }

    private static boolean isRefused(byte[] bytes, Message prototype) {
        try {
            UnknownContent.refuse(bytes, prototype.getDescriptorForType());
            prototype.getParserForType().parseFrom(bytes);
            return false;
        } catch (IllegalArgumentException | IOException refused) {
            return true;
        }
    }

    private static boolean isUnreadableOrUnknown(byte[] bytes, Message prototype) {
        try {
            return hasUnknown(prototype.getParserForType().parseFrom(bytes));
        } catch (IOException unreadable) {
            return true;
        }
    }

    private static boolean hasUnknown(Object value) {
        return switch (value) {
            case Message message ->
                !message.getUnknownFields().asMap().isEmpty()
                        || message.getAllFields().values().stream().anyMatch(UnknownContentTest::hasUnknown);
            case List<?> list -> list.stream().anyMatch(UnknownContentTest::hasUnknown);
            case EnumValueDescriptor constant -> constant.getIndex() < 0;
            default -> false;
        };
    }
}
