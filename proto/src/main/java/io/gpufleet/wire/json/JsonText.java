package io.gpufleet.wire.json;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;

/** Texts of JSON in UTF-8. */
final class JsonText {
    private static final byte[] HEX = "0123456789abcdef".getBytes(US_ASCII);
    /** ASCII characters that JsonFormat escapes: those of HTML, too. */
    private static final boolean[] ESCAPED = new boolean[128];

    static {
        Arrays.fill(ESCAPED, 0, 0x20, true);
        "\"\\<>&='".chars().forEach(character -> ESCAPED[character] = true);
    }

    private static final int LINE_SEPARATOR = 0x2028;
    private static final int PARAGRAPH_SEPARATOR = 0x2029;

    private JsonText() {}

    /** Writes a text in quotes. */
    static void escape(byte[] utf8, int from, int to, WireBuffer out) {
        out.put('"');
        int plain = from;
        for (int i = from; i < to; i++) {
            byte unit = utf8[i];
            if (unit == (byte) 0xe2 && isSeparator(utf8, i, to)) {
                out.put(utf8, plain, i);
                unicode(utf8[i + 2] == (byte) 0xa8 ? LINE_SEPARATOR : PARAGRAPH_SEPARATOR, out);
                i += 2;
                plain = i + 1;
            } else if (unit >= 0 && ESCAPED[unit]) {
                out.put(utf8, plain, i);
                escape(unit, out);
                plain = i + 1;
            }
        }
        out.put(utf8, plain, to);
        out.put('"');
    }

    /** U+2028 and U+2029, which JavaScript takes for the end of a line. */
    private static boolean isSeparator(byte[] utf8, int at, int to) {
        return at + 2 < to
                && utf8[at + 1] == (byte) 0x80
                && (utf8[at + 2] == (byte) 0xa8 || utf8[at + 2] == (byte) 0xa9);
    }

    private static void escape(byte unit, WireBuffer out) {
        switch (unit) {
            case '"', '\\' -> pair(unit, out);
            case '\t' -> pair('t', out);
            case '\b' -> pair('b', out);
            case '\n' -> pair('n', out);
            case '\r' -> pair('r', out);
            case '\f' -> pair('f', out);
            default -> unicode(unit, out);
        }
    }

    private static void pair(int letter, WireBuffer out) {
        out.put('\\');
        out.put(letter);
    }

    private static void unicode(int point, WireBuffer out) {
        pair('u', out);
        for (int shift = 12; shift >= 0; shift -= 4) {
            out.put(HEX[point >> shift & 0xf]);
        }
    }
}
