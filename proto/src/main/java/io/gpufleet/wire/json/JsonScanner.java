package io.gpufleet.wire.json;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.LocalDate;
import java.util.Arrays;

/** The tokens of a JSON text in UTF-8. Throws {@link UnsupportedJsonException} for all that is not the common form. */
final class JsonScanner {
    /** Digits that a long can hold, whatever they are. */
    private static final int MAX_DIGITS = 18;

    private static final int HOUR = 3600;
    private static final int MINUTE = 60;
    private static final int DAY = 24 * HOUR;
    private static final int NANO_DIGITS = 9;

    private final byte[] json;
    private int at;
    private int nanos;

    JsonScanner(byte[] json) {
        this.json = json;
    }

    void expect(char token) {
        if (!skipIf(token)) {
            throw new UnsupportedJsonException();
        }
    }

    boolean skipIf(char token) {
        skipSpace();
        if (peek() != token) {
            return false;
        }
        at++;
        return true;
    }

    void expectEnd() {
        skipSpace();
        if (at != json.length) {
            throw new UnsupportedJsonException();
        }
    }

    /** Index of the field whose name follows. */
    int name(MessageSchema schema, int expected) {
        int from = openText();
        int to = endOfPlainText(from);
        at = to + 1;
        return schema.indexOf(json, from, to, expected);
    }

    /** A text without escapes. */
    byte[] plainText() {
        int from = openText();
        int to = endOfPlainText(from);
        at = to + 1;
        return Arrays.copyOfRange(json, from, to);
    }

    private int openText() {
        expect('"');
        return at;
    }

    private int endOfPlainText(int from) {
        for (int i = from; i < json.length; i++) {
            byte unit = json[i];
            if (unit == '"') {
                return i;
            }
            if (unit == '\\' || unit >= 0 && unit < ' ') {
                break;
            }
        }
        throw new UnsupportedJsonException();
    }

    /** Writes a text without its escapes, in UTF-8. */
    void text(WireBuffer out) {
        int plain = openText();
        while (at < json.length) {
            byte unit = json[at];
            if (unit == '"') {
                out.put(json, plain, at);
                at++;
                return;
            }
            if (unit == '\\') {
                out.put(json, plain, at);
                at++;
                escaped(out);
                plain = at;
            } else if (unit >= 0 && unit < ' ') {
                break;
            } else {
                at++;
            }
        }
        throw new UnsupportedJsonException();
    }

    private void escaped(WireBuffer out) {
        int letter = peek();
        at++;
        switch (letter) {
            case '"', '\\', '/' -> out.put(letter);
            case 't' -> out.put('\t');
            case 'b' -> out.put('\b');
            case 'n' -> out.put('\n');
            case 'r' -> out.put('\r');
            case 'f' -> out.put('\f');
            case 'u' -> unicode(out);
            default -> throw new UnsupportedJsonException();
        }
    }

    /** Surrogates are left to JsonFormat. */
    private void unicode(WireBuffer out) {
        int point = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit(peek(), 16);
            if (digit < 0) {
                throw new UnsupportedJsonException();
            }
            point = point << 4 | digit;
            at++;
        }
        if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
            throw new UnsupportedJsonException();
        }
        out.put(Character.toString(point).getBytes(UTF_8));
    }

    boolean bool() {
        skipSpace();
        if (literal("true")) {
            return true;
        }
        if (literal("false")) {
            return false;
        }
        throw new UnsupportedJsonException();
    }

    private boolean literal(String word) {
        for (int i = 0; i < word.length(); i++) {
            if (at + i >= json.length || json[at + i] != word.charAt(i)) {
                return false;
            }
        }
        at += word.length();
        return true;
    }

    /** 64 bits are in quotes, since JavaScript has no such numbers. */
    long longInteger(boolean signed) {
        boolean quoted = skipIf('"');
        if (!signed && peek() == '-') {
            throw new UnsupportedJsonException();
        }
        if (!quoted) {
            return integer();
        }
        int from = at;
        int to = endOfPlainText(from);
        if (to - from > MAX_DIGITS) {
            at = to + 1;
            return large(new String(json, from, to - from, US_ASCII), signed);
        }
        long value = digits();
        if (at != to) {
            throw new UnsupportedJsonException();
        }
        at++;
        return value;
    }

    private static long large(String digits, boolean signed) {
        try {
            return signed ? Long.parseLong(digits) : Long.parseUnsignedLong(digits);
        } catch (NumberFormatException uncommon) {
            throw new UnsupportedJsonException();
        }
    }

    /** An integer without leading zeros, fraction or exponent. */
    long integer() {
        skipSpace();
        return digits();
    }

    private long digits() {
        boolean negative = peek() == '-';
        if (negative) {
            at++;
        }
        int from = at;
        long value = 0;
        for (int unit = peek(); unit >= '0' && unit <= '9'; unit = peek()) {
            value = value * 10 + unit - '0';
            at++;
            if (at - from > MAX_DIGITS) {
                throw new UnsupportedJsonException();
            }
        }
        boolean leadingZero = at > from && json[from] == '0' && (at - from > 1 || negative);
        int end = peek();
        if (at == from || leadingZero || end == '.' || end == 'e' || end == 'E') {
            throw new UnsupportedJsonException();
        }
        return negative ? -value : value;
    }

    /** Seconds since the epoch of {@code 2026-11-22T10:15:30.123Z}; {@link #nanos()} has the rest. */
    long timestamp() {
        openText();
        int year = fixed(4);
        unit('-');
        int month = fixed(2);
        unit('-');
        long day = LocalDate.of(year, month, fixed(2)).toEpochDay();
        unit('T');
        int hour = fixed(2);
        unit(':');
        int minute = fixed(2);
        unit(':');
        int second = fixed(2);
        nanos = peek() == '.' ? fraction() : 0;
        unit('Z');
        unit('"');
        if (year < 1 || hour >= 24 || minute >= MINUTE || second >= MINUTE) {
            throw new UnsupportedJsonException();
        }
        return day * DAY + hour * HOUR + minute * MINUTE + second;
    }

    /** Nanoseconds of the last {@link #timestamp()}. */
    int nanos() {
        return nanos;
    }

    private int fraction() {
        at++;
        int value = 0;
        int count = 0;
        for (int unit = peek(); unit >= '0' && unit <= '9'; unit = peek()) {
            value = value * 10 + unit - '0';
            at++;
            if (++count > NANO_DIGITS) {
                throw new UnsupportedJsonException();
            }
        }
        if (count == 0) {
            throw new UnsupportedJsonException();
        }
        for (; count < NANO_DIGITS; count++) {
            value *= 10;
        }
        return value;
    }

    private int fixed(int count) {
        int value = 0;
        for (int i = 0; i < count; i++) {
            int digit = peek() - '0';
            if (digit < 0 || digit > 9) {
                throw new UnsupportedJsonException();
            }
            value = value * 10 + digit;
            at++;
        }
        return value;
    }

    private void unit(char wanted) {
        if (peek() != wanted) {
            throw new UnsupportedJsonException();
        }
        at++;
    }

    /** The next byte; -1 at the end. */
    private int peek() {
        return at < json.length ? json[at] : -1;
    }

    private void skipSpace() {
        while (at < json.length && (json[at] == ' ' || json[at] == '\n' || json[at] == '\t' || json[at] == '\r')) {
            at++;
        }
    }
}
