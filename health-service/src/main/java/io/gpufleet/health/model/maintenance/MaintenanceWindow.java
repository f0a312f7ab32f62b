package io.gpufleet.health.model.maintenance;

import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeParseException;
import java.time.format.TextStyle;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A time of the week in which what disturbs pods may begin.
 *
 * @param days on which it begins
 * @param from first minute
 * @param to first minute after it, on the next day where it is not after {@code from}
 * @param zone whose clock counts
 */
public record MaintenanceWindow(Set<DayOfWeek> days, LocalTime from, LocalTime to, ZoneId zone) {
    /** The form that {@link #parse} takes. */
    public static final String FORM = "days, from-to, time zone, for example \"Sat,Sun 22:00-04:00 Europe/Berlin\"";

    private static final String EVERY_DAY = "*";

    /** Copies the days. */
    public MaintenanceWindow {
        days = Set.copyOf(days);
        if (days.isEmpty()) {
            throw new IllegalArgumentException("a maintenance window takes at least one day");
        }
    }

    /**
     * Reads the form {@code Sat,Sun 22:00-04:00 Europe/Berlin}; {@code *} stands for every day.
     *
     * @throws IllegalArgumentException for anything else, without the text
     */
    public static MaintenanceWindow parse(String text) {
        String[] parts = text.strip().split(" +", -1);
        String[] times = parts.length == 3 ? parts[1].split("-", -1) : new String[0];
        if (times.length != 2) {
            throw new IllegalArgumentException("takes " + FORM);
        }
        try {
            return new MaintenanceWindow(
                    days(parts[0]), LocalTime.parse(times[0]), LocalTime.parse(times[1]), ZoneId.of(parts[2]));
        } catch (DateTimeParseException noTime) {
            throw new IllegalArgumentException("'" + parts[1] + "' takes times such as 22:00-04:00", noTime);
        } catch (DateTimeException noZone) {
            throw new IllegalArgumentException("'" + parts[2] + "' is no time zone such as Europe/Berlin", noZone);
        }
    }

    private static Set<DayOfWeek> days(String names) {
        if (names.equals(EVERY_DAY)) {
            return EnumSet.allOf(DayOfWeek.class);
        }
        return Arrays.stream(names.split(",", -1)).map(MaintenanceWindow::day).collect(Collectors.toSet());
    }

    private static DayOfWeek day(String name) {
        return Arrays.stream(DayOfWeek.values())
                .filter(day -> shortName(day).equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "'" + name + "' is no day: Mon, Tue, Wed, Thu, Fri, Sat, Sun or * for every day"));
    }

    private static String shortName(DayOfWeek day) {
        return day.getDisplayName(TextStyle.SHORT, Locale.ROOT);
    }

    /** True at a time within it; where a clock is put forward or back, what that clock shows counts. */
    public boolean contains(Instant time) {
        ZonedDateTime local = time.atZone(zone);
        LocalTime clock = local.toLocalTime();
        DayOfWeek today = local.getDayOfWeek();
        if (from.isBefore(to)) {
            return days.contains(today) && !clock.isBefore(from) && clock.isBefore(to);
        }
        return (days.contains(today) && !clock.isBefore(from)) || (days.contains(today.minus(1)) && clock.isBefore(to));
    }

    /** As {@link #parse} reads it. */
    @Override
    public String toString() {
        String names = days.size() == DayOfWeek.values().length
                ? EVERY_DAY
                : days.stream().sorted().map(MaintenanceWindow::shortName).collect(Collectors.joining(","));
        return names + " " + from + "-" + to + " " + zone;
    }
}
