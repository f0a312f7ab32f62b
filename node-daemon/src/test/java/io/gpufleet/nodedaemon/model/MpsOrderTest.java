package io.gpufleet.nodedaemon.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpufleet.nodedaemon.model.settings.SharePlan;
import io.gpufleet.nodedaemon.model.settings.SharePlan.Means;
import io.gpufleet.nodedaemon.model.settings.SharePlan.Pick;
import io.gpufleet.nodedaemon.model.settings.SharePlan.SharedResource;
import java.util.List;
import org.junit.jupiter.api.Test;

class MpsOrderTest {
    private static final SharePlan MPS = new SharePlan(
            Means.MPS, false, true, List.of(new SharedResource(ResourcePlan.GPU, "", new Pick.All(), 4)), "/srv/mps");

    private static Offer share(int gpu, int number, int shares, boolean leaving) {
        return new Offer(
                Some.uuid(gpu) + "::" + number,
                Some.gpu(gpu),
                new Part.Whole(),
                ResourcePlan.GPU,
                shares,
                true,
                true,
                leaving,
                "");
    }

    @Test
    void everySharedGpuIsOrderedOnceAndEachShareGetsItsPart() {
        var orders = MpsOrder.of(
                List.of(
                        share(0, 0, 4, false),
                        share(0, 1, 4, false),
                        share(1, 0, 10, false),
                        share(2, 0, 4, true),
                        Some.offer(3, true, "")),
                MPS);

        assertThat(orders).singleElement().satisfies(order -> {
            assertThat(order.resource()).isEqualTo("nvidia.com/gpu");
            assertThat(order.folder()).isEqualTo("/srv/mps/nvidia.com/gpu");
            assertThat(order.threadPercentage()).isEqualTo(10);
            assertThat(order.devices())
                    .extracting(MpsOrder.Shared::uuid, MpsOrder.Shared::limitMebibytes)
                    .containsExactly(tuple(Some.uuid(0), 80L * 1024 / 4), tuple(Some.uuid(1), 80L * 1024 / 10));
        });
    }

    @Test
    void timeSlicingOrdersNothing() {
        var slicing = new SharePlan(Means.TIME_SLICING, false, false, MPS.resources());

        assertThat(MpsOrder.of(List.of(share(0, 0, 4, false)), slicing)).isEmpty();
    }
}
