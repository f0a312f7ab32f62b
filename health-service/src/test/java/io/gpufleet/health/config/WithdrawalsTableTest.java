package io.gpufleet.health.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.policy.FaultRule;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.xid.XidCatalogue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** The table by which daemons withdraw devices is generated from the policy pack {@code nvidia}. */
class WithdrawalsTableTest {
    private static final Path TABLE = Path.of("../proto/src/main/resources/io/gpufleet/xid/withdrawals.tsv");

    private final HealthPolicy policy = PolicyFile.load("nvidia");

    @Test
    void tableHasWhatThePolicyWithdrawsWithoutAnyWait() throws IOException {
        // Given
        String expected = "# Faults for which a daemon withdraws the device at once. Generated from nvidia.yaml of the"
                + " health-service by\n# WithdrawalsTableTest -Dpages.write=true; do not edit.\n"
                + Stream.of(xids(), immediateActions(), kinds(), recoveryActions())
                        .flatMap(Function.identity())
                        .collect(Collectors.joining());

        // When
        if (Boolean.getBoolean("pages.write")) {
            Files.writeString(TABLE, expected);
        }

        // Then
        assertThat(Files.readString(TABLE))
                .as("run 'mvn -pl health-service test -Dtest=WithdrawalsTableTest -Dpages.write=true'")
                .isEqualTo(expected);
    }

    private static boolean atOnce(FaultRule rule) {
        return rule.faultClass().withdraws() && rule.timing().isImmediate();
    }

    private Stream<String> xids() {
        return XidCatalogue.standard().all().stream()
                .filter(xid -> atOnce(policy.rule(FaultCode.xid(xid.code()), FaultReport.of(RecoveryAction.NONE))))
                .map(xid -> "xid\t" + xid.code() + "\n");
    }

    /** Classes of the pack's text, since the policy has the rules of single XIDs only. */
    private static Stream<String> immediateActions() {
        Map<String, Object> document = new Yaml().load(PolicyTexts.text("nvidia"));
        return ((Map<?, ?>) Objects.requireNonNull(document.get("immediateActions")))
                .entrySet().stream()
                        .filter(entry -> {
                            var rule = (Map<?, ?>) Objects.requireNonNull(entry.getValue());
                            String faultClass = String.valueOf(rule.get("class"));
                            return !faultClass.equals("ignore")
                                    && !faultClass.equals("suspect")
                                    && !rule.containsKey("bootGrace")
                                    && !rule.containsKey("grace")
                                    && !rule.containsKey("threshold");
                        })
                        .map(entry -> "immediate-action\t" + entry.getKey() + "\n")
                        .sorted();
    }

    private Stream<String> kinds() {
        return Arrays.stream(FaultKind.values())
                .filter(kind -> kind != FaultKind.RECOVERY_ACTION)
                .filter(kind -> atOnce(policy.rule(FaultCode.of(kind), FaultReport.of(RecoveryAction.NONE))))
                .map(kind -> "kind\t" + slug(kind) + "\n");
    }

    private Stream<String> recoveryActions() {
        return Arrays.stream(RecoveryAction.values())
                .filter(action -> atOnce(policy.rule(FaultCode.recovery(action), FaultReport.of(action))))
                .filter(action -> action != RecoveryAction.UNSPECIFIED)
                .map(action -> "recovery-action\t" + slug(action) + "\n");
    }

    private static String slug(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
