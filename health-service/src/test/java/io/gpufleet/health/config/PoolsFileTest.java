package io.gpufleet.health.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.health.model.budget.DisruptionBudgets;
import io.gpufleet.health.model.budget.Limit;
import io.gpufleet.health.model.budget.Limits;
import io.gpufleet.health.model.budget.Mode;
import io.gpufleet.health.model.budget.Pool;
import io.gpufleet.kit.config.ConfigurationException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PoolsFileTest {
    private static final String FILE = """
            pools:
              - name: training
                selector: {gpufleet.io/pool: training}
                mode: enforce
                limits: {nodes: {percent: 20, absolute: 5}, devices: {percent: 30}}
            fleet: {nodes: {percent: 5}}
            brake: {percent: 5, atLeast: 10, within: PT5M}
            """;

    @Test
    void poolHasItsModeAndItsLimits() {
        DisruptionBudgets protection = PoolsFile.parse(Mode.OBSERVE, "mine.yaml", FILE);

        assertThat(protection.pool(Map.of("gpufleet.io/pool", "training")))
                .isEqualTo(new Pool(
                        "training",
                        Map.of("gpufleet.io/pool", "training"),
                        Mode.ENFORCE,
                        new Limits(new Limit(20, 5), Limit.percent(30))));
        assertThat(protection.pool(Map.of()).mode()).isEqualTo(Mode.OBSERVE);
        assertThat(protection.pool(Map.of()).limits()).isEqualTo(Limits.TENTH);
        assertThat(protection.fleet()).isEqualTo(new Limits(Limit.percent(5), Limit.NONE));
        assertThat(protection.labelKeys()).containsExactlyInAnyOrder("gpufleet.io/pool", DisruptionBudgets.ZONE);
    }

    @Test
    void nodeThatTwoPoolsSelectBelongsToTheFirst() {
        DisruptionBudgets protection = PoolsFile.parse(Mode.OBSERVE, "mine.yaml", """
                pools:
                  - {name: canary, selector: {canary: "yes"}, mode: observe}
                  - {name: training, selector: {gpufleet.io/pool: training}, mode: enforce}
                """);

        assertThat(protection
                        .pool(Map.of("gpufleet.io/pool", "training", "canary", "yes"))
                        .name())
                .isEqualTo("canary");
        assertThat(protection.pool(Map.of("gpufleet.io/pool", "training")).name())
                .isEqualTo("training");
    }

    @Test
    void standardHoldsBackWhatIsBeyondATenth() {
        assertThat(PoolsFile.of(Mode.ENFORCE, "standard", "").pool(Map.of()).limits())
                .isEqualTo(Limits.TENTH);
        assertThat(PoolsFile.of(Mode.ENFORCE, "unlimited", "")).isEqualTo(DisruptionBudgets.NONE);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "percent: 20| percent: 0| percent=0 takes 1 to 100",
                "percent: 20| percent: 101| percent=101 takes 1 to 100",
                "absolute: 5| absolute: 0| absolute=0 takes a number from 1",
                "absolute: 5| absolute: five| absolute=five takes a whole number",
                "mode: enforce| mode: act| mode=act takes observe or enforce",
                "PT5M| 5m| brake.within=5m takes an ISO 8601 duration",
                "name: training| names: training| pools[].names takes one of",
                "fleet:| fleets:| fleets takes one of"
            })
    void mistakeIsReportedWithItsPlace(String right, String mistake, String answer) {
        assertThatThrownBy(
                        () -> PoolsFile.parse(Mode.OBSERVE, "mine.yaml", FILE.replace(right.strip(), mistake.strip())))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("pools mine.yaml")
                .hasMessageContaining(answer.strip())
                .hasMessageNotContaining("\n");
    }

    @Test
    void missingFileIsNamed() {
        assertThatThrownBy(() -> PoolsFile.text("GPUFLEET_POOLS", "/nowhere/pools.yaml"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("GPUFLEET_POOLS='/nowhere/pools.yaml'");
    }
}
