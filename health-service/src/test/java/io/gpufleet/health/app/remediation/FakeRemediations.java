package io.gpufleet.health.app.remediation;

import io.gpufleet.health.model.remediation.Remediation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Objects of an API server. */
final class FakeRemediations implements RemediationClient {
    final Map<String, Found> objects = new HashMap<>();
    final List<String> made = new ArrayList<>();
    private int version;

    @Override
    public RemediationResponse create(String node, Remediation remediation) {
        if (!objects.containsKey(remediation.name())) {
            made.add(remediation.name());
            status(remediation, ObjectPhase.PENDING, "", "");
        }
        return find(remediation);
    }

    @Override
    public RemediationResponse find(Remediation remediation) {
        Found found = objects.get(remediation.name());
        return found == null ? new Absent() : found;
    }

    @Override
    public RemediationResponse end(Remediation remediation, Found found, ObjectPhase phase, String message) {
        if (!find(remediation).equals(found)) {
            return new Failed("409");
        }
        status(remediation, phase, found.executor(), message);
        return find(remediation);
    }

    /** What an executor writes. */
    void status(Remediation remediation, ObjectPhase phase, String executor, String message) {
        version++;
        objects.put(remediation.name(), new Found(phase, executor, message, Integer.toString(version)));
    }

    ObjectPhase phase(String name) {
        return Objects.requireNonNull(objects.get(name)).phase();
    }
}
