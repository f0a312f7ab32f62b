package io.gpufleet.inventory.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/**
 * A JSON body with its entity tag, compressed where the client accepts it. Made on a worker thread: hashing and compressing
 * some megabytes would stop an event loop for longer than a probe waits.
 *
 * @param etag weak, since the compressed and the plain body share it
 * @param gzip whether the body is compressed
 * @param changed false where the client has this body already
 */
record JsonResponse(Buffer body, String etag, boolean gzip, boolean changed) {
    private static final int MIN_COMPRESSED = 1024;
    private static final int ETAG_BYTES = 12;

    /** Form of the response that the request asks for. */
    record Preferences(String ifNoneMatch, boolean gzip) {
        static Preferences of(RoutingContext context) {
            var headers = context.request().headers();
            String encodings =
                    Optional.ofNullable(headers.get("accept-encoding")).orElse("");
            return new Preferences(
                    Optional.ofNullable(headers.get("if-none-match")).orElse(""),
                    Arrays.stream(encodings.split(",", -1))
                            .map(it -> it.replace(" ", ""))
                            .anyMatch(it ->
                                    it.equals("gzip") || it.startsWith("gzip;q=") && !it.matches(".*=0(\\.0*)?")));
        }

        private boolean has(String etag) {
            return Arrays.stream(ifNoneMatch.split(",", -1))
                    .map(String::strip)
                    .anyMatch(tag -> tag.equals("*") || tag.equals(etag) || ("W/" + tag).equals(etag));
        }
    }

    static JsonResponse of(String json, Preferences preferences) {
        byte[] body = json.getBytes(UTF_8);
        String etag = "W/\"" + Base64.getUrlEncoder().withoutPadding().encodeToString(hash(body)) + '"';
        boolean gzip = preferences.gzip() && body.length >= MIN_COMPRESSED;
        boolean changed = !preferences.has(etag);
        return new JsonResponse(
                Buffer.buffer(changed ? gzip ? compressed(body) : body : new byte[0]), etag, gzip, changed);
    }

    void send(RoutingContext context) {
        var response = context.response().putHeader("etag", etag).putHeader("vary", "accept-encoding, authorization");
        if (!changed) {
            response.setStatusCode(304).end();
            return;
        }
        if (gzip) {
            response.putHeader("content-encoding", "gzip");
        }
        response.putHeader("content-type", "application/json").end(body);
    }

    private static byte[] hash(byte[] body) {
        try {
            return Arrays.copyOf(MessageDigest.getInstance("SHA-256").digest(body), ETAG_BYTES);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every JDK has SHA-256", impossible);
        }
    }

    /** Twice as fast as the default level, and a fifth longer. */
    private static final class FastGzip extends GZIPOutputStream {
        FastGzip(ByteArrayOutputStream out) throws IOException {
            super(out, 8192);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }

    private static byte[] compressed(byte[] body) {
        var bytes = new ByteArrayOutputStream(body.length / 4);
        try (var gzip = new FastGzip(bytes)) {
            gzip.write(body);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        return bytes.toByteArray();
    }
}
