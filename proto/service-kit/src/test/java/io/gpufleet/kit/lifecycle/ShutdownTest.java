package io.gpufleet.kit.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

@NullMarked
class ShutdownTest {
    @Test
    void lastOpenedIsClosedFirstAndFailureLeavesNothingOpen() {
        List<String> closed = new ArrayList<>();
        var shutdown = new Shutdown();
        shutdown.add("first", () -> closed.add("first"));
        shutdown.add("broken", () -> {
            throw new IllegalStateException("on purpose");
        });
        shutdown.add("last", () -> closed.add("last"));

        shutdown.close();
        shutdown.close();

        assertThat(closed).containsExactly("last", "first");
    }
}
