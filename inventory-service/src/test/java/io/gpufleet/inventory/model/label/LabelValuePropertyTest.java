package io.gpufleet.inventory.model.label;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.StringLength;

/** Whatever a driver or a BIOS prints becomes a legal label value. */
class LabelValuePropertyTest {
    private static final String VALID = "|[A-Za-z0-9]([A-Za-z0-9-_.]{0,61}[A-Za-z0-9])?";

    @Property
    void everyTextBecomesValid(@ForAll @StringLength(max = 200) String text) {
        assertThat(LabelValue.valid(text)).matches(VALID);
    }

    @Property
    void validTextIsUnchanged(@ForAll @StringLength(min = 1, max = 63) @CharRange(from = 'a', to = 'z') String text) {
        assertThat(LabelValue.valid(text)).isEqualTo(text);
    }

    @Property
    void longTextsThatDifferStayDifferent(
            @ForAll @StringLength(min = 1, max = 20) @CharRange(from = 'a', to = 'z') String one,
            @ForAll @StringLength(min = 1, max = 20) @CharRange(from = 'a', to = 'z') String other) {
        String head = "x".repeat(80);
        assertThat(LabelValue.valid(head + one).equals(LabelValue.valid(head + other)))
                .isEqualTo(one.equals(other));
    }

    @Example
    void invalidCharactersAreDroppedAndBlanksBecomeDashes() {
        assertThat(LabelValue.sanitised("NVIDIA  H100 (80GB)®/HBM3")).isEqualTo("NVIDIA-H100-80GBHBM3");
        assertThat(LabelValue.valid(" -A100- ")).isEqualTo("A100");
    }
}
