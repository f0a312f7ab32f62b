package io.gpufleet.wire;

import java.time.Instant;
import java.time.LocalDate;

/**
 * Times of an event, all by clocks of its writer.
 *
 * @param occurred time of the event, by the wall clock ({@code ce_time})
 * @param recorded time of sending, by the wall clock ({@code ce_recordedtime})
 * @param ageMillis milliseconds from observation to sending, by the monotonic clock ({@code ce_agems})
 */
public record EventTime(Instant occurred, Instant recorded, long ageMillis) {
    private static final int WHOLE_SECONDS = "2026-01-01T00:00:00".length();
    private static final int FRACTION = WHOLE_SECONDS + 1;
    private static final int MOST_DIGITS = 9;

    /**
     * A time as {@link Instant#parse} reads it. The form that {@link Instant#toString} writes is read here without its formatter:
     * a service reads two of them with every event. Anything else goes to the library, which also says what is
     * wrong with it.
     *
     * @throws java.time.format.DateTimeParseException for anything else than an ISO 8601 time
     */
    public static Instant parse(String text) {
        int end = text.length() - 1;
        if (end < WHOLE_SECONDS
                || text.charAt(end) != 'Z'
                || text.charAt(4) != '-'
                || text.charAt(7) != '-'
                || text.charAt(10) != 'T'
                || text.charAt(13) != ':'
                || text.charAt(16) != ':') {
            return Instant.parse(text);
        }
        int year = number(text, 0, 4);
        int month = number(text, 5, 7);
        int day = number(text, 8, 10);
        int hour = number(text, 11, 13);
        int minute = number(text, 14, 16);
        int second = number(text, 17, WHOLE_SECONDS);
        int nanos = end == WHOLE_SECONDS ? 0 : nanos(text, end);
        // Days that not every month has are left to the library, and what is no number.
        boolean plain = year >= 0
                && 1 <= month
                && month <= 12
                && 1 <= day
                && day <= 28
                && inRange(hour, 24)
                && inRange(minute, 60)
                && inRange(second, 60)
                && nanos >= 0;
        if (!plain) {
            return Instant.parse(text);
        }
        long seconds = LocalDate.of(year, month, day).toEpochDay() * 86_400 + hour * 3600L + minute * 60L + second;
        return Instant.ofEpochSecond(seconds, nanos);
    }

    private static boolean inRange(int value, int limit) {
        return 0 <= value && value < limit;
    }

    /** The digits from one position to another, or -1 where one of them is none. */
    private static int number(String text, int from, int to) {
        int value = 0;
        for (int i = from; i < to; i++) {
            int digit = text.charAt(i) - '0';
            if (!inRange(digit, 10)) {
                return -1;
            }
            value = value * 10 + digit;
        }
        return value;
    }

    private static int nanos(String text, int end) {
        int digits = end - FRACTION;
        if (text.charAt(WHOLE_SECONDS) != '.' || digits < 1 || digits > MOST_DIGITS) {
            return -1;
        }
        int value = number(text, FRACTION, end);
        for (int i = digits; i < MOST_DIGITS && value > 0; i++) {
            value *= 10;
        }
        return value;
    }
}
