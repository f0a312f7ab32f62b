package io.gpufleet.testbed.testkit;

/**
 * An HTTP response.
 *
 * @param status status code; 0 while nothing answers
 * @param body body; empty while nothing answers
 */
public record HttpAnswer(int status, String body) {
    static final HttpAnswer NONE = new HttpAnswer(0, "");
}
