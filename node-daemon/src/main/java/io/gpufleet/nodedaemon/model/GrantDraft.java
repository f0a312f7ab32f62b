package io.gpufleet.nodedaemon.model;

import io.gpufleet.nodedaemon.model.AllocationAnswer.DeviceNode;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Grant;
import io.gpufleet.nodedaemon.model.AllocationAnswer.Mount;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A grant while strategies add to it; what two of them add stands in it once. */
final class GrantDraft {
    final Map<String, String> environment = new HashMap<>();
    final Set<Mount> mounts = new LinkedHashSet<>();
    final Set<DeviceNode> nodes = new LinkedHashSet<>();
    final Map<String, String> annotations = new HashMap<>();
    final Set<String> cdiDevices = new LinkedHashSet<>();

    Grant done() {
        return new Grant(
                environment, new ArrayList<>(mounts), new ArrayList<>(nodes), annotations, List.copyOf(cdiDevices));
    }
}
