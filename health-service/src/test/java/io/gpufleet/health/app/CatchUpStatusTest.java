package io.gpufleet.health.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CatchUpStatusTest {
    private final CatchUpStatus backlog = new CatchUpStatus();
    private final List<String> opened = new ArrayList<>();

    CatchUpStatusTest() {
        backlog.onRead(opened::add);
        backlog.begin();
    }

    @Test
    void nodeThatHadToWaitIsToldOnceWhenItsEventsAreRead() {
        assertThat(backlog.isRead("node-1")).isFalse();
        assertThat(backlog.isRead("node-1")).isFalse();
        assertThat(backlog.isRead("node-2")).isFalse();

        backlog.read("node-1"::equals);
        backlog.read("node-1"::equals);

        assertThat(opened).containsExactly("node-1");
        assertThat(backlog.isRead("node-1")).isTrue();
        assertThat(backlog.isRead("node-2")).isFalse();
    }

    @Test
    void everyWaitingNodeIsToldWhenAllIsRead() {
        backlog.isRead("node-1");
        backlog.isRead("node-2");

        backlog.allRead();
        backlog.allRead();

        assertThat(opened).containsExactlyInAnyOrder("node-1", "node-2");
        assertThat(backlog.isWaiting()).isFalse();
    }

    @Test
    void nextTermWaitsAnew() {
        backlog.allRead();

        backlog.begin();

        assertThat(backlog.isRead("node-1")).isFalse();
        assertThat(backlog.isWaiting()).isTrue();
    }

    @Test
    void partitionIsAskedForOnceHoweverManyOfItsNodesWait() {
        // Given
        var byPartition = new CatchUpStatus(node -> node.charAt(0));
        byPartition.onRead(opened::add);
        byPartition.begin();
        for (int i = 0; i < 1_000; i++) {
            byPartition.isRead("a" + i);
            byPartition.isRead("b" + i);
        }
        List<String> asked = new ArrayList<>();

        // When
        byPartition.read(node -> {
            asked.add(node);
            return node.startsWith("a");
        });

        // Then
        assertThat(asked).hasSize(2);
        assertThat(opened).hasSize(1_000).allMatch(node -> node.startsWith("a"));
        assertThat(byPartition.isRead("a1")).isTrue();
        assertThat(byPartition.isRead("b1")).isFalse();
    }
}
