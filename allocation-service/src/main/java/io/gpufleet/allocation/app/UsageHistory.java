package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.usage.DailySum;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Usage of any time: from intervals as far back as they are kept, from the sums of whole days before that. */
public final class UsageHistory implements UsageSumReader {
    private static final Set<Dimension> OF_DAYS =
            EnumSet.complementOf(EnumSet.of(Dimension.POD, Dimension.RESOURCE, Dimension.MIG_PROFILE));

    private final UsageLog log;
    private final DailySums days;

    /** Reads both; writes neither. */
    public UsageHistory(UsageLog log, DailySums days) {
        this.log = log;
        this.days = days;
    }

    /** First day that begins at or after a time, in UTC. */
    static LocalDate firstWholeDay(Instant since) {
        LocalDate day = LocalDate.ofInstant(since, ZoneOffset.UTC);
        return start(day).isBefore(since) ? day.plusDays(1) : day;
    }

    @Override
    public List<UsageSum> sums(Query query) throws IOException {
        Instant since = log.keptSince();
        if (!query.from().isBefore(since)) {
            return log.sums(query);
        }
        Instant seam = start(firstWholeDay(since));
        Instant until = query.to().isBefore(seam) ? query.to() : seam;
        refuseUnknown(query, since, until);
        Map<Map<String, String>, UsageSum> sums = new HashMap<>();
        for (LocalDate day = day(query.from()); day.isBefore(day(until)); day = day.plusDays(1)) {
            for (DailySum sum : sums(day)) {
                if (query.groupBy().contains(Dimension.QUALITY) || !sum.unbilled()) {
                    sum.allParts().forEach(part -> add(sums, row(sum, part, query), query));
                }
            }
        }
        if (query.to().isAfter(seam)) {
            log.sums(query.within(seam, query.to())).forEach(row -> add(sums, row, query));
        }
        return sums.values().stream().sorted(UsageSum.BY_GROUP).toList();
    }

    /**
     * Sums of a day as written. Of a day that is not summed yet, and of the last one, which a replica may just be writing,
     * those of its intervals.
     */
    private List<DailySum> sums(LocalDate day) throws IOException {
        List<DailySum> written = days.within(day, day.plusDays(1));
        boolean unsummed = written.isEmpty() || day.equals(log.today().minusDays(1));
        return unsummed && !day.isBefore(log.firstDay()) ? log.day(day) : written;
    }

    private void refuseUnknown(Query query, Instant since, Instant until) {
        boolean whole = OF_DAYS.containsAll(query.groupBy()) && midnight(query.from()) && midnight(until);
        LocalDate first = days.firstDay().orElse(LocalDate.MAX);
        if (first.equals(LocalDate.MAX) || query.from().isBefore(start(first))) {
            throw new IllegalArgumentException("from=" + query.from() + " is before "
                    + (first.equals(LocalDate.MAX) ? since : start(first)) + ", since when usage is known");
        }
        if (!whole) {
            throw new IllegalArgumentException("from=" + query.from() + " is before " + since
                    + ", since when intervals are kept; days before that begin and end at midnight UTC and take no group-by"
                    + " pod, resource, migProfile");
        }
    }

    private static boolean midnight(Instant at) {
        return at.truncatedTo(ChronoUnit.DAYS).equals(at);
    }

    private static UsageSum row(DailySum sum, DailySum.Part part, Query query) {
        Map<String, String> group =
                query.group(one -> value(sum, part, one), part.attributes().labels());
        return new UsageSum(group, BigDecimal.valueOf(part.gpuMillis(), 3), part.intervals());
    }

    private static String value(DailySum sum, DailySum.Part part, Dimension dimension) {
        return switch (dimension) {
            case NAMESPACE -> sum.namespace();
            case MODEL -> sum.model();
            case QUALITY -> sum.quality();
            case NODE -> part.node();
            case PRODUCT -> part.attributes().product();
            case OWNER -> part.attributes().owner();
            case POD, RESOURCE, MIG_PROFILE ->
                throw new IllegalStateException("days are not summed by " + dimension.text());
        };
    }

    private static void add(Map<Map<String, String>, UsageSum> sums, UsageSum row, Query query) {
        sums.merge(
                row.group(),
                row,
                (one, two) -> new UsageSum(
                        one.group(), one.gpuSeconds().add(two.gpuSeconds()), one.intervals() + two.intervals()));
        query.admit(sums.size());
    }

    static Instant start(LocalDate day) {
        return day.atStartOfDay(ZoneOffset.UTC).toInstant();
    }

    static LocalDate day(Instant at) {
        return LocalDate.ofInstant(at, ZoneOffset.UTC);
    }
}
