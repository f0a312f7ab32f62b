package io.gpufleet.bench.allocation;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ClosingsBenchmarkTest {
    @Test
    void exactLedgerSucceeds() {
        assertThatCode(() -> ClosingsBenchmark.requireExact(0, 0)).doesNotThrowAnyException();
    }

    @Test
    void secondThatIsMissingOrTooManyFails() {
        assertThatThrownBy(() -> ClosingsBenchmark.requireExact(820, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the ledger is wrong: 820.0 s missing or too many, 0 pods not closed once");
    }

    @Test
    void podThatIsNotClosedOnceFails() {
        assertThatThrownBy(() -> ClosingsBenchmark.requireExact(0, 3)).hasMessageContaining("3 pods not closed once");
    }
}
