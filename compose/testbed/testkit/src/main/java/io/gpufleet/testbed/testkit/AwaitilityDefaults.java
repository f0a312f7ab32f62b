package io.gpufleet.testbed.testkit;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Lets each test that names no time wait for up to a minute: Awaitility's ten seconds are too short on a loaded machine.
 * Found by JUnit through {@code META-INF/services}.
 */
public final class AwaitilityDefaults implements LauncherSessionListener {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        Awaitility.setDefaultTimeout(TIMEOUT);
    }
}
