package io.gpufleet.testbed.fakeapiserver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;

/** Quantities as Kubernetes writes them. */
class QuantityTest {
    @Test
    void suffixesAreMultiplied() {
        assertThat(Quantity.parse("500m")).isEqualByComparingTo("0.5");
        assertThat(Quantity.parse("2Ki")).isEqualByComparingTo("2048");
        assertThat(Quantity.parse("1e3")).isEqualByComparingTo("1000");
        assertThat(Quantity.parse("-1.5k")).isEqualByComparingTo("-1500");
        assertThat(Quantity.parse("3E")).isEqualByComparingTo("3e18");
    }

    @Test
    void malformedQuantityIsRefusedWithMessageOfRealServer() {
        for (String text : new String[] {"", "one", "1.2.3", "5 Gi", "1Qi"}) {
            assertThatThrownBy(() -> Quantity.parse(text))
                    .isInstanceOf(NumberFormatException.class)
                    .hasMessage("quantities must match the regular expression"
                            + " '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
        }
    }

    @Test
    void fractionsAreShownInThousandths() {
        assertThat(Quantity.canonical(new BigDecimal("1.5"))).isEqualTo("1500m");
        assertThat(Quantity.canonical(new BigDecimal("2000e-3"))).isEqualTo("2");
        assertThat(Quantity.isWhole(Quantity.parse("2000m"))).isTrue();
        assertThat(Quantity.isWhole(Quantity.parse("0.1"))).isFalse();
    }
}
