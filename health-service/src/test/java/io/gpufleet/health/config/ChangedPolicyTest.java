package io.gpufleet.health.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.testbed.testkit.ParserFuzzer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A policy is read, or refused with its place. */
class ChangedPolicyTest {
    private static final String SITE = """
            policy: site
            extends: nvidia
            xids:
              79: {class: taint-reboot, recommendedAction: reboot, grace: 30s, drain: gpu-pods}
              48: {class: withdraw, threshold: {count: 3, within: 1h}, recoveryDwell: 10m}
            drain: {windows: [{days: [sat, sun], from: "22:00", to: "04:00", zone: Europe/Berlin}]}
            """;

    @Test
    void changedPolicyIsReadOrRefused() {
        ParserFuzzer.check(
                5_000,
                List.of(SITE, PolicyFile.text("nvidia"), PolicyFile.text("conservative")),
                List.of(ConfigurationException.class),
                text -> PolicyFile.parse("site.yaml", new String(text, UTF_8)));
    }
}
