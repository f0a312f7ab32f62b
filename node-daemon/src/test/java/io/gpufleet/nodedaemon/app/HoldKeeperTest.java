package io.gpufleet.nodedaemon.app;

import static io.gpufleet.nodedaemon.model.Some.second;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.HoldRequest;
import io.gpufleet.nodedaemon.model.Look;
import io.gpufleet.nodedaemon.model.Sign;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.nodedaemon.model.Vitals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** In which order the kubelet, the driver and the asker learn of a hold. */
class HoldKeeperTest {
    private final List<String> done = new ArrayList<>();
    private final List<Runnable> fences = new ArrayList<>();
    private final Door door = new Door();
    private final HoldKeeper keeper = new HoldKeeper(door, new Source(), this::input, () -> done.add("woken"));

    private final class Door implements HoldDoor {
        private List<HoldRequest> requests = List.of();
        private boolean stillOpen;

        @Override
        public void onChange(Runnable changed) {}

        @Override
        public Optional<HoldRequest> asked() {
            return requests.stream().findFirst();
        }

        @Override
        public boolean released(HoldRequest request) {
            done.add(stillOpen ? "still open" : "released");
            return !stillOpen;
        }

        @Override
        public void takenBack() {
            done.add("taken back");
        }
    }

    private final class Source implements DeviceSource {
        @Override
        public String name() {
            return "fake";
        }

        @Override
        public Look look() {
            return Some.seen(2);
        }

        @Override
        public List<Sign> await(Duration atMost) {
            return List.of();
        }

        @Override
        public List<Vitals> vitals() {
            return List.of();
        }

        @Override
        public void release() {
            done.add("closed");
        }

        @Override
        public void close() {}
    }

    private void input(Input input) {
        switch (input) {
            case Input.Looked(Look.Blind(Look.DriverTrouble trouble, String reason)) ->
                done.add(trouble + " " + reason);
            case Input.Fence(Runnable reached) -> fences.add(reached);
            default -> throw new AssertionError("not expected: " + input);
        }
    }

    private void ask(String reason, double untilSecond) {
        door.requests = List.of(
                new HoldRequest(reason, second(untilSecond).wall(), second(0).wall(), ""));
    }

    private List<String> taken() {
        List<String> taken = List.copyOf(done);
        done.clear();
        return taken;
    }

    @Test
    void whatAnEarlierStartSaidIsTakenBackFirst() {
        assertThat(done).containsExactly("taken back");
        assertThat(keeper.turn(second(0))).isFalse();
    }

    @Test
    void kubeletIsToldBeforeAnythingIsClosedAndTheAskerAfterwards() {
        done.clear();
        ask("reset", 600);

        assertThat(keeper.turn(second(0))).isTrue();
        assertThat(taken()).containsExactly("HELD let go until 2026-11-20T10:10:00Z: reset");

        keeper.turn(second(0.1));
        assertThat(taken()).isEmpty();

        fences.getFirst().run();
        keeper.turn(second(0.2));
        assertThat(taken()).containsExactly("woken", "closed", "released");

        assertThat(keeper.turn(second(300))).isTrue();
        assertThat(taken()).isEmpty();
    }

    @Test
    void nothingIsPromisedWhileADescriptorIsOpen() {
        ask("reset", 600);
        door.stillOpen = true;
        keeper.turn(second(0));
        fences.getFirst().run();
        done.clear();

        keeper.turn(second(0.2));
        assertThat(taken()).containsExactly("closed", "still open");
        assertThat(keeper.dueNanos(second(10).nanos())).isEqualTo(second(1.2).nanos());

        door.stillOpen = false;
        keeper.turn(second(0.5));
        keeper.turn(second(1.2));
        assertThat(taken()).containsExactly("closed", "released");
    }

    @Test
    void wordIsTakenBackWhenNobodyAsksAnyMore() {
        ask("reset", 600);
        keeper.turn(second(0));
        fences.getFirst().run();
        keeper.turn(second(0.1));
        done.clear();

        door.requests = List.of();

        assertThat(keeper.turn(second(5))).isFalse();
        assertThat(taken()).containsExactly("taken back");
    }

    @Test
    void wordIsTakenBackAtTheDeadlineThoughTheFileStays() {
        ask("reset", 600);
        keeper.turn(second(0));
        fences.getFirst().run();
        keeper.turn(second(0.1));
        done.clear();

        assertThat(keeper.dueNanos(second(10_000).nanos()))
                .isEqualTo(second(600).nanos());
        assertThat(keeper.turn(second(600))).isFalse();
        assertThat(keeper.turn(second(601))).isFalse();
        assertThat(taken()).containsExactly("taken back");
    }

    @Test
    void holdThatEndsBeforeTheKubeletWasToldClosesNothing() {
        ask("reset", 600);
        keeper.turn(second(0));
        door.requests = List.of();
        keeper.turn(second(0.1));
        fences.getFirst().run();
        done.clear();

        assertThat(keeper.turn(second(0.2))).isFalse();
        assertThat(done).isEmpty();
    }
}
