package io.gpufleet.nodedaemon.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.app.NodeFact;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.holders.Holder;
import io.gpufleet.nodedaemon.model.holders.Holdings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the queue before the outbox holds while the disk hangs. */
class PublisherQueueTest {
    private static final int FACTS = 1_000;
    private static final int IDS = 1_000;

    private static NodeFact allocation(int number, int ids) {
        return new NodeFact.Allocated("nvidia.com/gpu.shared", deviceIds(number, ids), List.of("envvar"), 100);
    }

    private static NodeFact holdings(int number) {
        var holder = new Holder("default", "pod", "uid", "main", "nvidia.com/gpu.shared", deviceIds(number, IDS));
        return new NodeFact.Held(new Holdings(List.of(holder), true), List.of(), List.of());
    }

    private static List<String> deviceIds(int number, int ids) {
        return IntStream.range(0, ids)
                .mapToObj(id -> "GPU-%08d-0000-0000-0000-000000000000::%d".formatted(number, id))
                .toList();
    }

    private static int characters(NodeFact fact) {
        List<String> ids = switch (fact) {
            case NodeFact.Allocated allocated -> allocated.deviceIds();
            case NodeFact.Held held -> held.holdings().holders().getFirst().deviceIds();
            default -> throw new AssertionError(fact);
        };
        return ids.stream().mapToInt(String::length).sum();
    }

    static List<Named<IntFunction<NodeFact>>> largeFacts() {
        return List.of(
                Named.of("allocations", number -> allocation(number, IDS)),
                Named.of("holdings", PublisherQueueTest::holdings));
    }

    @ParameterizedTest
    @MethodSource("largeFacts")
    void idsOfThousandsOfReplicasTakeNoMoreThanTheLimit(IntFunction<NodeFact> fact) {
        // Given nobody who takes facts, as while the disk hangs
        var queue = new PublisherQueue(() -> {});

        // When
        for (int i = 0; i < FACTS; i++) {
            queue.add(fact.apply(i), TestGpus.second(i));
        }

        // Then
        List<NodeFact> kept = drain(queue);
        assertThat(kept).isNotEmpty();
        assertThat(kept.stream().mapToInt(PublisherQueueTest::characters).sum())
                .isLessThanOrEqualTo(PublisherQueue.MAX_BYTES);
        assertThat(queue.dropped()).isEqualTo(FACTS - kept.size());
    }

    @Test
    void ordinaryAllocationsOfSeveralMinutesAreKept() {
        var queue = new PublisherQueue(() -> {});

        for (int i = 0; i < FACTS; i++) {
            queue.add(allocation(i, 8), TestGpus.second(i));
        }

        assertThat(drain(queue)).hasSize(FACTS);
    }

    private static List<NodeFact> drain(PublisherQueue queue) {
        var facts = new ArrayList<NodeFact>();
        for (Optional<PublisherQueue.PendingFact> next = queue.take(); next.isPresent(); next = queue.take()) {
            facts.add(next.get().fact());
        }
        return facts;
    }
}
