package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.device.TestGpus.scanOf;
import static io.gpufleet.nodedaemon.model.device.TestGpus.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.ComputeProcess;
import io.gpufleet.nodedaemon.model.device.GpuSampleBuilder;
import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import io.gpufleet.nodedaemon.model.device.Reading.Known;
import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import io.gpufleet.nodedaemon.model.holders.UnallocatedUse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeStateUnallocatedUseTest {
    private static final Holder HOLDER = new Holder("ns", "train", "a", "main", "nvidia.com/gpu", List.of(uuid(0)));

    private final TestNode node =
            new TestNode(scanOf(1)).handle(new NodeLoopInput.HoldingsListed(new Holdings(List.of(HOLDER), true)));

    private void polls(long bytes, String... podUids) {
        var processes = new ArrayList<ComputeProcess>();
        for (String uid : podUids) {
            processes.add(
                    new ComputeProcess(processes.size() + 1, uuid(0), new Known<>(bytes), new ProcessOwner.Pod(uid)));
        }
        node.advance(10).polls(GpuSampleBuilder.healthyGpu(0).processes(new Known<>(processes)));
    }

    private List<NodeFact.Held> published() {
        return node.published(NodeFact.Held.class);
    }

    @Test
    void unallocatedUseIsPublishedOnceWithHoldersAndItsEnd() {
        // Given
        assertThat(published()).hasSize(1);

        // When a pod without an allocation computes, and its memory grows
        polls(5, "a", "b");
        polls(6, "a", "b");
        polls(7, "a", "b");

        // Then
        assertThat(published()).hasSize(2);
        assertThat(published().getLast().unallocated())
                .containsExactly(new UnallocatedUse(uuid(0), "b", 1, new Known<>(6L)));
        assertThat(published().getLast().holdings().holders()).containsExactly(HOLDER);

        // When it ends
        polls(5, "a");

        // Then
        assertThat(published()).hasSize(3);
        assertThat(published().getLast().unallocated()).isEmpty();
    }

    @Test
    void holderChangeRepeatsUnallocatedUse() {
        polls(5, "b");
        polls(5, "b");

        node.handle(new NodeLoopInput.HoldingsListed(new Holdings(List.of(), true)));

        assertThat(published().getLast().holdings().holders()).isEmpty();
        assertThat(published().getLast().unallocated()).hasSize(1);
    }
}
