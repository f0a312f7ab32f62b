package io.gpufleet.nodedaemon.http;

import java.util.Map;

/** A response of text. */
record OpsResponse(int status, String contentType, Map<String, String> headers, String text) {
    OpsResponse {
        headers = Map.copyOf(headers);
    }

    static OpsResponse text(int status, String text) {
        return new OpsResponse(status, "text/plain; charset=utf-8", Map.of(), text);
    }
}
