package io.gpufleet.kit.tls;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;

/** Encodes values of ASN.1 by its distinguished encoding rules (ITU-T X.690), as far as certificates need them. */
final class Der {
    private static final int BOOLEAN = 0x01;
    private static final int INTEGER = 0x02;
    private static final int BIT_STRING = 0x03;
    private static final int OCTET_STRING = 0x04;
    private static final int OBJECT_IDENTIFIER = 0x06;
    private static final int UTF8_STRING = 0x0c;
    private static final int UTC_TIME = 0x17;
    private static final int GENERALIZED_TIME = 0x18;
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;
    private static final int CONTEXT = 0x80;
    private static final int CONSTRUCTED = 0x20;

    private static final int SHORT_LENGTH = 0x80;
    private static final int SEVEN_BITS = 0x7f;
    /** From this year on a time has four digits for the year (RFC 5280, 4.1.2.5). */
    private static final int GENERALIZED_TIME_YEAR = 2050;

    private static final DateTimeFormatter UTC =
            DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter GENERALIZED =
            DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

    private Der() {}

    static byte[] sequence(byte[]... values) {
        return encoded(SEQUENCE, values);
    }

    static byte[] sequence(List<byte[]> values) {
        return sequence(values.toArray(byte[][]::new));
    }

    static byte[] set(byte[]... values) {
        return encoded(SET, values);
    }

    static byte[] integer(BigInteger value) {
        return encoded(INTEGER, value.toByteArray());
    }

    static byte[] bool(boolean value) {
        return encoded(BOOLEAN, new byte[] {(byte) (value ? 0xff : 0)});
    }

    static byte[] utf8(String text) {
        return encoded(UTF8_STRING, text.getBytes(StandardCharsets.UTF_8));
    }

    static byte[] octets(byte[] value) {
        return encoded(OCTET_STRING, value);
    }

    /** Bits whose number is a multiple of eight. */
    static byte[] bits(byte[] value) {
        return encoded(BIT_STRING, new byte[] {0}, value);
    }

    /** Named bits of the first octet, without the zeros at its end. */
    static byte[] flags(int octet) {
        return encoded(BIT_STRING, new byte[] {(byte) Integer.numberOfTrailingZeros(octet), (byte) octet});
    }

    static byte[] time(Instant time) {
        return time.atOffset(ZoneOffset.UTC).getYear() < GENERALIZED_TIME_YEAR
                ? encoded(UTC_TIME, UTC.format(time).getBytes(StandardCharsets.US_ASCII))
                : encoded(GENERALIZED_TIME, GENERALIZED.format(time).getBytes(StandardCharsets.US_ASCII));
    }

    /** A value under the tag {@code [number]} of its context, explicitly. */
    static byte[] explicit(int number, byte[] value) {
        return encoded(CONTEXT | CONSTRUCTED | number, value);
    }

    /** The content of a primitive value under the tag {@code [number]} of its context. */
    static byte[] implicit(int number, byte[] content) {
        return encoded(CONTEXT | number, content);
    }

    /** An object identifier from its dotted form. */
    static byte[] identifier(String dotted) {
        String[] arcs = dotted.split("\\.", -1);
        var content = new ByteArrayOutputStream();
        content.write(Integer.parseInt(arcs[0]) * 40 + Integer.parseInt(arcs[1]));
        for (int i = 2; i < arcs.length; i++) {
            int arc = Integer.parseInt(arcs[i]);
            for (int shift = 28; shift > 0; shift -= 7) {
                if (arc >>> shift != 0) {
                    content.write(((arc >>> shift) & SEVEN_BITS) | SHORT_LENGTH);
                }
            }
            content.write(arc & SEVEN_BITS);
        }
        return encoded(OBJECT_IDENTIFIER, content.toByteArray());
    }

    private static byte[] encoded(int tag, byte[]... parts) {
        var content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        var value = new ByteArrayOutputStream();
        value.write(tag);
        int length = content.size();
        if (length < SHORT_LENGTH) {
            value.write(length);
        } else {
            byte[] digits = BigInteger.valueOf(length).toByteArray();
            int first = digits[0] == 0 ? 1 : 0;
            value.write(SHORT_LENGTH | (digits.length - first));
            value.write(digits, first, digits.length - first);
        }
        value.writeBytes(content.toByteArray());
        return value.toByteArray();
    }
}
