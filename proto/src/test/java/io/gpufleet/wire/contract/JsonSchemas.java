package io.gpufleet.wire.contract;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.NullMarked;

/** JSON Schemas of messages in proto3 JSON; collects every message that is referenced. */
@NullMarked
final class JsonSchemas {
    private final Map<String, Object> schemas = new TreeMap<>();
    private final FieldComments comments = new FieldComments();

    Map<String, Object> all() {
        return schemas;
    }

    Map<String, Object> reference(Descriptor message) {
        String name = message.getFullName();
        if (!schemas.containsKey(name)) {
            Map<String, Object> properties = new LinkedHashMap<>();
            Map<String, Object> schema = map("type", "object");
            schemas.put(name, schema);
            message.getFields().forEach(field -> properties.put(field.getJsonName(), described(field)));
            schema.put("properties", properties);
        }
        return map("$ref", "#/components/schemas/" + name);
    }

    private Map<String, Object> described(FieldDescriptor field) {
        String comment = comments.of(field.getContainingType().getName(), field.getName());
        // Beside a $ref JSON Schema allows a description since 2019-09, AsyncAPI 3 does not.
        Map<String, Object> schema = schema(field);
        return schema.containsKey("$ref")
                ? with(map("description", comment), "allOf", List.of(schema))
                : with(schema, "description", comment);
    }

    private Map<String, Object> schema(FieldDescriptor field) {
        if (field.isMapField()) {
            Map<String, Object> schema = map("type", "object");
            schema.put("additionalProperties", single(field.getMessageType().findFieldByNumber(2)));
            return schema;
        }
        if (field.isRepeated()) {
            Map<String, Object> schema = map("type", "array");
            schema.put("items", single(field));
            return schema;
        }
        return field.hasPresence() ? single(field) : withDefault(single(field), field);
    }

    /** What a number or an enum is that is not there; an absent text or list is empty, which needs no words. */
    private static Map<String, Object> withDefault(Map<String, Object> schema, FieldDescriptor field) {
        return switch (field.getJavaType()) {
            case INT, FLOAT, DOUBLE -> with(schema, "default", 0);
            case LONG -> with(schema, "default", "0");
            case ENUM ->
                with(
                        schema,
                        "default",
                        field.getEnumType().getValues().getFirst().getName());
            case BOOLEAN, STRING, BYTE_STRING, MESSAGE -> schema;
        };
    }

    private Map<String, Object> single(FieldDescriptor field) {
        return switch (field.getJavaType()) {
            case INT -> map("type", "integer");
            case LONG -> with(map("type", "string"), "pattern", "^-?[0-9]+$");
            case FLOAT, DOUBLE -> map("type", "number");
            case BOOLEAN -> map("type", "boolean");
            case STRING -> map("type", "string");
            case BYTE_STRING -> with(map("type", "string"), "contentEncoding", "base64");
            case ENUM ->
                // Examples instead of a closed enum: a later version may add values.
                with(
                        map("type", "string"),
                        "examples",
                        field.getEnumType().getValues().stream()
                                .map(EnumValueDescriptor::getName)
                                .toList());
            case MESSAGE ->
                field.getMessageType().getFullName().equals("google.protobuf.Timestamp")
                        ? with(map("type", "string"), "format", "date-time")
                        : reference(field.getMessageType());
        };
    }

    static Map<String, Object> map(String key, Object value) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(key, value);
        return map;
    }

    static Map<String, Object> with(Map<String, Object> map, String key, Object value) {
        map.put(key, value);
        return map;
    }
}
