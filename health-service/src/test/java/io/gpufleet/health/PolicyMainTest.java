package io.gpufleet.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The policy commands without Kafka. */
class PolicyMainTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @TempDir
    private Path directory;

    private int run(String... arguments) {
        return new PolicyMain(new PrintStream(out), new PrintStream(err), Map.of()).run(arguments);
    }

    private String error() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void bundledPoliciesAreValid() {
        for (String pack : new String[] {"nvidia", "conservative", "aggressive"}) {
            assertThat(run("check", pack)).isZero();
        }
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("policy conservative is valid");
    }

    @Test
    void mistakeInAFileIsOneLineWithItsPlace() throws Exception {
        Path file = directory.resolve("mine.yaml");
        Files.writeString(file, "policy: mine\nextends: nvidia\nkinds:\n  nvlink: {clas: withdraw}\n");

        assertThat(run("check", file.toString())).isEqualTo(2);
        assertThat(error().lines()).hasSize(1);
        assertThat(error()).contains("mine.yaml", "nvlink", "clas");
    }

    @Test
    void explanationOfARecoveryActionIsThatOfItsRule() {
        // Given a driver that requests a reboot, and reports the action with it
        assertThat(run("explain", "recovery-action", "node-reboot")).isZero();
        // Then
        assertThat(out.toString(StandardCharsets.UTF_8))
                .containsPattern("class +taint-reboot")
                .containsPattern("device +withdrawn")
                .containsPattern("node +tainted")
                .containsPattern("after recovery +in service at once\n");
    }

    @Test
    void explanationOfAnXidSaysWhatHappensToDeviceAndNode() {
        assertThat(run("explain", "xid", "79")).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains(
                        "rule                nvidia/xid-79",
                        "device              withdrawn",
                        "acts                at once");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "                              | usage: policy check",
                "check                         | usage: policy check",
                "explain xid                   | xid '' takes a number",
                "explain xid -1                | xid '-1' takes a number",
                "explain xid 2147483648        | xid '2147483648' takes a number",
                "explain lightning             | fault 'lightning' takes one of",
                "explain xid 79 --policy none  | none",
                "explain event                 | event '' takes an id WRITER/EPOCH/TOPIC/SEQUENCE",
                "explain event 79              | event '79' takes an id",
                "explain event n/1/health/0    | event 'n/1/health/0' takes an id",
                "explain event n/1/verdicts/7  | is on verdicts; the policy decides about events on health, inventory",
                "explain event n/1/health/7    | GPUFLEET_CLUSTER",
                "check nvidia --deep 1         | '--deep' is no option",
                "check nvidia --from           | --from takes a value",
                "diff nvidia conservative --from soon | --from 'soon' takes a time",
                "diff nvidia conservative --from 0s   | --from '0s' takes a time",
                "diff nvidia conservative      | GPUFLEET_CLUSTER",
            })
    void badInputIsOneLine(@Nullable String arguments, String message) {
        assertThat(run(arguments == null ? new String[0] : arguments.split(" +", -1)))
                .isEqualTo(2);
        assertThat(error().lines()).hasSize(1);
        assertThat(error()).startsWith("policy: ").contains(message);
    }
}
