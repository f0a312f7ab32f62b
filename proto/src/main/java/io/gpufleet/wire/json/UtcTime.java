package io.gpufleet.wire.json;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.time.Instant;
import java.time.LocalDate;

/** Prints times as ISO 8601 in UTC. */
public final class UtcTime {
    private static final int WHOLE_SECONDS = "2026-01-01T00:00:00".length();
    private static final int FRACTION = WHOLE_SECONDS + 1;
    private static final int SECONDS_OF_DAY = 86_400;
    /** Of the year 0. */
    private static final long FIRST_SECOND = -62_167_219_200L;
    /** Of the year 9999. */
    private static final long LAST_SECOND = 253_402_300_799L;

    private UtcTime() {}

    /**
     * Prints a time as {@link Instant#toString} does; a year of four digits without its formatter, since a service writes two
     * of them with every record.
     */
    public static String print(Instant time) {
        long second = time.getEpochSecond();
        if (second < FIRST_SECOND || second > LAST_SECOND) {
            return time.toString();
        }
        int digits = digits(time.getNano());
        byte[] text = new byte[WHOLE_SECONDS + 1 + (digits == 0 ? 0 : digits + 1)];
        date(text, LocalDate.ofEpochDay(Math.floorDiv(second, SECONDS_OF_DAY)));
        time(text, Math.floorMod(second, SECONDS_OF_DAY));
        if (digits > 0) {
            text[WHOLE_SECONDS] = '.';
            int unit = digits == 3 ? 1_000_000 : digits == 6 ? 1_000 : 1;
            number(text, FRACTION, FRACTION + digits, time.getNano() / unit);
        }
        text[text.length - 1] = 'Z';
        return new String(text, US_ASCII);
    }

    /** A fraction has three, six or nine digits. */
    private static int digits(int nanos) {
        if (nanos == 0) {
            return 0;
        }
        return nanos % 1_000_000 == 0 ? 3 : nanos % 1_000 == 0 ? 6 : 9;
    }

    private static void date(byte[] text, LocalDate date) {
        number(text, 0, 4, date.getYear());
        text[4] = '-';
        number(text, 5, 7, date.getMonthValue());
        text[7] = '-';
        number(text, 8, 10, date.getDayOfMonth());
    }

    private static void time(byte[] text, int secondOfDay) {
        text[10] = 'T';
        number(text, 11, 13, secondOfDay / 3600);
        text[13] = ':';
        number(text, 14, 16, secondOfDay / 60 % 60);
        text[16] = ':';
        number(text, 17, WHOLE_SECONDS, secondOfDay % 60);
    }

    private static void number(byte[] text, int from, int to, int value) {
        int rest = value;
        for (int i = to - 1; i >= from; i--) {
            text[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
    }
}
