package io.gpufleet.allocation.app;

import io.gpufleet.allocation.app.UsageSumReader.Dimension;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.holding.UsageAttributes;
import io.gpufleet.allocation.model.usage.UsagePiece;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Collectors;

/** A log of usage at a fixed time, and pieces of usage for it. */
class TestUsageLog {
    /** More bytes than a piece of these tests, and less than two. */
    static final long PIECE = 1_200;

    static final Instant NOW = Instant.parse("2026-11-20T12:00:00Z");

    final Ledger ledger = new Ledger(_ -> {});
    final UsageLog log = new UsageLog(ledger, Clock.fixed(NOW, ZoneOffset.UTC), 1_000 * PIECE);

    static Instant at(long seconds) {
        return NOW.minusSeconds(1_000).plusSeconds(seconds);
    }

    static Holding holding(String namespace, String device, String profile) {
        return new Holding(
                new Holder(namespace, "p", "u", "c", "nvidia.com/gpu"),
                new HeldDevice(device, new DeviceSlot(device, 0), "A100", 1, profile));
    }

    static UsagePiece piece(String id, Holding holding, long from, long to, int sign) {
        return new UsagePiece(
                id,
                "n1",
                holding,
                UsageAttributes.NONE,
                at(from),
                at(to),
                "allocated",
                holding.device().weight(sign));
    }

    String sum(long from, long to) throws IOException {
        return log.sums(new UsageSumReader.Query(at(from), at(to), List.of())).stream()
                .map(row -> row.gpuSeconds().toPlainString())
                .findFirst()
                .orElse("none");
    }

    String sums(long from, long to, Dimension... groupBy) throws IOException {
        return log.sums(new UsageSumReader.Query(at(from), at(to), List.of(groupBy))).stream()
                .map(row -> String.join("/", row.group().values()) + "="
                        + row.gpuSeconds().toPlainString() + "*" + row.intervals())
                .collect(Collectors.joining(" "));
    }
}
