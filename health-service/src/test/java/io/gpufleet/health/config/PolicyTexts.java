package io.gpufleet.health.config;

import io.gpufleet.health.model.policy.HealthPolicy;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Variants of the bundled pack, for tests. */
public final class PolicyTexts {
    private PolicyTexts() {}

    /** The text of a bundled pack. */
    static String text(String pack) {
        try (InputStream in = PolicyFile.class.getResourceAsStream("/io/gpufleet/health/policy/" + pack + ".yaml")) {
            return new String(Objects.requireNonNull(in, pack).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** The pack {@code nvidia} with another text in one place. */
    public static HealthPolicy nvidiaWith(String before, String after) {
        String text = text("nvidia");
        if (!text.contains(before)) {
            throw new IllegalArgumentException("nvidia.yaml has no " + before);
        }
        return PolicyFile.parse("test", text.replace(before, after));
    }
}
