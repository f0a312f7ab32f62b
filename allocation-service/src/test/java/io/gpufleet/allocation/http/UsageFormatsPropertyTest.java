package io.gpufleet.allocation.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.gpufleet.allocation.app.Ledger;
import io.gpufleet.allocation.app.UsageLog;
import io.gpufleet.allocation.app.UsageSumReader.Dimension;
import io.gpufleet.allocation.app.UsageSumReader.Query;
import io.gpufleet.allocation.app.UsageSumReader.UsageSum;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import io.gpufleet.allocation.model.usage.UsagePiece;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** CSV and JSON of the same question tell the same, whatever the names are. */
class UsageFormatsPropertyTest {
    private static final Instant NOW = Instant.parse("2026-11-22T10:00:00Z");
    private static final List<String> LABELS = List.of("team", "example.com/cost-centre");
    private static final List<String> VALUES = List.of(
            "",
            "a",
            "a,b",
            "say \"hi\"",
            "\"",
            "\r\n",
            "a\nb",
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\tx",
            "'",
            "''a",
            "＝1",
            "a'b",
            " =1",
            "ü\u0000",
            "a;b",
            "1e9",
            "0x1F");

    @Property(tries = 300)
    void rowsOfCsvAreThoseOfJson(
            @ForAll("groups") List<Dimension> groups, @ForAll("labels") List<String> labels, @ForAll long seed)
            throws IOException {
        var query = new Query(NOW.minusSeconds(1_000), NOW, groups, labels);
        UsageLog log = usage(new Random(seed));

        List<UsageSum> sums = log.sums(query);

        assertThat(rowsOfCsv(UsageCsv.encode(query, sums))).isEqualTo(rowsOfJson(query, sums));
        // Each row is rounded to a millisecond.
        assertThat(total(sums))
                .isCloseTo(
                        total(log.sums(new Query(query.from(), query.to(), onlyQuality(groups)))),
                        within(BigDecimal.valueOf(sums.size() + 2, 3)));
    }

    /** Without it unreachable time is left out of the total. */
    private static List<Dimension> onlyQuality(List<Dimension> groups) {
        return groups.contains(Dimension.QUALITY) ? List.of(Dimension.QUALITY) : List.of();
    }

    private static BigDecimal total(List<UsageSum> sums) {
        return sums.stream().map(UsageSum::gpuSeconds).reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private static UsageLog usage(Random random) {
        var log = new UsageLog(new Ledger(_ -> {}), Clock.fixed(NOW, ZoneOffset.UTC), 10_000_000);
        log.loaded();
        for (int i = random.nextInt(12); i >= 0; i--) {
            var device = new HeldDevice(
                    "g" + i,
                    new DeviceSlot("g" + i, 0),
                    any(random),
                    1 + random.nextInt(3),
                    random.nextBoolean() ? "1g.5gb" : "");
            var holder = new Holder(any(random), any(random), "u", "c", any(random));
            Map<String, String> labels = new LinkedHashMap<>();
            LABELS.stream().filter(_ -> random.nextBoolean()).forEach(key -> labels.put(key, any(random)));
            Instant from = NOW.minusSeconds(random.nextInt(1_200));
            log.add(new UsagePiece(
                    "i" + i,
                    any(random),
                    new Holding(holder, device),
                    UsageAttributes.of(any(random), any(random), labels),
                    from,
                    from.plusSeconds(random.nextInt(500)),
                    random.nextBoolean() ? "allocated" : "unreachable",
                    device.weight(random.nextInt(4) == 0 ? -1 : 1)));
        }
        return log;
    }

    private static String any(Random random) {
        return VALUES.get(random.nextInt(VALUES.size()));
    }

    @Provide
    Arbitrary<List<Dimension>> groups() {
        return Arbitraries.of(Dimension.class).list().uniqueElements();
    }

    @Provide
    Arbitrary<List<String>> labels() {
        return Arbitraries.of(LABELS).list().uniqueElements();
    }

    private static List<Map<String, Object>> rowsOfJson(Query query, List<UsageSum> sums) {
        var usage = new JsonObject(UsageRoute.json(query, sums).encode()).getJsonArray("usage");
        List<Map<String, Object>> rows = new ArrayList<>();
        usage.forEach(each -> {
            var row = (JsonObject) each;
            Map<String, Object> cells = new LinkedHashMap<>();
            for (String name : query.names()) {
                cells.put(
                        name,
                        Query.label(name)
                                .map(key -> row.getJsonObject("labels").getString(key))
                                .orElseGet(() -> row.getString(name)));
            }
            cells.put("gpuSeconds", number(row.getValue("gpuSeconds").toString()));
            cells.put("intervals", number(row.getValue("intervals").toString()));
            rows.add(cells);
        });
        return rows;
    }

    private static BigDecimal number(String text) {
        return new BigDecimal(text).stripTrailingZeros();
    }

    private static List<Map<String, Object>> rowsOfCsv(String csv) {
        List<List<String>> lines = lines(csv);
        List<String> names = lines.getFirst();
        List<Map<String, Object>> rows = new ArrayList<>();
        for (List<String> line : lines.subList(1, lines.size())) {
            assertThat(line).hasSameSizeAs(names);
            Map<String, Object> cells = new LinkedHashMap<>();
            for (int i = 0; i < names.size(); i++) {
                boolean sum = i >= names.size() - 2;
                cells.put(names.get(i), sum ? number(line.get(i)) : literal(line.get(i)));
            }
            rows.add(cells);
        }
        return rows;
    }

    /** What an apostrophe at the start of a cell says: the rest is no formula. */
    private static String literal(String cell) {
        assertThat(cell).doesNotMatch("(?s)[=+@\\t\\r\\n＝-].*");
        return cell.startsWith("'") ? cell.substring(1) : cell;
    }

    /** Reads RFC 4180 to the letter; a bare quote, carriage return or line feed is an error. */
    private static List<List<String>> lines(String csv) {
        List<List<String>> lines = new ArrayList<>();
        List<String> line = new ArrayList<>();
        int at = 0;
        while (at < csv.length()) {
            var cell = new StringBuilder();
            if (csv.charAt(at) == '"') {
                at++;
                while (csv.charAt(at) != '"' || csv.charAt(at + 1) == '"') {
                    at += csv.charAt(at) == '"' ? 1 : 0;
                    cell.append(csv.charAt(at++));
                }
                at++;
            } else {
                while (",\r".indexOf(csv.charAt(at)) < 0) {
                    assertThat(csv.charAt(at)).isNotIn('"', '\n');
                    cell.append(csv.charAt(at++));
                }
            }
            line.add(cell.toString());
            if (csv.startsWith("\r\n", at)) {
                lines.add(line);
                line = new ArrayList<>();
                at += 2;
            } else {
                assertThat(csv.charAt(at++)).isEqualTo(',');
            }
        }
        assertThat(line).isEmpty();
        return lines;
    }
}
