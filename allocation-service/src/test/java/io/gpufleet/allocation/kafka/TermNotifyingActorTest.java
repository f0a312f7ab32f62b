package io.gpufleet.allocation.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.app.ActiveLease;
import io.gpufleet.allocation.app.TermListener;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.runtime.projection.States;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** The lease of a term is that of the engine, and only between its begin and its end. */
class TermNotifyingActorTest {
    private static final States<NodeLedger> NONE = new States<>() {
        @Override
        public Optional<NodeLedger> get(String key) {
            return Optional.empty();
        }

        @Override
        public int size() {
            return 0;
        }

        @Override
        public void forEach(BiConsumer<String, NodeLedger> each) {}
    };

    private final ActiveLease active = new ActiveLease();
    private final List<String> calls = new ArrayList<>();
    private final TermNotifyingActor actor = new TermNotifyingActor(active, List.of(new TermListener() {
        @Override
        public void activated() {
            calls.add("activated " + active.held());
        }

        @Override
        public void deactivated() {
            calls.add("deactivated " + active.held());
        }
    }));
    private boolean held = true;

    @Test
    void leaseIsThatOfTheEngine() {
        assertThat(active.held()).isFalse();
        actor.begin(() -> held, NONE);
        assertThat(active.held()).isTrue();
        // When
        held = false;
        // Then
        assertThat(active.held()).isFalse();
    }

    @Test
    void leaseThatTheEngineRenewsBeforeTheNextTermBeginsIsNotHeld() {
        actor.begin(() -> held, NONE);
        actor.end();
        assertThat(active.held()).isFalse();
        actor.begin(() -> held, NONE);
        assertThat(active.held()).isTrue();
    }

    @Test
    void listenersLearnOfATermWithItsLeaseAndOfItsEndWithoutIt() {
        actor.begin(() -> held, NONE);
        actor.end();
        assertThat(calls).containsExactly("activated true", "deactivated false");
    }
}
