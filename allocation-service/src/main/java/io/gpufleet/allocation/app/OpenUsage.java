package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.devicetime.DeviceInterval;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.allocation.model.ledger.OpenUsageInterval;
import io.gpufleet.allocation.model.usage.UsagePiece;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Usage in the ledger of a node that is not published yet, up to an instant. */
record OpenUsage(String node, NodeLedger ledger, Instant now) {
    List<UsagePiece> pieces() {
        List<UsagePiece> pieces = new ArrayList<>();
        ledger.open().values().forEach(open -> pieces.add(held(open)));
        for (DeviceInterval interval : ledger.openDeviceTime(now)) {
            pieces.add(UsagePiece.of(node, interval));
        }
        return pieces;
    }

    private UsagePiece held(OpenUsageInterval open) {
        return new UsagePiece(
                open.id(),
                node,
                open.holding(),
                ledger.attributesOf(open.holding()).withReducesIdle(true),
                open.from(),
                now.isAfter(open.from()) ? now : open.from(),
                open.quality().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                open.holding().device().weight(1));
    }
}
