package io.gpufleet.kit.web;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code /openapi.yaml} of a service: the file {@code openapi.yaml} of its class path, and in its sections what every
 * service serves, so that each service describes its own routes only.
 */
public final class OpenApiDocument {
    /** Lines after which the lines of the same section of the other document are inserted. */
    private static final List<String> SECTIONS = List.of("paths:", "  responses:", "  schemas:");

    private OpenApiDocument() {}

    /** Serves the document at {@code /openapi.yaml}. */
    public static void mount(Router router) {
        var document = Buffer.buffer(text());
        router.get("/openapi.yaml")
                .handler(context -> context.response()
                        .putHeader("content-type", "application/yaml")
                        .end(document));
    }

    private static String text() {
        return merge(
                read(OpenApiDocument.class.getResourceAsStream("/openapi.yaml")),
                read(OpenApiDocument.class.getResourceAsStream("openapi.yaml")));
    }

    /** Inserts the sections of the common document at the begin of the same sections. */
    static String merge(String document, String common) {
        List<String> lines = new ArrayList<>(document.lines().toList());
        for (String section : SECTIONS) {
            int at = lines.indexOf(section);
            if (at < 0) {
                throw new IllegalStateException("openapi.yaml has no line '" + section + "'");
            }
            lines.addAll(at + 1, section(common.lines().toList(), section));
        }
        return String.join("\n", lines) + "\n";
    }

    /** The lines that are indented more than the first line of the section. */
    private static List<String> section(List<String> lines, String section) {
        String deeper =
                section.substring(0, section.length() - section.stripLeading().length()) + "  ";
        return lines.stream()
                .skip(lines.indexOf(section) + 1L)
                .takeWhile(line -> line.startsWith(deeper))
                .toList();
    }

    private static String read(@Nullable InputStream resource) {
        if (resource == null) {
            throw new IllegalStateException("openapi.yaml is missing on the class path");
        }
        try (resource) {
            return new String(resource.readAllBytes(), UTF_8);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
