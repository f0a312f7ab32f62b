package io.gpufleet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.wire.json.UtcTime;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.function.Function;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventTimePropertyTest {
    @Property
    void everyTimeIsReadAsItWasWritten(
            @ForAll @LongRange(min = -62_167_219_200L, max = 253_402_300_799L) long seconds,
            @ForAll @IntRange(min = 0, max = 999_999_999) int nanos) {
        Instant time = Instant.ofEpochSecond(seconds, nanos);

        assertThat(EventTime.parse(time.toString())).isEqualTo(time);
    }

    @Property
    void everyTimeIsPrintedAsTheLibraryDoes(
            @ForAll @LongRange(min = -62_167_219_300L, max = 253_402_300_899L) long seconds,
            @ForAll @IntRange(min = 0, max = 999_999_999) int nanos,
            @ForAll("units") int unit) {
        Instant time = Instant.ofEpochSecond(seconds, nanos / unit * unit);

        assertThat(UtcTime.print(time)).isEqualTo(time.toString());
    }

    @Provide
    Arbitrary<Integer> units() {
        return Arbitraries.of(1, 1_000, 1_000_000, 1_000_000_000);
    }

    @Property
    void changedTextIsReadOrRefusedAsTheLibraryDoes(
            @ForAll @LongRange(min = 0, max = 4_102_444_800L) long seconds,
            @ForAll @IntRange(min = 0, max = 999_999_999) int nanos,
            @ForAll @IntRange(min = 0, max = 35) int position,
            @ForAll char other) {
        var text = new StringBuilder(Instant.ofEpochSecond(seconds, nanos).toString());
        text.setCharAt(position % text.length(), other);

        assertThat(result(EventTime::parse, text.toString())).isEqualTo(result(Instant::parse, text.toString()));
    }

    @Property
    void changedDigitIsReadOrRefusedAsTheLibraryDoes(
            @ForAll @LongRange(min = 0, max = 4_102_444_800L) long seconds,
            @ForAll @IntRange(min = 0, max = 18) int position,
            @ForAll @IntRange(min = 0, max = 9) int digit) {
        var text = new StringBuilder(Instant.ofEpochSecond(seconds).toString());
        text.setCharAt(position, (char) ('0' + digit));

        assertThat(result(EventTime::parse, text.toString())).isEqualTo(result(Instant::parse, text.toString()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Z",
                "2026-01-01",
                "2026-01-01T00:00Z",
                "2026-01-01T00:00:00",
                "2026-01-01T00:00:00.Z",
                "2026-01-01T00:00:00.1234567890Z",
                "2026-01-01T00:00:00+02:00",
                "2026-01-01t00:00:00z",
                "2026-01-01T24:00:00Z",
                "2026-01-01T23:59:60Z",
                "2026-06-30T23:59:60Z",
                "2026-02-29T00:00:00Z",
                "2028-02-29T00:00:00Z",
                "2026-04-31T00:00:00Z",
                "2026-00-01T00:00:00Z",
                "0000-01-01T00:00:00Z",
                "-001-01-01T00:00:00Z",
                "+12345-01-01T00:00:00Z",
                "2026-01-01T00:00:00.5Z",
                "２026-01-01T00:00:00Z"
            })
    void oddTextIsReadOrRefusedAsTheLibraryDoes(String text) {
        assertThat(result(EventTime::parse, text)).isEqualTo(result(Instant::parse, text));
    }

    @Example
    void shortFractionsAreTenthsAndThousandths() {
        assertThat(EventTime.parse("2026-01-01T00:00:00.05Z")).isEqualTo(Instant.parse("2026-01-01T00:00:00.050Z"));
    }

    /** The time, or the text of the refusal. */
    private static Object result(Function<String, Instant> parser, String text) {
        try {
            return parser.apply(text);
        } catch (DateTimeException refused) {
            return String.valueOf(refused.getMessage());
        }
    }
}
