package io.gpufleet.testbed.fakekubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class KubeletSpecTest {
    @Test
    void everyNodeHasItsDirectory() {
        assertThat(KubeletSpec.parse("K", "a=/x/a, b=/x/b"))
                .containsExactly(new KubeletSpec("a", Path.of("/x/a")), new KubeletSpec("b", Path.of("/x/b")));
    }

    @Test
    void malformedSpecIsNamed() {
        assertWrong("a", "'a' is not <node>=<directory>");
        assertWrong("A=/x", "'A=/x' is not <node>=<directory>");
        assertWrong("a=/x,a=/y", "node 'a' is listed twice");
        assertWrong("a=/" + "x".repeat(90), "choose a shorter directory");
    }

    private static void assertWrong(String text, String words) {
        assertThatThrownBy(() -> KubeletSpec.parse("K", text))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining(words);
    }
}
