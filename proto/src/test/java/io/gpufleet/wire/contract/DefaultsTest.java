package io.gpufleet.wire.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import io.gpufleet.proto.health.v1.DeviceVerdict;
import io.gpufleet.proto.inventory.v1.Gpu;
import io.gpufleet.wire.Codec;
import io.gpufleet.wire.EventType;
import io.gpufleet.wire.PayloadEncoding;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/**
 * proto3 JSON omits a false or a zero without presence. Where that could be taken for unknown the field has presence; for
 * every other number and enum {@code asyncapi.yaml} names what an absent one is.
 */
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

    @Test
    void everyPrintedDefaultIsTheValueThatIsInForce() throws IOException {
        JsonNode schemas =
                new YAMLMapper().readTree(Path.of("asyncapi.yaml").toFile()).at("/components/schemas");
        var compared = new TreeSet<String>();
        for (FieldDescriptor field : jsonFields()) {
            if (field.isRepeated() || !isNumberOrEnum(field)) {
                continue;
            }
            Message empty = DynamicMessage.getDefaultInstance(field.getContainingType());
            JsonNode printed = printedDefault(schemas, field);
            if (field.hasPresence()) {
                assertThat(printed.isMissingNode()).as(field.getFullName()).isTrue();
                continue;
            }
            // What a reader has that gets an event without the field, and what the writer omits.
            assertThat(printed.asText()).as(field.getFullName()).isEqualTo(asJson(empty.getField(field)));
            Message written =
                    empty.toBuilder().setField(field, empty.getField(field)).build();
            assertThat(json(written)).as(field.getFullName()).isEqualTo("{}");
            compared.add(field.getFullName());
        }
        assertThat(compared).hasSizeGreaterThan(50);
    }

    @Test
    void numbersThatTheDocumentNamesHavePresence() throws IOException {
        Matcher sentence = Pattern.compile("a number whose zero means\\s+something \\(([^)]*)\\)")
                .matcher(Files.readString(Path.of("TOPICS.md")));
        assertThat(sentence.find()).isTrue();
        List<String> named = Pattern.compile("`([a-zA-Z]+)`")
                .matcher(sentence.group(1))
                .results()
                .map(found -> found.group(1))
                .toList();

        assertThat(named).isNotEmpty();
        assertThat(jsonFields().stream()
                        .filter(field -> !field.isRepeated() && isNumberOrEnum(field) && field.hasPresence())
                        .map(FieldDescriptor::getJsonName)
                        .distinct())
                .containsAll(named);
    }

    private static boolean isNumberOrEnum(FieldDescriptor field) {
        return switch (field.getJavaType()) {
            case INT, LONG, FLOAT, DOUBLE, ENUM -> true;
            case BOOLEAN, STRING, BYTE_STRING, MESSAGE -> false;
        };
    }

    /** As proto3 JSON has it; the name of an enum's value, and a number without a fraction. */
    private static String asJson(Object value) {
        return value instanceof Number number ? String.valueOf(number.longValue()) : String.valueOf(value);
    }

    /** The default that the published schema of a field has. */
    private static JsonNode printedDefault(JsonNode schemas, FieldDescriptor field) {
        JsonNode property = schemas.path(field.getContainingType().getFullName())
                .path("properties")
                .path(field.getJsonName());
        assertThat(property.isObject()).as(field.getFullName()).isTrue();
        return property.path("default");
    }

    /** Fields of all messages of events that are JSON. */
    private static List<FieldDescriptor> jsonFields() {
        Set<Descriptor> seen = new HashSet<>();
        Arrays.stream(EventType.values())
                .filter(type -> type.encoding() == PayloadEncoding.JSON)
                .forEach(type -> reach(type.prototype().getDescriptorForType(), seen));
        return seen.stream()
                .filter(message -> !message.getOptions().getMapEntry())
                .flatMap(message -> message.getFields().stream())
                .toList();
    }

    private static void reach(Descriptor message, Set<Descriptor> seen) {
        if (message.getFile().getPackage().startsWith("google.") || !seen.add(message)) {
            return;
        }
        message.getFields().stream()
                .filter(field -> field.getJavaType() == FieldDescriptor.JavaType.MESSAGE)
                .forEach(field -> reach(field.getMessageType(), seen));
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

    private static String json(Message message) {
        return new String(Codec.toJson(message), StandardCharsets.UTF_8);
    }
}
