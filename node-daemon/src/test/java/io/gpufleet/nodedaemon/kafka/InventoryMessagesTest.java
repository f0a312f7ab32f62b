package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.Holder;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.model.HostFacts;
import io.gpufleet.nodedaemon.model.KnownGpu;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Offer;
import io.gpufleet.nodedaemon.model.Part;
import io.gpufleet.nodedaemon.model.SideStates;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.nodedaemon.model.settings.PluginSettings;
import io.gpufleet.proto.allocation.v1.DevicesHeld;
import io.gpufleet.proto.inventory.v1.NodeAnnounced;
import io.gpufleet.proto.inventory.v1.OfferedResource;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the bus is told while one way of offering GPUs is replaced by another. */
class InventoryMessagesTest {
    private static final String SHARED = "nvidia.com/gpu.shared";
    private static final String GPUS = "nvidia.com/gpu";

    private static Offer offer(String id, String resource, int replicas, boolean leaving) {
        return new Offer(id, Some.gpu(0), new Part.Whole(), resource, replicas, true, true, leaving, "");
    }

    private static NodeAnnounced announced(Offer... offers) {
        var byKey = new LinkedHashMap<String, Offer>();
        for (Offer offer : offers) {
            byKey.put(offer.resource() + " " + offer.id(), offer);
        }
        var gpu = new KnownGpu(Some.gpu(0), new KnownGpu.Presence.Answering());
        return InventoryMessages.announced(new Fact.Announced(
                Fact.Reason.CHANGED,
                new HostFacts("0.1.0", "nvml", "6.8", "", "boot-1", Duration.ZERO),
                new Look.Seen("570", "12.8", List.of(Some.gpu(0)), List.of()),
                List.of(gpu),
                byKey,
                PluginSettings.STANDARD,
                SideStates.NONE));
    }

    @Test
    void idsThatOnlyLeaveTheListAreNoCapacity() {
        // Given a GPU that was offered whole and is offered in two shares now
        var announced = announced(
                offer("GPU-00000000", GPUS, 1, true),
                offer("GPU-00000000::0", GPUS, 2, false),
                offer("GPU-00000000::1", GPUS, 2, false));

        assertThat(announced.getResourcesList())
                .extracting(OfferedResource::getName, OfferedResource::getCapacity, OfferedResource::getAllocatable)
                .containsExactly(tuple(GPUS, 2, 2));
        assertThat(announced.getGpus(0).getSharing().getReplicas()).isEqualTo(2);
    }

    @Test
    void resourceThatOnlyLeavesIsToldEmpty() {
        var announced = announced(offer("GPU-00000000", GPUS, 1, true), offer("GPU-00000000::0", SHARED, 2, false));

        assertThat(announced.getResourcesList())
                .extracting(OfferedResource::getName, OfferedResource::getCapacity, OfferedResource::getAllocatable)
                .containsExactly(tuple(GPUS, 0, 0), tuple(SHARED, 1, 1));
    }

    @Test
    void whoHoldsAnIdThatMovesToAnotherResourceIsTold() {
        // Given an id that leaves one resource while another has it already
        var offers = List.of(offer("GPU-00000000", GPUS, 1, true), offer("GPU-00000000", SHARED, 2, false));
        var holder = new Holder("ns", "pod", "", "main", GPUS, List.of("GPU-00000000"));

        var held =
                new FactMessages("boot-1").map(new Fact.Held(new Holdings(List.of(holder), true), List.of(), offers));

        assertThat(held.payload()).isInstanceOf(DevicesHeld.class);
        assertThat(((DevicesHeld) held.payload()).getHolders(0).getDevices(0).getShareOf())
                .isEqualTo(1);
    }
}
