package io.gpufleet.allocation.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.HoldingQuery;
import io.gpufleet.allocation.model.holding.DeviceSlot;
import io.gpufleet.allocation.model.holding.HeldDevice;
import io.gpufleet.allocation.model.holding.Holder;
import io.gpufleet.allocation.model.holding.Holding;
import io.gpufleet.allocation.model.ledger.IntervalQuality;
import io.gpufleet.allocation.model.ledger.OpenUsageInterval;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.Collections;
import org.junit.jupiter.api.Test;

/** Length of pages of holdings. */
class HoldingsRouteTest {
    private static final Instant NOW = Instant.parse("2026-11-22T10:00:00Z");

    private static HoldingQuery.Match match(int podLength) {
        var holding = new Holding(
                new Holder("team-a", "p".repeat(podLength), "uid", "main", "nvidia.com/gpu"),
                new HeldDevice("gpu-0", new DeviceSlot("gpu-0", 0), "A100", 1, ""));
        return new HoldingQuery.Match("n1", new OpenUsageInterval("id", holding, NOW, IntervalQuality.ALLOCATED, NOW));
    }

    private static JsonObject page(int podLength, int size) {
        return new JsonObject(HoldingsRoute.page(Collections.nCopies(6, match(podLength)), size));
    }

    @Test
    void pageEndsBeforeTheIntervalThatWouldMakeItTooLong() {
        JsonObject page = page(1 << 20, 100);

        assertThat(page.getJsonArray("holdings")).hasSize(3);
        assertThat(page.getString("next")).isNotEmpty();
    }

    @Test
    void intervalThatIsTooLongForAnyPageIsOnOneOfItsOwn() {
        assertThat(page(HoldingsRoute.MAX_LENGTH, 100).getJsonArray("holdings")).hasSize(1);
    }

    @Test
    void lastPageNamesNoNext() {
        assertThat(page(1, 6).containsKey("next")).isFalse();
        assertThat(page(1, 5).containsKey("next")).isTrue();
    }
}
