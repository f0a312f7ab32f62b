package io.gpufleet.runtime.projection;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class InternerTest {
    private record Value(String text) {}

    @Test
    void equalValuesBecomeOneObject() {
        var interner = new Interner<Value>(2);
        Value first = interner.intern(new Value("a"));

        assertThat(interner.intern(new Value("a"))).isSameAs(first);
        assertThat(interner.intern(new Value("b"))).isEqualTo(new Value("b"));
    }

    @Test
    void valuesBeyondTheLimitAreReturnedAsTheyAre() {
        var interner = new Interner<Value>(1);
        Value kept = interner.intern(new Value("a"));
        var beyond = new Value("b");

        assertThat(interner.intern(beyond)).isSameAs(beyond);
        assertThat(interner.intern(new Value("b"))).isNotSameAs(beyond);
        assertThat(interner.intern(new Value("a"))).isSameAs(kept);
    }
}
