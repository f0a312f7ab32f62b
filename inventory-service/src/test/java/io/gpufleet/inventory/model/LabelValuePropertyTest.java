package io.gpufleet.inventory.model;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.StringLength;

/** Whatever a driver or a BIOS prints becomes a legal label value. */
class LabelValuePropertyTest {
    private static final String LEGAL = "|[A-Za-z0-9]([A-Za-z0-9-_.]{0,61}[A-Za-z0-9])?";

    @Property
    void everyTextBecomesLegal(@ForAll @StringLength(max = 200) String text) {
        assertThat(LabelValue.legal(text)).matches(LEGAL);
    }

    @Property
    void legalTextStaysAsItIs(@ForAll @StringLength(min = 1, max = 63) @CharRange(from = 'a', to = 'z') String text) {
        assertThat(LabelValue.legal(text)).isEqualTo(text);
    }

    @Property
    void longTextsThatDifferStayDifferent(
            @ForAll @StringLength(min = 1, max = 20) @CharRange(from = 'a', to = 'z') String one,
            @ForAll @StringLength(min = 1, max = 20) @CharRange(from = 'a', to = 'z') String other) {
        String head = "x".repeat(80);
        assertThat(LabelValue.legal(head + one).equals(LabelValue.legal(head + other)))
                .isEqualTo(one.equals(other));
    }

    @Example
    void oddCharactersGoAndBlanksBecomeDashes() {
        assertThat(LabelValue.sanitised("NVIDIA  H100 (80GB)®/HBM3")).isEqualTo("NVIDIA-H100-80GBHBM3");
        assertThat(LabelValue.legal(" -A100- ")).isEqualTo("A100");
    }
}
