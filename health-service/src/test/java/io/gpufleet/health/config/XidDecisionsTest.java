package io.gpufleet.health.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.health.model.fault.FaultCode;
import io.gpufleet.health.model.fault.FaultReport;
import io.gpufleet.health.model.fault.RecommendedAction;
import io.gpufleet.health.model.fault.RecoveryAction;
import io.gpufleet.health.model.policy.FaultRule;
import io.gpufleet.health.model.policy.HealthPolicy;
import io.gpufleet.health.model.policy.RuleTiming;
import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.xid.Xid;
import io.gpufleet.xid.XidCatalogue;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** {@code xid-decisions.md} is generated from the catalogue of XIDs and the policy pack {@code nvidia}. */
class XidDecisionsTest {
    private static final Path PAGE = Path.of("xid-decisions.md");
    private static final String GENERATED = "<!-- generated -->";

    private final HealthPolicy policy = PolicyFile.load("nvidia");

    @Test
    void pageMatchesCatalogueAndPolicy() throws IOException {
        // Given
        String page = Files.readString(PAGE);
        String expected = page.substring(0, page.indexOf(GENERATED)) + GENERATED + "\n\n" + tables();

        // When
        if (Boolean.getBoolean("pages.write")) {
            Files.writeString(PAGE, expected);
        }

        // Then
        assertThat(Files.readString(PAGE))
                .as("run 'mvn -pl health-service test -Dtest=XidDecisionsTest -Dpages.write=true' and commit %s", PAGE)
                .isEqualTo(expected);
    }

    private String tables() throws IOException {
        return "## XIDs\n\n" + xids() + "\n## Other faults\n\n"
                + table(
                        "Kind",
                        Stream.of(FaultKind.values()),
                        kind -> FaultCode.of(kind).slug(),
                        kind -> policy.rule(FaultCode.of(kind), FaultReport.of(RecoveryAction.NONE)))
                + "\n## Recovery actions\n\n"
                + table(
                        "Recovery action",
                        Stream.of(RecoveryAction.values()),
                        action -> action.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                        action -> Objects.requireNonNull(policy.actions().get(action)));
    }

    private String xids() throws IOException {
        Set<?> own = codesWithOwnRule();
        return "| XID | NVIDIA's name | Immediate action | Decided by | Class | Recommended action |\n"
                + "|---|---|---|---|---|---|\n"
                + XidCatalogue.standard().all().stream()
                        .map(xid -> row(xid, own.contains(xid.code())))
                        .collect(Collectors.joining());
    }

    private String row(Xid xid, boolean ownRule) {
        FaultRule rule = policy.rule(FaultCode.xid(xid.code()), FaultReport.of(RecoveryAction.NONE));
        String place = ownRule ? "xids." + xid.code() : "immediateActions." + xid.immediate();
        return "| " + xid.code() + " | `" + xid.mnemonic() + "` | " + xid.immediate() + " | `" + place + "` | "
                + outcome(rule) + " |\n";
    }

    private static <T> String table(
            String head, Stream<T> values, Function<T, String> name, Function<T, FaultRule> rule) {
        return "| " + head + " | Class | Recommended action |\n|---|---|---|\n"
                + values.map(value -> "| " + name.apply(value) + " | " + outcome(rule.apply(value)) + " |\n")
                        .collect(Collectors.joining());
    }

    private static String outcome(FaultRule rule) {
        RecommendedAction action = rule.recommendedAction();
        String after = rule.timing().isImmediate() ? "" : after(rule.timing());
        return rule.faultClass().slug() + after + " | " + (action == RecommendedAction.NONE ? "" : action.slug());
    }

    private static String after(RuleTiming timing) {
        Duration longest = timing.grace().compareTo(timing.bootGrace()) >= 0 ? timing.grace() : timing.bootGrace();
        return " after " + longest + (longest.equals(timing.grace()) ? "" : " of the boot");
    }

    private static Set<?> codesWithOwnRule() throws IOException {
        try (InputStream pack = PolicyFile.class.getResourceAsStream("/io/gpufleet/health/policy/nvidia.yaml")) {
            Map<String, Object> document = new Yaml().load(Objects.requireNonNull(pack));
            return ((Map<?, ?>) Objects.requireNonNull(document.get("xids"))).keySet();
        }
    }
}
