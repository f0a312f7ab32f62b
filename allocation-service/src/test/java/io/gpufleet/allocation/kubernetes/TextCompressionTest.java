package io.gpufleet.allocation.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class TextCompressionTest {
    @Property
    void textIsReadAsItWasWritten(@ForAll String text, @ForAll String common) {
        var texts = new TextCompression(common);
        assertThat(texts.decompress(texts.compress(text))).isEqualTo(decoded(text));
    }

    /** A half of a surrogate pair has no encoding. */
    private static String decoded(String text) {
        return new String(text.getBytes(UTF_8), UTF_8);
    }

    @Test
    void longTextIsReadAsItWasWritten() {
        String text = "{\"name\":\"x\"}".repeat(20_000);
        var texts = new TextCompression("{\"name\":");
        assertThat(texts.decompress(texts.compress(text))).isEqualTo(text);
    }

    @Test
    void cutTextIsRefused() {
        var texts = new TextCompression("");
        byte[] whole = texts.compress("a text that nobody has read before");
        assertThatThrownBy(() -> texts.decompress(Arrays.copyOf(whole, whole.length - 5)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void whatTextsHaveInCommonTakesLittle() {
        String common = "{\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"training\",\"name\":\"";
        var texts = new TextCompression(common);
        assertThat(texts.compress(common + "a\"}}")).hasSizeLessThan(16);
    }
}
