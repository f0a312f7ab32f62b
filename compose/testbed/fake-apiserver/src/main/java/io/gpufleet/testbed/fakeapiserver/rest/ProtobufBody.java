package io.gpufleet.testbed.fakeapiserver.rest;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.util.Arrays;

/**
 * A Namespace in Kubernetes' protobuf format, as {@code kubectl create namespace} sends it: {@code k8s\0}, then
 * runtime.Unknown. Any other kind is refused, since each would need its own message.
 */
final class ProtobufBody {
    private static final byte[] MAGIC = "k8s\0".getBytes(UTF_8);
    /** Fields of runtime.Unknown, runtime.TypeMeta, Namespace and ObjectMeta. */
    private static final int TYPE_META = 1;

    private static final int RAW = 2;
    private static final int API_VERSION = 1;
    private static final int KIND = 2;
    private static final int METADATA = 1;
    private static final int NAME = 1;
    private static final int GENERATE_NAME = 2;
    private static final int LABELS = 11;
    private static final int ANNOTATIONS = 12;

    private ProtobufBody() {}

    static ObjectNode decode(byte[] body) {
        try {
            if (!Arrays.equals(body, 0, Math.min(body.length, MAGIC.length), MAGIC, 0, MAGIC.length)) {
                throw unsupported();
            }
            UnknownFieldSet unknown = message(ByteString.copyFrom(body, MAGIC.length, body.length - MAGIC.length));
            UnknownFieldSet type = message(bytes(unknown, TYPE_META));
            if (!text(type, API_VERSION).equals("v1") || !text(type, KIND).equals("Namespace")) {
                throw unsupported();
            }
            UnknownFieldSet given = message(bytes(message(bytes(unknown, RAW)), METADATA));
            ObjectNode namespace = Json.object().put("apiVersion", "v1").put("kind", "Namespace");
            ObjectNode metadata = Json.withObject(namespace, "metadata").put("name", text(given, NAME));
            if (!text(given, GENERATE_NAME).isEmpty()) {
                metadata.put("generateName", text(given, GENERATE_NAME));
            }
            putEntries(metadata, "labels", given, LABELS);
            putEntries(metadata, "annotations", given, ANNOTATIONS);
            return namespace;
        } catch (InvalidProtocolBufferException malformed) {
            throw ApiError.badRequest("the body is no protobuf of Kubernetes: " + malformed.getMessage());
        }
    }

    private static ApiError unsupported() {
        return ApiError.unsupportedMedia("application/json, application/yaml");
    }

    private static void putEntries(ObjectNode metadata, String name, UnknownFieldSet given, int field)
            throws InvalidProtocolBufferException {
        for (ByteString entry : given.getField(field).getLengthDelimitedList()) {
            UnknownFieldSet pair = message(entry);
            Json.withObject(metadata, name).put(text(pair, 1), text(pair, 2));
        }
    }

    private static UnknownFieldSet message(ByteString bytes) throws InvalidProtocolBufferException {
        return UnknownFieldSet.parseFrom(bytes);
    }

    private static String text(UnknownFieldSet message, int field) {
        return bytes(message, field).toStringUtf8();
    }

    private static ByteString bytes(UnknownFieldSet message, int field) {
        return message.getField(field).getLengthDelimitedList().stream()
                .reduce(ByteString.EMPTY, (former, last) -> last);
    }
}
