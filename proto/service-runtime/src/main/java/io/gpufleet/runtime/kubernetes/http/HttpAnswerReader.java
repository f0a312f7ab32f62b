package io.gpufleet.runtime.kubernetes.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Reads answers of HTTP/1.1, one after the other, and refuses what HTTP does not have or no API server says. */
final class HttpAnswerReader {
    private static final int MAX_LINE = 64 * 1024;
    private static final int MAX_HEADERS = 200;
    private static final int MAX_BODY = 64 * 1024 * 1024;
    private static final int NO_CONTENT = 204;
    private static final int NOT_MODIFIED = 304;

    private final Source source;
    private final byte[] buffer = new byte[16 * 1024];
    private int next;
    private int end;

    /** Where bytes come from. */
    interface Source {
        /** Waits for some bytes, as an input stream does. */
        int read(byte[] buffer, int offset, int length) throws IOException;
    }

    /** Reads nothing yet. */
    HttpAnswerReader(Source source) {
        this.source = source;
    }

    /** The next answer that is not an interim one. */
    HttpAnswer read() throws IOException {
        while (true) {
            String status = line();
            int code = code(status);
            Map<String, List<String>> headers = headers();
            if (code >= 200) {
                boolean bounded = isBounded(code, headers);
                boolean keeps = bounded
                        && status.startsWith("HTTP/1.1 ")
                        && !value(headers, "connection").equalsIgnoreCase("close");
                return new HttpAnswer(code, headers, body(code, headers), keeps);
            }
            if (code == 101) {
                throw new ProtocolException("nobody asked for another protocol");
            }
        }
    }

    private static int code(String status) throws ProtocolException {
        if (!status.matches("HTTP/1\\.[01] [1-9]\\d\\d( .*)?")) {
            throw new ProtocolException(
                    "not an answer of HTTP/1.1: " + status.substring(0, Math.min(status.length(), 80)));
        }
        return Integer.parseInt(status, 9, 12, 10);
    }

    private Map<String, List<String>> headers() throws IOException {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        int count = 0;
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            if (colon <= 0 || ++count > MAX_HEADERS) {
                throw new ProtocolException("headers that are not readable");
            }
            headers.computeIfAbsent(line.substring(0, colon), _ -> new ArrayList<>())
                    .add(line.substring(colon + 1).strip());
        }
        return headers;
    }

    private static String value(Map<String, List<String>> headers, String name) {
        return headers.getOrDefault(name, List.of("")).getLast();
    }

    private static boolean isChunked(Map<String, List<String>> headers) {
        return value(headers, "transfer-encoding").toLowerCase(Locale.ROOT).equals("chunked");
    }

    private static boolean isBounded(int code, Map<String, List<String>> headers) {
        return hasNoBody(code) || isChunked(headers) || headers.containsKey("content-length");
    }

    private static boolean hasNoBody(int code) {
        return code == NO_CONTENT || code == NOT_MODIFIED;
    }

    private byte[] body(int code, Map<String, List<String>> headers) throws IOException {
        if (hasNoBody(code)) {
            return new byte[0];
        }
        if (isChunked(headers)) {
            return chunks();
        }
        if (headers.containsKey("transfer-encoding")) {
            throw new ProtocolException("unknown transfer encoding");
        }
        if (!headers.containsKey("content-length")) {
            return rest();
        }
        byte[] body = new byte[length(value(headers, "content-length"), 10)];
        fill(body, 0, body.length);
        return body;
    }

    private byte[] chunks() throws IOException {
        var all = new ByteArrayOutputStream();
        while (true) {
            String size = line();
            int extension = size.indexOf(';');
            int length = length((extension < 0 ? size : size.substring(0, extension)).strip(), 16);
            if (length == 0) {
                var _ = headers();
                return all.toByteArray();
            }
            if (all.size() + length > MAX_BODY) {
                throw new ProtocolException("an answer of more than " + MAX_BODY + " bytes");
            }
            byte[] chunk = new byte[length];
            fill(chunk, 0, length);
            all.writeBytes(chunk);
            if (!line().isEmpty()) {
                throw new ProtocolException("a chunk without its end");
            }
        }
    }

    private byte[] rest() throws IOException {
        var all = new ByteArrayOutputStream();
        do {
            all.write(buffer, next, end - next);
            next = end;
            if (all.size() > MAX_BODY) {
                throw new ProtocolException("an answer of more than " + MAX_BODY + " bytes");
            }
        } while (more());
        return all.toByteArray();
    }

    private static int length(String text, int radix) throws ProtocolException {
        try {
            int length = Integer.parseUnsignedInt(text, radix);
            if (length >= 0 && length <= MAX_BODY && !text.startsWith("+")) {
                return length;
            }
        } catch (NumberFormatException noNumber) {
            // As for one that is too large.
        }
        throw new ProtocolException("a length that is not usable");
    }

    private void fill(byte[] target, int from, int length) throws IOException {
        int filled = 0;
        while (filled < length) {
            if (next == end && !more()) {
                throw new EOFException("the connection ended within an answer");
            }
            int part = Math.min(length - filled, end - next);
            System.arraycopy(buffer, next, target, from + filled, part);
            next += part;
            filled += part;
        }
    }

    private String line() throws IOException {
        var line = new ByteArrayOutputStream(80);
        while (line.size() < MAX_LINE) {
            if (next == end && !more()) {
                throw new EOFException("the connection ended before an answer");
            }
            byte read = buffer[next++];
            if (read == '\n') {
                String text = line.toString(ISO_8859_1);
                return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
            }
            line.write(read);
        }
        throw new ProtocolException("a line of more than " + MAX_LINE + " bytes");
    }

    private boolean more() throws IOException {
        int read = source.read(buffer, 0, buffer.length);
        next = 0;
        end = Math.max(0, read);
        return read > 0;
    }
}
