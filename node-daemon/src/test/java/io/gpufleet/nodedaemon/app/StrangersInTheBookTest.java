package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.seen;
import static io.gpufleet.nodedaemon.model.Some.uuid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.ComputeProcess;
import io.gpufleet.nodedaemon.model.Fact;
import io.gpufleet.nodedaemon.model.Holder;
import io.gpufleet.nodedaemon.model.Holdings;
import io.gpufleet.nodedaemon.model.ProcessOwner;
import io.gpufleet.nodedaemon.model.Reading.Known;
import io.gpufleet.nodedaemon.model.SomeVitals;
import io.gpufleet.nodedaemon.model.UnheldUse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StrangersInTheBookTest {
    private static final Holder HOLDER = new Holder("ns", "train", "a", "main", "nvidia.com/gpu", List.of(uuid(0)));

    private final NodeInHand node =
            new NodeInHand(seen(1)).takes(new Input.HoldingsSeen(new Holdings(List.of(HOLDER), true)));

    private void polls(long bytes, String... podUids) {
        var processes = new ArrayList<ComputeProcess>();
        for (String uid : podUids) {
            processes.add(
                    new ComputeProcess(processes.size() + 1, uuid(0), new Known<>(bytes), new ProcessOwner.Pod(uid)));
        }
        node.after(10).polls(SomeVitals.well(0).processes(new Known<>(processes)));
    }

    private List<Fact.Held> told() {
        return node.told(Fact.Held.class);
    }

    @Test
    void useWithoutHoldingIsToldWithTheHoldersOnceAndItsEndToo() {
        // Given
        assertThat(told()).hasSize(1);

        // When a pod computes that holds nothing, and its memory grows
        polls(5, "a", "b");
        polls(6, "a", "b");
        polls(7, "a", "b");

        // Then
        assertThat(told()).hasSize(2);
        assertThat(told().getLast().unheld()).containsExactly(new UnheldUse(uuid(0), "b", 1, new Known<>(6L)));
        assertThat(told().getLast().holdings().holders()).containsExactly(HOLDER);

        // When it ends
        polls(5, "a");

        // Then
        assertThat(told()).hasSize(3);
        assertThat(told().getLast().unheld()).isEmpty();
    }

    @Test
    void changeOfHoldersRepeatsWhatIsUsedWithoutThem() {
        polls(5, "b");
        polls(5, "b");

        node.takes(new Input.HoldingsSeen(new Holdings(List.of(), true)));

        assertThat(told().getLast().holdings().holders()).isEmpty();
        assertThat(told().getLast().unheld()).hasSize(1);
    }
}
