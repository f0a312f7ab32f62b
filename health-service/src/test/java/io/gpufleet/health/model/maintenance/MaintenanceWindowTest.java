package io.gpufleet.health.model.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MaintenanceWindowTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Sat,Sun 02:00-06:00 UTC | 2026-11-21T02:00:00Z | true",
                "Sat,Sun 02:00-06:00 UTC | 2026-11-22T05:59:59Z | true",
                "Sat,Sun 02:00-06:00 UTC | 2026-11-22T06:00:00Z | false",
                "Sat,Sun 02:00-06:00 UTC | 2026-11-23T03:00:00Z | false",
                // Over midnight it belongs to the day on which it begins.
                "Sat 22:00-04:00 UTC | 2026-11-21T23:00:00Z | true",
                "Sat 22:00-04:00 UTC | 2026-11-22T03:59:00Z | true",
                "Sat 22:00-04:00 UTC | 2026-11-22T22:30:00Z | false",
                "Sat 22:00-04:00 UTC | 2026-11-21T03:00:00Z | false",
                "* 00:00-00:00 UTC | 2026-11-23T12:00:00Z | true",
                // The same minute of UTC before and after the clocks of Berlin are put back.
                "* 03:00-04:00 Europe/Berlin | 2026-10-24T01:30:00Z | true",
                "* 03:00-04:00 Europe/Berlin | 2026-10-26T01:30:00Z | false"
            })
    void windowContainsWhatItsClockShows(String window, Instant time, boolean inside) {
        assertThat(MaintenanceWindow.parse(window).contains(time)).isEqualTo(inside);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "Sat | takes days, from-to, time zone",
                "Sat 22:00 UTC | takes days, from-to, time zone",
                "Sonnabend 22:00-23:00 UTC | 'Sonnabend' is no day: Mon, Tue, Wed, Thu, Fri, Sat, Sun or * for every day",
                "Sat 22-23 UTC | '22-23' takes times such as 22:00-04:00",
                "Sat 22:00-25:00 UTC | '22:00-25:00' takes times such as 22:00-04:00",
                "Sat 22:00-23:00 Berlin | 'Berlin' is no time zone such as Europe/Berlin"
            })
    void mistakeIsNamed(String window, String message) {
        assertThatThrownBy(() -> MaintenanceWindow.parse(window))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void textIsReadAsItWasWritten() {
        for (String text : List.of("Mon,Sat,Sun 22:00-04:00 Europe/Berlin", "* 02:00-03:30 UTC")) {
            assertThat(MaintenanceWindow.parse(text)).hasToString(text);
        }
    }

    @Test
    void withoutWindowsThereIsAlwaysTime() {
        assertThat(MaintenanceWindows.ANY_TIME.refuse(Instant.EPOCH)).isEmpty();
    }

    @Test
    void oneOfSeveralWindowsIsEnough() {
        var windows = new MaintenanceWindows(List.of(
                MaintenanceWindow.parse("Sat 02:00-06:00 UTC"), MaintenanceWindow.parse("Wed 12:00-13:00 UTC")));

        assertThat(windows.refuse(Instant.parse("2026-11-25T12:30:00Z"))).isEmpty();
        assertThat(windows.refuse(Instant.parse("2026-11-24T12:30:00Z")))
                .contains("waits for a maintenance window: Sat 02:00-06:00 UTC; Wed 12:00-13:00 UTC");
    }
}
