package io.gpufleet.allocation.app;

import io.gpufleet.allocation.model.quota.Used;
import java.util.List;

/** A quota with what is used of it, for reading. */
public record QuotaView(String name, String mode, boolean decidedHere, List<Row> limits) {
    /** One limit. */
    public record Row(String model, int limit, Used used, int escrow) {}
}
