package io.gpufleet.allocation.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.allocation.model.ledger.LedgerReducer;
import io.gpufleet.allocation.model.ledger.NodeLedger;
import io.gpufleet.runtime.engine.RecordedState;
import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A state that a release left in its changelog is restored. For a further release put its version here, keep those before in
 * the list of the test, and run {@code mvn -pl allocation-service test -Dtest=RecordedStateTest -Dchangelog.write=true}.
 */
class RecordedStateTest {
    private static final String PRESENT = "0.1.0";

    private static final RecordedState<NodeLedger> RECORDED =
            new RecordedState<>(new AllocationProjection("prod"), "allocation-service-0", "n1");

    @BeforeAll
    static void write() throws IOException {
        if (Boolean.getBoolean("changelog.write")) {
            RECORDED.write(PRESENT, state());
        }
    }

    private static NodeLedger state() {
        var random = new Random(7);
        NodeLedger ledger = NodeLedger.EMPTY;
        for (int step = 1; step < 40; step++) {
            ledger = LedgerReducer.fold("prod", "n1", ledger, LedgerMapperTest.fact(random, 3 * step))
                    .next();
        }
        return ledger;
    }

    @ParameterizedTest
    @ValueSource(strings = PRESENT)
    void stateOfAReleaseIsRestored(String release) throws IOException {
        NodeLedger restored = RECORDED.restored(release);

        assertThat(restored.open()).isNotEmpty();
        assertThat(restored.gpus()).isNotEqualTo(NodeLedger.EMPTY.gpus());
    }
}
